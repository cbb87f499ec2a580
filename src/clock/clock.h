/* The internal interface of a clock, for the monitor and the journal: raw ticks, their conversion,
 * and anchors. */
#ifndef ASSAY_CLOCK_CLOCK_H
#define ASSAY_CLOCK_CLOCK_H

#include <stdint.h>

#include "assay/clock.h"

/* Read the raw counter. Spans store raw ticks, and the journal stores the clock's frequency, so
 * that a reader can convert them. */
uint64_t assay__clock_ticks(const assay_clock *clock);

/* Convert a duration from ticks to nanoseconds, and from nanoseconds to ticks. */
double assay__clock_ns_of_ticks(const assay_clock *clock, double ticks);
double assay__clock_ticks_of_ns(const assay_clock *clock, double ns);

/* True if raw ticks are exactly what the inlined span code reads from the processor. */
bool assay__clock_is_hardware(const assay_clock *clock);

/* One point in time on three scales, which are read as close together as the machine allows. */
typedef struct assay__clock_anchor {
    uint64_t ticks;
    uint64_t monotonic_ns;
    uint64_t realtime_ns;
} assay__clock_anchor;

assay__clock_anchor assay__clock_anchor_now(const assay_clock *clock);

#endif
