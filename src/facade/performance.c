/* Measures one block and prints it in one line: the clock and the memory are read at its begin and
 * at its end. There is no monitor and no journal, so nothing is kept. */
#include "assay/performance.h"
#include "assay/clock.h"
#include "assay/record.h"
#include "assay/timers.h"

#include "facade/resident.h"
#include "report/progress_text.h"

assay_performance assay_performance_begin(const char *name, FILE *stream)
{
    const assay_gpu_memory gpu = assay_get_gpu_memory_usage();
    assay_performance performance = {.name = name,
                                     .stream = stream,
                                     .rss_bytes = assay__resident_bytes(),
                                     .gpu_bytes = gpu.allocated_bytes,
                                     .gpu_peak_bytes = gpu.max_allocated_bytes};
    performance.start_ns = assay_clock_now_ns(assay_clock_default());
    return performance;
}

static assay_reading difference(assay_reading before, assay_reading after)
{
    if (before.validity != ASSAY_VALID)
        return before;
    after.value -= before.value;
    return after;
}

/* If the allocator's peak rose within the block, it is the peak of the block. Otherwise the larger
 * of both ends of the block is a lower bound. */
static assay_reading peak_of(const assay_performance *performance, const assay_gpu_memory *after)
{
    assay_reading peak = after->max_allocated_bytes, before = performance->gpu_bytes;
    if (peak.validity != ASSAY_VALID || performance->gpu_peak_bytes.validity != ASSAY_VALID ||
        before.validity != ASSAY_VALID || peak.value > performance->gpu_peak_bytes.value)
        return peak;
    return before.value > after->allocated_bytes.value ? before : after->allocated_bytes;
}

assay_record_metric assay_performance_end(assay_performance *performance)
{
    uint64_t end_ns = assay_clock_now_ns(assay_clock_default());
    const assay_gpu_memory gpu = assay_get_gpu_memory_usage();
    assay_record_metric metric = {
        .operation = performance->name,
        .duration_seconds = (double)(end_ns - performance->start_ns) * 1e-9,
        .cpu_delta_bytes = difference(performance->rss_bytes, assay__resident_bytes()),
        .gpu_delta_bytes = difference(performance->gpu_bytes, gpu.allocated_bytes),
        .gpu_peak_bytes = peak_of(performance, &gpu)};
    assay_performance_print(&metric, performance->stream); /* the stream remembers a failure */
    return metric;
}

assay_status assay_performance_print(const assay_record_metric *metric, FILE *stream)
{
    return assay__line_performance(stream, metric);
}

void *assay_track_performance(const char *name, FILE *stream, void *(*function)(void *),
                              void *argument, assay_record_metric *metric)
{
    assay_performance performance = assay_performance_begin(name, stream);
    void *result = function(argument);
    assay_record_metric measured = assay_performance_end(&performance);
    if (metric != NULL)
        *metric = measured;
    return result;
}
