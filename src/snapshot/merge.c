/* Merges journals into a record. Every lane of every journal has a call tree of its own. Nodes with
 * the same name and the same parent in the merged tree become one operation of the record. Counts
 * and sums are added, standard deviations are merged by their moments, and distributions by their
 * buckets. */
#include "snapshot/merge.h"
#include "assay/record_build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/sparse.h"
#include "record/describe.h"
#include "stats/sketch.h"

/* A record has at most this many operations that are not "(other)". */
enum { MOST_OPERATIONS = 1 << 16 };

/* Two buckets are the same if their durations differ by at most this share. The clock calibrations
 * of two processes differ by a few ppm. */
static const double SAME_BUCKET = 1e-4;

/* Make room in the record for `more` items after `count`. Returns the array at `items` or a larger
 * copy of it; NULL when out of memory. */
static void *with_room(assay_record *record, const void *items, size_t count, size_t more,
                       size_t size, size_t *room)
{
    if (count + more <= *room)
        return (void *)(uintptr_t)items;
    size_t larger = count + more > 2 * *room ? count + more : 2 * *room;
    void *grown = assay_record_allocate(record, larger, size);
    if (grown == NULL)
        return NULL;
    if (count > 0)
        memcpy(grown, items, count * size);
    *room = larger;
    return grown;
}

/* A figure of a journal's header. A negative one means that it is unknown. */
static assay_reading known(double figure)
{
    return figure >= 0 ? assay_reading_of(figure) : assay_reading_missing(ASSAY_NOT_MEASURED);
}

assay_status assay__merge_begin(assay__merge *merge, const assay__journal_header *earliest,
                                const assay_snapshot_options *options)
{
    *merge = (assay__merge){.origin_monotonic_ns = earliest->first.monotonic_ns};
    if (options != NULL && options->origin_monotonic_ns != 0)
        merge->origin_monotonic_ns = options->origin_monotonic_ns;
    assay_status status = assay_record_new(&merge->record);
    if (status != ASSAY_OK)
        return status;
    merge->record->kind = "journal";
    merge->record->name = assay_record_text(merge->record, earliest->name);
    status = assay__record_set_created(merge->record, earliest->first.realtime_ns / 1000000000u);
    if (status == ASSAY_OK)
        status = assay__record_set_clock(
            merge->record, earliest->clock_source, earliest->ticks_per_second,
            known(earliest->clock_resolution_ns), known(earliest->clock_cost_ns));
    return merge->record->name != NULL ? status : ASSAY_E_MEMORY;
}

static bool make_state(assay__merge *merge)
{
    size_t count = merge->record->operation_count;
    if (!assay__grow(&merge->states, &merge->state_room, count + 1, sizeof *merge->states))
        return false;
    merge->states[count] = (assay__merge_state){0};
    return true;
}

/* The number of a name, or -1 if it is new. For a new name, `*name` becomes the record's own copy,
 * or NULL when out of memory. The copy is made printable. So a damaged name may become one that is
 * known, and it is looked up again. */
static int32_t find_name(assay_record *record, const assay__name_index *index, int32_t parent,
                         const char **name)
{
    int32_t number = assay__name_index_find(index, parent, *name);
    if (number >= 0)
        return number;
    *name = assay_record_text(record, *name);
    return *name != NULL ? assay__name_index_find(index, parent, *name) : -1;
}

static bool is_other(const char *name)
{
    return strcmp(name, ASSAY__OTHER_NAME) == 0;
}

/* Find or add an operation. When the record is full, the new operations below a parent are gathered
 * in its child "(other)". There is no "(other)" within "(other)", as its time would be counted
 * twice: `*index` is then -1. */
