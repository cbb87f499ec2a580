/* Quantiles, interpolated between order statistics, with confidence intervals from order
 * statistics.
 *
 * The number of values below the true quantile is binomial whatever the distribution is. So two
 * order statistics form a confidence interval (Hahn and Meeker 1991, "Statistical Intervals",
 * section 5.2). Unlike intervals from a bootstrap, these are not too narrow in the tails: where the
 * sample cannot bound the quantile, there is no interval. */
#include "stats/quantile.h"
#include "assay/stats.h"
#include "stats/distribution.h"
#include "stats/input.h"
#include "stats/sorted.h"

#include <math.h>
#include <stdlib.h>

assay_reading assay__stats_quantile_reading(const double *sorted, size_t count, double q)
{
    double outside = (double)count * fmin(q, 1 - q);
    bool exempt = q == 0 || q == 0.5 || q == 1;
    /* A small tolerance: 20 × (1 − 0.95) is not exactly 1 in binary. */
    if (count == 0 || (!exempt && outside < 1 - 1e-9))
        return assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    return assay_reading_of(assay__stats_sorted_quantile(sorted, count, q));
}

assay_status assay_stats_quantile(const double *values, size_t count, double q,
                                  assay_reading *quantile)
{
    if (!assay__stats_finite(values, count) || !(q >= 0 && q <= 1))
        return ASSAY_E_ARGUMENT;
    if (count == 0) {
        *quantile = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
        return ASSAY_OK;
    }
    double *sorted = assay__stats_sorted_copy(values, count);
    if (sorted == NULL)
        return ASSAY_E_MEMORY;
    *quantile = assay__stats_quantile_reading(sorted, count, q);
    free(sorted);
    return ASSAY_OK;
}

/* The smallest k in 0 … count with P(B ≤ k) ≥ p. */
static size_t binomial_quantile(double p, size_t count, double q)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (assay__stats_binomial_cdf((double)middle, (double)count, q) >= p)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

assay_status assay_stats_quantile_interval(const double *values, size_t count, double q,
                                           double level, assay_interval *interval)
{
    if (!assay__stats_finite(values, count) || !assay__stats_level(level) || !(q > 0 && q < 1))
        return ASSAY_E_ARGUMENT;
    assay_interval result = {.level = level, .validity = ASSAY_NOT_ENOUGH_DATA};
    double outside = (1 - level) / 2;
    /* Ranks count from 1: P(B < lower) ≤ outside and P(B ≥ upper) ≤ outside. */
    size_t lower = count == 0 ? 0 : binomial_quantile(outside, count, q);
    size_t upper = count == 0 ? 1 : binomial_quantile(1 - outside, count, q) + 1;
    if (lower < 1 || upper > count) {
        *interval = result;
        return ASSAY_OK;
    }
    double *sorted = assay__stats_sorted_copy(values, count);
    if (sorted == NULL)
        return ASSAY_E_MEMORY;
    result.estimate = assay__stats_sorted_quantile(sorted, count, q);
    result.low = sorted[lower - 1];
    result.high = sorted[upper - 1];
    result.validity = ASSAY_VALID;
    free(sorted);
    *interval = result;
    return ASSAY_OK;
}
