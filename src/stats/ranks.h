/* Ranks, and the exact distribution of sums of them. */
#ifndef ASSAY_STATS_RANKS_H
#define ASSAY_STATS_RANKS_H

#include <stddef.h>

/* Twice the rank of each value, counted from 1; equal values share the mean of their ranks, which
 * is why all are doubled: they stay whole. `ties` becomes the sum of t³ − t over groups of t equal
 * values. Returns NULL without memory; the caller frees. */
size_t *assay__stats_double_ranks(const double *values, size_t count, double *ties);

/* Shares of all ways to pick `picked` of the doubled ranks (or, with picked > count, any number of
 * them) by their sum: distribution[s] for s = 0 … total, total being the sum of all. Returns NULL
 * without memory; the caller frees. */
double *assay__stats_rank_sums(const size_t *double_ranks, size_t count, size_t picked,
                               size_t *total);

/* min(1, twice the smaller tail at `sum`). */
double assay__stats_two_sided(const double *distribution, size_t total, size_t sum);

#endif
