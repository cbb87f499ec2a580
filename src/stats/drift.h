/* By how much a series moved from one level to another while it was measured. */
#ifndef ASSAY_STATS_DRIFT_H
#define ASSAY_STATS_DRIFT_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/status.h"

/* From the lowest to the highest level between which the series stepped once or twice, or the
 * change between its halves that its own noise does not explain; 0 where there is neither. Finite
 * values. ASSAY_E_MEMORY is the only failure. Cost: about a millisecond. */
ASSAY_MUST_USE assay_status assay__stats_drift(const double *values, size_t count, double *drift);

/* May the drift be the difference `mean` of logarithms? Neither a difference that is smaller than
 * the drift can be believed, nor an equality within `margin` that the drift may have left. */
bool assay__stats_may_be_drift(double mean, double drift, double margin);

#endif
