/* Looks at 30 values, then wherever the last look predicts the end, but at 1.1 times the values at
 * least and twice at most.
 *
 * Every look is a chance to stop at a moment when the spread happens to look small, so there are
 * few, and each is worth the name (geometric spacing). Aiming at the predicted end instead of at
 * the next power of 1.5 or 2 costs no coverage measurably, and saves what such a step overshoots:
 * the mean number of values is 1.1 … 1.2 times what would do if the noise were known (from 300
 * values on). A series with memory must hold 25 values' worth of independent information before it
 * may stop: the fit of its memory is too uncertain before (coverage 91 … 92 % at ρ = 0.8 without).
 * For what the interval itself contributes see autoregression.c; bench/coverage.c has the figures.
 *
 * "Unreachable" is said when even an optimistic prediction exceeds the maximum: the normal quantile
 * in place of Student's and the variance at its lower 99 % bound. Stopping there favours noisy
 * moments, which have wide intervals: it does not cost coverage either. */
#include "assay/stats.h"
#include "stats/check.h"
#include "stats/mean.h"

#include <math.h>

enum { MINIMUM_DEFAULT = 30, EFFECTIVE_MINIMUM = 25 };

static const double GROWTH_LEAST = 1.1, GROWTH_MOST = 2, AIM_BEYOND = 1.02;

assay_status assay_stopping_init(assay_stopping *stopping, double level, double relative_precision,
                                 size_t maximum)
{
    if (!assay__stats_level(level) || !(relative_precision > 0) || maximum == 0)
        return ASSAY_E_ARGUMENT;
    *stopping = (assay_stopping){
        .level = level,
        .relative_precision = relative_precision,
        .minimum = MINIMUM_DEFAULT,
        .maximum = maximum,
        .next_look = MINIMUM_DEFAULT,
        .interval = {.level = level, .validity = ASSAY_NOT_ENOUGH_DATA},
    };
    return ASSAY_OK;
}

static size_t as_count(double number)
{
    return number < (double)(SIZE_MAX / 2) ? (size_t)ceil(number) : SIZE_MAX / 2;
}

/* How many values the rule would take in all if noise and memory stay as they look now. Degrees of
 * freedom grow with the values, so the quantile shrinks on the way: three rounds settle it. */
static double predict(const assay__mean *mean, double count, double level, double target)
{
    double predicted = count;
    for (int i = 0; i < 3; i++) {
        double df = mean->degrees_of_freedom * fmax(1, predicted / count);
        double excess =
            assay_stats_student_quantile(0.5 + level / 2, df) * mean->standard_error / target;
        predicted = count * excess * excess;
    }
    return fmax(predicted, count * EFFECTIVE_MINIMUM / mean->effective_count);
}

/* The same, were the variance at the lower end of what it may be: that of the logarithm of a
 * variance is 2 over its degrees of freedom. */
static double predict_at_best(const assay__mean *mean, double count, double level, double target)
{
    double excess = assay_stats_normal_quantile(0.5 + level / 2) * mean->standard_error / target;
    return count * excess * excess * exp(-2.33 * sqrt(2 / mean->degrees_of_freedom));
}

static void plan_next_look(assay_stopping *stopping, double count, double predicted)
{
    double next = fmin(fmax(AIM_BEYOND * predicted, GROWTH_LEAST * count), GROWTH_MOST * count);
    size_t whole = as_count(next);
    stopping->next_look = whole < stopping->maximum ? whole : stopping->maximum;
}

static assay_stopping_decision decide(assay_stopping *stopping, const assay__mean *mean,
                                      size_t count)
{
    double n = (double)count, half = 0.5 * (stopping->interval.high - stopping->interval.low);
    double target =
        fmax(stopping->absolute_precision, stopping->relative_precision * fabs(mean->mean));
    bool enough = count >= stopping->minimum && mean->effective_count >= EFFECTIVE_MINIMUM;
    if (half == 0 || (half <= target && enough)) {
        stopping->predicted = count;
        return ASSAY_STOPPING_PRECISE;
    }
    double predicted = predict(mean, n, stopping->level, target);
    stopping->predicted = as_count(predicted);
    if (count >= stopping->maximum)
        return ASSAY_STOPPING_EXHAUSTED;
    if (predict_at_best(mean, n, stopping->level, target) > (double)stopping->maximum)
        return ASSAY_STOPPING_UNREACHABLE;
    plan_next_look(stopping, n, predicted);
    return ASSAY_STOPPING_CONTINUE;
}

assay_status assay_stopping_look(assay_stopping *stopping, const double *values, size_t count,
                                 assay_stopping_decision *decision)
{
    bool exhausted = count >= stopping->maximum;
    size_t due = stopping->next_look > stopping->minimum ? stopping->next_look : stopping->minimum;
    if (!exhausted && count < due) {
        *decision = ASSAY_STOPPING_CONTINUE;
        return ASSAY_OK;
    }
    if (!assay__stats_finite(values, count))
        return ASSAY_E_ARGUMENT;
    if (count < 2) {
        *decision = exhausted ? ASSAY_STOPPING_EXHAUSTED : ASSAY_STOPPING_CONTINUE;
        return ASSAY_OK;
    }
    assay__mean mean = assay__mean_describe(values, count);
    stopping->interval = assay__mean_interval(&mean, stopping->level);
    *decision = decide(stopping, &mean, count);
    return ASSAY_OK;
}
