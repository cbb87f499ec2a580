/* Count, mean and spread of numbers seen one group at a time. */
#ifndef ASSAY_STATS_MOMENTS_H
#define ASSAY_STATS_MOMENTS_H

#include <stddef.h>
#include <stdint.h>

typedef struct assay__moments {
    uint64_t count;
    double mean;
    double square_sum; /* of the deviations from the mean */
} assay__moments;

/* The moments of `count` numbers with this sum of deviations from `shift` and of their squares. */
assay__moments assay__moments_from_shifted(uint64_t count, double shift, double deviation_sum,
                                           double deviation_square_sum);

/* The moments of a plain array, in two passes; all zero for no values. */
assay__moments assay__sample_moments(const double *values, size_t count);

/* Add another group (Chan, Golub and LeVeque 1979, "Updating formulae and a pairwise algorithm for
 * computing sample variances", eq. 2.1). */
void assay__moments_merge(assay__moments *into, assay__moments other);

/* Sample standard deviation; meaningful from two numbers on. */
double assay__moments_deviation(assay__moments moments);

#endif
