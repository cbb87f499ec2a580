/* Counts outliers as in Tukey (1977), "Exploratory Data Analysis", with fences at 1.5 and 3
 * interquartile ranges. */
#include "stats/outliers.h"
#include "stats/input.h"
#include "stats/sorted.h"

#include <stdlib.h>

assay_status assay__stats_outliers(const double *values, size_t count, assay__outliers *outliers)
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
    *outliers = (assay__outliers){0};
    for (size_t i = 0; i < count; i++) {
        double value = values[i];
        outliers->severe_low += value < low - 3 * range;
        outliers->mild_low += value < low - 1.5 * range && value >= low - 3 * range;
        outliers->mild_high += value > high + 1.5 * range && value <= high + 3 * range;
        outliers->severe_high += value > high + 3 * range;
    }
    free(sorted);
    return ASSAY_OK;
}