static assay_status find_or_add(assay__merge *merge, int32_t parent, const char *name,
                                int32_t *index)
{
    assay_record *record = merge->record;
    *index = find_name(record, &merge->operations, parent, &name);
    if (*index >= 0)
        return ASSAY_OK;
    if (name != NULL && record->operation_count >= MOST_OPERATIONS) {
        if (parent >= 0 && is_other(record->operations[parent].name))
            return ASSAY_OK;
        if (!is_other(name))
            return find_or_add(merge, parent, ASSAY__OTHER_NAME, index);
    }
    assay_record_operation operation;
    assay_record_operation_init(&operation);
    operation.name = name;
    operation.parent = parent;
    *index = (int32_t)record->operation_count;
    if (name == NULL || !make_state(merge))
        return ASSAY_E_MEMORY;
    assay_status status = assay__name_index_add(&merge->operations, parent, name, *index);
    return status == ASSAY_OK ? assay_record_add_operation(record, &operation) : status;
}

/* Add buckets, in ascending order, to the buckets of an operation. The counts of buckets that exist
 * are added. The others are merged in, beginning at the end of the array, where there is room.
 * Overwrites `fresh`. */
static assay_status add_buckets(assay__merge *merge, int32_t index, assay_record_bucket *fresh,
                                size_t count)
{
    assay_record_operation *operation = &merge->record->operations[index];
    assay_record_bucket *known = (assay_record_bucket *)(uintptr_t)operation->buckets;
    size_t old = operation->bucket_count, at = 0, unknown = 0;
    for (size_t i = 0; i < count; i++) {
        while (at < old && known[at].seconds < fresh[i].seconds * (1 - SAME_BUCKET))
            at++;
        if (at < old && known[at].seconds <= fresh[i].seconds * (1 + SAME_BUCKET))
            known[at].count += fresh[i].count;
        else
            fresh[unknown++] = fresh[i];
    }
    if (unknown == 0)
        return ASSAY_OK;
    known = with_room(merge->record, known, old, unknown, sizeof *known,
                      &merge->states[index].bucket_room);
    if (known == NULL)
        return ASSAY_E_MEMORY;
    operation->buckets = known;
    operation->bucket_count = old + unknown;
    for (size_t end = old + unknown; unknown > 0;) {
        bool later = old > 0 && known[old - 1].seconds > fresh[unknown - 1].seconds;
        known[--end] = later ? known[--old] : fresh[--unknown];
    }
    return ASSAY_OK;
}

/* Add the bucket of a span that is in the figures but in no bucket yet. */
static assay_status add_pending_bucket(assay__merge *merge, int32_t index,
                                       const assay__journal_view *view, uint64_t duration)
{
    double ticks = assay__sketch_middle(assay__sketch_place_of(duration));
    return add_buckets(merge, index, &(assay_record_bucket){ticks * view->seconds_per_tick, 1}, 1);
}

static assay_status add_distribution(assay__merge *merge, int32_t index,
                                     const assay__journal_view *view, const assay__node *node,
                                     const uint64_t *pending)
{
    uint64_t total = 0, pages = assay__journal_pages(view, node);
    for (uint32_t page = 0; page < ASSAY_NODE_PAGES; page++) {
        uint64_t counts[ASSAY_PAGE_BUCKETS];
        assay_record_bucket fresh[ASSAY_PAGE_BUCKETS];
        size_t used = 0;
        if ((pages >> page & 1) == 0)
            continue;
        assay__journal_buckets(view, node, page, counts);
        for (uint32_t i = 0; i < ASSAY_PAGE_BUCKETS; i++) {
            double ticks = assay__sketch_middle((assay__sketch_place){page, i});
            if (counts[i] > 0)
                fresh[used++] = (assay_record_bucket){ticks * view->seconds_per_tick, counts[i]};
            total += counts[i];
        }
        assay_status status = add_buckets(merge, index, fresh, used);
        if (status != ASSAY_OK)
            return status;
    }
    if (pending != NULL && total + 1 == node->count) {
        assay_status status = add_pending_bucket(merge, index, view, *pending);
        if (status != ASSAY_OK)
            return status;
        total++;
    }
    if (total != node->count && !merge->live)
        merge->record->integrity.torn_operations++;
    return ASSAY_OK;
}

