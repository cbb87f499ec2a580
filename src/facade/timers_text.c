/* Prints the tables of the timers. Programs parse these tables, so their columns have fixed widths
 * (document B of docs/seed-map.md). */
#include <stdlib.h>
#include <string.h>

#include "analyze/tree_order.h"
#include "assay/report.h"
#include "assay/timers.h"
#include "facade/timers.h"
#include "report/cell.h"
#include "report/progress_text.h"

enum { WIDE = 60, NARROW = 40 };

/* The reading of the metric `key`, or NULL if the timer does not have it. */
static const assay_reading *metric_of(const assay_timer *timer, const char *key)
{
    for (size_t i = 0; i < timer->metric_count; i++)
        if (strcmp(timer->metrics[i].key, key) == 0)
            return &timer->metrics[i].value;
    return NULL;
}

assay_status assay_timers_print_progress(const assay_timers *timers, FILE *stream, const char *name)
{
    size_t index = assay__timers_find(timers, name);
    if (index == assay_timers_count(timers))
        return ASSAY_E_NOT_FOUND;
    assay_timer timer = assay_timers_at(timers, index);
    if (timer.time.validity != ASSAY_VALID)
        return ASSAY_E_DATA;
    const assay_reading *gpu = metric_of(&timer, "max_allocated_bytes");
    const assay_reading *memory = metric_of(&timer, "peak_memory_bytes");
    if (gpu != NULL)
        return assay__line_gpu(stream, timer.name, timer.time.value, *gpu);
    if (memory != NULL)
        return assay__line_memory(stream, timer.name, timer.time.value, *memory);
    return assay__line_time(stream, timer.name, timer.time.value);
}

static int32_t parent_of_timer(const void *timers, size_t index)
{
    return assay_timers_at(timers, index).parent;
}

static void title(assay__buffer *table, const char *text, const char *detail)
{
    char label[ASSAY__LABEL_BYTES];
    assay__cell_rule(table, '=', WIDE);
    assay__buffer_append_text(table, text);
    if (detail != NULL)
        assay__buffer_printf(table, " - %s", assay__cell_label(label, detail));
    assay__buffer_append_text(table, "\n");
    assay__cell_rule(table, '=', WIDE);
}

static void summary_line(assay__buffer *table, const char *name, size_t depth, double seconds)
{
    assay__cell_name(table, name, ":", depth, 25);
    assay__cell_seconds(table, seconds, 2, 8);
}

assay_status assay_print_timing_summary(const assay_timers *timers, FILE *stream,
                                        const char *section_name, size_t num_datasets)
{
    assay__tree_node *nodes = NULL;
    size_t count = 0;
    assay_status status = assay__tree_order(assay_timers_count(timers), parent_of_timer, NULL,
                                            timers, &nodes, &count);
    if (status != ASSAY_OK)
        return status;
    char percent[ASSAY__CELL_BYTES];
    double total = assay_timers_total(timers);
    assay__buffer table;
    assay__buffer_init(&table, ASSAY__TABLE_MAX_BYTES);
    title(&table, "TIMING SUMMARY", section_name);
    for (size_t i = 0; i < count; i++) {
        assay_timer timer = assay_timers_at(timers, nodes[i].index);
        double seconds = assay__value_or_nan(timer.time);
        summary_line(&table, timer.name, nodes[i].depth, seconds);
        assay__buffer_printf(&table, " (%s)\n", assay__cell_percent(percent, seconds, total));
    }
    assay__cell_rule(&table, '-', WIDE);
    summary_line(&table, "Total time", 0, total);
    assay__buffer_append_text(&table, "\n");
    if (num_datasets > 1) {
        summary_line(&table, "Average per dataset", 0, total / (double)num_datasets);
        assay__buffer_append_text(&table, "\n");
    }
    assay__cell_rule(&table, '=', WIDE);
    free(nodes);
    return assay__table_print(&table, stream);
}

/* The fastest first, entries without a ratio last. Entries with the same ratio stay in their order.
 */
static int by_speed(const void *left, const void *right)
{
    const assay_speedup *a = *(const assay_speedup *const *)left;
    const assay_speedup *b = *(const assay_speedup *const *)right;
    bool a_known = a->ratio.validity == ASSAY_VALID, b_known = b->ratio.validity == ASSAY_VALID;
    if (a_known != b_known)
        return a_known ? -1 : 1;
    if (a_known && a->ratio.value != b->ratio.value)
        return a->ratio.value > b->ratio.value ? -1 : 1;
    return a < b ? -1 : a > b;
}

static void speedup_line(assay__buffer *table, const assay_speedup *speedup)
{
    char number[ASSAY__CELL_BYTES];
    double ratio = speedup->ratio.value;
    assay__cell_name(table, speedup->name, "", 0, 21);
    if (speedup->ratio.validity != ASSAY_VALID)
        assay__buffer_append_text(table, ":   n/a\n");
    else
        assay__buffer_printf(table, ": %5sx %s\n",
                             assay__cell_number(number, ratio < 1.0 ? 1.0 / ratio : ratio, 2, 8),
                             ratio > 1.0   ? "faster"
                             : ratio < 1.0 ? "slower"
                                           : "as fast");
}

static void speedup_table(assay__buffer *table, const assay_speedup *baseline,
                          const assay_speedup *const *sorted, size_t count)
{
    char number[ASSAY__CELL_BYTES];
    title(table, "SPEEDUP ANALYSIS", NULL);
    assay__buffer_printf(table, "Baseline: %s (%ss)\n", baseline->name,
                         assay__cell_number(number, baseline->time.value, 2, 12));
    assay__cell_rule(table, '-', WIDE);
    for (size_t i = 0; i < count; i++)
        if (sorted[i] != baseline)
            speedup_line(table, sorted[i]);
    assay__cell_rule(table, '=', WIDE);
}

