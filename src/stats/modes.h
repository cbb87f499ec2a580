/* Slow runs that stand apart from the others: a cache that was cold, a collector that ran. */
#ifndef ASSAY_STATS_MODES_H
#define ASSAY_STATS_MODES_H

#include <stddef.h>

typedef struct assay__slow_mode {
    size_t count; /* values in it; 0: there is none */
    double ratio; /* its median over that of the other values */
} assay__slow_mode;

/* Find the slow mode of ascending values, two at least that resemble each other more than the
 * others. Nothing is found among fewer than 20 values, or where the others are not above 0. */
assay__slow_mode assay__slow_mode_find(const double *sorted, size_t count);

#endif
