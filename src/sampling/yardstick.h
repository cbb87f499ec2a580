/* A piece of work that never changes. Its time shows how fast the machine is at the moment.
 *
 * Two runs of a program, minutes apart, may differ because the machine does: it has another clock
 * frequency, or another program runs on the same core. The time of a yardstick beside each sample
 * changes in the same way. So a comparison of the two runs can distinguish a change of the machine
 * from a change of the program. */
#ifndef ASSAY_SAMPLING_YARDSTICK_H
#define ASSAY_SAMPLING_YARDSTICK_H

#include "assay/clock.h"

/* Do the work once and return its time in seconds. It is about 20 microseconds of arithmetic in the
 * nearest cache. Records contain the time as ASSAY__METRIC_YARDSTICK. */
double assay__yardstick_seconds(const assay_clock *clock);

#endif
