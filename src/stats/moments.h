/* Count, mean and spread of numbers that arrive in groups. */
#ifndef ASSAY_STATS_MOMENTS_H
#define ASSAY_STATS_MOMENTS_H

#include <stddef.h>
#include <stdint.h>

typedef struct assay__moments {
    uint64_t count;
    double mean;
    double square_sum; /* sum of squared deviations from the mean */
} assay__moments;

/* The moments of `count` numbers, given the sum of their deviations from `shift` and of the squares
 * of these deviations. */
assay__moments assay__moments_from_shifted(uint64_t count, double shift, double deviation_sum,
                                           double deviation_square_sum);

/* The moments of an array, in two passes. All zero if there are no values. */
assay__moments assay__sample_moments(const double *values, size_t count);

/* Add another group of numbers (Chan, Golub and LeVeque 1979, "Updating formulae and a pairwise
 * algorithm for computing sample variances", eq. 2.1). */
void assay__moments_merge(assay__moments *into, assay__moments other);

/* The sample standard deviation; 0 for fewer than two numbers. */
double assay__moments_deviation(assay__moments moments);

#endif
