/* A piece of work that never changes, to see how fast the machine is at the moment.
 *
 * Two runs of a program minutes apart differ because the machine does: another clock frequency,
 * another tenant on the same core. A yardstick that is timed beside each sample differs with it, so
 * that a comparison of the two runs can tell the machine from the program. */
#ifndef ASSAY_SAMPLING_YARDSTICK_H
#define ASSAY_SAMPLING_YARDSTICK_H

#include "assay/clock.h"

/* Do the work once, some 20 microseconds of arithmetic in the nearest cache; its time. Records keep
 * it as ASSAY__METRIC_YARDSTICK. */
double assay__yardstick_seconds(const assay_clock *clock);

#endif
