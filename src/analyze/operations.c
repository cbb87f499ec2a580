/* Operations of a record merged by name.
 *
 * Names are grouped by sorting, not by comparing each with each: a foreign record may hold millions
 * of them. One walk over the call tree with a counter of open spans for each name finds recursion,
 * whose inner spans are already part of the outer one's time. */
#include "analyze/operations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/analyze.h"

typedef struct named_item {
    const char *name;
    uint32_t item;
} named_item;

static const char *name_of(const assay_record *record, size_t item)
{
    size_t operations = record->operation_count;
    const char *name = item < operations ? record->operations[item].name
                                         : record->metrics[item - operations].operation;
    return name != NULL ? name : "(unnamed)";
}

static int compare_named_items(const void *left, const void *right)
{
    const named_item *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : (a->item > b->item) - (a->item < b->item);
}

/* Number the runs of equal names; a run's smallest item is its group's first. */
static size_t number_runs(const named_item *sorted, size_t count, assay__name_groups *groups)
{
    size_t runs = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(sorted[i - 1].name, sorted[i].name) != 0)
            groups->first[runs++] = sorted[i].item;
        groups->group_of[sorted[i].item] = groups->first[runs - 1];
    }
    return runs;
}

/* group_of holds each item's first item; turn that into numbers in order of appearance. */
static void renumber(assay__name_groups *groups, size_t items)
{
    uint32_t next = 0;
    for (size_t i = 0; i < items; i++) {
        uint32_t first = groups->group_of[i];
        if (first == i) {
            groups->first[next] = first;
            groups->group_of[i] = next++;
        } else {
            groups->group_of[i] = groups->group_of[first];
        }
    }
}

assay_status assay__name_groups_init(assay__name_groups *groups, const assay_record *record)
{
    size_t items = record->operation_count + record->metric_count;
    *groups = (assay__name_groups){0};
    if (items == 0)
        return ASSAY_OK;
    if (items >= UINT32_MAX)
        return ASSAY_E_LIMIT;
    named_item *sorted = malloc(items * sizeof *sorted);
    groups->group_of = malloc(items * sizeof *groups->group_of);
    groups->first = malloc(items * sizeof *groups->first);
    if (sorted == NULL || groups->group_of == NULL || groups->first == NULL) {
        free(sorted);
        assay__name_groups_release(groups);
        return ASSAY_E_MEMORY;
    }
    for (size_t i = 0; i < items; i++)
        sorted[i] = (named_item){.name = name_of(record, i), .item = (uint32_t)i};
    qsort(sorted, items, sizeof *sorted, compare_named_items);
    groups->count = number_runs(sorted, items, groups);
    renumber(groups, items);
    free(sorted);
    return ASSAY_OK;
}

void assay__name_groups_release(assay__name_groups *groups)
{
    free(groups->group_of);
    free(groups->first);
    *groups = (assay__name_groups){0};
}

static int32_t parent_of_operation(const void *items, size_t index)
{
    return ((const assay_record_operation *)items)[index].parent;
}

assay_status assay__operations_order(const assay_record *record, assay__tree_node **nodes,
                                     size_t *count)
{
    return assay__tree_order(record->operation_count, parent_of_operation, record->operations,
                             nodes, count);
}

/* What one group collects on the way to its summary. */
typedef struct tally {
    assay_operation_summary summary;
    double span_seconds; /* over all spans, recursion included: for the mean */
    double low, high;
    uint64_t bounded; /* operations that knew their extremes */
    uint32_t open;    /* spans of this name around the place visited */
    bool at_top;
    double first, rest; /* individually recorded spans: the first, the sum of the others */
    uint64_t recorded;
} tally;

static void add_recorded_span(tally *sum, double seconds)
{
    if (sum->recorded++ == 0)
        sum->first = seconds;
    else
        sum->rest += seconds;
}

static void add_extremes(tally *sum, assay_reading low, assay_reading high)
{
    if (low.validity != ASSAY_VALID || high.validity != ASSAY_VALID)
        return;
    sum->low = sum->bounded == 0 ? low.value : fmin(sum->low, low.value);
    sum->high = sum->bounded == 0 ? high.value : fmax(sum->high, high.value);
    sum->bounded++;
}

static void add_operation(tally *sum, const assay_record *record,
                          const assay_record_operation *operation)
{
    assay_operation_summary *summary = &sum->summary;
    summary->count += operation->count;
    summary->self_seconds += operation->self_seconds;
    sum->span_seconds += operation->total_seconds;
    add_extremes(sum, operation->min_seconds, operation->max_seconds);
    if (sum->open > 0)
        return;
    summary->total_seconds += operation->total_seconds;
    bool nested = operation->parent >= 0 && (size_t)operation->parent < record->operation_count;
    if (nested)
        summary->enclosing_seconds += record->operations[operation->parent].total_seconds;
    else if (!sum->at_top)
        summary->enclosing_seconds += record->total_seconds;
    sum->at_top |= !nested;
}

