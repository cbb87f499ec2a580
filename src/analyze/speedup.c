#include <math.h>

#include "assay/analyze.h"
#include "base/error.h"

/* The place of the named entry, of the slowest for NULL, or `count` when there is none. */
static size_t find_baseline(const assay_timers *timers, const char *baseline, size_t count)
{
    size_t found = count;
    double slowest = -1.0;
    if (baseline != NULL)
        return assay_timers_find(timers, baseline);
    for (size_t i = 0; i < count; i++) {
        assay_timer timer = assay_timers_at(timers, i);
        if (timer.time.validity == ASSAY_VALID && timer.time.value > slowest) {
            slowest = timer.time.value;
            found = i;
        }
    }
    return found;
}

static assay_reading divide(double dividend, assay_reading divisor)
{
    double ratio = dividend / divisor.value;
    if (divisor.validity != ASSAY_VALID || !isfinite(ratio))
        return assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    return assay_reading_of(ratio);
}

assay_status assay_speedup_ratios(const assay_timers *timers, const char *baseline,
                                  assay_error *error, assay_speedup *ratios, size_t *baseline_index)
{
    size_t count = assay_timers_count(timers);
    size_t at = find_baseline(timers, baseline, count);
    if (at == count && baseline != NULL)
        return assay__fail(error, ASSAY_E_NOT_FOUND,
                           "no timer is called '%s'; name one of the timers as baseline", baseline);
    if (at == count)
        return assay__fail(error, ASSAY_E_DATA, "no timer has a time yet; measure something first");
    assay_timer base = assay_timers_at(timers, at);
    if (base.time.validity != ASSAY_VALID)
        return assay__fail(error, ASSAY_E_DATA,
                           "the baseline '%s' has no time yet; choose a finished one", base.name);
    for (size_t i = 0; i < count; i++) {
        assay_timer timer = assay_timers_at(timers, i);
        ratios[i] = (assay_speedup){.name = timer.name, .time = timer.time};
        ratios[i].ratio = i == at ? assay_reading_of(1.0) : divide(base.time.value, timer.time);
    }
    if (baseline_index != NULL)
        *baseline_index = at;
    return ASSAY_OK;
}

assay_status assay_best_configuration(const assay_timers *timers, size_t *index)
{
    size_t count = assay_timers_count(timers), best = count;
    double fastest = INFINITY;
    for (size_t i = 0; i < count; i++) {
        assay_timer timer = assay_timers_at(timers, i);
        if (timer.time.validity == ASSAY_VALID && timer.time.value < fastest) {
            fastest = timer.time.value;
            best = i;
        }
    }
    if (best == count)
        return ASSAY_E_DATA;
    *index = best;
    return ASSAY_OK;
}