static assay_status add_samples(assay__merge *merge, int32_t index, const assay__journal_view *view,
                                const assay__node *node)
{
    assay_record_operation *operation = &merge->record->operations[index];
    const uint64_t *ticks = assay__journal_samples(view, node);
    operation->samples_dropped += node->samples_dropped;
    operation->failed_spans += node->failed;
    if (ticks == NULL || node->sample_count == 0)
        return ASSAY_OK;
    double *samples =
        with_room(merge->record, operation->samples_seconds, operation->sample_count,
                  node->sample_count, sizeof *samples, &merge->states[index].sample_room);
    if (samples == NULL)
        return ASSAY_E_MEMORY;
    operation->samples_seconds = samples;
    for (size_t i = 0; i < node->sample_count; i++)
        samples[operation->sample_count++] =
            (double)assay__journal_load(&ticks[i]) * view->seconds_per_tick;
    return ASSAY_OK;
}

static void add_to(assay_reading *sum, double value)
{
    *sum = assay_reading_of(sum->validity == ASSAY_VALID ? sum->value + value : value);
}

static void keep_least(assay_reading *least, double value)
{
    if (least->validity != ASSAY_VALID || value < least->value)
        *least = assay_reading_of(value);
}

static void keep_most(assay_reading *most, double value)
{
    if (most->validity != ASSAY_VALID || value > most->value)
        *most = assay_reading_of(value);
}

static void add_memory(assay_record_operation *operation, const assay__journal_memory *memory)
{
    if (memory->rss_readings > 0) {
        add_to(&operation->rss_delta_bytes, (double)memory->rss_delta_bytes);
        keep_most(&operation->rss_peak_bytes, (double)memory->rss_peak_bytes);
        operation->rss_spans += memory->rss_readings;
    }
    if (memory->heap_readings > 0) {
        add_to(&operation->heap_delta_bytes, (double)memory->heap_delta_bytes);
        keep_most(&operation->heap_peak_bytes, (double)memory->heap_peak_bytes);
        add_to(&operation->heap_allocations, (double)memory->heap_allocations);
    }
}

static void add_joules(assay__journal_joules *total, assay__journal_joules part)
{
    if (!(part.low >= 0 && part.low <= part.sum && part.sum <= part.high && isfinite(part.high)))
        return; /* the journal is damaged */
    total->sum += part.sum;
    total->low += part.low;
    total->high += part.high;
}

static void add_energy(assay__merge_state *state, const assay__journal_device *device, bool stream)
{
    add_joules(stream ? &state->gpu : &state->gpu_beside, device->gpu);
    add_joules(&state->cpu, device->cpu);
    if (device->metered_seconds > 0 && isfinite(device->metered_seconds))
        state->metered_seconds += device->metered_seconds;
    if (isfinite(device->period_seconds))
        state->period_seconds = fmax(state->period_seconds, device->period_seconds);
}

/* Add the device figures of a node, which is on a thread or on a stream. */
static void add_device(assay__merge *merge, int32_t index, const assay__journal_view *view,
                       const assay__node *node, bool stream)
{
    assay__journal_memory memory;
    assay__journal_device device;
    assay_record_operation *operation = &merge->record->operations[index];
    if (!assay__journal_read_memory(view, node, &memory) ||
        !assay__journal_read_device(view, &memory, &device))
        return;
    add_energy(&merge->states[index], &device, stream);
    if (device.declined > 0 && operation->gpu_seconds.validity == ASSAY_NOT_MEASURED)
        operation->gpu_seconds =
            assay_reading_missing(stream ? ASSAY_NOT_ENOUGH_DATA : ASSAY_UNSUPPORTED);
    if (device.gpu_readings > 0) {
        add_to(&operation->gpu_delta_bytes, (double)device.gpu_delta_bytes);
        keep_most(&operation->gpu_peak_bytes, (double)device.gpu_peak_bytes);
    }
}

