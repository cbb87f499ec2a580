/* An interval of a mean supposes that the values have a mean: one level, around which they vary as
 * they always will. A series without a steady state has none, nor one whose steady state has lasted
 * for less than half of it. What the interval pays for autocorrelation is no help there: it is
 * estimated from the same values.
 *
 * At most 256 means of neighbours are looked at: what a mean suffers from is slow. */
#include "stats/doubt.h"
#include "stats/input.h"

enum { VALUES_LEAST = 20, POINTS_MAX = 256 };

assay_status assay__stats_mean_doubt(const double *values, size_t count, const char **doubt)
{
    static const char wanders[] = "the times wander, and their mean depends on the moment";
    static const char steps[] = "the level comes and goes, and the mean depends on the moment";
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
