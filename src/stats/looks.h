/* Looks: intervals that are computed several times while the data grow. The risk of a false alarm
 * is spent over the looks, so that all of them together keep it. */
#ifndef ASSAY_STATS_LOOKS_H
#define ASSAY_STATS_LOOKS_H

#include <stddef.h>

enum { ASSAY__LOOKS_MAX = 64, ASSAY__LOOKS_POINTS = 64 };

/* One look. `seen` is how much had been seen by then (values, pairs). `spent` is the share of the
 * risk that may have been spent by then. Both grow from look to look; the last share is 1 if no
 * look follows. */
typedef struct assay__look {
    double seen, spent;
} assay__look;

/* The state after the looks so far. A struct that is all zero is the state before the first look.
 */
typedef struct assay__looks {
    double seen, spent;                  /* at the last look; `spent` as a probability */
    double reach;                        /* a path beyond this was stopped at the last look */
    double density[ASSAY__LOOKS_POINTS]; /* density of the paths that go on, from 0 to `reach` */
} assay__looks;

/* The risk of the interval that is to be computed at the next look, so that all looks together call
 * equals different with probability `risk` at most (two-sided, 0 < risk < 1, the same at each
 * look). It takes some tens of microseconds. */
double assay__looks_next(assay__looks *looks, assay__look look, double risk);

/* The same for the last of `count` ≥ 1 looks. */
double assay__looks_risk(const assay__look *looks, size_t count, double risk);

#endif
