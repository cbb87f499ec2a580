/* The interval of a mean: Student's interval with the long-run variance of an autoregression (see
 * autoregression.c) and Hall's correction for skewness.
 *
 * Without the correction the interval of a log-normal series (σ = 1), stopped when narrow enough,
 * covers 91 … 93 % instead of 95 at 40 … 350 values; with it, 94 … 95.5. Johnson's (1978) modified
 * t has the same first term, but its quadratic is not monotone where the skewness is largest. A
 * bootstrap would have to be repeated at every look of a stopping rule. */
#include "stats/mean.h"
#include "assay/stats.h"
#include "stats/autoregression.h"
#include "stats/distribution.h"
#include "stats/input.h"
#include "stats/moments.h"

#include <math.h>

static const double POSITIVE_FROM = 0.25;

enum { BETWEEN_FROM = 8, LONG_FROM = 200 };

/* The allowance for the possibility that a series stopped because its autocorrelation happened to
 * look weak. Only short series need it: a run does not stop for precision before 200 values
 * (stopping.c), and one that stops there does so whatever its autocorrelation looks like. With the
 * allowance of short series, the interval of an autoregression with ρ = 0.8 would cover 98 %. */
static const double MOVE_SHORT = 0.7, MOVE_LONG = 0.15;

static bool all_equal(const double *values, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (values[i] != values[0])
            return false;
    return true;
}

/* `move` is the argument `move_clear` of assay__autoregression_fit_moved(). */
static assay__mean describe(const double *values, size_t count, double move)
{
    double n = (double)count;
    if (all_equal(values, count))
        return (assay__mean){.mean = values[0], .degrees_of_freedom = n - 1};
    assay__autoregression fit;
    double mean = assay__sample_moments(values, count).mean;
    assay__autoregression_fit_moved(values, count, mean, move, &fit);
    return (assay__mean){.mean = mean,
                         .standard_error = sqrt(fit.long_run_variance / n),
                         .degrees_of_freedom = fit.degrees_of_freedom,
                         .skewness = fit.innovation_skewness / sqrt(n)};
}

assay__mean assay__mean_describe(const double *values, size_t count)
{
    assay__mean mean = describe(values, count, count < LONG_FROM ? MOVE_SHORT : MOVE_LONG);
    mean.degrees_of_freedom = fmin(mean.degrees_of_freedom, (double)count - 1);
    return mean;
}

assay_status assay__stats_mean_error(const double *values, size_t count, double *mean,
                                     double *standard_error, double *degrees_of_freedom)
{
    if (!assay__stats_finite(values, count))
        return ASSAY_E_ARGUMENT;
    if (count < 2)
        return ASSAY_E_DATA;
    assay__mean series = describe(values, count, MOVE_SHORT);
    *mean = series.mean;
    *standard_error = series.standard_error;
    *degrees_of_freedom = series.degrees_of_freedom;
    return ASSAY_OK;
}

/* The inverse of Hall's monotone cubic (1992, "On the removal of skewness by transformation"): the
 * studentised mean whose transform is t. */
static double undo_skewness(double t, double skewness)
{
    if (fabs(skewness) < 1e-9)
        return t;
    return (cbrt(1 + skewness * (t - skewness / 6)) - 1) * 3 / skewness;
}

assay_interval assay__mean_interval(const assay__mean *mean, double level)
{
    double t = assay__stats_student_quantile(0.5 + level / 2, mean->degrees_of_freedom);
    return (assay_interval){
        .estimate = mean->mean,
        .low = mean->mean - mean->standard_error * undo_skewness(t, mean->skewness),
        .high = mean->mean - mean->standard_error * undo_skewness(-t, mean->skewness),
        .level = level,
        .validity = ASSAY_VALID,
    };
}

assay_status assay_stats_mean_interval(const double *values, size_t count, double level,
                                       assay_interval *interval)
{
    if (!assay__stats_finite(values, count) || !assay__stats_level(level))
        return ASSAY_E_ARGUMENT;
    if (count < 2) {
        *interval = (assay_interval){.level = level, .validity = ASSAY_NOT_ENOUGH_DATA};
        return ASSAY_OK;
    }
    assay__mean mean = assay__mean_describe(values, count);
    *interval = assay__mean_interval(&mean, level);
    return ASSAY_OK;
}

/* Keep the lower end above 0, because a mean of times is above 0. Below a quarter of the estimate
 * the lower end follows an exponential, which continues the straight line smoothly and never
 * reaches 0. */
static double keep_positive(double low, double mean)
{
    double bend = POSITIVE_FROM * mean;
    return low >= bend ? low : bend * exp(low / bend - 1);
}

/* From 8 values on, the mean is taken to lie among the values: all of 8 values lie on one side of
 * their median in only one case of 128. An interval is wider than that only where autocorrelation
 * takes most degrees of freedom. */
assay_status assay__stats_time_interval(const double *seconds, size_t count, double level,
                                        assay_interval *interval)
{
    assay_status status = assay_stats_mean_interval(seconds, count, level, interval);
    if (status != ASSAY_OK || interval->validity != ASSAY_VALID)
        return status;
    double least = seconds[0], most = seconds[0], mean = interval->estimate;
    for (size_t i = 1; i < count; i++) {
        least = fmin(least, seconds[i]);
        most = fmax(most, seconds[i]);
    }
    if (least >= 0)
        interval->low = mean > 0 ? keep_positive(interval->low, mean) : 0;
    if (count >= BETWEEN_FROM) {
        interval->low = fmax(interval->low, least);
        interval->high = fmin(interval->high, most);
    }
    return status;
}
