/* Every lane of every journal has a call tree of its own. They are laid over each other: nodes with
 * the same name and the same parent in the merged tree are one operation. Counts and sums add;
 * spreads merge by moments, distributions by their buckets. */
#include "snapshot/merge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPERATIONS = 1 << 16 };

static bool grow(void **items, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return true;
    size_t larger = *capacity < 16 ? 16 : *capacity * 2;
    while (larger < needed)
        larger *= 2;
    void *grown = realloc(*items, larger * size);
    if (grown == NULL)
        return false;
    *items = grown;
    *capacity = larger;
    return true;
}

static assay_status find_or_add(assay__gathering *gathering, int32_t parent, const char *name,
                                int32_t *index)
{
    for (size_t i = 0; i < gathering->item_count; i++)
        if (gathering->items[i].parent == parent && strcmp(gathering->items[i].name, name) == 0) {
            *index = (int32_t)i;
            return ASSAY_OK;
        }
    if (gathering->item_count >= MOST_OPERATIONS)
        return ASSAY_E_LIMIT;
    if (!grow((void **)&gathering->items, &gathering->item_capacity, gathering->item_count + 1,
              sizeof *gathering->items))
        return ASSAY_E_MEMORY;
    const char *copy = assay_record_text(gathering->record, name);
    if (copy == NULL)
        return ASSAY_E_MEMORY;
    gathering->items[gathering->item_count] =
        (assay__gathered){.name = copy, .parent = parent, .min = INFINITY};
    *index = (int32_t)gathering->item_count++;
    return ASSAY_OK;
}

static assay_status add_buckets(assay__gathered *item, const assay__journal_view *view,
                                uint32_t unit, uint64_t *total)
{
    double seconds_per_tick = assay__journal_ns_per_tick(view) * 1e-9;
    *total = 0;
    for (uint32_t exponent = 0; exponent < ASSAY_NODE_PAGES; exponent++) {
        uint32_t page = assay__sketch_page_of_exponent(exponent);
        const uint64_t *buckets = assay__journal_page(view, unit, page);
        for (uint32_t i = 0; buckets != NULL && i < ASSAY_PAGE_BUCKETS; i++) {
            uint64_t count = assay__journal_load(&buckets[i]);
            if (count == 0)
                continue;
            if (!grow((void **)&item->steps, &item->step_capacity, item->step_count + 1,
                      sizeof *item->steps))
                return ASSAY_E_MEMORY;
            double ticks = assay__sketch_middle((assay__sketch_place){page, i});
            item->steps[item->step_count++] =
                (assay__sketch_step){.value = ticks * seconds_per_tick, .count = count};
            *total += count;
        }
    }
    return ASSAY_OK;
}

static assay_status add_samples(assay__gathering *gathering, assay__gathered *item,
                                const assay__journal_view *view, uint32_t unit)
{
    size_t count;
    const uint64_t *ticks = assay__journal_samples(view, unit, &count);
    if (count == 0)
        return ASSAY_OK;
    double *joined =
        assay_record_allocate(gathering->record, item->sample_count + count, sizeof *joined);
    if (joined == NULL)
        return ASSAY_E_MEMORY;
    if (item->sample_count > 0)
        memcpy(joined, item->samples, item->sample_count * sizeof *joined);
    double seconds_per_tick = assay__journal_ns_per_tick(view) * 1e-9;
    for (size_t i = 0; i < count; i++)
        joined[item->sample_count + i] = (double)assay__journal_load(&ticks[i]) * seconds_per_tick;
    item->samples = joined;
    item->sample_count += count;
    return ASSAY_OK;
}

static void add_memory(assay__journal_memory *into, const assay__journal_memory *memory)
{
    into->rss_delta_bytes += memory->rss_delta_bytes;
    into->rss_readings += memory->rss_readings;
    into->heap_delta_bytes += memory->heap_delta_bytes;
    into->heap_allocations += memory->heap_allocations;
    into->heap_readings += memory->heap_readings;
    if (memory->rss_peak_bytes > into->rss_peak_bytes)
        into->rss_peak_bytes = memory->rss_peak_bytes;
    if (memory->heap_peak_bytes > into->heap_peak_bytes)
        into->heap_peak_bytes = memory->heap_peak_bytes;
}

