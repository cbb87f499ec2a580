/* Inside of a clock: what the monitor and the journal need beyond the public header. */
#ifndef ASSAY_CLOCK_CLOCK_H
#define ASSAY_CLOCK_CLOCK_H

#include <stdint.h>

#include "assay/clock.h"

/* Raw counter readings and their meaning in nanoseconds. Spans store raw ticks; the journal carries
 * `ticks_per_second` so that a reader converts them. */
uint64_t assay__clock_ticks(const assay_clock *clock);
double assay__clock_ticks_per_second(const assay_clock *clock);

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
