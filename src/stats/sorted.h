/* Sorted copies. */
#ifndef ASSAY_STATS_SORTED_H
#define ASSAY_STATS_SORTED_H

#include <stddef.h>

void assay__stats_sort(double *values, size_t count);

/* An ascending copy of count ≥ 1 values, the caller's to free; NULL when there is no memory. */
double *assay__stats_sorted_copy(const double *values, size_t count);

/* Type 7 of Hyndman and Fan (1996) of count ≥ 1 ascending values; 0 ≤ q ≤ 1. */
double assay__stats_sorted_quantile(const double *sorted, size_t count, double q);

/* Median of count ≥ 1 ascending values. */
double assay__stats_sorted_median(const double *sorted, size_t count);

#endif