/* The moments of a node's durations, in seconds. */
static assay__moments moments_of(const assay__journal_view *view, const assay__node *node)
{
    double unit = view->seconds_per_tick;
    double deviations = (double)node->sum - (double)node->count * node->shift;
    assay__moments moments =
        assay__moments_from_shifted(node->count, node->shift, deviations, node->square_sum);
    moments.mean *= unit;
    moments.square_sum *= unit * unit;
    return moments;
}

static void add_times(assay__merge *merge, int32_t index, const assay__journal_view *view,
                      const assay__node *node)
{
    assay_record_operation *operation = &merge->record->operations[index];
    double *square_sum = &merge->states[index].square_sum, unit = view->seconds_per_tick;
    assay__moments all = {operation->count, operation->mean_seconds.value, *square_sum};
    assay__moments_merge(&all, moments_of(view, node));
    operation->count = all.count;
    operation->mean_seconds = assay_reading_of(all.mean);
    *square_sum = all.square_sum;
    operation->total_seconds += (double)node->sum * unit;
    keep_least(&operation->min_seconds, (double)node->min * unit);
    keep_most(&operation->max_seconds, (double)node->max * unit);
}

static assay_status add_span_node(assay__merge *merge, int32_t index,
                                  const assay__journal_view *view, const assay__node *node,
                                  const uint64_t *pending)
{
    assay_status status = add_distribution(merge, index, view, node, pending);
    if (status == ASSAY_OK)
        status = add_samples(merge, index, view, node);
    assay__journal_memory memory;
    if (assay__journal_read_memory(view, node, &memory))
        add_memory(&merge->record->operations[index], &memory);
    add_device(merge, index, view, node, false);
    if (node->count > 0)
        add_times(merge, index, view, node);
    return status;
}

static double within(double value, double low, double high)
{
    return fmin(fmax(value, low), high);
}

/* The mean of two groups of values. The difference of two large means may not fit in a double. */
static double merged_mean(double one, double other, double share_of_other)
{
    double difference = other - one;
    return isfinite(difference) ? one + difference * share_of_other
                                : one * (1 - share_of_other) + other * share_of_other;
}

static assay_status add_counter_node(assay__merge *merge, const char *name, const assay__node *node,
                                     int32_t *index)
{
    assay_record *record = merge->record;
    assay_record_counter counter = {.count = node->count,
                                    .last = node->shift,
                                    .min = assay__double_of(node->min),
                                    .max = assay__double_of(node->max)};
    bool usable = node->count > 0 && isfinite(counter.min) && isfinite(counter.max) &&
                  isfinite(node->square_sum) && isfinite(node->shift) &&
                  (node->sum == 0 || node->sum == ASSAY__LARGE_EXPONENT);
    if (!usable)
        return ASSAY_OK;
    counter.mean = within(ldexp(node->square_sum / (double)node->count, (int)node->sum),
                          counter.min, counter.max);
    *index = find_name(record, &merge->counters, -1, &name);
    if (*index >= 0) {
        assay_record_counter *known = &record->counters[*index];
        double all = (double)known->count + (double)counter.count;
        known->count += counter.count;
        known->last = counter.last;
        known->min = fmin(known->min, counter.min);
        known->max = fmax(known->max, counter.max);
        known->mean = within(merged_mean(known->mean, counter.mean, (double)counter.count / all),
                             known->min, known->max);
        return ASSAY_OK;
    }
    counter.name = name;
    *index = (int32_t)record->counter_count;
    if (name == NULL)
        return ASSAY_E_MEMORY;
    assay_status status = assay__name_index_add(&merge->counters, -1, name, *index);
    return status == ASSAY_OK ? assay_record_add_counter(record, &counter) : status;
}

/* Find the operation of a node that is the parent of another node. `*index` is -1 if there is none.
 * A cleared node becomes an operation only here, because its child needs it. Parents are created
 * before their children. So if a parent is not known yet, or if there are more levels than a lane
 * can have, the journal is damaged. */
