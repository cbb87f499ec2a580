/* Prints a benchmark as text, 80 columns wide: each subject with its interval and the reason why
 * sampling stopped, then the comparisons and the ranking. Other tools write no interval, and some
 * no mean. Figures that a record lacks are computed from its samples, as for every export. */
#include <inttypes.h>
#include <string.h>

#include "assay/record.h"
#include "base/error.h"
#include "report/cell.h"
#include "report/export.h"
#include "report/format.h"

enum { LABEL_WIDTH = 18 };

static const struct {
    const char *word, *meaning;
} ends[] = {{"precision", "precise enough"},   {"verdict", "enough for a verdict"},
            {"budget", "the budget is spent"}, {"noise", "too noisy for the precision asked"},
            {"count", "as many as asked"},     {"interrupted", "interrupted"}};

static void label(FILE *stream, const char *text)
{
    fputs("  ", stream);
    assay__format_left(stream, text, LABEL_WIDTH - 2);
}

static bool valid(assay_reading reading)
{
    return reading.validity == ASSAY_VALID;
}

static void print_mean(const assay__export_item *item, FILE *stream)
{
    char mean[ASSAY__FORMAT_SIZE], low[ASSAY__FORMAT_SIZE], high[ASSAY__FORMAT_SIZE];
    label(stream, "mean");
    fputs(assay__format_reading_seconds(item->mean_seconds, mean), stream);
    if (valid(item->mean_seconds) && valid(item->low_seconds) && valid(item->high_seconds) &&
        item->mean_seconds.value > 0) {
        double half = (item->high_seconds.value - item->low_seconds.value) / 2;
        fprintf(stream, " ± %s %% (95 %%: %s … %s)",
                assay__cell_fixed(mean, 100 * half / item->mean_seconds.value, 2),
                assay__format_reading_seconds(item->low_seconds, low),
                assay__format_reading_seconds(item->high_seconds, high));
    }
    fputc('\n', stream);
}

static void print_spread(const assay__export_item *item, FILE *stream)
{
    char min[ASSAY__FORMAT_SIZE], median[ASSAY__FORMAT_SIZE], max[ASSAY__FORMAT_SIZE];
    if (!valid(item->min_seconds) && !valid(item->max_seconds))
        return;
    label(stream, "range");
    fprintf(stream, "%s … %s, median %s\n", assay__format_reading_seconds(item->min_seconds, min),
            assay__format_reading_seconds(item->max_seconds, max),
            assay__format_reading_seconds(item->median_seconds, median));
}

/* Warnings about the mean: a slow mode, and times that have no steady level. */
static void print_caveats(const assay__export_item *item, FILE *stream)
{
    char share[ASSAY__CELL_BYTES], ratio[ASSAY__CELL_BYTES];
    if (item->slow_samples > 0 && valid(item->slow_ratio) && item->count > 0) {
        label(stream, item->subject->command_count > 0 ? "slow runs" : "slow samples");
        fprintf(stream, "%" PRIu64 " (%s %%) took %s times as long as the others\n",
                item->slow_samples,
                assay__cell_fixed(share, 100 * (double)item->slow_samples / (double)item->count, 1),
                assay__cell_fixed(ratio, item->slow_ratio.value, 2));
    }
    if (item->doubt != NULL) {
        label(stream, "in doubt");
        fprintf(stream, "%s\n", item->doubt);
    }
}

static void print_usage(const assay_record_subject *subject, FILE *stream)
{
    char user[ASSAY__FORMAT_SIZE], sys[ASSAY__FORMAT_SIZE];
    if (valid(subject->user_seconds) || valid(subject->sys_seconds)) {
        label(stream, "processor time");
        fprintf(stream, "%s user, %s system\n",
                assay__format_reading_seconds(subject->user_seconds, user),
                assay__format_reading_seconds(subject->sys_seconds, sys));
    }
    if (valid(subject->peak_rss_bytes)) {
        label(stream, "peak memory");
        fprintf(stream, "%s\n", assay__format_reading_bytes(subject->peak_rss_bytes, user));
    }
}

