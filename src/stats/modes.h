/* Finds slow runs that are clearly separated from the others: a cache was cold, a garbage collector
 * ran. */
#ifndef ASSAY_STATS_MODES_H
#define ASSAY_STATS_MODES_H

#include <stddef.h>

typedef struct assay__slow_mode {
    size_t count; /* values in the mode; 0 if there is none */
    double ratio; /* its median divided by that of the other values */
} assay__slow_mode;

/* Find the slow mode of ascending values: at least two values that resemble each other more than
 * the others. Nothing is found among fewer than 20 values, or if the other values are not above 0.
 */
assay__slow_mode assay__slow_mode_find(const double *sorted, size_t count);

#endif
