/* Finds one or two steps by segments.c, and a slow drift by comparing the halves of the series. A
 * series that steps many times is autocorrelated, and location.c allows for that; one or two steps
 * are too few to show as autocorrelation. */
#include "stats/drift.h"

#include <math.h>

#include "stats/distribution.h"
#include "stats/mean.h"
#include "stats/segments.h"

static const double LEVEL = 0.99; /* of the test for a change between the halves */

/* Steps are searched in at most STEPS_IN values. The time of the search grows with the square of
 * the count, so longer series are averaged in groups first. A stretch shorter than 1/STRETCHES_MOST
 * of the series, such as a warm-up, does not count: it hardly moves the mean, and the interval
 * allows for it. */
enum { STEPS_IN = 128, STRETCHES_MOST = 8, STEPS_MOST = 2 };

static double find_slow_drift(const double *values, size_t count)
{
    double means[2], errors[2], freedoms[2];
    size_t half = count / 2;
    if (assay__stats_mean_error(values, half, &means[0], &errors[0], &freedoms[0]) != ASSAY_OK ||
        assay__stats_mean_error(values + half, count - half, &means[1], &errors[1], &freedoms[1]) !=
            ASSAY_OK)
        return 0;
    double drift = fabs(means[1] - means[0]), freedom = fmin(freedoms[0], freedoms[1]);
    double chance =
        assay__stats_student_quantile(0.5 + LEVEL / 2, freedom) * hypot(errors[0], errors[1]);
    return drift > chance ? drift : 0;
}

static assay_status find_steps(const double *values, size_t count, double *steps)
{
    double means[STEPS_IN] = {0}, low = INFINITY, high = -INFINITY;
    size_t group = (count + STEPS_IN - 1) / STEPS_IN, points[STEPS_IN], found = 0;
    *steps = 0;
    if (count == 0)
        return ASSAY_OK;
    count /= group;
    for (size_t i = 0; i < count * group; i++)
        means[i / group] += values[i] / (double)group;
    assay_status status = assay__stats_change_points(means, count, points, STEPS_IN, &found);
    if (found > STEPS_MOST)
        return status;
    for (size_t i = 0, begin = 0; i <= found && status == ASSAY_OK; i++) {
        size_t end = i < found ? points[i] : count;
        double level = 0;
        for (size_t k = begin; k < end; k++)
            level += means[k] / (double)(end - begin);
        bool counts = (end - begin) * STRETCHES_MOST >= count;
        low = counts ? fmin(low, level) : low;
        high = counts ? fmax(high, level) : high;
        begin = end;
    }
    *steps = high > low ? high - low : 0;
    return status;
}

assay_status assay__stats_drift(const double *values, size_t count, double *drift)
{
    double steps;
    assay_status status = find_steps(values, count, &steps);
    *drift = fmax(find_slow_drift(values, count), steps);
    return status;
}

bool assay__stats_may_be_drift(double mean, double drift, double margin)
{
    return fabs(mean) < drift && fabs(mean) + drift > log1p(margin);
}
