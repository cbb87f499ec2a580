/* Merges the operations of a record by name.
 *
 * One walk over the call tree counts, for each name, the operations of that name around the current
 * one. So it finds recursion, where the time of the inner spans is already part of the outer one's
 * time. */
#include "analyze/operations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/record.h"
#include "base/name_index.h"

/* Items 0…operation_count-1 are the record's operations; the items after them are its metrics. */
static const char *name_of(const assay_record *record, size_t item)
{
    size_t operations = record->operation_count;
    const char *name = item < operations ? record->operations[item].name
                                         : record->metrics[item - operations].operation;
    return name != NULL ? name : "(unnamed)";
}

int32_t assay__operation_parent(const void *operations, size_t index)
{
    int32_t parent = ((const assay_record_operation *)operations)[index].parent;
    return parent >= 0 && (size_t)parent < index ? parent : -1;
}

int32_t *assay__operation_depths(const assay_record *record)
{
    int32_t *depths = malloc((record->operation_count + 1) * sizeof *depths);
    for (size_t i = 0; depths != NULL && i < record->operation_count; i++) {
        int32_t parent = assay__operation_parent(record->operations, i);
        depths[i] = parent >= 0 ? depths[parent] + 1 : 0;
    }
    return depths;
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

/* Intermediate sums of a row. */
typedef struct tally {
    double span_seconds; /* over all spans, recursion included, for the mean */
    uint32_t open;       /* operations of this name around the current one */
    bool at_top;
    double rest; /* sum of the recorded single spans after the first */
    uint64_t recorded;
} tally;

typedef struct builder {
    const assay_record *record;
    uint32_t *row_of; /* for each item; items of one name share a row */
    assay__operation_row *rows;
    tally *tallies;
    size_t count;            /* number of rows */
    size_t operation_rows;   /* rows from here on have metrics only */
    assay__tree_node *nodes; /* the operations in the order of the call tree */
    size_t node_count;
} builder;

static void add_recorded_span(builder *b, uint32_t row, double seconds)
{
    if (b->tallies[row].recorded++ == 0)
        b->rows[row].first_seconds = assay_reading_of(seconds);
    else
        b->tallies[row].rest += seconds;
}

static void add_extremes(assay__operation_row *row, assay_reading low, assay_reading high)
{
    if (low.validity != ASSAY_VALID || high.validity != ASSAY_VALID)
        return;
    bool first = row->min_seconds.validity != ASSAY_VALID;
    row->min_seconds = first ? low : assay_reading_of(fmin(row->min_seconds.value, low.value));
    row->max_seconds = first ? high : assay_reading_of(fmax(row->max_seconds.value, high.value));
}

static void add_operation(builder *b, uint32_t index)
{
    const assay_record_operation *operations = b->record->operations, *it = &operations[index];
    assay__operation_row *row = &b->rows[b->row_of[index]];
    tally *beside = &b->tallies[b->row_of[index]];
    row->count += it->count;
    row->self_seconds += it->self_seconds;
    beside->span_seconds += it->total_seconds;
    add_extremes(row, it->min_seconds, it->max_seconds);
    if (beside->open > 0)
        return;
    row->total_seconds += it->total_seconds;
    int32_t parent = assay__operation_parent(operations, index);
    if (parent >= 0)
        row->enclosing_seconds += operations[parent].total_seconds;
    else if (!beside->at_top)
        row->enclosing_seconds += b->record->total_seconds;
    beside->at_top |= parent < 0;
}

/* Visit the call tree. `path` holds the rows of the operations around the current one. */
static void add_tree(builder *b, uint32_t *path)
{
    uint32_t depth = 0;
    for (size_t i = 0; i < b->node_count; i++) {
        while (depth > b->nodes[i].depth)
            b->tallies[path[--depth]].open--;
        add_operation(b, b->nodes[i].index);
        path[depth] = b->row_of[b->nodes[i].index];
        b->tallies[path[depth++]].open++;
    }
}

static void add_metric(builder *b, size_t index)
{
    double seconds = b->record->metrics[index].duration_seconds;
    uint32_t at = b->row_of[b->record->operation_count + index];
    add_recorded_span(b, at, seconds);
    if (at < b->operation_rows)
        return;
    assay__operation_row *row = &b->rows[at];
    row->count++;
    row->total_seconds += seconds;
    row->self_seconds += seconds;
    row->enclosing_seconds = b->record->total_seconds;
    b->tallies[at].span_seconds += seconds;
    add_extremes(row, assay_reading_of(seconds), assay_reading_of(seconds));
}

/* Add the samples of an operation, if its name has no metrics. */
static void add_samples(builder *b, size_t index)
{
    const assay_record_operation *operation = &b->record->operations[index];
    if (b->tallies[b->row_of[index]].recorded > 0)
        return;
    for (size_t k = 0; k < operation->sample_count; k++)
        add_recorded_span(b, b->row_of[index], operation->samples_seconds[k]);
}

/* Number the names in order of appearance. */
static assay_status number_names(builder *b)
{
    size_t items = b->record->operation_count + b->record->metric_count;
    assay__name_index names = {0};
    assay_status status = ASSAY_OK;
    if (items >= INT32_MAX)
        return ASSAY_E_LIMIT;
    b->row_of = malloc((items + 1) * sizeof *b->row_of);
    if (b->row_of == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; status == ASSAY_OK && i < items; i++) {
        const char *name = name_of(b->record, i);
        int32_t row = assay__name_index_find(&names, -1, name);
        if (row < 0) {
            row = (int32_t)names.used;
            status = assay__name_index_add(&names, -1, name, row);
        }
        b->row_of[i] = (uint32_t)row;
        if (i < b->record->operation_count)
            b->operation_rows = names.used;
    }
    b->count = names.used;
    assay__name_index_release(&names);
    return status;
}

static assay_status make_rows(builder *b)
{
    const assay_reading unknown = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    b->rows = malloc(b->count * sizeof *b->rows);
    b->tallies = calloc(b->count, sizeof *b->tallies);
    if (b->rows == NULL || b->tallies == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < b->count; i++)
        b->rows[i] = (assay__operation_row){.mean_seconds = unknown,
                                            .min_seconds = unknown,
                                            .max_seconds = unknown,
                                            .first_seconds = unknown,
                                            .rest_seconds = unknown};
    for (size_t i = 0; i < b->record->operation_count + b->record->metric_count; i++)
        b->rows[b->row_of[i]].name = name_of(b->record, i);
    return ASSAY_OK;
}

static assay_status fill_rows(builder *b)
{
    const assay_record *record = b->record;
    uint32_t *path = malloc((record->operation_count + 1) * sizeof *path);
    if (path == NULL)
        return ASSAY_E_MEMORY;
    add_tree(b, path);
    free(path);
    for (size_t i = 0; i < record->metric_count; i++)
        add_metric(b, i);
    for (size_t i = 0; i < record->operation_count; i++)
        add_samples(b, i);
    for (size_t i = 0; i < b->count; i++) {
        const tally *beside = &b->tallies[i];
        double others = (double)beside->recorded - 1, spans = (double)b->rows[i].count;
        if (b->rows[i].count > 0)
            b->rows[i].mean_seconds = assay_reading_of(beside->span_seconds / spans);
        if (beside->recorded > 1)
            b->rows[i].rest_seconds = assay_reading_of(beside->rest / others);
    }
    return ASSAY_OK;
}

assay_status assay__operation_rows(const assay_record *record, assay__operation_row **rows,
                                   size_t *count)
{
    builder b = {.record = record};
    *rows = NULL;
    *count = 0;
    assay_status status = number_names(&b);
    if (status == ASSAY_OK && b.count > 0)
        status = make_rows(&b);
    if (status == ASSAY_OK)
        status = assay__operations_order(record, false, &b.nodes, &b.node_count);
    if (status == ASSAY_OK)
        status = fill_rows(&b);
    if (status == ASSAY_OK) {
        *rows = b.rows;
        *count = b.count;
        b.rows = NULL;
    }
    free(b.rows);
    free(b.row_of);
    free(b.tallies);
    free(b.nodes);
    return status;
}

assay_reading assay__operation_seconds(const assay_record *record, const char *name)
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
