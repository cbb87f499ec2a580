/* One block, function or call measured, and told in one line.
 *
 *     ASSAY_TRACK_PERFORMANCE("critical_operation", stdout) { result = expensive_function(); }
 *
 * prints "[Performance] critical_operation: 1.234s, CPU +250.5MB". For what runs often use a
 * monitor (monitor.h), which costs a hundredth of this and keeps statistics.
 *
 * Memory is resident memory of the process, MB in the line are 2^20 bytes. The line leaves out what
 * was not measured; a NULL stream prints nothing.
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
} assay_performance;

ASSAY_API assay_performance assay_performance_begin(const char *name, FILE *stream);
/* Prints the line and returns the figures; `operation` is the name given to begin. */
ASSAY_API assay_record_metric assay_performance_end(assay_performance *performance);

static inline void assay__performance_close(assay_performance *performance)
{
    (void)assay_performance_end(performance);
}

/* Measures a block and prints one line after it. */
#define ASSAY_TRACK_PERFORMANCE(name, stream)                                                      \
    ASSAY__BLOCK(assay_performance, assay__performance_close, assay_performance_begin(name, stream))

/* At the top of a function: measures until it returns, and prints. */
#define ASSAY_MONITOR_PERFORMANCE(name, stream)                                                    \
    ASSAY__GUARD(assay_performance, assay__performance_close, assay_performance_begin(name, stream))

/* Calls the function, prints the line, stores the figures (`metric` may be NULL), and returns what
 * the function returned. */
ASSAY_API void *assay_track_performance(const char *name, FILE *stream, void *(*function)(void *),
                                        void *argument, assay_record_metric *metric);

/* The line alone: "[Performance] critical_operation: 1.234s, CPU +250.5MB, GPU +512.0MB" and, on a
 * second line, the GPU's peak. */
ASSAY_API assay_status assay_performance_print(const assay_record_metric *metric, FILE *stream);

#ifdef __cplusplus
}
#endif

#endif
