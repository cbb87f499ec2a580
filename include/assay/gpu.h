/* Spans on a stream of a CUDA device.
 *
 *     ASSAY_TRACK_STREAM(monitor, "forward", stream) {        CUstream, or NULL: the default stream
 *         launch_forward(model, stream);
 *     }
 *     ...
 *     assay_gpu_resolve(monitor, 5.0);                         before the last summary
 *
 * Work on a device goes on after the calls that started it have returned. So such a span has two
 * times. The time on the thread is the time that the calls took, as for any other span. The time on
 * the stream lasts from the end of all earlier work of that stream to the end of the work of this
 * block. The record shows it as `gpu_seconds` of the same operation. In traces the stream is a lane
 * of its own.
 *
 * The device itself takes the time on the stream, by two events around the block. Nothing here
 * waits for the device or synchronises with it. Snapshots, assay_gpu_resolve() and from time to
 * time the begin of a span ask which events have completed meanwhile. A span that has not completed
 * when a record is made is missing in that record.
 *
 * The driver (libcuda.so.1) must already be loaded into the process, as it is wherever there is a
 * stream. No toolkit is needed to build. assay makes no CUDA context of its own: it uses the
 * context of the stream. Without a driver or a context, only the time on the thread is recorded.
 * The same holds if the stream is being captured into a graph, if more than 4096 spans of a stream
 * are under way, or if the driver refuses an event. In these three cases the lane of the stream
 * counts the span as dropped. Spans may be under way on 256 streams; the lane of the thread counts
 * those of further streams as dropped.
 *
 * Threads: every call may be made from any thread, but a span must end on the thread that began it.
 * Fork: a child cannot use its parent's device. It drops the spans that its parent had begun.
 * Cost: two event records of the driver, about 3 µs each, and a lock. Without a driver, less than
 * 0.1 µs more than a span on the thread.
 */
#ifndef ASSAY_GPU_H
#define ASSAY_GPU_H

#include <stddef.h>

#include "assay/device.h"
#include "assay/span.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An open span. Treat as opaque. */
typedef struct assay_gpu_span {
    assay_span host;
    struct assay__flight *flight; /* NULL: nothing is recorded on the device */
} assay_gpu_span;

/* Begin a span on `stream`, which is a CUstream. NULL is the default stream of the current context.
 * The monitor copies the name. A NULL monitor records nothing. */
ASSAY_API assay_gpu_span assay_gpu_stream_begin(struct assay_monitor *monitor, const char *name,
                                                void *stream);
ASSAY_API void assay_gpu_stream_end(assay_gpu_span span);

/* Begin only the device's part of a span. The span itself must already be open on this thread, as
 * with bindings (binding.h); otherwise nothing is recorded. Call assay_gpu_stream_end() for this
 * part before the span itself ends. */
ASSAY_API assay_gpu_span assay_gpu_stream_enter(struct assay_monitor *monitor, void *stream);

/* Record the spans that the device has completed, and wait up to `seconds` for the other ones. 0
 * does not wait. The call waits by sleeping and asking again; it never blocks in the driver.
 * Returns the number of spans that are still under way. */
ASSAY_API size_t assay_gpu_resolve(struct assay_monitor *monitor, double seconds);

static inline assay_gpu_span *assay__gpu_span_open(assay_gpu_span *span,
                                                   struct assay_monitor *monitor, const char *name,
                                                   void *stream)
{
    *span = assay_gpu_stream_begin(monitor, name, stream);
    return span;
}

static inline void assay__gpu_span_close(assay_gpu_span *span)
{
    assay_gpu_stream_end(*span);
}

/* Measure the block behind the macro as a span on `stream`. The name is a string literal. */
#define ASSAY_TRACK_STREAM(monitor, name, stream)                                                  \
    ASSAY__BLOCK(assay_gpu_span, assay__gpu_span_close, assay__gpu_span_open, monitor, "" name,    \
                 stream)

#ifdef __cplusplus
}
#endif

#endif
