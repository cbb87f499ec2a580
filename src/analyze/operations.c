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

int32_t assay__operation_parent(const void *operations, size_t index)
{
    int32_t parent = ((const assay_record_operation *)operations)[index].parent;
    return parent >= 0 && (size_t)parent < index ? parent : -1;
}

static int more_expensive_first(const void *left, const void *right, void *operations)
{
    const assay__tree_node *a = left, *b = right;
    double spent = ((const assay_record_operation *)operations)[a->index].total_seconds;
    double other = ((const assay_record_operation *)operations)[b->index].total_seconds;
    if (spent != other)
        return spent > other ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

assay_status assay__operations_order(const assay_record *record, bool most_expensive_first,
                                     assay__tree_node **nodes, size_t *count)
{
    return assay__tree_order(record->operation_count, assay__operation_parent,
                             most_expensive_first ? more_expensive_first : NULL, record->operations,
                             nodes, count);
}

/* What filling a row takes beside the row. */
typedef struct tally {
    double span_seconds; /* over all spans, recursion included: for the mean */
    uint32_t open;       /* spans of this name around the place visited */
    bool at_top;
    double rest; /* sum of the individually recorded spans after the first */
    uint64_t recorded;
} tally;

static void add_recorded_span(assay__operation_row *row, tally *beside, double seconds)
{
    if (beside->recorded++ == 0)
        row->first_seconds = assay_reading_of(seconds);
    else
        beside->rest += seconds;
}

static void add_extremes(assay__operation_row *row, assay_reading low, assay_reading high)
{
    if (low.validity != ASSAY_VALID || high.validity != ASSAY_VALID)
        return;
    bool first = row->min_seconds.validity != ASSAY_VALID;
    row->min_seconds = first ? low : assay_reading_of(fmin(row->min_seconds.value, low.value));
    row->max_seconds = first ? high : assay_reading_of(fmax(row->max_seconds.value, high.value));
}

static void add_operation(assay__operation_row *row, tally *beside, const assay_record *record,
                          size_t index)
{
    const assay_record_operation *operation = &record->operations[index];
    row->count += operation->count;
    row->self_seconds += operation->self_seconds;
    beside->span_seconds += operation->total_seconds;
    add_extremes(row, operation->min_seconds, operation->max_seconds);
    if (beside->open > 0)
        return;
    row->total_seconds += operation->total_seconds;
    int32_t parent = assay__operation_parent(record->operations, index);
    if (parent >= 0)
        row->enclosing_seconds += record->operations[parent].total_seconds;
    else if (!beside->at_top)
        row->enclosing_seconds += record->total_seconds;
    beside->at_top |= parent < 0;
}

static void add_metric(assay__operation_row *row, tally *beside, const assay_record *record,
                       const assay_record_metric *metric, bool known_operation)
{
    add_recorded_span(row, beside, metric->duration_seconds);
    if (known_operation)
        return;
    assay_reading duration = assay_reading_of(metric->duration_seconds);
    row->count++;
    row->total_seconds += metric->duration_seconds;
    row->self_seconds += metric->duration_seconds;
    row->enclosing_seconds = record->total_seconds;
    beside->span_seconds += metric->duration_seconds;
    add_extremes(row, duration, duration);
}

/* Visit the call tree; `path` holds the groups around the place visited. */
static void add_tree(assay__operation_row *rows, tally *beside, const assay_record *record,
                     const assay__name_groups *groups, const assay__tree_node *nodes, size_t count,
                     uint32_t *path)
{
    uint32_t depth = 0;
    for (size_t i = 0; i < count; i++) {
        while (depth > nodes[i].depth)
            beside[path[--depth]].open--;
        uint32_t group = groups->group_of[nodes[i].index];
        add_operation(&rows[group], &beside[group], record, nodes[i].index);
        beside[group].open++;
        path[depth++] = group;
    }
}

static void add_samples(assay__operation_row *rows, tally *beside, const assay_record *record,
                        const assay__name_groups *groups)
{
    for (size_t i = 0; i < record->operation_count; i++) {
        const assay_record_operation *operation = &record->operations[i];
        uint32_t group = groups->group_of[i];
        if (beside[group].recorded > 0)
            continue;
        for (size_t k = 0; k < operation->sample_count; k++)
            add_recorded_span(&rows[group], &beside[group], operation->samples_seconds[k]);
    }
}

static void finish_row(assay__operation_row *row, const tally *beside)
{
    if (row->count > 0)
        row->mean_seconds = assay_reading_of(beside->span_seconds / (double)row->count);
    if (beside->recorded > 1)
        row->rest_seconds = assay_reading_of(beside->rest / (double)(beside->recorded - 1));
}

assay_status assay__operation_rows(const assay_record *record, assay__operation_row **rows,
                                   size_t *count)
{
    const assay_reading unknown = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    assay__name_groups groups = {0};
    assay__tree_node *nodes = NULL;
    tally *beside = NULL;
    uint32_t *path = NULL;
    assay__operation_row *made = NULL;
    size_t node_count = 0, operations = record->operation_count;
    *rows = NULL;
    *count = 0;
    assay_status status = assay__name_groups_init(&groups, record);
    if (status == ASSAY_OK)
        status = assay__operations_order(record, false, &nodes, &node_count);
    if (status != ASSAY_OK || groups.count == 0)
        goto cleanup;
    status = ASSAY_E_MEMORY;
    beside = calloc(groups.count, sizeof *beside);
    path = malloc((operations + 1) * sizeof *path);
    made = malloc(groups.count * sizeof *made);
    if (beside == NULL || path == NULL || made == NULL)
        goto cleanup;
    for (size_t i = 0; i < groups.count; i++)
        made[i] = (assay__operation_row){.name = name_of(record, groups.first[i]),
                                         .mean_seconds = unknown,
                                         .min_seconds = unknown,
                                         .max_seconds = unknown,
                                         .first_seconds = unknown,
                                         .rest_seconds = unknown};
    add_tree(made, beside, record, &groups, nodes, node_count, path);
    for (size_t i = 0; i < record->metric_count; i++) {
        uint32_t group = groups.group_of[operations + i];
        add_metric(&made[group], &beside[group], record, &record->metrics[i],
                   groups.first[group] < operations);
    }
    add_samples(made, beside, record, &groups);
    for (size_t i = 0; i < groups.count; i++)
        finish_row(&made[i], &beside[i]);
    *rows = made;
    *count = groups.count;
    made = NULL;
    status = ASSAY_OK;
cleanup:
    free(made);
    free(path);
    free(beside);
    free(nodes);
    assay__name_groups_release(&groups);
    return status;
}

assay_reading assay_operation_seconds(const assay_record *record, const char *name)
{
    assay__operation_row *rows = NULL;
    size_t count = 0;
    assay_reading seconds = assay_reading_missing(ASSAY_NOT_MEASURED);
    if (assay__operation_rows(record, &rows, &count) != ASSAY_OK)
        return seconds;
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0)
            seconds = assay_reading_of(rows[i].total_seconds);
    free(rows);
    return seconds;
}