static assay_status parent_operation(assay__merge *merge, const assay__journal_view *view,
                                     uint32_t unit, uint32_t root, unsigned levels,
                                     assay__node_map *nodes, int32_t *index)
{
    int32_t known = unit < nodes->count ? nodes->operations[unit] : ASSAY__NODE_UNKNOWN;
    *index = known > 0 ? known - 1 : -1;
    if (known != ASSAY__NODE_CLEARED)
        return ASSAY_OK;
    assay__node node;
    int32_t parent = -1;
    if (levels == 0 || !assay__journal_read_node(view, unit, &node))
        return ASSAY_OK;
    if (node.parent != root) {
        assay_status status =
            parent_operation(merge, view, node.parent, root, levels - 1, nodes, &parent);
        if (status != ASSAY_OK || parent < 0)
            return status;
    }
    const char *name = assay__journal_operation_name(view, node.operation);
    assay_status status = find_or_add(merge, parent, name, index);
    if (status == ASSAY_OK && *index >= 0)
        nodes->operations[unit] = *index + 1;
    return status;
}

/* Find or add the operation of a node that is no counter. `*index` is -1 if there is none, because
 * the record is full or the parent of the node cannot be found. */
static assay_status operation_of(assay__merge *merge, const assay__journal_view *view,
                                 const assay__node *node, uint32_t root, assay__node_map *nodes,
                                 int32_t *index)
{
    int32_t parent = -1;
    *index = -1;
    if (node->parent != root) {
        assay_status status =
            parent_operation(merge, view, node->parent, root, ASSAY_LANE_FRAMES, nodes, &parent);
        if (status != ASSAY_OK || parent < 0)
            return status;
    }
    return find_or_add(merge, parent, assay__journal_operation_name(view, node->operation), index);
}

/* Add one node to the record. The spans of a node for which there is no operation are counted as
 * dropped. */
static assay_status add_node(assay__merge *merge, const assay__journal_view *view,
                             const assay__node *node, const uint64_t *pending, uint32_t root,
                             uint32_t kind, assay__node_map *nodes)
{
    int32_t index = -1;
    if (node->kind == ASSAY__NODE_COUNTER) {
        const char *name = assay__journal_operation_name(view, node->operation);
        assay_status status = add_counter_node(merge, name, node, &index);
        nodes->counters[node->self] = index + 1;
        return status;
    }
    if (node->count == 0 && node->cleared != 0) {
        nodes->operations[node->self] = ASSAY__NODE_CLEARED;
        return ASSAY_OK;
    }
    assay_status status = operation_of(merge, view, node, root, nodes, &index);
    if (status != ASSAY_OK)
        return status;
    if (index < 0) {
        merge->record->integrity.dropped_spans += node->count;
        return ASSAY_OK;
    }
    nodes->operations[node->self] = index + 1;
    if (kind == ASSAY_LANE_GPU_STREAM) {
        /* It is the same operation as on the thread that started the work. */
        if (node->count > 0)
            assay__moments_merge(&merge->states[index].device, moments_of(view, node));
        add_device(merge, index, view, node, true);
        return ASSAY_OK;
    }
    return add_span_node(merge, index, view, node, pending);
}

/* Add the call tree of the lane at `lane_unit`. `*spans` is raised by the number of completed
 * spans. */
static assay_status add_tree(assay__merge *merge, const assay__journal_view *view,
                             uint32_t lane_unit, const assay__lane *lane, assay__node_map *nodes,
                             uint64_t *spans)
{
    assay__node node;
    size_t most = nodes->count; /* a list that is longer than the journal forms a cycle */
    uint32_t unit = lane->first_node;
    for (size_t i = 0; unit != 0 && i < most && assay__journal_read_node(view, unit, &node); i++) {
        unit = node.next;
        if (node.kind == ASSAY__NODE_ROOT || nodes->operations[node.self] != ASSAY__NODE_UNKNOWN ||
            nodes->counters[node.self] != ASSAY__NODE_UNKNOWN)
            continue;
        uint64_t duration;
        const uint64_t *pending =
            assay__journal_add_pending(view, lane_unit, &node, &duration) ? &duration : NULL;
        *spans += node.kind == ASSAY__NODE_SPAN ? node.count : 0;
        assay_status status =
            add_node(merge, view, &node, pending, lane->first_node, lane->kind, nodes);
        if (status != ASSAY_OK)
            return status;
    }
    return ASSAY_OK;
}

