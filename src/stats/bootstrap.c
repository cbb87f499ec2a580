/* Bootstrap intervals (Efron and Tibshirani 1993, "An Introduction to the Bootstrap", chapters 13
 * and 14) and the stationary bootstrap for series with memory (Politis and Romano 1994): runs of
 * geometric length, wrapped around at the end.
 *
 * The mean run length is that of Politis and White (2004, "Automatic block-length selection for the
 * dependent bootstrap", with the correction of Patton et al. 2009), b = (2 G² / D)^⅓ n^⅓, with the
 * spectrum of an AR(1) put in, where it becomes (2ρ / (1 − ρ²))^⅔ n^⅓. Their flat-top estimate of
 * the spectrum needs more values than a benchmark has.
 *
 * For the mean the parametric interval of mean.c covers better at small n; this is for figures it
 * has no formula for: medians, trimmed means, ratios. */
#include "assay/stats.h"
#include "base/random.h"
#include "base/struct_size.h"
#include "stats/check.h"
#include "stats/order.h"
#include "stats/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As many as leave one figure beyond each end of the interval, and ten where none are asked for. */
static const double RESAMPLES_DEFAULT = 2000, BEYOND_LEAST = 1, BEYOND_DEFAULT = 10;

static size_t resamples_for(double level, double beyond)
{
    double most = (double)(SIZE_MAX / 16), needed = ceil((1 - 1e-9) * 2 * beyond / (1 - level));
    return (size_t)fmin(needed, most);
}

assay_status assay_stats_autocorrelation(const double *values, size_t count, size_t lag_max,
                                         double *correlations)
{
    if (!assay__stats_finite(values, count))
        return ASSAY_E_ARGUMENT;
    assay__moments moments = assay__sample_moments(values, count);
    if (lag_max >= count || !(moments.square_sum > 0))
        return ASSAY_E_DATA;
    for (size_t lag = 0; lag <= lag_max; lag++) {
        double sum = 0;
        for (size_t i = lag; i < count; i++)
            sum += (values[i] - moments.mean) * (values[i - lag] - moments.mean);
        correlations[lag] = sum / moments.square_sum;
    }
    return ASSAY_OK;
}

assay_status assay_stats_block_length(const double *values, size_t count, double *block_length)
{
    double correlations[2], n = (double)count;
    if (!assay__stats_finite(values, count))
        return ASSAY_E_ARGUMENT;
    *block_length = 1;
    if (count < 3 || assay_stats_autocorrelation(values, count, 1, correlations) != ASSAY_OK)
        return ASSAY_OK;
    double rho = fmin(fmax(correlations[1], 0), 0.99);
    double length = pow(2 * rho / (1 - rho * rho), 2.0 / 3) * cbrt(n);
    *block_length = fmin(fmax(length, 1), fmax(1, n / 3));
    return ASSAY_OK;
}

/* A bootstrap in progress. */
typedef struct bootstrap {
    const double *values;
    size_t count;
    assay_statistic statistic;
    void *context;
    double observed;
    double *sample;  /* count */
    double *figures; /* resamples, ascending once drawn */
    size_t resamples;
} bootstrap;

static void draw_sample(bootstrap *boot, double block_length, assay__random *random)
{
    size_t from = 0;
    for (size_t i = 0; i < boot->count; i++) {
        bool fresh =
            i == 0 || block_length <= 1 || assay__random_uniform(random) < 1 / block_length;
        from = fresh ? (size_t)assay__random_below(random, boot->count) : (from + 1) % boot->count;
        boot->sample[i] = boot->values[from];
    }
}

static assay_status draw_figures(bootstrap *boot, double block_length, uint64_t seed)
{
    assay__random random;
    assay__random_init(&random, seed);
    for (size_t i = 0; i < boot->resamples; i++) {
        draw_sample(boot, block_length, &random);
        boot->figures[i] = boot->statistic(boot->sample, boot->count, boot->context);
        if (!isfinite(boot->figures[i]))
            return ASSAY_E_DATA;
    }
    assay__stats_sort(boot->figures, boot->resamples);
    return ASSAY_OK;
}

