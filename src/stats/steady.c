/* The steady state is the last level stretch of the series (see segments.c), if it is long enough,
 * without what is still fading at its beginning, and if it is no drift (see tail.c).
 *
 * After Barrett et al. 2017, "Virtual machine warmup blows hot and cold", with four differences: a
 * slope may be told from a staircase; a warm-up may fade instead of ending; noise with memory does
 * not break into steps; and a few single slow values at the very start, which count as outliers
 * anywhere else, are warm-up. */
#include "assay/stats.h"
#include "stats/input.h"
#include "stats/segments.h"
#include "stats/tail.h"

#include <math.h>

/* A slope that adds up to less over the whole stretch is of no consequence: half the margin at
 * which subjects are called different. */
static const double DRIFT_LEAST = 0.005;

/* In noises. */
static const double OVERSHOOT_MOST = 3;

/* Values at the very start that may be slow one by one. */
enum { SLOW_START = 3 };

/* Of a steady state that begins at `from`. A slow start is not held against it: of ten epochs the
 * first of which is slow, nine are steady. */
static size_t least_length(size_t count, size_t from)
{
    size_t least = count / 10 > ASSAY_STEADY_LEAST ? count / 10 : ASSAY_STEADY_LEAST;
    return from <= SLOW_START ? least - from : least;
}

static size_t skip_slow_start(const double *values, const assay__segment *segment, double noise)
{
    size_t from = segment->begin, limit = segment->begin + SLOW_START;
    while (from < limit && values[from] > segment->first + 4 * noise)
        from++;
    return from;
}

/* A slope that meets the last level, and goes little beyond before it is cut off, ended where it
 * came as near as the noise. */
static size_t begin_of_level(const assay__segments *segments)
{
    const assay__segment *last = &segments->items[segments->count - 1], *before = last - 1;
    if (segments->count < 2 || !before->sloped)
        return last->begin;
    double start = before->first - last->first, end = before->last - last->first;
    double near = copysign(segments->noise, start);
    if (fabs(start) <= segments->noise || (end > near) == (start > near) ||
        fabs(end) > OVERSHOOT_MOST * segments->noise)
        return last->begin;
    double length = (double)(before->end - before->begin);
    return before->begin + (size_t)ceil(length * (start - near) / (start - end));
}

/* The last stretch, judged as it is and not as it was cut. */
static void judge_tail(const double *values, size_t value_count, const assay__segments *segments,
                       assay_steady *steady)
{
    const assay__segment *last = &segments->items[segments->count - 1];
    size_t group = segments->group, begin = steady->from / group;
    size_t count = segments->point_count - begin;
    if (count < ASSAY_STEADY_LEAST - SLOW_START)
        return;
    const double *points = segments->points + begin;
    double before = segments->count > 1 ? last[-1].first : (double)NAN;
    assay__tail tail = assay__tail_judge(points, count, before);
    if (fabs(tail.change) <= DRIFT_LEAST * fabs(points[count - 1]))
        tail.settled = 0;
    size_t settled = steady->from + tail.settled * group;
    if ((count - tail.settled) * group < least_length(value_count, settled))
        steady->state = ASSAY_STEADY_DRIFTS;
    else if (tail.settled > 0)
        steady->from = settled;
    else if (last->begin == 0)
        steady->from = skip_slow_start(values, last, segments->noise);
}

static assay_steady judge(const double *values, size_t count, const assay__segments *segments)
{
    const assay__segment *last = &segments->items[segments->count - 1];
    assay_steady steady = {.state = ASSAY_STEADY,
                           .from = begin_of_level(segments),
                           .segments = segments->count,
                           .noise = segments->noise};
    if (count - last->begin < least_length(count, last->begin))
        steady.state = ASSAY_STEADY_STEPS;
    else
        judge_tail(values, count, segments, &steady);
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
    if (status == ASSAY_OK)
        *steady = judge(values, count, &segments);
    assay__segments_release(&segments);
    return status;
}
