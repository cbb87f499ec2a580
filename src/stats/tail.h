/* Judges the end of a series: it stays level, settles, or keeps changing. */
#ifndef ASSAY_STATS_TAIL_H
#define ASSAY_STATS_TAIL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct assay__tail {
    size_t settled; /* first value of the level part: 0 if all are level, the count if none is */
    double change;  /* from the first value to the level or to the last value; 0 if level */
} assay__tail;

/* Judge values[0 … count), which must be finite and without outliers, at least 10. `before` is the
 * level just before them, or NAN if there is none. The time is proportional to count × log(count).
 */
assay__tail assay__tail_judge(const double *values, size_t count, double before);

#endif