/* A sixth of the skewness of the figures with each value left out in turn. */
static double acceleration(bootstrap *boot)
{
    double mean = 0, square = 0, cube = 0, n = (double)boot->count;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < boot->count; i++) {
            memcpy(boot->sample, boot->values, i * sizeof *boot->sample);
            memcpy(boot->sample + i, boot->values + i + 1,
                   (boot->count - i - 1) * sizeof *boot->sample);
            double figure = boot->statistic(boot->sample, boot->count - 1, boot->context);
            double deviation = mean - figure;
            if (pass == 0)
                mean += figure / n;
            square += pass * deviation * deviation;
            cube += pass * deviation * deviation * deviation;
        }
    return square > 0 && isfinite(cube) ? cube / (6 * pow(square, 1.5)) : 0;
}

/* Which quantile of the figures stands for probability p. */
static double corrected(double p, double bias, double skew)
{
    double z = bias + assay_stats_normal_quantile(p);
    return assay_stats_normal_cdf(bias + z / (1 - skew * z));
}

static void find_ends(bootstrap *boot, assay_bootstrap_method method, assay_interval *interval)
{
    double low = (1 - interval->level) / 2, high = 1 - low;
    if (method == ASSAY_BOOTSTRAP_BCA) {
        size_t below =
            assay__stats_count_below(boot->figures, boot->resamples, boot->observed, false);
        size_t not_above =
            assay__stats_count_below(boot->figures, boot->resamples, boot->observed, true);
        double share = ((double)below + (double)not_above) / (2 * (double)boot->resamples);
        double room = 0.5 / (double)boot->resamples;
        double bias = assay_stats_normal_quantile(fmin(fmax(share, room), 1 - room));
        double skew = acceleration(boot);
        low = corrected(low, bias, skew);
        high = corrected(high, bias, skew);
    }
    interval->low = assay__stats_sorted_quantile(boot->figures, boot->resamples, low);
    interval->high = assay__stats_sorted_quantile(boot->figures, boot->resamples, high);
    interval->validity = ASSAY_VALID;
}

static assay_status resample(bootstrap *boot, const assay_bootstrap_options *options,
                             assay_interval *interval)
{
    double block_length = options->block_length;
    assay_status status = ASSAY_OK;
    if (options->method == ASSAY_BOOTSTRAP_BCA)
        block_length = 1;
    else if (block_length == 0)
        status = assay_stats_block_length(boot->values, boot->count, &block_length);
    boot->observed = boot->statistic(boot->values, boot->count, boot->context);
    if (status == ASSAY_OK)
        status = isfinite(boot->observed) ? draw_figures(boot, block_length, options->seed)
                                          : ASSAY_E_DATA;
    if (status != ASSAY_OK)
        return status;
    assay_interval result = {.estimate = boot->observed, .level = interval->level};
    find_ends(boot, options->method, &result);
    *interval = result;
    return ASSAY_OK;
}

assay_status assay_stats_bootstrap(const double *values, size_t count, double level,
                                   assay_statistic statistic, void *context,
                                   const assay_bootstrap_options *options, assay_interval *interval)
{
    assay_bootstrap_options own;
    assay_status taken =
        assay__struct_take(&own, sizeof own, options, "assay_bootstrap_options", NULL);
    if (taken != ASSAY_OK)
        return taken;
    options = &own;
    if (!assay__stats_finite(values, count) || !assay__stats_level(level) || statistic == NULL ||
        !(options->block_length >= 0) ||
        (options->method != ASSAY_BOOTSTRAP_PERCENTILE && options->method != ASSAY_BOOTSTRAP_BCA) ||
        (options->resamples != 0 && options->resamples < resamples_for(level, BEYOND_LEAST)))
        return ASSAY_E_ARGUMENT;
    assay_interval result = {.level = level, .validity = ASSAY_NOT_ENOUGH_DATA};
    if (count < 3) {
        *interval = result;
        return ASSAY_OK;
    }
    size_t resamples = options->resamples;
    if (resamples == 0)
        resamples = (size_t)fmax(RESAMPLES_DEFAULT, (double)resamples_for(level, BEYOND_DEFAULT));
    bootstrap boot = {.values = values,
                      .count = count,
                      .statistic = statistic,
                      .context = context,
                      .sample = calloc(count, sizeof(double)),
                      .figures = calloc(resamples, sizeof(double)),
                      .resamples = resamples};
    assay_status status = ASSAY_E_MEMORY;
    if (boot.sample != NULL && boot.figures != NULL)
        status = resample(&boot, options, &result);
    if (status == ASSAY_OK)
        *interval = result;
    free(boot.figures);
    free(boot.sample);
    return status;
}
