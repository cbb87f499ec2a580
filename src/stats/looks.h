/* Looking at growing data more than once without believing too much: the risk of a false alarm is
 * spent over the looks. */
#ifndef ASSAY_STATS_LOOKS_H
#define ASSAY_STATS_LOOKS_H

#include <stddef.h>

enum { ASSAY__LOOKS_MAX = 64, ASSAY__LOOKS_POINTS = 64 };

/* One look: how much had been seen by then (values, pairs), and which share of the risk may have
 * been spent by then. Both grow from look to look; the last share is 1 once nothing follows. */
typedef struct assay__look {
    double seen, spent;
} assay__look;

/* Where the looks so far leave off: begin with zeros. */
typedef struct assay__looks {
    double seen, spent;                  /* at the last look; `spent` of the risk itself */
    double reach;                        /* a path beyond this was stopped there */
    double density[ASSAY__LOOKS_POINTS]; /* of the paths that go on, from 0 to `reach` */
} assay__looks;

/* The risk at which an interval of the data seen by the next look is to be made so that all looks
 * together call something different that is not with probability `risk` at most (two-sided, 0 <
 * risk < 1, the same at each look). Cost: some tens of microseconds. */
double assay__looks_next(assay__looks *looks, assay__look look, double risk);

/* The same of the last of `count` ≥ 1 looks. */
double assay__looks_risk(const assay__look *looks, size_t count, double risk);

#endif
