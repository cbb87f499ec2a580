#include "assay/performance.h"
#include "assay/clock.h"
#include "assay/record.h"

#include "facade/resident.h"
#include "report/progress_text.h"

assay_performance assay_performance_begin(const char *name, FILE *stream)
{
    assay_performance performance = {
        .name = name, .stream = stream, .rss_bytes = assay__resident_bytes()};
    performance.start_ns = assay_clock_now_ns(assay_clock_default());
    return performance;
}

assay_record_metric assay_performance_end(assay_performance *performance)
{
    uint64_t end_ns = assay_clock_now_ns(assay_clock_default());
    const assay_reading no_gpu = assay_reading_missing(ASSAY_UNSUPPORTED);
    assay_reading delta = assay__resident_bytes();
    if (performance->rss_bytes.validity == ASSAY_VALID)
        delta.value -= performance->rss_bytes.value;
    else
        delta = performance->rss_bytes;
    assay_record_metric metric = {.operation = performance->name,
                                  .duration_seconds =
                                      (double)(end_ns - performance->start_ns) * 1e-9,
                                  .cpu_delta_bytes = delta,
                                  .gpu_delta_bytes = no_gpu,
                                  .gpu_peak_bytes = no_gpu};
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
