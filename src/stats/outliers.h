/* Counts outliers by Tukey's fences: values beyond 1.5 (mild) or 3 (severe) interquartile ranges
 * from the quartiles. Outliers are reported, never dropped. */
#ifndef ASSAY_STATS_OUTLIERS_H
#define ASSAY_STATS_OUTLIERS_H

#include <stddef.h>

#include "assay/status.h"

typedef struct assay__outliers {
    size_t severe_low, mild_low, mild_high, severe_high; /* number of values in each class */
} assay__outliers;

/* Fails with ASSAY_E_DATA for fewer than 4 values. Needs memory for a copy of the values. */
ASSAY_MUST_USE assay_status assay__stats_outliers(const double *values, size_t count,
                                                  assay__outliers *outliers);

#endif
