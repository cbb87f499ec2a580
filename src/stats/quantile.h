/* Quantiles of values that are already sorted. */
#ifndef ASSAY_STATS_QUANTILE_H
#define ASSAY_STATS_QUANTILE_H

#include "assay/stats.h"

/* Like assay_stats_quantile(), for ascending values. */
assay_reading assay__stats_quantile_reading(const double *sorted, size_t count, double q);

#endif
