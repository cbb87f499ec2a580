/* The processor's time counter, if this architecture has one that user code may read. */
#ifndef ASSAY_CLOCK_COUNTER_H
#define ASSAY_CLOCK_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/* "tsc", "arm-counter", or NULL when the architecture has none. */
const char *assay__counter_name(void);

/* Whether the counter ticks at a constant rate in every power state, and shows the same time on all
 * processors. `*reason` receives a static text that explains the answer. */
bool assay__counter_is_trustworthy(const char **reason);

/* Read the counter. The processor does not move this reading before earlier loads. So a thread that
 * has loaded a reading of another thread never reads a smaller value itself. */
uint64_t assay__counter_read_ordered(void);

#endif
