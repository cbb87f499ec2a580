/* Enters the figures of a meter into samples: the energy of each sample, and whether a GPU was
 * throttled meanwhile.
 *
 * The meter reads on a thread of its own, and energy counters move late. So a sample keeps its
 * window on the meter's clock. Its figures are entered between rounds, once the meter has readings
 * after the window. A look at the samples waits for the figures of the last sample, because the
 * samples that count must not change between a look and the record. There is a reading about every
 * 100 ms. A sample between two readings counts as throttled if the reading after it shows
 * throttling. */
#include <stddef.h>

#include "sampling/sampler.h"

static void enter(assay__sampler *sampler, size_t subject, double least_seconds, assay__shot *shot)
{
    assay_meter *meter = sampler->options.meter;
    const double iterations = (double)sampler->iterations[subject];
    double joules, low, high;
    shot->throttle = assay__meter_throttle(meter, shot->begin_ns, shot->end_ns);
    if (!assay__meter_total(meter, shot->begin_ns, shot->end_ns, &joules, &low, &high))
        return;
    shot->joules = joules / iterations;
    shot->joules_low = low / iterations;
    shot->joules_high = high / iterations;
    shot->too_short = (double)(shot->end_ns - shot->begin_ns) * 1e-9 < least_seconds;
}

void assay__sampler_meter(assay__sampler *sampler, bool all)
{
    assay_meter *meter = sampler->options.meter;
    if (meter == NULL)
        return;
    const double least = assay__meter_least_window(meter);
    for (; sampler->metered_rounds < sampler->rounds; sampler->metered_rounds++) {
        assay__shot *round = sampler->shots + sampler->metered_rounds * sampler->count;
        uint64_t last = 0;
        for (size_t i = 0; i < sampler->count; i++)
            last = round[i].end_ns > last ? round[i].end_ns : last;
        if (!all && !assay__meter_has_settled(meter, last))
            return;
        assay__meter_settle(meter, last);
        for (size_t i = 0; i < sampler->count; i++)
            enter(sampler, i, least, &round[i]);
    }
}
