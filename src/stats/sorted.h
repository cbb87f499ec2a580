/* Sorting, and quantiles of sorted values. */
#ifndef ASSAY_STATS_SORTED_H
#define ASSAY_STATS_SORTED_H

#include <stddef.h>

void assay__stats_sort(double *values, size_t count);

/* An ascending copy of count ≥ 1 values. The caller frees it. NULL when out of memory. */
double *assay__stats_sorted_copy(const double *values, size_t count);

/* The quantile of count ≥ 1 ascending values, by type 7 of Hyndman and Fan (1996); 0 ≤ q ≤ 1. */
double assay__stats_sorted_quantile(const double *sorted, size_t count, double q);

/* The median of count ≥ 1 ascending values. */
double assay__stats_sorted_median(const double *sorted, size_t count);

#endif
