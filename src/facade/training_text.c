/* Prints the warm-up, convergence and variance analyses: first the simple figures, then the result
 * of the statistical analysis. */
#include <math.h>

#include "assay/training.h"
#include "report/cell.h"

enum { NARROW = 40 };

static double value_or_nan(assay_reading reading)
{
    return reading.validity == ASSAY_VALID ? reading.value : NAN;
}

/* Append the warm-up table without its last rule. */
static void append_warmup(assay__buffer *table, const assay_warmup *warmup, const char *model_name)
{
    const struct {
        const char *label;
        double seconds;
    } lines[] = {{"First epoch:", warmup->first_epoch_time},
                 {"Steady state:", value_or_nan(warmup->avg_steady_state_time)},
                 {"Warmup overhead:", value_or_nan(warmup->warmup_overhead)}};
    char percent[ASSAY__CELL_BYTES], label[ASSAY__LABEL_BYTES];
    assay__buffer_printf(table, "%s - Warmup Analysis:\n", assay__cell_label(label, model_name));
    assay__cell_rule(table, '-', NARROW);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assay__buffer_printf(table, "%s  %-20s", i > 0 ? "\n" : "", lines[i].label);
        assay__cell_seconds(table, lines[i].seconds, 3, 8);
    }
    assay__cell_percent(percent, value_or_nan(warmup->warmup_overhead_pct), 100.0);
    assay__buffer_printf(table, " (%s)\n", percent);
}

assay_status assay_print_warmup_analysis(const assay_warmup *warmup, FILE *stream,
                                         const char *model_name)
{
    assay__buffer table;
    assay__buffer_init(&table, ASSAY__TABLE_MAX_BYTES);
    append_warmup(&table, warmup, model_name);
    assay__cell_rule(&table, '-', NARROW);
    return assay__table_print(&table, stream);
}

/* "3.010s … 3.050s" */
static void append_range(assay__buffer *table, double low, double high)
{
    char from[ASSAY__CELL_BYTES], to[ASSAY__CELL_BYTES];
    assay__buffer_printf(table, "%ss … %ss", assay__cell_number(from, low, 3, 15),
                         assay__cell_number(to, high, 3, 15));
}

static void append_detection(assay__buffer *table, const assay_warmup_detection *detection)
{
    static const char *const unsettled[] = {
        [ASSAY_STEADY_DRIFTS] = "Not settled: the times still drift",
        [ASSAY_STEADY_STEPS] = "Not settled: the level changed shortly before the end",
        [ASSAY_STEADY_UNKNOWN] = "Too few to tell when they settle"};
    if (detection->state != ASSAY_STEADY) {
        assay__buffer_printf(table, "  %s (%zu epoch%s)\n", unsettled[detection->state],
                             detection->epochs, detection->epochs == 1 ? "" : "s");
        return;
    }
    if (detection->warmup_epochs == 0)
        assay__buffer_append_text(table, "  Steady from the first epoch on");
    else
        assay__buffer_printf(table, "  Steady after %zu epoch%s", detection->warmup_epochs,
                             detection->warmup_epochs == 1 ? "" : "s");
    if (detection->steady_seconds.validity == ASSAY_VALID) {
        assay__buffer_append_text(table, ", at ");
        append_range(table, detection->steady_seconds.low, detection->steady_seconds.high);
    }
    if (detection->warmup_epochs > 0 && detection->overhead.validity == ASSAY_VALID) {
        assay__buffer_append_text(table, ";\n  warm-up cost ");
        append_range(table, detection->overhead.low, detection->overhead.high);
    }
    assay__buffer_append_text(table, "\n");
}

assay_status assay_warmup_print(const assay_warmup *warmup, const assay_warmup_detection *detection,
                                FILE *stream, const char *model_name)
{
    assay__buffer table;
    assay__buffer_init(&table, ASSAY__TABLE_MAX_BYTES);
    append_warmup(&table, warmup, model_name);
    append_detection(&table, detection);
    assay__cell_rule(&table, '-', NARROW);
    return assay__table_print(&table, stream);
}

static void append_median(assay__buffer *table, const char *label, const char *unit,
                          const assay_time_to_threshold *time, int decimals)
{
    char value[ASSAY__CELL_BYTES], low[ASSAY__CELL_BYTES], high[ASSAY__CELL_BYTES];
    assay__buffer_printf(table, "  %-18s", label);
    if (time->median.validity == ASSAY_VALID)
        assay__buffer_printf(table, "%s%s", assay__cell_reading(value, time->median, decimals, 15),
                             unit);
    else if (time->median_at_least.validity == ASSAY_VALID)
        assay__buffer_printf(table, "at least %s%s",
                             assay__cell_reading(value, time->median_at_least, decimals, 15), unit);
    else
        assay__buffer_append_text(table, "n/a");
    if (time->median_low.validity == ASSAY_VALID && time->median_high.validity == ASSAY_VALID)
        assay__buffer_printf(table, " (%s%s … %s%s)",
                             assay__cell_reading(low, time->median_low, decimals, 15), unit,
                             assay__cell_reading(high, time->median_high, decimals, 15), unit);
    else if (time->median_low.validity == ASSAY_VALID)
        assay__buffer_printf(table, " (%s%s …)",
                             assay__cell_reading(low, time->median_low, decimals, 15), unit);
    assay__buffer_append_text(table, "\n");
}

