/* Questions to the estimate of a location (location.h): probabilities, quantiles, decisions, and
 * the forecast of how many more values would decide. Also adds an error to the estimate. */
#include <math.h>
#include <stdbool.h>

#include "stats/distribution.h"
#include "stats/location.h"

/* The number of degrees of freedom from which on Student's distribution is treated as normal. */
static const double KNOWN = 1e6;

/* The degrees of freedom are Satterthwaite's for a sum of two variances, of which one is known. */
void assay__location_widen(assay__location *location, double error)
{
    for (size_t i = 0; i < location->count && error > 0; i++) {
        assay__location_term *it = &location->terms[i];
        double own = it->error * it->error, both = own + error * error;
        it->degrees_of_freedom =
            own > 0 ? fmin(it->degrees_of_freedom * (both / own) * (both / own), KNOWN) : KNOWN;
        it->error = sqrt(both);
    }
}

double assay__location_below(const assay__location *location, double x)
{
    double sum = 0;
    for (size_t i = 0; i < location->count; i++) {
        const assay__location_term *it = &location->terms[i];
        double t = it->error > 0     ? (x - it->centre) / it->error
                   : x == it->centre ? 0
                                     : copysign(INFINITY, x - it->centre);
        sum += it->weight * assay__stats_student_cdf(t, it->degrees_of_freedom);
    }
    return sum;
}

static double log_odds(double p)
{
    return log(p / (1 - p));
}

/* Bounds of the quantile: the smallest and the largest quantile that a term can have. Quantiles of
 * Student's distribution are costly. So only two are computed, for the fewest and the most degrees
 * of freedom, and used for all terms. */
static void bound_quantile(const assay__location *location, double p, double *low, double *high)
{
    double fewest = INFINITY, most = 0;
    for (size_t i = 0; i < location->count; i++) {
        fewest = fmin(fewest, location->terms[i].degrees_of_freedom);
        most = fmax(most, location->terms[i].degrees_of_freedom);
    }
    double far = assay__stats_student_quantile(p, fewest);
    double near = most > fewest ? assay__stats_student_quantile(p, most) : far;
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < location->count; i++) {
        const assay__location_term *it = &location->terms[i];
        *low = fmin(*low, it->centre + it->error * fmin(far, near));
        *high = fmax(*high, it->centre + it->error * fmax(far, near));
    }
}

/* Finds the quantile by regula falsi (the Illinois variant: Dowell and Jarratt 1971) on the scale
 * of log odds, where the tails are nearly straight. */
double assay__location_quantile(const assay__location *location, double p)
{
    enum { STEPS = 60 };
    double low, high;
    bound_quantile(location, p, &low, &high);
    if (!(low < high))
        return low;
    double wanted = log_odds(p), width = high - low;
    double below = log_odds(assay__location_below(location, low)) - wanted;
    double above = log_odds(assay__location_below(location, high)) - wanted;
    if (!(below < 0) || !(above > 0) || isinf(below) || isinf(above))
        return below >= 0 ? low : high;
    for (int k = 0, side = 0; k < STEPS && high - low > 1e-9 * width; k++) {
        double x = (low * above - high * below) / (above - below);
        double miss = log_odds(assay__location_below(location, x)) - wanted;
        if (fabs(miss) < 1e-9)
            return x;
        if (miss < 0) {
            low = x;
            below = miss;
            above = side == -1 ? above / 2 : above;
            side = -1;
        } else {
            high = x;
            above = miss;
            below = side == 1 ? below / 2 : below;
            side = 1;
        }
    }
    return low + (high - low) / 2;
}

int assay__location_beyond(const assay__location *location, double low, double high, double risk)
{
    if (assay__location_below(location, high) < risk / 2)
        return 1;
    return 1 - assay__location_below(location, low) < risk / 2 ? -1 : 0;
}

bool assay__location_within(const assay__location *location, double low, double high, double risk)
{
    return assay__location_below(location, low) <= risk / 2 &&
           1 - assay__location_below(location, high) <= risk / 2;
}

bool assay__location_agrees(int side, double centre, double low, double high)
{
    if (isnan(centre))
        return true;
    return side > 0 ? centre > high : side < 0 ? centre < low : centre >= low && centre <= high;
}

/* The forecast for a new run of `more` values. The distance of its mean from the present centre is
 * normal with the variance of both means. Its own error is smaller by the square root of the ratio
 * of the counts. */
typedef struct outlook {
    double centre, error, count;     /* present values */
    double low, high;                /* the bounds */
    double beyond_reach, same_reach; /* half widths of the intervals, in errors */
} outlook;

static double chance_to_decide(const outlook *it, double more)
{
    double error = it->error * sqrt(it->count / more);
    double spread = hypot(it->error, error);
    double above = (it->high + it->beyond_reach * error - it->centre) / spread;
    double below = (it->low - it->beyond_reach * error - it->centre) / spread;
    double same_low = (it->low + it->same_reach * error - it->centre) / spread;
    double same_high = (it->high - it->same_reach * error - it->centre) / spread;
    double same = same_high > same_low
                      ? assay__stats_normal_cdf(same_high) - assay__stats_normal_cdf(same_low)
                      : 0;
    return assay__stats_normal_cdf(-above) + assay__stats_normal_cdf(below) + same;
}

double assay__location_forecast(const assay__location *location, double count, double low,
                                double high, double beyond_risk, double within_risk, double most)
{
    static const double HOPED_FOR = 5.0 / 6, GROWTH = 1.05;
    double centre = assay__location_centre(location), error = assay__location_error(location);
    if (!(error > 0))
        return INFINITY;
    outlook it = {centre, error, count, low, high, 0, 0};
    it.beyond_reach = (assay__location_quantile(location, 1 - beyond_risk / 2) - centre) / error;
    it.same_reach = (assay__location_quantile(location, 1 - within_risk / 2) - centre) / error;
    for (double more = count + 1; more <= most; more = fmax(more * GROWTH, more + 1))
        if (chance_to_decide(&it, more) >= HOPED_FOR)
            return more;
    return INFINITY;
}

double assay__location_centre(const assay__location *location)
{
    double sum = 0;
    for (size_t i = 0; i < location->count; i++)
        sum += location->terms[i].weight * location->terms[i].centre;
    return sum;
}

double assay__location_error(const assay__location *location)
{
    double centre = assay__location_centre(location), sum = 0;
    for (size_t i = 0; i < location->count; i++) {
        const assay__location_term *it = &location->terms[i];
        sum += it->weight * (it->error * it->error + (it->centre - centre) * (it->centre - centre));
    }
    return sqrt(sum);
}
