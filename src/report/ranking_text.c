/* Ranks three or more subjects by their comparisons with the first subject.
 *
 * The verdict of a comparison distinguishes a subject from the first. Two other subjects are
 * distinguished if their decision intervals do not overlap and are separated by the margin. A wrong
 * order then needs a wrong interval, and the comparisons share the risk of one. This condition is
 * stricter than a comparison of the two subjects would be, but it needs no further comparisons. A
 * rank is one more than the number of subjects that are certainly better, so subjects that cannot
 * be distinguished may share a rank. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/record.h"
#include "base/text.h"
#include "record/metric.h"
#include "report/cell.h"
#include "report/export.h"
#include "report/format.h"

enum { LEAST_SUBJECTS = 3, NAME_WIDTH = 22 };

/* The ranking mentions memory only from this ratio on. */
static const double clear_ratio = 1.1;

/* One metric of a subject, relative to the first subject. */
typedef struct place {
    double ratio, low, high; /* NAN if not known */
    assay_verdict verdict;
    bool is_first;
} place;

typedef struct ranked {
    const char *name;
    place cost, memory;
} ranked;

static const char *metric_of(const assay_record_comparison *it)
{
    return it->metric != NULL ? it->metric : ASSAY__METRIC_WALL;
}

static place place_of(const assay_record_comparison *it)
{
    return (place){.ratio = assay__value_or_nan(it->ratio),
                   .low = assay__value_or_nan(it->decision_low),
                   .high = assay__value_or_nan(it->decision_high),
                   .verdict = it->verdict};
}

/* Whether the interval lies beyond the margin although there is no verdict. Something is then wrong
 * with the samples. */
static bool is_doubtful(const place *it, double margin)
{
    return it->verdict == ASSAY_VERDICT_INCONCLUSIVE &&
           !(it->low <= 1 + margin && it->high >= 1 - margin);
}

/* Whether `a` certainly costs less than `b`. */
static bool is_less(const place *a, const place *b, double margin)
{
    if (a->is_first)
        return b->verdict == ASSAY_VERDICT_SLOWER;
    if (b->is_first)
        return a->verdict == ASSAY_VERDICT_FASTER;
    if (is_doubtful(a, margin) || is_doubtful(b, margin) ||
        (a->verdict == ASSAY_VERDICT_INCONCLUSIVE && b->verdict == ASSAY_VERDICT_INCONCLUSIVE))
        return false;
    return a->high * (1 + margin) < b->low;
}

static bool is_same(const place *a, const place *b)
{
    return (a->is_first && b->verdict == ASSAY_VERDICT_SAME) ||
           (b->is_first && a->verdict == ASSAY_VERDICT_SAME);
}

/* Order by ratio; subjects without one come last. */
static int by_cost(const void *a, const void *b)
{
    double one = ((const ranked *)a)->cost.ratio, other = ((const ranked *)b)->cost.ratio;
    if (isnan(one) || isnan(other))
        return isnan(one) - isnan(other);
    return (one > other) - (one < other);
}

/* The leading metric of all comparisons with `first`. Wall time if they have different ones. */
static const char *common_metric(const assay_record *record, const char *first)
{
    const char *metric = NULL;
    for (size_t i = 0; i < record->comparison_count; i++) {
        const assay_record_comparison *it = &record->comparisons[i];
        if (it->beside || !assay__text_same(it->baseline, first))
            continue;
        if (metric != NULL && strcmp(metric, metric_of(it)) != 0)
            return ASSAY__METRIC_WALL;
        metric = metric_of(it);
    }
    return metric;
}

/* Collect the first subject and all subjects that were compared with it. Returns their number. */
static size_t gather(const assay_record *record, const char *first, const char *metric, ranked *all)
{
    const place one = {1, 1, 1, ASSAY_VERDICT_SAME, true};
    const place none = {NAN, NAN, NAN, ASSAY_VERDICT_INCONCLUSIVE, false};
    size_t count = 1;
    all[0] = (ranked){first, one, one};
    for (size_t i = 0; i < record->comparison_count; i++) {
        const assay_record_comparison *it = &record->comparisons[i];
        if (assay__text_same(it->baseline, first) && strcmp(metric_of(it), metric) == 0)
            all[count++] = (ranked){it->candidate, place_of(it), none};
    }
    for (size_t i = 0; i < record->comparison_count; i++) {
        const assay_record_comparison *it = &record->comparisons[i];
        if (!assay__text_same(it->baseline, first) ||
            strcmp(metric_of(it), ASSAY__METRIC_PEAK_RSS) != 0)
            continue;
        for (size_t k = 1; k < count; k++)
            if (assay__text_same(all[k].name, it->candidate))
                all[k].memory = place_of(it);
    }
    return count;
}

