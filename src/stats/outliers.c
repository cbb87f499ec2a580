/* Outliers: Tukey (1977), "Exploratory Data Analysis", fences at 1.5 and 3 interquartile ranges;
 * and scores from the median absolute deviation (Iglewicz and Hoaglin 1993, "How to Detect and
 * Handle Outliers", who call values beyond 3.5 outliers). hyperfine warns beyond 10 of the same
 * scores (its outlier_detection.rs): timings have heavy tails, and 3.5 would warn at every run. */
#include "assay/stats.h"
#include "stats/check.h"
#include "stats/order.h"

#include <math.h>
#include <stdlib.h>

assay_status assay_stats_outliers(const double *values, size_t count, assay_outliers *outliers)
{
    if (!assay__stats_finite(values, count))
        return ASSAY_E_ARGUMENT;
    if (count < 4)
        return ASSAY_E_DATA;
    double *sorted = assay__stats_sorted_copy(values, count);
    if (sorted == NULL)
        return ASSAY_E_MEMORY;
    double low = assay__stats_sorted_quantile(sorted, count, 0.25);
    double high = assay__stats_sorted_quantile(sorted, count, 0.75), range = high - low;
    size_t severe_low = assay__stats_count_below(sorted, count, low - 3 * range, false);
    size_t all_low = assay__stats_count_below(sorted, count, low - 1.5 * range, false);
    size_t all_high = count - assay__stats_count_below(sorted, count, high + 1.5 * range, true);
    size_t severe_high = count - assay__stats_count_below(sorted, count, high + 3 * range, true);
    *outliers = (assay_outliers){.quartile_low = low,
                                 .quartile_high = high,
                                 .severe_low = severe_low,
                                 .mild_low = all_low - severe_low,
                                 .mild_high = all_high - severe_high,
                                 .severe_high = severe_high};
    free(sorted);
    return ASSAY_OK;
}

assay_status assay_stats_robust_scores(const double *values, size_t count, double *scores)
{
    if (!assay__stats_finite(values, count))
        return ASSAY_E_ARGUMENT;
    if (count == 0)
        return ASSAY_E_DATA;
    double *sorted = assay__stats_sorted_copy(values, count);
    if (sorted == NULL)
        return ASSAY_E_MEMORY;
    double median = assay__stats_sorted_median(sorted, count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = fabs(sorted[i] - median);
    assay__stats_sort(sorted, count);
    double deviation = 1.4826 * assay__stats_sorted_median(sorted, count);
    free(sorted);
    if (!(deviation > 0))
        return ASSAY_E_DATA;
    for (size_t i = 0; i < count; i++)
        scores[i] = (values[i] - median) / deviation;
    return ASSAY_OK;
}
