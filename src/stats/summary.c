/* assay_stats_summarize(): all figures of a summary from one sorted copy of the values. */
#include "assay/stats.h"
#include "stats/input.h"
#include "stats/modes.h"
#include "stats/moments.h"
#include "stats/quantile.h"
#include "stats/sorted.h"

#include <math.h>
#include <stdlib.h>

static assay_summary empty_summary(void)
{
    assay_reading none = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    return (assay_summary){0,    none, none, none, none, none, none, none,
                           none, none, none, none, 0,    none, {0}};
}

static void fill_moments(const double *sorted, size_t count, assay_summary *summary)
{
    assay__moments moments = assay__sample_moments(sorted, count);
    /* Rounding must not move the mean out of the range of the values. */
    summary->mean = assay_reading_of(fmin(fmax(moments.mean, sorted[0]), sorted[count - 1]));
    if (count > 1)
        summary->std = assay_reading_of(assay__moments_deviation(moments));
}

assay_status assay_stats_summarize(const double *values, size_t count, assay_summary *summary)
{
    if (!assay__stats_finite(values, count))
        return ASSAY_E_ARGUMENT;
    assay_summary result = empty_summary();
    result.count = count;
    if (count == 0) {
        *summary = result;
        return ASSAY_OK;
    }
    double *sorted = assay__stats_sorted_copy(values, count);
    if (sorted == NULL)
        return ASSAY_E_MEMORY;
    fill_moments(sorted, count, &result);
    result.min = assay_reading_of(sorted[0]);
    result.max = assay_reading_of(sorted[count - 1]);
    double median = assay__stats_sorted_median(sorted, count);
    result.median = assay_reading_of(median);
    result.p25 = assay__stats_quantile_reading(sorted, count, 0.25);
    result.p75 = assay__stats_quantile_reading(sorted, count, 0.75);
    result.p90 = assay__stats_quantile_reading(sorted, count, 0.90);
    result.p95 = assay__stats_quantile_reading(sorted, count, 0.95);
    result.p99 = assay__stats_quantile_reading(sorted, count, 0.99);
    assay__slow_mode slow = assay__slow_mode_find(sorted, count);
    result.slow_count = slow.count;
    if (slow.count > 0)
        result.slow_ratio = assay_reading_of(slow.ratio);
    for (size_t i = 0; i < count; i++)
        sorted[i] = fabs(sorted[i] - median);
    assay__stats_sort(sorted, count);
    result.mad = assay_reading_of(assay__stats_sorted_median(sorted, count));
    free(sorted);
    *summary = result;
    return ASSAY_OK;
}