static void add_metric(tally *sum, const assay_record *record, const assay_record_metric *metric,
                       bool known_operation)
{
    add_recorded_span(sum, metric->duration_seconds);
    if (known_operation)
        return;
    assay_reading duration = assay_reading_of(metric->duration_seconds);
    sum->summary.count++;
    sum->summary.total_seconds += metric->duration_seconds;
    sum->summary.self_seconds += metric->duration_seconds;
    sum->summary.enclosing_seconds = record->total_seconds;
    sum->span_seconds += metric->duration_seconds;
    add_extremes(sum, duration, duration);
}

/* Visit the call tree; `path` holds the groups around the place visited. */
static void add_tree(tally *sums, const assay_record *record, const assay__name_groups *groups,
                     const assay__tree_node *nodes, size_t count, uint32_t *path)
{
    uint32_t depth = 0;
    for (size_t i = 0; i < count; i++) {
        while (depth > nodes[i].depth)
            sums[path[--depth]].open--;
        uint32_t group = groups->group_of[nodes[i].index];
        add_operation(&sums[group], record, &record->operations[nodes[i].index]);
        sums[group].open++;
        path[depth++] = group;
    }
}

static void add_samples(tally *sums, const assay_record *record, const assay__name_groups *groups)
{
    for (size_t i = 0; i < record->operation_count; i++) {
        const assay_record_operation *operation = &record->operations[i];
        tally *sum = &sums[groups->group_of[i]];
        if (sum->recorded > 0)
            continue;
        for (size_t k = 0; k < operation->sample_count; k++)
            add_recorded_span(sum, operation->samples_seconds[k]);
    }
}

static assay_operation_summary conclude(const tally *sum, const char *name)
{
    const assay_reading unknown = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    assay_operation_summary summary = sum->summary;
    bool compared = sum->recorded > 1;
    summary.name = name;
    summary.mean_seconds =
        summary.count > 0 ? assay_reading_of(sum->span_seconds / (double)summary.count) : unknown;
    summary.min_seconds = sum->bounded > 0 ? assay_reading_of(sum->low) : unknown;
    summary.max_seconds = sum->bounded > 0 ? assay_reading_of(sum->high) : unknown;
    summary.first_seconds = sum->recorded > 0 ? assay_reading_of(sum->first) : unknown;
    summary.rest_seconds =
        compared ? assay_reading_of(sum->rest / (double)(sum->recorded - 1)) : unknown;
    return summary;
}

assay_status assay_operations_summarize(const assay_record *record,
                                        assay_operation_summary **summaries, size_t *count)
{
    assay__name_groups groups = {0};
    assay__tree_node *nodes = NULL;
    tally *sums = NULL;
    uint32_t *path = NULL;
    assay_operation_summary *result = NULL;
    size_t node_count = 0, operations = record->operation_count;
    *summaries = NULL;
    *count = 0;
    assay_status status = assay__name_groups_init(&groups, record);
    if (status == ASSAY_OK)
        status = assay__operations_order(record, &nodes, &node_count);
    if (status != ASSAY_OK || groups.count == 0)
        goto cleanup;
    status = ASSAY_E_MEMORY;
    sums = calloc(groups.count, sizeof *sums);
    path = malloc((operations + 1) * sizeof *path);
    result = malloc(groups.count * sizeof *result);
    if (sums == NULL || path == NULL || result == NULL)
        goto cleanup;
    add_tree(sums, record, &groups, nodes, node_count, path);
    for (size_t i = 0; i < record->metric_count; i++) {
        uint32_t group = groups.group_of[operations + i];
        add_metric(&sums[group], record, &record->metrics[i], groups.first[group] < operations);
    }
    add_samples(sums, record, &groups);
    for (size_t i = 0; i < groups.count; i++)
        result[i] = conclude(&sums[i], name_of(record, groups.first[i]));
    *summaries = result;
    *count = groups.count;
    result = NULL;
    status = ASSAY_OK;
cleanup:
    free(result);
    free(path);
    free(sums);
    free(nodes);
    assay__name_groups_release(&groups);
    return status;
}

assay_reading assay_operation_seconds(const assay_record *record, const char *name)
{
    assay_operation_summary *summaries = NULL;
    size_t count = 0;
    assay_reading seconds = assay_reading_missing(ASSAY_NOT_MEASURED);
    if (assay_operations_summarize(record, &summaries, &count) != ASSAY_OK)
        return seconds;
    for (size_t i = 0; i < count; i++)
        if (strcmp(summaries[i].name, name) == 0)
            seconds = assay_reading_of(summaries[i].total_seconds);
    free(summaries);
    return seconds;
}
