/* Quantiles of values already in order. */
#ifndef ASSAY_STATS_QUANTILE_H
#define ASSAY_STATS_QUANTILE_H

#include "assay/stats.h"

/* As assay_stats_quantile, of ascending values. */
assay_reading assay__stats_quantile_reading(const double *sorted, size_t count, double q);

#endif