static assay_status add_span_node(assay__gathering *gathering, assay__gathered *item,
                                  const assay__journal_view *view, const assay__node_reading *node)
{
    double seconds_per_tick = assay__journal_ns_per_tick(view) * 1e-9;
    uint64_t bucketed;
    assay_status status = add_buckets(item, view, node->unit, &bucketed);
    if (status != ASSAY_OK)
        return status;
    if (bucketed != node->count && !gathering->live)
        gathering->record->integrity.torn_operations++;
    status = add_samples(gathering, item, view, node->unit);
    item->samples_dropped += node->samples_dropped;
    if (node->has_memory)
        add_memory(&item->memory, &node->memory);
    if (node->count == 0 || status != ASSAY_OK)
        return status;
    double deviations = (double)node->sum - (double)node->count * node->shift;
    assay__moments moments =
        assay__moments_from_shifted(node->count, node->shift, deviations, node->square_sum);
    moments.mean *= seconds_per_tick;
    moments.square_sum *= seconds_per_tick * seconds_per_tick;
    assay__moments_merge(&item->moments, moments);
    item->count += node->count;
    item->total += (double)node->sum * seconds_per_tick;
    item->min = fmin(item->min, (double)node->min * seconds_per_tick);
    item->max = fmax(item->max, (double)node->max * seconds_per_tick);
    return ASSAY_OK;
}

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static assay_status add_counter_node(assay__gathering *gathering, const char *name,
                                     const assay__node_reading *node, int32_t *index)
{
    assay_record *record = gathering->record;
    double min = double_of(node->min), max = double_of(node->max);
    bool usable = node->count > 0 && isfinite(min) && isfinite(max) && isfinite(node->square_sum) &&
                  isfinite(node->shift);
    if (!usable)
        return ASSAY_OK;
    double mean = node->square_sum / (double)node->count;
    for (size_t i = 0; i < record->counter_count; i++) {
        assay_record_counter *known = &record->counters[i];
        if (strcmp(known->name, name) != 0)
            continue;
        double all = (double)known->count + (double)node->count;
        known->mean += (mean - known->mean) * (double)node->count / all;
        known->count += node->count;
        known->last = node->shift;
        known->min = fmin(known->min, min);
        known->max = fmax(known->max, max);
        *index = (int32_t)i;
        return ASSAY_OK;
    }
    assay_record_counter counter = {.name = assay_record_text(record, name),
                                    .count = node->count,
                                    .last = node->shift,
                                    .min = min,
                                    .max = max,
                                    .mean = mean};
    *index = (int32_t)record->counter_count;
    return counter.name == NULL ? ASSAY_E_MEMORY : assay_record_add_counter(record, &counter);
}

/* Parents were created before their children, so a parent not met yet is corruption and its child
 * is left out. */
static assay_status add_node(assay__gathering *gathering, const assay__journal_view *view,
                             const assay__node_reading *node, uint32_t root, assay__node_map *nodes)
{
    const char *name = assay__journal_operation_name(view, node->operation);
    if (node->kind == ASSAY__NODE_COUNTER)
        return add_counter_node(gathering, name, node, &nodes->counters[node->unit]);
    int32_t parent = -1;
    if (node->parent != root) {
        parent = node->parent < nodes->count ? nodes->operations[node->parent] : -1;
        if (parent < 0)
            return ASSAY_OK;
    }
    int32_t index;
    assay_status status = find_or_add(gathering, parent, name, &index);
    if (status != ASSAY_OK)
        return status;
    nodes->operations[node->unit] = index;
    return add_span_node(gathering, &gathering->items[index], view, node);
}

static assay_status add_lane_tree(assay__gathering *gathering, const assay__journal_view *view,
                                  size_t lane, assay__node_map *nodes)
{
    assay__lane_reading reading;
    assay__journal_read_lane(view, lane, &reading);
    assay__node_reading node;
    size_t most = nodes->count; /* a list longer than the journal has gone in a circle */
    uint32_t unit = reading.first_node;
    for (size_t i = 0; unit != 0 && i < most && assay__journal_read_node(view, unit, &node); i++) {
        unit = node.next;
        if (node.kind == ASSAY__NODE_ROOT || nodes->operations[node.unit] >= 0 ||
            nodes->counters[node.unit] >= 0)
            continue;
        assay_status status = add_node(gathering, view, &node, reading.first_node, nodes);
        if (status != ASSAY_OK)
            return status;
    }
    return ASSAY_OK;
}

