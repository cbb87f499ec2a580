#include "assay/stats.h"
#include "stats/autoregression.h"
#include "stats/check.h"

#include <math.h>

/* The second pass takes back what rounding did to the first. */
static double mean_of(const double *values, size_t count)
{
    double sum = 0, rest = 0, n = (double)count;
    for (size_t i = 0; i < count; i++)
        sum += values[i] / n;
    for (size_t i = 0; i < count; i++)
        rest += values[i] - sum;
    return sum + rest / n;
}

static bool all_equal(const double *values, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (values[i] != values[0])
            return false;
    return true;
}

/* Mean, error and skewness of a series of two values or more. */
static void describe(const double *values, size_t count, double *mean, double *error,
                     assay__autoregression *fit)
{
    if (all_equal(values, count)) {
        *mean = values[0];
        *error = 0;
        *fit = (assay__autoregression){.degrees_of_freedom = (double)count - 1};
        return;
    }
    *mean = mean_of(values, count);
    assay__autoregression_fit(values, count, *mean, fit);
    *error = sqrt(fit->long_run_variance / (double)count);
}

assay_status assay_stats_mean_error(const double *values, size_t count, double *mean,
                                    double *standard_error, double *degrees_of_freedom)
{
    if (!assay__stats_finite(values, count))
        return ASSAY_E_ARGUMENT;
    if (count < 2)
        return ASSAY_E_DATA;
    assay__autoregression fit;
    describe(values, count, mean, standard_error, &fit);
    *degrees_of_freedom = fit.degrees_of_freedom;
    return ASSAY_OK;
}

/* The inverse of Hall's monotone cubic (1992, "On the removal of skewness by transformation"): the
 * studentised mean whose transform is t. `skew` is the skewness over √count. */
static double undo_skewness(double t, double skew)
{
    if (fabs(skew) < 1e-9)
        return t;
    return (cbrt(1 + skew * (t - skew / 6)) - 1) * 3 / skew;
}

assay_status assay_stats_mean_interval(const double *values, size_t count, double level,
                                       assay_interval *interval)
{
    if (!assay__stats_finite(values, count) || !assay__stats_level(level))
        return ASSAY_E_ARGUMENT;
    *interval = (assay_interval){.level = level, .validity = ASSAY_NOT_ENOUGH_DATA};
    if (count < 2)
        return ASSAY_OK;
    double mean, error;
    assay__autoregression fit;
    describe(values, count, &mean, &error, &fit);
    double t = assay_stats_student_quantile(0.5 + level / 2, fit.degrees_of_freedom);
    double skew = fit.innovation_skewness / sqrt((double)count);
    interval->estimate = mean;
    interval->low = mean - error * undo_skewness(t, skew);
    interval->high = mean - error * undo_skewness(-t, skew);
    interval->validity = ASSAY_VALID;
    return ASSAY_OK;
}
