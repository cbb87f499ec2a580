/* Finds how far a series moved from one level to another while it was measured. */
#ifndef ASSAY_STATS_DRIFT_H
#define ASSAY_STATS_DRIFT_H

#include <stdbool.h>
#include <stddef.h>

#include "assay/status.h"

/* The drift of a series: the distance from the lowest to the highest level if the series stepped
 * once or twice, or the change between its halves that its own noise does not explain, whichever is
 * larger; 0 if there is neither. Values must be finite. The only failure is ASSAY_E_MEMORY. It
 * takes about a millisecond. */
ASSAY_MUST_USE assay_status assay__stats_drift(const double *values, size_t count, double *drift);

/* Whether the drift may explain the difference `mean` of logarithms. A difference that is smaller
 * than the drift cannot be believed, and neither can an equality within `margin` that the drift may
 * have hidden. */
bool assay__stats_may_be_drift(double mean, double drift, double margin);

#endif
