/* Clocks: the best clock of the machine, or a clock that a test controls.
 *
 *     const assay_clock *clock = assay_clock_default();
 *     double start = assay_clock_seconds(clock);
 *     work();
 *     printf("%g s\n", assay_clock_seconds(clock) - start);
 *
 * The default clock is the processor's invariant counter (x86 TSC, ARM virtual counter), calibrated
 * against CLOCK_MONOTONIC and verified. Where that counter cannot be trusted, the default clock is
 * CLOCK_MONOTONIC itself. assay_clock_describe() says which clock is in use, its resolution and
 * the cost of one reading. Records of monitors and commands contain the same description;
 * assay_record_describe() adds it to other records.
 *
 * Threads: any. The default clock never goes backwards, also across threads.
 */
#ifndef ASSAY_CLOCK_H
#define ASSAY_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/reading.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct assay_clock assay_clock;

typedef struct assay_clock_info {
    size_t struct_size;          /* set by the caller */
    const char *source;          /* "tsc", "arm-counter", "clock-monotonic", "injected" */
    const char *reason;          /* why this source is used: "the processor has no invariant TSC" */
    double frequency_hz;         /* ticks per second */
    assay_reading resolution_ns; /* smallest step seen between two readings */
    assay_reading cost_ns;       /* of one reading */
} assay_clock_info;

/* The best clock of this machine. The first call calibrates it, which takes some milliseconds. The
 * clock is never NULL and must not be freed. */
ASSAY_API const assay_clock *assay_clock_default(void);

/* Nanoseconds since an arbitrary start, comparable within the process. */
ASSAY_API uint64_t assay_clock_now_ns(const assay_clock *clock);

/* The same in seconds. Use it for differences only. */
ASSAY_API double assay_clock_seconds(const assay_clock *clock);

/* Describe a clock. The texts in `info` are in static storage. */
ASSAY_API ASSAY_MUST_USE assay_status assay_clock_describe(const assay_clock *clock,
                                                           assay_clock_info *info);

/* Make a clock for tests, whose time is what `now_ns(context)` returns. Caller frees. */
typedef uint64_t (*assay_clock_source)(void *context);
ASSAY_API ASSAY_MUST_USE assay_status assay_clock_new_injected(assay_clock_source now_ns,
                                                               void *context, assay_clock **clock);
ASSAY_API void assay_clock_free(assay_clock *clock);

#ifdef __cplusplus
}
#endif

#endif
