/* assay_warmup_detect(): finds the warm-up of a training and its cost. The warm-up is everything
 * before the steady state that assay_stats_find_steady() finds. Its cost is the time it took minus
 * the time that as many steady epochs would take. The time it took is known exactly, so the
 * interval of the cost comes from the interval of the steady mean, with its ends exchanged. */
#include <math.h>

#include "assay/training.h"
#include "stats/mean.h"

static const double level = 0.95;

static void fill_costs(const double *seconds, size_t count, assay_warmup_detection *result)
{
    double warm = 0.0, epochs = (double)result->warmup_epochs;
    const assay_interval *steady = &result->steady_seconds;
    for (size_t i = 0; i < result->warmup_epochs && i < count; i++)
        warm += seconds[i];
    if (steady->validity != ASSAY_VALID)
        return;
    result->overhead = (assay_interval){.estimate = warm - epochs * steady->estimate,
                                        .low = warm - epochs * steady->high,
                                        .high = warm - epochs * steady->low,
                                        .level = level,
                                        .validity = ASSAY_VALID};
    if (steady->estimate > 0.0)
        result->overhead_pct =
            assay_reading_of(100.0 * result->overhead.estimate / steady->estimate);
}

assay_status assay_warmup_detect(const double *epoch_seconds, size_t count,
                                 assay_warmup_detection *detection)
{
    const assay_interval unknown = {.level = level, .validity = ASSAY_NOT_ENOUGH_DATA};
    for (size_t i = 0; i < count; i++)
        if (!isfinite(epoch_seconds[i]) || epoch_seconds[i] < 0.0)
            return ASSAY_E_ARGUMENT;
    assay_warmup_detection result = {.epochs = count,
                                     .state = ASSAY_STEADY_UNKNOWN,
                                     .steady_seconds = unknown,
                                     .overhead = unknown,
                                     .overhead_pct = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA)};
    assay_steady steady = {.state = ASSAY_STEADY_UNKNOWN};
    assay_status status = ASSAY_OK;
    if (count >= ASSAY_STEADY_LEAST)
        status = assay_stats_find_steady(epoch_seconds, count, &steady);
    if (status == ASSAY_OK && steady.state == ASSAY_STEADY)
        status = assay__stats_time_interval(epoch_seconds + steady.from, count - steady.from, level,
                                            &result.steady_seconds);
    if (status != ASSAY_OK)
        return status;
    result.state = steady.state;
    if (steady.state == ASSAY_STEADY) {
        result.warmup_epochs = steady.from;
        fill_costs(epoch_seconds, count, &result);
    }
    *detection = result;
    return ASSAY_OK;
}
