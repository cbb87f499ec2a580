/* What the end of a series does: stay level, settle, or keep changing. */
#ifndef ASSAY_STATS_TAIL_H
#define ASSAY_STATS_TAIL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct assay__tail {
    size_t settled; /* first value of the level part: 0 when all is, the count when nothing is */
    double change;  /* from the first value to the level or to the last value; 0 when level */
} assay__tail;

/* Judge values[0 … count): finite, without outliers, 10 at least. `before` is the level just before
 * them, NAN where there is none. Time grows with count × log(count). */
assay__tail assay__tail_judge(const double *values, size_t count, double before);

#endif
