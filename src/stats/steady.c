/* The steady state is the last level stretch of the series (see segments.c), if it is long enough.
 *
 * After Barrett et al. 2017, "Virtual machine warmup blows hot and cold", with three differences: a
 * slope may be told from a staircase; noise with memory does not break into steps; and a few
 * single slow values at the very start, which count as outliers anywhere else, are warm-up. */
#include "assay/stats.h"
#include "stats/check.h"
#include "stats/segments.h"

#include <math.h>

/* A slope that adds up to less over the whole stretch is of no consequence: half the margin at
 * which subjects are called different. */
static const double DRIFT_LEAST = 0.005;

static size_t least_length(size_t count)
{
    return count / 10 > ASSAY_STEADY_LEAST ? count / 10 : ASSAY_STEADY_LEAST;
}

static size_t skip_slow_start(const double *values, const assay__segment *segment, double noise)
{
    size_t from = segment->begin, limit = segment->begin + 3;
    while (from < limit && from + ASSAY_STEADY_LEAST < segment->end &&
           values[from] > segment->first + 4 * noise)
        from++;
    return from;
}

static assay_steady judge(const double *values, size_t count, const assay__segments *segments)
{
    const assay__segment *last = &segments->items[segments->count - 1];
    assay_steady steady = {.state = ASSAY_STEADY,
                           .from = last->begin,
                           .segments = segments->count,
                           .noise = segments->noise};
    double change = fabs(last->last - last->first);
    if (count - last->begin < least_length(count))
        steady.state = ASSAY_STEADY_STEPS;
    else if (last->sloped && change > DRIFT_LEAST * fabs(last->last))
        steady.state = ASSAY_STEADY_DRIFTS;
    else if (last->begin == 0)
        steady.from = skip_slow_start(values, last, segments->noise);
    if (steady.state != ASSAY_STEADY)
        steady.from = count;
    return steady;
}

assay_status assay_stats_find_steady(const double *values, size_t count, assay_steady *steady)
{
    if (!assay__stats_finite(values, count))
        return ASSAY_E_ARGUMENT;
    if (count < ASSAY_STEADY_LEAST) {
        *steady = (assay_steady){.state = ASSAY_STEADY_UNKNOWN, .from = count};
        return ASSAY_OK;
    }
    assay__segments segments;
    assay_status status = assay__segments_find(values, count, &segments);
    if (status != ASSAY_OK)
        return status;
    *steady = judge(values, count, &segments);
    assay__segments_release(&segments);
    return ASSAY_OK;
}

size_t assay_stats_steady_from(const double *values, size_t count)
{
    assay_steady steady;
    return assay_stats_find_steady(values, count, &steady) == ASSAY_OK ? steady.from : count;
}

assay_status assay_stats_change_points(const double *values, size_t count, size_t *points,
                                       size_t capacity, size_t *point_count)
{
    if (!assay__stats_finite(values, count))
        return ASSAY_E_ARGUMENT;
    if (count == 0) {
        *point_count = 0;
        return ASSAY_OK;
    }
    assay__segments segments;
    assay_status status = assay__segments_find(values, count, &segments);
    if (status != ASSAY_OK)
        return status;
    for (size_t i = 1; i < segments.count && i - 1 < capacity; i++)
        points[i - 1] = segments.items[i].begin;
    *point_count = segments.count - 1;
    assay__segments_release(&segments);
    return ASSAY_OK;
}