static assay_status add_metrics(assay__gathering *gathering, const assay__journal_view *view)
{
    assay_record *record = gathering->record;
    double seconds_per_tick = assay__journal_ns_per_tick(view) * 1e-9;
    size_t count = assay__journal_metric_count(view);
    for (size_t i = 0; i < count; i++) {
        assay__journal_metric entry;
        assay__journal_read_metric(view, i, &entry);
        const char *name = assay__journal_operation_name(view, entry.operation);
        double start =
            assay__journal_monotonic_ns(view, entry.start) - (double)gathering->origin_monotonic_ns;
        assay_record_metric metric = {
            .operation = assay_record_text(record, name),
            .depth = (int32_t)(entry.depth % ASSAY_LANE_FRAMES),
            .start_seconds = start * 1e-9,
            .duration_seconds = (double)entry.duration * seconds_per_tick,
            .cpu_delta_bytes = entry.has_rss ? assay_reading_of((double)entry.rss_delta_bytes)
                                             : assay_reading_missing(ASSAY_UNSUPPORTED),
            .gpu_delta_bytes = assay_reading_missing(ASSAY_NOT_MEASURED),
            .gpu_peak_bytes = assay_reading_missing(ASSAY_NOT_MEASURED),
        };
        assay_status status =
            metric.operation == NULL ? ASSAY_E_MEMORY : assay_record_add_metric(record, &metric);
        if (status != ASSAY_OK)
            return status;
    }
    return ASSAY_OK;
}

assay_status assay__gather_journal(assay__gathering *gathering, const assay__journal_view *view)
{
    const assay__journal_header *header = &view->header;
    assay__node_map nodes = {.count = header->total_bytes / ASSAY__JOURNAL_UNIT};
    size_t bytes = 2 * (nodes.count + 1) * sizeof *nodes.operations;
    nodes.operations = malloc(bytes);
    if (nodes.operations == NULL)
        return ASSAY_E_MEMORY;
    nodes.counters = nodes.operations + nodes.count + 1;
    memset(nodes.operations, 0xff, bytes); /* all -1 */
    gathering->live = assay__journal_is_live(view);
    gathering->memory_modes |= (unsigned)header->memory_modes;
    assay_record_integrity *integrity = &gathering->record->integrity;
    integrity->dropped_spans += header->dropped_spans;
    integrity->mismatched_ends += header->mismatched_ends;
    assay_status status = ASSAY_OK;
    size_t lanes = assay__journal_lane_count(view);
    for (size_t lane = 0; status == ASSAY_OK && lane < lanes; lane++)
        status = add_lane_tree(gathering, view, lane, &nodes);
    if (status == ASSAY_OK)
        status = add_metrics(gathering, view);
    if (status == ASSAY_OK)
        status = assay__gather_timeline(gathering, view, &nodes);
    free(nodes.operations);
    return status;
}

static int by_value(const void *left, const void *right)
{
    double a = ((const assay__sketch_step *)left)->value;
    double b = ((const assay__sketch_step *)right)->value;
    return (a > b) - (a < b);
}

/* Sort, and join the same bucket of several lanes and processes; calibrations of two processes
 * differ by a few ppm. */
static void join_steps(assay__gathered *item)
{
    if (item->step_count > 0)
        qsort(item->steps, item->step_count, sizeof *item->steps, by_value);
    size_t kept = 0;
    for (size_t i = 0; i < item->step_count; i++) {
        if (kept > 0 && item->steps[i].value <= item->steps[kept - 1].value * (1 + 1e-4))
            item->steps[kept - 1].count += item->steps[i].count;
        else
            item->steps[kept++] = item->steps[i];
    }
    item->step_count = kept;
}

/* A quantile needs about one value beyond it to mean anything. */
static assay_reading quantile(const assay__gathered *item, double q)
{
    if (item->step_count == 0 || (double)item->count * (1 - q) < 1.0 - 1e-9)
        return assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    double value = assay__sketch_quantile(item->steps, item->step_count, q);
    return assay_reading_of(fmin(fmax(value, item->min), item->max));
}