static void print_energy(const assay_record *record, const assay_record_subject *subject,
                         FILE *stream)
{
    char of[ASSAY__LABEL_BYTES];
    const assay_reading joules = subject->energy_joules;
    const double low = subject->energy_joules_low.value, high = subject->energy_joules_high.value;
    if (joules.validity == ASSAY_NOT_MEASURED)
        return;
    label(stream, "energy");
    if (!valid(subject->energy_joules_high))
        fprintf(stream, "unavailable: %s\n", assay_validity_text(joules.validity));
    else if (valid(joules))
        fprintf(stream, "%.4g J (%.4g to %.4g) of the %s\n", joules.value, low, high,
                assay__cell_energy_of(of, record));
    else
        fprintf(stream, "%.4g to %.4g J of the %s; too short for a figure\n", low, high,
                assay__cell_energy_of(of, record));
}

static const char *meaning_of(const char *word)
{
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strcmp(ends[i].word, word) == 0)
            return ends[i].meaning;
    return word;
}

static void print_samples(const assay_record_subject *subject, FILE *stream)
{
    char count[ASSAY__FORMAT_SIZE];
    label(stream, subject->command_count > 0 ? "runs" : "samples");
    fputs(assay__format_count(subject->sample_count, count), stream);
    if (subject->iterations > 1)
        fprintf(stream, " of %s iterations", assay__format_count(subject->iterations, count));
    if (subject->stopped != NULL)
        fprintf(stream, "; %s", meaning_of(subject->stopped));
    fputc('\n', stream);
    if (subject->warmup_samples > 0 || subject->rejected_samples > 0) {
        label(stream, "left out");
        fprintf(stream, "%" PRIu64 " warming up, %" PRIu64 " in disturbed rounds\n",
                subject->warmup_samples, subject->rejected_samples);
    }
    if (subject->disturbed_samples > 0 && subject->rejected_samples == 0) {
        label(stream, "disturbed");
        fprintf(stream, "%" PRIu64 ", too many to leave out\n", subject->disturbed_samples);
    }
    if (subject->throttled_samples > 0) {
        label(stream, "throttled");
        fprintf(stream, "%" PRIu64 ": a GPU ran slower (%s)\n", subject->throttled_samples,
                subject->throttle != NULL ? subject->throttle : "reason not known");
    }
    if (subject->failed_runs > 0) {
        label(stream, "failed");
        fprintf(stream, "%" PRIu64 " run%s%s\n", subject->failed_runs,
                subject->failed_runs == 1 ? "" : "s",
                subject->failures_timed ? ", timed all the same" : "");
    }
}

static void print_subject(const assay_record *record, const assay__export_item *item, FILE *stream)
{
    fputs(assay__terminal_shade(stream, ASSAY__SHADE_TITLE), stream);
    assay__format_line(stream, item->name, 0);
    fputs(assay__terminal_shade(stream, ASSAY__SHADE_PLAIN), stream);
    fputc('\n', stream);
    print_mean(item, stream);
    print_spread(item, stream);
    print_caveats(item, stream);
    print_usage(item->subject, stream);
    print_energy(record, item->subject, stream);
    print_samples(item->subject, stream);
}

assay_status assay__report_bench(const assay_record *record, const assay_record *above,
                                 FILE *stream, assay_error *error)
{
    if (record->name != NULL) {
        assay__format_line(stream, record->name, 0);
        fputs("\n\n", stream);
    }
    assay__export_list list;
    assay_status status = assay__export_list_init(&list, &record, 1);
    for (size_t i = 0; i < list.item_count && status == ASSAY_OK; i++) {
        if (i > 0)
            fputc('\n', stream);
        print_subject(record, &list.items[i], stream);
    }
    assay__export_list_release(&list);
    if (status != ASSAY_OK)
        return assay__fail(error, status, "cannot show the record: %s",
                           assay_status_message(status));
    if (record->comparison_count == 0)
        return ASSAY_OK;
    fputc('\n', stream);
    status = assay__report_comparisons(record, above, stream, error);
    return status == ASSAY_OK ? assay__report_ranking(record, stream, error) : status;
}
