/* Ranks, and the exact distribution of sums of them. */
#ifndef ASSAY_STATS_RANKS_H
#define ASSAY_STATS_RANKS_H

#include <stddef.h>

/* Twice the rank of each value, counted from 1. Equal values share the mean of their ranks; ranks
 * are doubled so that these means are whole numbers. *ties becomes the sum of t³ − t over groups of
 * t equal values. Returns NULL when out of memory; the caller frees. */
size_t *assay__stats_double_ranks(const double *values, size_t count, double *ties);

/* The distribution of the sum of `picked` of the doubled ranks or, if picked > count, of any number
 * of them. distribution[s] is the share of all ways to pick them that have the sum s, for s = 0 …
 * *total, the sum of all ranks. Returns NULL when out of memory; the caller frees. */
double *assay__stats_rank_sums(const size_t *double_ranks, size_t count, size_t picked,
                               size_t *total);

/* min(1, twice the smaller tail at `sum`). */
double assay__stats_two_sided(const double *distribution, size_t total, size_t sum);

#endif
