/* Makes the rows of the performance summary. Metrics are individually recorded spans, and so they
 * are spans of operations too. An operation whose spans are all metrics gets no row of its own. A
 * metric identifies its operation only by name and depth; if several operations have both, the
 * first is taken.
 *
 * The rows become items of a forest, first the metrics, then the operations. assay__tree_order then
 * puts siblings into the order of the items, and each item below its parent. */
#include "report/performance_rows.h"

#include <stdbool.h>
#include <stdlib.h>

#include "analyze/operations.h"
#include "assay/record_build.h"
#include "base/name_index.h"

typedef struct item {
    int32_t parent;           /* item; -1 at the top or while only parent_operation is known */
    int32_t parent_operation; /* -1 at the top */
    uint32_t outer;           /* levels above a metric whose operation is not in the record */
    assay__performance_row row;
} item;

/* The rows that show an operation so far. */
typedef struct presence {
    int32_t item;   /* its row or that of its latest metric, or -1 */
    uint64_t spans; /* number of spans shown as metrics */
    double seconds; /* their total time */
} presence;

typedef struct builder {
    const assay_record *record;
    assay__name_index places; /* the first operation of each depth and name */
    uint32_t *order;          /* indices of the metrics, by start */
    presence *shown;          /* one for each operation */
    item *items;
    size_t item_count;
} builder;

static const char *known_name(const char *name)
{
    return name != NULL ? name : "";
}

static int by_start(const void *left, const void *right, void *context)
{
    const assay_record_metric *metrics = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (metrics[a].start_seconds != metrics[b].start_seconds)
        return metrics[a].start_seconds < metrics[b].start_seconds ? -1 : 1;
    if (metrics[a].depth != metrics[b].depth)
        return metrics[a].depth < metrics[b].depth ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Enter the operations by depth and name. Of several with the same depth and name, the first is
 * entered. */
static assay_status find_places(builder *b)
{
    int32_t *depths = assay__operation_depths(b->record);
    assay_status status = depths != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
    for (size_t i = 0; status == ASSAY_OK && i < b->record->operation_count; i++) {
        const char *name = known_name(b->record->operations[i].name);
        if (assay__name_index_find(&b->places, depths[i], name) < 0)
            status = assay__name_index_add(&b->places, depths[i], name, (int32_t)i);
    }
    free(depths);
    return status;
}

static assay_status prepare(builder *b)
{
    size_t operations = b->record->operation_count, metrics = b->record->metric_count;
    b->order = malloc((metrics + 1) * sizeof *b->order);
    b->shown = malloc((operations + 1) * sizeof *b->shown);
    b->items = malloc((operations + metrics + 1) * sizeof *b->items);
    if (b->order == NULL || b->shown == NULL || b->items == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < operations; i++)
        b->shown[i] = (presence){.item = -1};
    for (size_t i = 0; i < metrics; i++)
        b->order[i] = (uint32_t)i;
    qsort_r(b->order, metrics, sizeof *b->order, by_start, b->record->metrics);
    return find_places(b);
}

static void add_metric(builder *b, uint32_t index)
{
    const assay_record_metric *metric = &b->record->metrics[index];
    int32_t depth = metric->depth > 0 ? metric->depth : 0;
    int32_t operation = assay__name_index_find(&b->places, depth, known_name(metric->operation));
    item *added = &b->items[b->item_count];
    *added = (item){.parent = -1,
                    .parent_operation = -1,
                    .outer = operation < 0 ? (uint32_t)depth : 0,
                    .row.span = *metric};
    if (operation >= 0) {
        int32_t parent = assay__operation_parent(b->record->operations, (size_t)operation);
        added->parent_operation = parent;
        if (parent >= 0) /* the span around this one, not a later one */
            added->parent = b->shown[parent].item;
        b->shown[operation].item = (int32_t)b->item_count;
        b->shown[operation].spans++;
        b->shown[operation].seconds += metric->duration_seconds;
    }
    b->item_count++;
}

/* Add the row of an operation, without the spans that its metrics already show. */
static void add_operation(builder *b, uint32_t index)
{
    const assay_record_operation *operation = &b->record->operations[index];
    uint64_t shown = b->shown[index].spans;
    if (shown > 0 && shown >= operation->count)
        return;
    item *added = &b->items[b->item_count];
    *added = (item){.parent = -1,
                    .parent_operation = assay__operation_parent(b->record->operations, index),
                    .row.more = shown > 0 ? operation->count - shown : 0};
    assay_record_metric *span = &added->row.span;
    assay_record_metric_init(span);
    span->operation = operation->name;
    span->duration_seconds = operation->total_seconds - b->shown[index].seconds;
    if (shown == 0) { /* otherwise the memory of the rest alone is not known */
        span->cpu_delta_bytes = operation->rss_delta_bytes;
        if (operation->rss_spans > 0 && operation->rss_spans < operation->count) {
            added->row.spans = operation->count;
            added->row.read = operation->rss_spans;
        }
        span->gpu_delta_bytes = operation->gpu_delta_bytes;
        span->gpu_peak_bytes = operation->gpu_peak_bytes;
        b->shown[index].item = (int32_t)b->item_count;
    }
    b->item_count++;
}

/* Find the parents that were not known before, because aggregated operations get their rows after
 * the metrics inside them. */
static void resolve_parents(builder *b)
{
    for (size_t i = 0; i < b->item_count; i++) {
        item *child = &b->items[i];
        if (child->parent < 0 && child->parent_operation >= 0)
            child->parent = b->shown[child->parent_operation].item;
    }
}

static int32_t parent_of_item(const void *items, size_t index)
{
    return ((const item *)items)[index].parent;
}

static assay_status order_rows(const builder *b, assay__performance_row **rows, size_t *count)
{
    assay__tree_node *nodes = NULL;
    size_t shown = 0;
    assay_status status =
        assay__tree_order(b->item_count, parent_of_item, NULL, b->items, &nodes, &shown);
    if (status != ASSAY_OK)
        return status;
    *rows = malloc((shown + 1) * sizeof **rows);
    for (size_t i = 0; *rows != NULL && i < shown; i++) {
        const item *shown_item = &b->items[nodes[i].index];
        (*rows)[i] = shown_item->row;
        (*rows)[i].span.depth = (int32_t)(nodes[i].depth + shown_item->outer);
    }
    *count = *rows != NULL ? shown : 0;
    free(nodes);
    return *rows != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
}

assay_status assay__performance_rows(const assay_record *record, assay__performance_row **rows,
                                     size_t *count)
{
    builder b = {.record = record};
    *rows = NULL;
    *count = 0;
    assay_status status = prepare(&b);
    if (status == ASSAY_OK) {
        for (size_t i = 0; i < record->metric_count; i++)
            add_metric(&b, b.order[i]);
        for (size_t i = 0; i < record->operation_count; i++)
            add_operation(&b, (uint32_t)i);
        resolve_parents(&b);
        status = order_rows(&b, rows, count);
    }
    assay__name_index_release(&b.places);
    free(b.order);
    free(b.shown);
    free(b.items);
    return status;
}
