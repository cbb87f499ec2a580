/* Distributions for the use of other methods. */
#ifndef ASSAY_STATS_DISTRIBUTION_H
#define ASSAY_STATS_DISTRIBUTION_H

/* P(B ≤ successes) of a binomial. */
double assay__stats_binomial_cdf(double successes, double trials, double probability);

#endif
