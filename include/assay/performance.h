/* One block, function or call, measured and printed in one line.
 *
 *     ASSAY_TRACK_PERFORMANCE("critical_operation", stdout) { result = expensive_function(); }
 *
 * prints "[Performance] critical_operation: 1.234s, CPU +250.5MB". For code that runs often, use a
 * monitor (monitor.h), which costs a hundredth of this and keeps statistics.
 *
 * The line shows how much the resident memory of the process changed. If the process uses a GPU,
 * the line also shows how much its GPU memory changed (assay_get_gpu_memory_usage). One MB is 2^20
 * bytes. The line leaves out figures that were not measured. A NULL stream prints nothing.
 *
 * Threads: any; an open measurement belongs to one thread.
 */
#ifndef ASSAY_PERFORMANCE_H
#define ASSAY_PERFORMANCE_H

#include <stdint.h>
#include <stdio.h>

#include "assay/reading.h"
#include "assay/record.h"
#include "assay/span.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An open measurement; treat as opaque. */
typedef struct assay_performance {
    const char *name;
    FILE *stream;
    uint64_t start_ns;
    assay_reading rss_bytes;
    assay_reading gpu_bytes, gpu_peak_bytes; /* from assay_get_gpu_memory_usage() */
} assay_performance;

/* Begin a measurement. The name and the stream must stay valid until its end. */
ASSAY_API assay_performance assay_performance_begin(const char *name, FILE *stream);
/* End the measurement, print the line and return the figures. Their `operation` is the name that
 * was given to begin. */
ASSAY_API assay_record_metric assay_performance_end(assay_performance *performance);

static inline assay_performance *assay__performance_open(assay_performance *performance,
                                                         const char *name, FILE *stream)
{
    *performance = assay_performance_begin(name, stream);
    return performance;
}

static inline void assay__performance_close(assay_performance *performance)
{
    (void)assay_performance_end(performance);
}

/* Measures a block and prints one line after it. */
#define ASSAY_TRACK_PERFORMANCE(name, stream)                                                      \
    ASSAY__BLOCK(assay_performance, assay__performance_close, assay__performance_open, name, stream)

/* For the top of a function: measures until the function returns, and prints one line. */
#define ASSAY_MONITOR_PERFORMANCE(name, stream)                                                    \
    ASSAY__GUARD(assay_performance, assay__performance_close, assay__performance_open, name, stream)

/* Call the function, print the line and store the figures in `metric`, which may be NULL. Returns
 * the result of the function. */
ASSAY_API void *assay_track_performance(const char *name, FILE *stream, void *(*function)(void *),
                                        void *argument, assay_record_metric *metric);

/* Print the line of a metric: "[Performance] critical_operation: 1.234s, CPU +250.5MB, GPU
 * +512.0MB" and, on a second line, the GPU's peak. */
ASSAY_API assay_status assay_performance_print(const assay_record_metric *metric, FILE *stream);

#ifdef __cplusplus
}
#endif

#endif
