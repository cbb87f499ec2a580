/* Memory of spans. Heap figures belong to one thread and are exact. Resident memory belongs to the
 * process.
 *
 * The kernel keeps only one peak of resident memory. With ASSAY_MEMORY_PEAK, the begin of a span
 * passes the present peak to the enclosing span and resets it. The end of a span passes the span's
 * own peak to the enclosing span. So each of several nested spans gets a peak of its own. */
#include <stdlib.h>

#include "assay/memory.h"
#include "assay/monitor.h"
#include "instrument/gpu_memory.h"
#include "instrument/rss.h"
#include "monitor/state.h"

static bool read_kernel_peak(uint64_t *bytes)
{
    assay_memory memory = {.struct_size = sizeof memory};
    if (assay_memory_read(&memory) != ASSAY_OK || memory.peak_rss_bytes.validity != ASSAY_VALID)
        return false;
    *bytes = (uint64_t)memory.peak_rss_bytes.value;
    return true;
}

/* Pass a peak on to the enclosing span. */
static void hand_to_enclosing(assay__lane_owner *owner, size_t depth, uint64_t peak_bytes)
{
    if (depth > 1 && owner->marks[depth - 1].peak_bytes < peak_bytes)
        owner->marks[depth - 1].peak_bytes = peak_bytes;
}

void assay__memory_begin(assay__lane_owner *owner, size_t depth, bool metric)
{
    if (owner->marks == NULL)
        owner->marks = calloc(ASSAY_LANE_FRAMES, sizeof *owner->marks);
    if (owner->marks == NULL)
        return;
    unsigned modes = assay__monitor_state_of(owner->monitor)->memory;
    assay__memory_mark *mark = &owner->marks[depth];
    uint64_t peak = 0;
    assay__gpu_pool pool = {0};
    mark->has_peak = (modes & ASSAY_MEMORY_PEAK) != 0 && read_kernel_peak(&peak) &&
                     assay_memory_reset_peak() == ASSAY_OK;
    if (mark->has_peak)
        hand_to_enclosing(owner, depth, peak);
    mark->peak_bytes = 0;
    mark->has_rss =
        (metric || (modes & ASSAY_MEMORY_RSS) != 0) && assay__rss_now(&mark->rss_bytes) == ASSAY_OK;
    mark->has_gpu = assay__gpu_pool_read(&pool);
    mark->gpu_bytes = pool.used_bytes;
    mark->gpu_high_bytes = pool.used_high_bytes;
    mark->has_heap = (modes & ASSAY_MEMORY_HEAP) != 0;
    if (mark->has_heap)
        assay__heap_span_begin(&mark->heap);
}

static void add_signed(int64_t *field, int64_t value)
{
    __atomic_store_n(field, *field + value, __ATOMIC_RELAXED);
}

static void raise_to(uint64_t *field, uint64_t value)
{
    if (value > *field)
        __atomic_store_n(field, value, __ATOMIC_RELAXED);
}

/* Record the GPU memory of a span. If the peak of the device's pool rose within the span, that is
 * the peak of the span. Otherwise the larger figure of the span's begin and end is a lower
 * bound. */
static void read_gpu(assay__monitor_state *state, const assay__memory_mark *mark,
                     const assay__node *node, assay__journal_metric *metric)
{
    assay__gpu_pool pool = {0};
    metric->has_gpu = assay__gpu_pool_read(&pool);
    if (!metric->has_gpu)
        return;
    uint64_t before = mark->has_gpu ? mark->gpu_bytes : 0; /* else the pool was not in use yet */
    metric->gpu_delta_bytes = (int64_t)(pool.used_bytes - before);
    metric->gpu_peak_bytes = pool.used_bytes > before ? pool.used_bytes : before;
    if (!mark->has_gpu || pool.used_high_bytes > mark->gpu_high_bytes)
        metric->gpu_peak_bytes = pool.used_high_bytes;
    assay__journal_device *figures = assay__node_device(state, node);
    if (figures == NULL)
        return;
    add_signed(&figures->gpu_delta_bytes, metric->gpu_delta_bytes);
    raise_to(&figures->gpu_peak_bytes, metric->gpu_peak_bytes);
    assay__publish_add(&figures->gpu_readings, 1);
}

static void record_heap(const assay__memory_mark *mark, assay__journal_memory *memory)
{
    assay__heap_span heap;
    if (!mark->has_heap || !assay__heap_span_end(&mark->heap, &heap) || memory == NULL)
        return;
    add_signed(&memory->heap_delta_bytes, heap.live_delta_bytes);
    raise_to(&memory->heap_peak_bytes, heap.peak_growth_bytes);
    assay__publish_add(&memory->heap_allocations, heap.allocations);
    assay__publish_add(&memory->heap_readings, 1);
}

void assay__memory_end(assay__lane_owner *owner, size_t depth, assay__journal_metric *metric)
{
    if (owner->marks == NULL)
        return;
    assay__monitor_state *state = assay__monitor_state_of(owner->monitor);
    assay__memory_mark *mark = &owner->marks[depth];
    const assay__node *node = owner->lane->frames[depth].node;
    assay__journal_memory *memory =
        node->memory != 0 ? assay__journal_at(&state->journal, node->memory) : NULL;
    record_heap(mark, memory);
    read_gpu(state, mark, node, metric);
    uint64_t rss = 0, peak = 0;
    metric->has_rss = mark->has_rss && assay__rss_now(&rss) == ASSAY_OK;
    if (!metric->has_rss)
        return;
    metric->rss_delta_bytes = (int64_t)(rss - mark->rss_bytes);
    raise_to(&mark->peak_bytes, rss > mark->rss_bytes ? rss : mark->rss_bytes);
    if (mark->has_peak && read_kernel_peak(&peak))
        raise_to(&mark->peak_bytes, peak);
    hand_to_enclosing(owner, depth, mark->peak_bytes);
    if (memory == NULL || (state->memory == 0 && state->resident_ticks == 0))
        return; /* ASSAY_MEMORY_OFF: the metric gets the figure, the operation does not */
    add_signed(&memory->rss_delta_bytes, metric->rss_delta_bytes);
    raise_to(&memory->rss_peak_bytes, mark->peak_bytes);
    assay__publish_add(&memory->rss_readings, 1);
}
