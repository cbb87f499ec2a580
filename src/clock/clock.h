/* The inside of a clock: what the monitor and the journal need beyond the public header. */
#ifndef ASSAY_CLOCK_CLOCK_H
#define ASSAY_CLOCK_CLOCK_H

#include <stdint.h>

#include "assay/clock.h"

/* A raw counter reading. Spans store raw ticks; the journal carries the clock's frequency so that a
 * reader converts them. */
uint64_t assay__clock_ticks(const assay_clock *clock);

/* A duration in ticks in nanoseconds, and the other way round. */
double assay__clock_ns_of_ticks(const assay_clock *clock, double ticks);
double assay__clock_ticks_of_ns(const assay_clock *clock, double ns);

/* True if raw ticks are exactly what the inlined span code reads from the processor. */
bool assay__clock_is_hardware(const assay_clock *clock);

/* One moment on three scales, read together as tightly as the machine allows. */
typedef struct assay__clock_anchor {
    uint64_t ticks;
    uint64_t monotonic_ns;
    uint64_t realtime_ns;
} assay__clock_anchor;

assay__clock_anchor assay__clock_anchor_now(const assay_clock *clock);

#endif
