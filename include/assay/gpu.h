/* Spans on a stream of a CUDA device.
 *
 *     ASSAY_TRACK_STREAM(monitor, "forward", stream) {        CUstream, or NULL: the default stream
 *         launch_forward(model, stream);
 *     }
 *     ...
 *     assay_gpu_resolve(monitor, 5.0);                         before the last summary
 *
 * Work on a device goes on after the calls that started it have returned. So such a span has two
 * times. On the thread it is a span like any other: how long the calls took. On the stream it lasts
 * from the end of all earlier work of that stream to the end of the block's own; the record shows
 * it as `gpu_seconds` of the same operation, and the stream is a lane of its own in traces.
 *
 * The device takes its times itself, by two events around the block. Nothing here waits for the
 * device or synchronises with it: every thirty-second span of a stream or so, snapshots and
 * assay_gpu_resolve() ask which events have completed meanwhile. What has not completed when a
 * record is made is not in it.
 *
 * The driver (libcuda.so.1) must already be part of the process, which it is wherever there is a
 * stream; no toolkit is needed to build. Contexts are those of the caller or of the framework that
 * made the stream. Without a driver or a context, only the time on the thread is recorded. The same
 * holds if the stream is being captured into a graph, if more than 4096 spans of a stream are under
 * way, or if the driver refuses an event; the span is then counted as dropped in the lane of its
 * stream.
 *
 * Threads: every call may be made from any thread; a span ends on the thread that began it. Fork: a
 * child cannot use its parent's device, and drops what its parent had begun.
 * Cost: two event records of the driver, about 3 µs each, and a lock.
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

/* Begin a span on `stream`, a CUstream; NULL is the default stream of the current context. The
 * monitor copies the name. A NULL monitor records nothing. */
ASSAY_API assay_gpu_span assay_gpu_stream_begin(struct assay_monitor *monitor, const char *name,
                                                void *stream);
ASSAY_API void assay_gpu_stream_end(assay_gpu_span span);

/* Begin the device's part alone of a span that this thread has begun by other means, as bindings do
 * (binding.h). Nothing is recorded if no span is open. assay_gpu_stream_end() ends it, before the
 * span itself ends. */
ASSAY_API assay_gpu_span assay_gpu_stream_enter(struct assay_monitor *monitor, void *stream);

/* Enter the spans that the device has completed, and wait up to `seconds` for those that it has
 * not; 0 only looks. Waiting sleeps and looks again; it never blocks in the driver. Returns how
 * many are still under way. */
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

#define ASSAY_TRACK_STREAM(monitor, name, stream)                                                  \
    ASSAY__BLOCK(assay_gpu_span, assay__gpu_span_close, assay__gpu_span_open, monitor, "" name,    \
                 stream)

#ifdef __cplusplus
}
#endif

#endif