assay_status assay_print_speedup_analysis(const assay_timers *timers, FILE *stream,
                                          const char *baseline, assay_error *error)
{
    size_t count = assay_timers_count(timers), base = 0;
    assay_speedup *ratios = calloc(count + 1, sizeof *ratios);
    const assay_speedup **sorted = calloc(count + 1, sizeof *sorted);
    assay_status status = ASSAY_E_MEMORY;
    if (ratios == NULL || sorted == NULL)
        goto cleanup;
    status = assay_speedup_ratios(timers, baseline, error, ratios, &base);
    if (status != ASSAY_OK)
        goto cleanup;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &ratios[i];
    qsort(sorted, count, sizeof *sorted, by_speed);
    assay__buffer table;
    assay__buffer_init(&table, ASSAY__TABLE_MAX_BYTES);
    speedup_table(&table, &ratios[base], sorted, count);
    status = assay__table_print(&table, stream);
cleanup:
    free(sorted);
    free(ratios);
    return status;
}

typedef struct phase {
    assay_timer timer;
    size_t place;
} phase;

static int by_time(const void *left, const void *right)
{
    const phase *a = left, *b = right;
    double difference = b->timer.time.value - a->timer.time.value;
    if (difference != 0.0)
        return difference > 0.0 ? 1 : -1;
    return a->place < b->place ? -1 : a->place > b->place;
}

assay_status assay__timers_print_breakdown(const assay_timers *timers, FILE *stream,
                                           const char *name)
{
    char percent[ASSAY__CELL_BYTES], label[ASSAY__LABEL_BYTES];
    size_t count = assay_timers_count(timers), known = 0;
    double total = assay_timers_total(timers);
    phase *phases = calloc(count + 1, sizeof *phases);
    if (phases == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        phases[known] = (phase){.timer = assay_timers_at(timers, i), .place = i};
        known += phases[known].timer.time.validity == ASSAY_VALID;
    }
    qsort(phases, known, sizeof *phases, by_time);
    assay__buffer table;
    assay__buffer_init(&table, ASSAY__TABLE_MAX_BYTES);
    assay__buffer_printf(&table, "%s - Detailed Breakdown:\n", assay__cell_label(label, name));
    assay__cell_rule(&table, '-', NARROW);
    for (size_t i = 0; i < known; i++) {
        double seconds = phases[i].timer.time.value;
        assay__cell_name(&table, phases[i].timer.name, "", 1, 22);
        assay__buffer_append_text(&table, ": ");
        assay__cell_seconds(&table, seconds, 2, 8);
        assay__buffer_printf(&table, " (%s)\n", assay__cell_percent(percent, seconds, total));
    }
    assay__cell_rule(&table, '-', NARROW);
    free(phases);
    return assay__table_print(&table, stream);
}

/* "SIREN                :  1.67x faster (1.62x … 1.72x)" */
static void append_speedup(assay__buffer *table, const char *name,
                           const assay_speedup_verdict *shown)
{
    char ratio[ASSAY__CELL_BYTES], low[ASSAY__CELL_BYTES], high[ASSAY__CELL_BYTES];
    const bool slower = shown->ratio.validity == ASSAY_VALID && shown->ratio.value < 1.0;
    assay__cell_name(table, name, "", 0, 21);
    if (shown->ratio.validity != ASSAY_VALID) {
        assay__buffer_append_text(table, ":   n/a");
        return;
    }
    assay__buffer_printf(
        table, ": %5sx %s",
        assay__cell_number(ratio, slower ? 1.0 / shown->ratio.value : shown->ratio.value, 2, 8),
        slower                     ? "slower"
        : shown->ratio.value > 1.0 ? "faster"
                                   : "as fast");
    if (shown->low.validity == ASSAY_VALID && shown->high.validity == ASSAY_VALID)
        assay__buffer_printf(
            table, " (%sx … %sx)",
            assay__cell_number(low, slower ? 1.0 / shown->high.value : shown->low.value, 3, 8),
            assay__cell_number(high, slower ? 1.0 / shown->low.value : shown->high.value, 3, 8));
}

assay_status assay_speedup_print(const assay_speedup_verdict *verdict, FILE *stream,
                                 const char *name)
{
    assay__buffer table;
    assay__buffer_init(&table, ASSAY__TABLE_MAX_BYTES);
    append_speedup(&table, name, verdict);
    assay__buffer_printf(&table, "\n  Verdict: %s", assay_verdict_text(verdict->verdict));
    if (verdict->reason[0] != '\0')
        assay__buffer_printf(&table, " (%s)", verdict->reason);
    assay__buffer_append_text(&table, "\n");
    return assay__table_print(&table, stream);
}

assay_status assay_timers_print_best(const assay_timers *timers, FILE *stream, const char *what)
{
    size_t best = 0;
    assay_status status = assay_timers_best(timers, &best);
    if (status != ASSAY_OK)
        return status;
    char label[ASSAY__LABEL_BYTES], seconds[ASSAY__CELL_BYTES];
    assay_timer timer = assay_timers_at(timers, best);
    assay__buffer line;
    assay__buffer_init(&line, ASSAY__TABLE_MAX_BYTES);
    assay__buffer_printf(&line, "Optimal %s: %s (%ss)\n", assay__cell_label(label, what),
                         timer.name, assay__cell_number(seconds, timer.time.value, 3, 15));
    return assay__table_print(&line, stream);
}
