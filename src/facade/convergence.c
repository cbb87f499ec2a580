/* Summarises repeated trainings: how many reached the threshold of the loss, and after how much
 * time and how many epochs.
 *
 * A training that ended without reaching the threshold is censored: it would have needed longer
 * than it was given, and nobody knows how much longer. Leaving such trainings out makes every
 * figure too good. The Kaplan-Meier estimate uses them, but it holds only if the decision to stop a
 * training does not depend on how the training goes. In practice, trainings are stopped because
 * they go badly. So this file assumes nothing. The time of a censored training is a range, from the
 * time that it was given to infinity. A figure is stated only if it is the same for every time in
 * these ranges.
 *
 * Median: it is stated if the middle of the sorted lower ends equals the middle of the sorted upper
 * ends. Otherwise it is unknown, and only its lower end is told. Interval of the median: the order
 * statistics k and n + 1 - k with P(Bin(n, 1/2) < k) <= 2.5 % (David and Nagaraja, Order
 * Statistics, 2003, section 7.1). It is exact for any distribution, and exists from n = 6 on. Mean:
 * it is stated only when no training is censored. Share of the trainings that converged: Wilson's
 * interval (1927), as Brown, Cai and DasGupta (2001) advise for few trials. */
#include <math.h>
#include <stdlib.h>

#include "assay/training.h"
#include "stats/distribution.h"
#include "stats/mean.h"
#include "stats/sorted.h"

static const double level = 0.95;

/* The time that one training needs. */
typedef struct range {
    double low;
    bool known; /* true: exactly `low`; false: longer than `low` */
} range;

/* The largest k with P(Bin(n, 1/2) < k) <= (1 - level) / 2; 0 when there is none. Up to 1000
 * trainings the sum is exact. Beyond that its first term would soon underflow, so the normal
 * approximation takes its place. */
static size_t lower_rank(size_t n)
{
    if (n > 1000)
        return (size_t)((double)n / 2.0 -
                        assay__stats_normal_quantile((1.0 + level) / 2.0) * sqrt((double)n) / 2.0);
    double probability = exp2(-(double)n), below = 0.0;
    size_t rank = 0;
    while (rank < n && below + probability <= (1.0 - level) / 2.0) {
        below += probability;
        probability *= (double)(n - rank) / (double)(rank + 1);
        rank++;
    }
    return rank;
}

static assay_reading finite_or_missing(double value)
{
    return isfinite(value) ? assay_reading_of(value) : assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
}

static double middle(const double *sorted, size_t count)
{
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2.0;
}

/* `low` holds the sorted lower ends of the ranges, `high` the sorted upper ends. */
static void fill_median(const double *low, const double *high, size_t count,
                        assay_time_to_threshold *result)
{
    size_t rank = lower_rank(count);
    if (middle(low, count) == middle(high, count))
        result->median = assay_reading_of(middle(low, count));
    else
        result->median_at_least = assay_reading_of(middle(low, count));
    if (rank > 0) {
        result->median_low = assay_reading_of(low[rank - 1]);
        result->median_high = finite_or_missing(high[count - rank]);
    }
}

static assay_status fill_mean(const range *ranges, double *values, size_t count,
                              assay_time_to_threshold *result)
{
    assay_interval mean;
    for (size_t i = 0; i < count; i++)
        values[i] = ranges[i].low;
    assay_status status = assay__stats_time_interval(values, count, level, &mean);
    if (status == ASSAY_OK && mean.validity == ASSAY_VALID) {
        result->mean = assay_reading_of(mean.estimate);
        result->mean_low = assay_reading_of(mean.low);
        result->mean_high = assay_reading_of(mean.high);
    } else if (status == ASSAY_OK && count == 1) {
        result->mean = assay_reading_of(values[0]);
    }
    return status;
}

static assay_time_to_threshold all_missing(assay_validity why)
{
    const assay_reading none = assay_reading_missing(why);
    return (assay_time_to_threshold){none, none, none, none, none, none, none};
}

static assay_status summarize(const range *ranges, size_t count, assay_time_to_threshold *result)
{
    *result = all_missing(ASSAY_NOT_ENOUGH_DATA);
    double *values = calloc(count, 2 * sizeof *values);
    if (values == NULL)
        return ASSAY_E_MEMORY;
    double *low = values, *high = values + count;
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        known += ranges[i].known;
    assay_status status = ASSAY_OK;
    if (known == count)
        status = fill_mean(ranges, values, count, result);
    for (size_t i = 0; i < count; i++) {
        low[i] = ranges[i].low;
        high[i] = ranges[i].known ? ranges[i].low : INFINITY;
    }
    assay__stats_sort(low, count);
    assay__stats_sort(high, count);
    if (status == ASSAY_OK)
        fill_median(low, high, count, result);
    free(values);
    return status;
}

static assay_interval wilson(size_t successes, size_t trials)
{
    double n = (double)trials, share = (double)successes / n;
    double z = assay__stats_normal_quantile((1.0 + level) / 2.0);
    double centre = share + z * z / (2.0 * n);
    double half = z * sqrt(share * (1.0 - share) / n + z * z / (4.0 * n * n));
    double scale = 1.0 + z * z / n;
    return (assay_interval){.estimate = share,
                            .low = fmax(0.0, (centre - half) / scale),
                            .high = fmin(1.0, (centre + half) / scale),
                            .level = level,
                            .validity = ASSAY_VALID};
}

/* The range of one training, in seconds or in epochs. False when the training was not timed. */
static bool range_of(const assay_convergence *training, bool seconds, range *result)
{
    assay_reading given =
        seconds ? training->total_seconds : assay_reading_of((double)training->epochs);
    assay_reading taken = seconds ? training->time_to_converge : training->epochs_to_converge;
    assay_reading low = training->converged ? taken : given;
    *result = (range){low.value, training->converged};
    return low.validity == ASSAY_VALID;
}

static assay_status summarize_unit(const assay_convergence *trainings, size_t count, bool seconds,
                                   range *ranges, assay_time_to_threshold *result)
{
    for (size_t i = 0; i < count; i++)
        if (!range_of(&trainings[i], seconds, &ranges[i])) {
            *result = all_missing(ASSAY_NOT_MEASURED);
            return ASSAY_OK;
        }
    return summarize(ranges, count, result);
}

assay_status assay_convergence_summarize(const assay_convergence *trainings, size_t count,
                                         assay_convergence_summary *summary)
{
    if (count == 0)
        return ASSAY_E_DATA;
    assay_convergence_summary result = {.trainings = count};
    for (size_t i = 0; i < count; i++) {
        if (trainings[i].threshold != trainings[0].threshold)
            return ASSAY_E_ARGUMENT;
        result.converged += trainings[i].converged;
    }
    result.share_converged = wilson(result.converged, count);
    range *ranges = calloc(count, sizeof *ranges);
    if (ranges == NULL)
        return ASSAY_E_MEMORY;
    assay_status status = summarize_unit(trainings, count, true, ranges, &result.seconds);
    if (status == ASSAY_OK)
        status = summarize_unit(trainings, count, false, ranges, &result.epochs);
    free(ranges);
    if (status == ASSAY_OK)
        *summary = result;
    return status;
}
