/* The stopping rule for a precision. It looks at 30 values first. The next look is at half of the
 * count that the last look predicts, but at least at 1.015 times and at most at 1.4 times the
 * present count.
 *
 * Every look is a chance to stop because the spread happens to look small. So looks are spaced
 * geometrically, and most of them are near the predicted end. Predictions shrink as the series
 * grows, because Student's quantile and the allowance for autocorrelation shrink; a look at the
 * predicted end itself would overshoot. Steps of a factor of 2 would always land on 60, 120 and 240
 * values. The mean number of values is 1.04 times the number that a sampler needs which knows the
 * noise, where that sampler needs 384. An absolute precision may stop sooner: 1.06 times at 188,
 * 1.08 at 96, 1.13 at 48, 1.19 at 35 and 1.26 at 30. A sampler that knows that the values are
 * independent and looks at every value from 30 on takes 1.01 at 96, 1.03 at 48, 1.07 at 35 and 1.13
 * at 30. The difference is the cost of allowing for autocorrelation.
 *
 * No rule can see what has not happened yet. If one value in 50 belongs to a slow mode, 30 values
 * show nothing of it in 55 % of series. If those 30 values are precise by themselves, the interval
 * covers the mean in 42 % of series, and in 74 % if the mode takes one value in 20. A wider
 * interval does not help, because nothing says how slow the mode is; only more values do. So a
 * relative precision, which is used for times, ends a run only from 200 values on, and so does the
 * finding that the precision cannot be reached. The interval then covers 95 … 97 %. The price is
 * paid by times with little noise and without such a mode, which would reach their precision
 * sooner. A mode of one value in 100 still goes unseen in 13 % of series.
 *
 * For the interval itself see autoregression.c; bench/coverage.c has the figures. Skewness lowers
 * the coverage too: the interval of a log-normal series of σ = 1 covers 93 … 94.5 %.
 *
 * A precision is called unreachable when even an optimistic prediction exceeds the maximum: with
 * the normal quantile in place of Student's, and with a variance four standard errors (of its
 * logarithm) below the estimate, because there are many looks. Series that stop for this reason
 * have happened to look noisy and have wide intervals, so this costs no coverage either (96.5 %).
 */
#include "assay/stats.h"
#include "stats/distribution.h"
#include "stats/input.h"
#include "stats/mean.h"

#include <math.h>

enum { MINIMUM_DEFAULT = 30, MODE_MINIMUM_DEFAULT = 200 };

static const double GROWTH_LEAST = 1.015, GROWTH_MOST = 1.4, AIM = 0.5;

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
        .mode_minimum = MODE_MINIMUM_DEFAULT,
    };
    return ASSAY_OK;
}

static size_t as_count(double number)
{
    return number < (double)(SIZE_MAX / 2) ? (size_t)ceil(number) : SIZE_MAX / 2;
}

/* The number of values that the rule would take in all if noise and autocorrelation stay as they
 * look now. The degrees of freedom grow with the values, so the quantile shrinks; three iterations
 * are enough. */
static double predict(const assay__mean *mean, double count, double level, double target)
{
    double predicted = count;
    for (int i = 0; i < 3; i++) {
        double df = mean->degrees_of_freedom * fmax(1, predicted / count);
        double excess =
            assay__stats_student_quantile(0.5 + level / 2, df) * mean->standard_error / target;
        predicted = count * excess * excess;
    }
    return predicted;
}

/* The same, if the variance were at the lower end of its uncertainty. The variance of the logarithm
 * of a variance is 2 over its degrees of freedom. */
static double predict_at_best(const assay__mean *mean, double count, double level, double target)
{
    double excess = assay__stats_normal_quantile(0.5 + level / 2) * mean->standard_error / target;
    return count * excess * excess * exp(-4 * sqrt(2 / mean->degrees_of_freedom));
}

static size_t at_most(size_t count, size_t maximum)
{
    return count < maximum ? count : maximum;
}

static void plan_next_look(assay_stopping *stopping, double count, double predicted)
{
    double next = fmin(fmax(AIM * predicted, GROWTH_LEAST * count), GROWTH_MOST * count);
    stopping->next_look = at_most(as_count(next), stopping->maximum);
}

static assay_stopping_decision decide(assay_stopping *stopping, const assay__mean *mean,
                                      size_t count)
{
    double n = (double)count, half = 0.5 * (stopping->interval.high - stopping->interval.low);
    double relative = stopping->relative_precision * fabs(mean->mean);
    double target = fmax(stopping->absolute_precision, relative);
    size_t needed = relative >= target ? stopping->mode_minimum : 0;
    bool unseen = count < at_most(needed, stopping->maximum);
    if (half == 0 || (half <= target && count >= stopping->minimum && !unseen)) {
        stopping->predicted = count;
        return ASSAY_STOPPING_PRECISE;
    }
    double predicted = fmax(predict(mean, n, stopping->level, target), (double)needed);
    stopping->predicted = as_count(predicted);
    if (count >= stopping->maximum)
        return ASSAY_STOPPING_EXHAUSTED;
    if (unseen) {
        stopping->next_look = at_most(needed, stopping->maximum);
        return ASSAY_STOPPING_CONTINUE;
    }
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
