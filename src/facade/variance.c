/* assay_batch_variance_analyze(): finds batches that stand out, by Tukey's fences. A value beyond
 * 1.5 interquartile ranges outside the quartiles is *out*, a value beyond 3 is *far out*. In normal
 * noise 0.7 % of the values are out and 2 in a million are far out, so a few batches that are out
 * mean little, and one that is far out means something. The ratio of slowest to fastest alone
 * cannot tell one slow batch from noise, because it grows with the number of batches. */
#include <math.h>

#include "assay/training.h"
#include "stats/outliers.h"

enum { ENOUGH_FOR_QUARTILES = 8 }; /* two values in each quarter */

assay_status assay_batch_variance_analyze(const double *batch_seconds, size_t count,
                                          assay_batch_variance *variance)
{
    if (count == 0)
        return ASSAY_E_DATA;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(batch_seconds[i]) || batch_seconds[i] < 0.0)
            return ASSAY_E_ARGUMENT;
    assay_summary summary;
    assay_status status = assay_stats_summarize(batch_seconds, count, &summary);
    if (status != ASSAY_OK)
        return status;
    assay_batch_variance result = {
        .batches = count, .median_seconds = summary.median, .slowest_seconds = summary.max};
    double spread = summary.max.value / summary.min.value;
    result.spread = count > 1 && isfinite(spread) ? assay_reading_of(spread)
                                                  : assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    while (batch_seconds[result.slowest] < summary.max.value)
        result.slowest++;
    if (count >= ENOUGH_FOR_QUARTILES) {
        assay__outliers outliers;
        status = assay__stats_outliers(batch_seconds, count, &outliers);
        if (status != ASSAY_OK)
            return status;
        result.classified = true;
        result.far_below = outliers.severe_low;
        result.below = outliers.mild_low;
        result.above = outliers.mild_high;
        result.far_above = outliers.severe_high;
        result.first_only = result.far_above == 1 && result.slowest == 0;
    }
    *variance = result;
    return ASSAY_OK;
}