static assay_status add_metrics(assay__merge *merge, const assay__journal_view *view)
{
    assay_record *record = merge->record;
    uint32_t left = view->header.metric_count;
    assay__journal_metric entry;
    for (uint32_t unit = view->header.first_metric;
         left > 0 && assay__journal_read_metric(view, unit, &entry); unit = entry.next, left--) {
        const char *name = assay__journal_operation_name(view, entry.operation);
        assay_record_metric metric = {
            .operation = assay_record_text(record, name),
            .depth = (int32_t)(entry.depth % ASSAY_LANE_FRAMES),
            .start_seconds =
                assay__journal_seconds_since(view, entry.start, merge->origin_monotonic_ns),
            .duration_seconds = (double)entry.duration * view->seconds_per_tick,
            .cpu_delta_bytes = entry.has_rss ? assay_reading_of((double)entry.rss_delta_bytes)
                                             : assay_reading_missing(ASSAY_UNSUPPORTED),
            .gpu_delta_bytes = entry.has_gpu ? assay_reading_of((double)entry.gpu_delta_bytes)
                                             : assay_reading_missing(ASSAY_NOT_MEASURED),
            .gpu_peak_bytes = entry.has_gpu ? assay_reading_of((double)entry.gpu_peak_bytes)
                                            : assay_reading_missing(ASSAY_NOT_MEASURED),
        };
        assay_status status =
            metric.operation == NULL ? ASSAY_E_MEMORY : assay_record_add_metric(record, &metric);
        if (status != ASSAY_OK)
            return status;
    }
    return ASSAY_OK;
}

assay_status assay__merge_journal(assay__merge *merge, const assay__journal_view *view)
{
    const assay__journal_header *header = &view->header;
    assay__node_map nodes = {.count = (ASSAY__JOURNAL_HEADER_BYTES + header->pool_bytes) /
                                      ASSAY__JOURNAL_UNIT};
    size_t map_bytes = 2 * (nodes.count + 1) * sizeof *nodes.operations;
    nodes.operations = assay__sparse_new(map_bytes);
    if (nodes.operations == NULL)
        return ASSAY_E_MEMORY;
    nodes.counters = nodes.operations + nodes.count + 1;
    merge->live = assay__journal_is_live(view);
    merge->memory_modes |= (unsigned)header->memory_modes;
    assay_record_integrity *integrity = &merge->record->integrity;
    integrity->dropped_spans += header->dropped_spans;
    integrity->mismatched_ends += header->mismatched_ends;
    integrity->displaced_spans += header->displaced_spans;
    integrity->dropped_metrics += header->dropped_metrics;
    integrity->full_journals += header->refused_growth > 0;
    assay_status status = ASSAY_OK;
    assay__lane lane;
    size_t index = 0;
    uint64_t all_spans = 0;
    for (uint32_t unit = header->first_lane;
         status == ASSAY_OK && assay__journal_read_lane(view, unit, &lane); unit = lane.next) {
        uint64_t spans = 0;
        status = add_tree(merge, view, unit, &lane, &nodes, &spans);
        if (status == ASSAY_OK)
            status = assay__merge_lane(merge, view, unit, index++, &lane, &nodes, spans);
        all_spans += spans;
    }
    if (status == ASSAY_OK)
        status = assay__merge_process(merge, header, all_spans);
    if (status == ASSAY_OK)
        status = add_metrics(merge, view);
    assay__sparse_free(nodes.operations, map_bytes);
    return status;
}

void assay__merge_release(assay__merge *merge)
{
    assay_record_free(merge->record);
    free(merge->states);
    assay__name_index_release(&merge->operations);
    assay__name_index_release(&merge->counters);
    *merge = (assay__merge){0};
}
