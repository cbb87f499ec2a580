/* The processor's time counter, if this architecture has one that user code may read. */
#ifndef ASSAY_CLOCK_COUNTER_H
#define ASSAY_CLOCK_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/* "tsc", "arm-counter", or NULL when the architecture has none. */
const char *assay__counter_name(void);

/* Whether the counter ticks at a constant rate, in every power state, alike on all processors;
 * `reason` (static text) says why or why not. */
bool assay__counter_is_trustworthy(const char **reason);

/* A reading that is not moved before earlier loads, so that a thread that learned of another's
 * reading never sees a smaller one itself. */
uint64_t assay__counter_read_ordered(void);

#endif
