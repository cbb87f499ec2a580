/* Student's interval with the long-run variance of an autoregression (see autoregression.c) and
 * Hall's correction for skewness.
 *
 * Without the correction the interval of a log-normal series (σ = 1), stopped when narrow enough,
 * covers 91 … 93 % instead of 95 at 40 … 350 values; with it 94 … 95.5. Johnson's (1978) modified t
 * has the same first term, but its quadratic is not monotone where skewness is largest. A bootstrap
 * would have to be repeated at every look of a stopping rule. */
#include "stats/mean.h"
#include "assay/stats.h"
#include "stats/autoregression.h"
#include "stats/distribution.h"
#include "stats/input.h"
#include "stats/moments.h"

#include <math.h>

static bool all_equal(const double *values, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (values[i] != values[0])
            return false;
    return true;
}

assay__mean assay__mean_describe(const double *values, size_t count)
{
    double n = (double)count;
    if (all_equal(values, count))
        return (assay__mean){.mean = values[0], .degrees_of_freedom = n - 1};
    assay__autoregression fit;
    double mean = assay__sample_moments(values, count).mean;
    assay__autoregression_fit(values, count, mean, &fit);
    return (assay__mean){.mean = mean,
                         .standard_error = sqrt(fit.long_run_variance / n),
                         .degrees_of_freedom = fit.degrees_of_freedom,
                         .skewness = fit.innovation_skewness / sqrt(n)};
}

assay_status assay__stats_mean_error(const double *values, size_t count, double *mean,
                                     double *standard_error, double *degrees_of_freedom)
{
    if (!assay__stats_finite(values, count))
        return ASSAY_E_ARGUMENT;
    if (count < 2)
        return ASSAY_E_DATA;
    assay__mean series = assay__mean_describe(values, count);
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

assay_status assay__stats_time_interval(const double *seconds, size_t count, double level,
                                        assay_interval *interval)
{
    assay_status status = assay_stats_mean_interval(seconds, count, level, interval);
    if (status == ASSAY_OK)
        interval->low = fmax(interval->low, 0);
    return status;
}
