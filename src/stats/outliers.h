/* Classes of outliers by Tukey's fences: beyond 1.5 (mild) or 3 (severe) interquartile ranges from
 * the quartiles. An outlier is reported, never dropped. */
#ifndef ASSAY_STATS_OUTLIERS_H
#define ASSAY_STATS_OUTLIERS_H

#include <stddef.h>

#include "assay/status.h"

typedef struct assay__outliers {
    size_t severe_low, mild_low, mild_high, severe_high; /* how many of each */
} assay__outliers;

/* Fewer than 4 values: ASSAY_E_DATA. Needs memory for a copy. */
ASSAY_MUST_USE assay_status assay__stats_outliers(const double *values, size_t count,
                                                  assay__outliers *outliers);

#endif