static void fill_memory(const assay__gathering *gathering, const assay__gathered *item,
                        assay_record_operation *operation)
{
    enum { RSS_MODE = 1, HEAP_MODE = 2 }; /* assay_monitor_memory */
    const assay__journal_memory *memory = &item->memory;
    assay_reading no_rss = assay_reading_missing(
        gathering->memory_modes & RSS_MODE ? ASSAY_UNSUPPORTED : ASSAY_NOT_MEASURED);
    assay_reading no_heap = assay_reading_missing(
        gathering->memory_modes & HEAP_MODE ? ASSAY_UNSUPPORTED : ASSAY_NOT_MEASURED);
    bool rss = memory->rss_readings > 0, heap = memory->heap_readings > 0;
    operation->rss_delta_bytes = rss ? assay_reading_of((double)memory->rss_delta_bytes) : no_rss;
    operation->rss_peak_bytes = rss ? assay_reading_of((double)memory->rss_peak_bytes) : no_rss;
    operation->heap_delta_bytes =
        heap ? assay_reading_of((double)memory->heap_delta_bytes) : no_heap;
    operation->heap_peak_bytes = heap ? assay_reading_of((double)memory->heap_peak_bytes) : no_heap;
    operation->heap_allocations =
        heap ? assay_reading_of((double)memory->heap_allocations) : no_heap;
    operation->gpu_delta_bytes = assay_reading_missing(ASSAY_NOT_MEASURED);
    operation->gpu_peak_bytes = assay_reading_missing(ASSAY_NOT_MEASURED);
}

static assay_status finish_item(assay__gathering *gathering, assay__gathered *item)
{
    join_steps(item);
    assay_reading none = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    bool any = item->count > 0;
    assay_record_operation operation = {
        .name = item->name,
        .parent = item->parent,
        .count = item->count,
        .total_seconds = item->total,
        .self_seconds = item->total,
        .min_seconds = any ? assay_reading_of(item->min) : none,
        .max_seconds = any ? assay_reading_of(item->max) : none,
        .mean_seconds = any ? assay_reading_of(item->moments.mean) : none,
        .std_seconds =
            item->count > 1 ? assay_reading_of(assay__moments_deviation(item->moments)) : none,
        .p50_seconds = any ? quantile(item, 0.5) : none,
        .p95_seconds = quantile(item, 0.95),
        .p99_seconds = quantile(item, 0.99),
        .p999_seconds = quantile(item, 0.999),
        .samples_seconds = item->samples,
        .sample_count = item->sample_count,
        .samples_dropped = item->samples_dropped,
    };
    if (item->count == 1)
        operation.p50_seconds = operation.min_seconds;
    assay_record_bucket *buckets =
        assay_record_allocate(gathering->record, item->step_count + 1, sizeof *buckets);
    if (buckets == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < item->step_count; i++)
        buckets[i] = (assay_record_bucket){item->steps[i].value, item->steps[i].count};
    operation.buckets = buckets;
    operation.bucket_count = item->step_count;
    fill_memory(gathering, item, &operation);
    return assay_record_add_operation(gathering->record, &operation);
}

assay_status assay__gather_finish(assay__gathering *gathering)
{
    assay_record *record = gathering->record;
    for (size_t i = 0; i < gathering->item_count; i++) {
        assay_status status = finish_item(gathering, &gathering->items[i]);
        if (status != ASSAY_OK)
            return status;
    }
    for (size_t i = 0; i < record->operation_count; i++) {
        const assay_record_operation *operation = &record->operations[i];
        if (operation->parent < 0)
            record->total_seconds += operation->total_seconds;
        else
            record->operations[operation->parent].self_seconds -= operation->total_seconds;
    }
    for (size_t i = 0; i < record->operation_count; i++)
        record->operations[i].self_seconds = fmax(0.0, record->operations[i].self_seconds);
    return ASSAY_OK;
}

void assay__gathering_release(assay__gathering *gathering)
{
    for (size_t i = 0; i < gathering->item_count; i++)
        free(gathering->items[i].steps);
    free(gathering->items);
    *gathering = (assay__gathering){0};
}