/* "1.30", "12.3", "1234" */
static const char *times(double ratio, char text[ASSAY__CELL_BYTES])
{
    return assay__cell_fixed(text, ratio, ratio < 9.995 ? 2 : ratio < 99.95 ? 1 : 0);
}

static void print_memory(const ranked *it, const ranked *next, double margin, FILE *stream)
{
    char text[ASSAY__CELL_BYTES];
    double ratio = it->memory.ratio / next->memory.ratio;
    bool apart =
        is_less(&it->memory, &next->memory, margin) || is_less(&next->memory, &it->memory, margin);
    if (apart && fabs(log(ratio)) >= log(clear_ratio))
        fprintf(stream, ", %s × its peak memory", times(ratio, text));
}

static void print_step(const ranked *it, const ranked *next, const char *metric, double margin,
                       FILE *stream)
{
    char text[ASSAY__CELL_BYTES];
    bool is_time =
        strcmp(metric, ASSAY__METRIC_WALL) == 0 || strcmp(metric, ASSAY__METRIC_CPU) == 0;
    if (is_less(&it->cost, &next->cost, margin) && is_time)
        fprintf(stream, " %s × as fast as the next",
                times(next->cost.ratio / it->cost.ratio, text));
    else if (is_less(&it->cost, &next->cost, margin))
        fprintf(stream, " %s × as much as the next",
                times(it->cost.ratio / next->cost.ratio, text));
    else if (is_same(&it->cost, &next->cost))
        fprintf(stream, " the same as the next");
    else
        fprintf(stream, " not told apart from the next");
    if (is_time)
        print_memory(it, next, margin, stream);
}

static void print_ranks(const assay_record *record, const ranked *all, size_t count,
                        const char *metric, double margin, FILE *stream)
{
    const size_t width = assay__format_name_width(stream, NAME_WIDTH);
    char text[ASSAY__SUBJECT_LABEL];
    fprintf(stream, "\nranking by %s, the least first:\n", assay__metric_name(metric));
    for (size_t i = 0; i < count; i++) {
        const char *name = assay__subject_label(record, all[i].name, text);
        size_t rank = 1;
        bool known = !isnan(all[i].cost.ratio);
        for (size_t k = 0; k < i; k++)
            rank += is_less(&all[k].cost, &all[i].cost, margin);
        if (known)
            fprintf(stream, "%3zu. ", rank);
        else
            fputs("  –  ", stream);
        if (!known || i + 1 == count || isnan(all[i + 1].cost.ratio)) {
            assay__format_cut(stream, name, width);
        } else {
            assay__format_ends(stream, name, width);
            print_step(&all[i], &all[i + 1], metric, margin, stream);
        }
        fputc('\n', stream);
    }
}

/* Whether the baseline of this comparison is the first of a group: it is no candidate itself, and
 * no earlier comparison has it as baseline. */
static bool leads_group(const assay_record *record, size_t index)
{
    const char *first = record->comparisons[index].baseline;
    for (size_t i = 0; i < record->comparison_count; i++)
        if (assay__text_same(record->comparisons[i].candidate, first) ||
            (i < index && assay__text_same(record->comparisons[i].baseline, first)))
            return false;
    return true;
}

assay_status assay__report_ranking(const assay_record *record, FILE *stream, assay_error *error)
{
    (void)error;
    ranked *all = calloc(record->comparison_count + 1, sizeof *all);
    if (all == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < record->comparison_count; i++) {
        const char *first = record->comparisons[i].baseline;
        const char *metric = leads_group(record, i) ? common_metric(record, first) : NULL;
        size_t count = metric != NULL ? gather(record, first, metric, all) : 0;
        if (count < LEAST_SUBJECTS)
            continue;
        qsort(all, count, sizeof *all, by_cost);
        print_ranks(record, all, count, metric, record->comparisons[i].margin, stream);
    }
    free(all);
    return ASSAY_OK;
}