static void append_mean(assay__buffer *table, const assay_convergence_summary *summary)
{
    char value[ASSAY__CELL_BYTES];
    const assay_time_to_threshold *time = &summary->seconds;
    assay__buffer_printf(table, "  %-18s", "Mean time:");
    if (summary->converged < summary->trainings)
        assay__buffer_printf(table, "n/a, since %zu never got there\n",
                             summary->trainings - summary->converged);
    else if (time->mean.validity != ASSAY_VALID)
        assay__buffer_append_text(table, "n/a\n");
    else {
        assay__buffer_printf(table, "%ss", assay__cell_reading(value, time->mean, 3, 15));
        if (time->mean_low.validity == ASSAY_VALID) {
            assay__buffer_append_text(table, " (");
            append_range(table, time->mean_low.value, time->mean_high.value);
            assay__buffer_append_text(table, ")");
        }
        assay__buffer_append_text(table, "\n");
    }
}

assay_status assay_convergence_print(const assay_convergence_summary *summary, FILE *stream,
                                     const char *model_name)
{
    char label[ASSAY__LABEL_BYTES], low[ASSAY__CELL_BYTES], high[ASSAY__CELL_BYTES];
    assay__buffer table;
    assay__buffer_init(&table, ASSAY__TABLE_MAX_BYTES);
    assay__buffer_printf(&table, "%s - Convergence:\n", assay__cell_label(label, model_name));
    assay__cell_rule(&table, '-', NARROW);
    assay__buffer_printf(&table, "  %-18s%zu of %zu trainings (%s%% … %s%%)\n",
                         "Converged:", summary->converged, summary->trainings,
                         assay__cell_fixed(low, 100.0 * summary->share_converged.low, 0),
                         assay__cell_fixed(high, 100.0 * summary->share_converged.high, 0));
    append_median(&table, "Median time:", "s", &summary->seconds, 3);
    append_median(&table, "Median epochs:", "", &summary->epochs, 1);
    append_mean(&table, summary);
    assay__cell_rule(&table, '-', NARROW);
    return assay__table_print(&table, stream);
}

static void append_classes(assay__buffer *text, const assay_batch_variance *variance)
{
    const struct {
        const char *words;
        size_t count;
    } classes[] = {{"far above", variance->far_above},
                   {"above", variance->above},
                   {"below", variance->below},
                   {"far below", variance->far_below}};
    size_t outside = variance->far_above + variance->above + variance->below + variance->far_below;
    assay__buffer_printf(text, "  %zu of %zu batches stand out:", outside, variance->batches);
    const char *before = " ";
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (classes[i].count > 0) {
            assay__buffer_printf(text, "%s%zu %s", before, classes[i].count, classes[i].words);
            before = ", ";
        }
}

static void append_slowest(assay__buffer *text, const assay_batch_variance *variance)
{
    char seconds[ASSAY__CELL_BYTES], times[ASSAY__CELL_BYTES];
    double ratio = variance->slowest_seconds.value / variance->median_seconds.value;
    assay__buffer_printf(text, ";\n  the slowest is batch %zu: %ss", variance->slowest,
                         assay__cell_reading(seconds, variance->slowest_seconds, 3, 15));
    if (isfinite(ratio))
        assay__buffer_printf(text, ", %sx the median", assay__cell_fixed(times, ratio, 1));
    if (variance->first_only)
        assay__buffer_append_text(text, " (warm-up)");
}

assay_status assay_batch_variance_print(const assay_batch_variance *variance, FILE *stream)
{
    char number[ASSAY__CELL_BYTES];
    assay__buffer text;
    assay__buffer_init(&text, ASSAY__TABLE_MAX_BYTES);
    if (variance->spread.validity == ASSAY_VALID && variance->spread.value > 2.0)
        assay__buffer_printf(&text, "High variance (%sx) - investigate outliers!\n",
                             assay__cell_fixed(number, variance->spread.value, 1));
    if (!variance->classified) {
        assay__buffer_printf(&text, "  Too few batches (%zu) to tell which stand out\n",
                             variance->batches);
    } else if (variance->far_above + variance->above + variance->below + variance->far_below == 0) {
        assay__buffer_printf(&text, "  None of %zu batches stands out from the others\n",
                             variance->batches);
    } else {
        append_classes(&text, variance);
        if (variance->above + variance->far_above > 0)
            append_slowest(&text, variance);
        assay__buffer_append_text(&text, "\n");
    }
    return assay__table_print(&text, stream);
}
