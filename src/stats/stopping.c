/* Looks at 30 values, then at half of where the last look predicts the end, but at 1.015 times the
 * values at least and 1.4 times at most.
 *
 * Every look is a chance to stop at a moment when the spread happens to look small, so they are
 * spaced geometrically and most lie where they may end it. Predictions shrink as the series grows
 * (Student's quantile, and what is paid for memory that cannot be ruled out), so to aim at the
 * prediction itself is to overshoot; and leaps of 2 land on 60, 120 and 240 whatever is needed.
 * The mean number of values is 1.04 times what would do if the noise were known at 384 of those. An
 * absolute precision may stop sooner: 1.06 times at 188, 1.08 at 96, 1.13 at 48, 1.19 at 35
 * and 1.26 at 30. Somebody who knew that there is no memory, and looked at every value from 30 on,
 * would take 1.01 at 96, 1.03 at 48, 1.07 at 35 and 1.13 at 30: the rest is paid for memory.
 *
 * No rule can see what has not happened yet. Of a slow mode that one value in 50 falls into 30
 * values show nothing in 55 % of series, and when they are precise by themselves the interval
 * covers 42 % of means, and 74 % where it is one value in 20. A wider interval does not help, since
 * nothing says how slow the mode is; only more values do. So a relative precision, which is asked
 * of times, is not believed before 200 values, and neither is that it cannot be reached. The
 * interval then covers 95 … 97 %. Precision alone would be reached sooner by whoever has no such
 * mode: the price of times with little noise. One value in 100 still goes unseen in 13 % of series.
 *
 * For what the interval itself contributes see autoregression.c; bench/coverage.c has the figures.
 * Skew leaves its mark too: a log-normal series of σ = 1 covers 93 … 94.5 %.
 *
 * "Unreachable" is said when even an optimistic prediction exceeds the maximum: the normal quantile
 * in place of Student's and the variance as small as four standard errors of its logarithm allow
 * (there are many looks). Stopping there favours noisy moments, which have wide intervals: it does
 * not cost coverage either (96.5 %). */
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

/* How many values the rule would take in all if noise and memory stay as they look now. Degrees of
 * freedom grow with the values, so the quantile shrinks on the way: three rounds settle it. */
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

/* The same, were the variance at the lower end of what it may be: that of the logarithm of a
 * variance is 2 over its degrees of freedom. */
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
