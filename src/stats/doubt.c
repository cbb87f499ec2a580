/* Decides whether a series has a mean at all. An interval of a mean assumes a level around which
 * the values vary in the same way throughout. A series without a steady state has no such level,
 * and neither has a series whose steady state covers less than half of it. The allowance for
 * autocorrelation does not help there, because it is estimated from the same values. At most 256
 * means of neighbouring values are examined, because only slow changes harm the mean. */
#include "stats/doubt.h"
#include "stats/input.h"

enum { VALUES_LEAST = 20, POINTS_MAX = 256 };

assay_status assay__stats_mean_doubt(const double *values, size_t count, const char **doubt)
{
    static const char wanders[] = "the times wander, so their mean changes over time";
    static const char steps[] = "the level comes and goes, so the mean changes over time";
    double points[POINTS_MAX] = {0};
    if (!assay__stats_finite(values, count))
        return ASSAY_E_ARGUMENT;
    *doubt = NULL;
    if (count < VALUES_LEAST)
        return ASSAY_OK;
    size_t group = (count + POINTS_MAX - 1) / POINTS_MAX, point_count = count / group;
    for (size_t i = 0; i < point_count * group; i++)
        points[i / group] += values[i] / (double)group;
    assay_steady steady;
    assay_status status = assay_stats_find_steady(points, point_count, &steady);
    if (status != ASSAY_OK)
        return status;
    if (steady.state == ASSAY_STEADY_DRIFTS)
        *doubt = wanders;
    else if (steady.state == ASSAY_STEADY_STEPS || steady.from > point_count / 2)
        *doubt = steps;
    return ASSAY_OK;
}
