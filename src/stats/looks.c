/* The error-spending approach of Lan and DeMets (1983, "Discrete sequential boundaries for clinical
 * trials"). Each look has a boundary. A Brownian motion without drift that has not crossed an
 * earlier boundary crosses this one with exactly the probability that may be spent here. The
 * density of the paths that have not crossed is carried from look to look by numerical integration
 * (Armitage, McPherson and Rowe 1969). Bonferroni's bound, which only adds up the probabilities,
 * would need 10 to 30 % more samples, because looks at nearly the same data agree.
 *
 * The motion and the boundaries are symmetric, so half of the density is enough. With 64 points the
 * risk of 30 looks is right to 1 in 1000. */
#include "stats/looks.h"

#include <math.h>
#include <stdbool.h>

enum { POINTS = ASSAY__LOOKS_POINTS };

static double upper_tail(double z)
{
    return 0.5 * erfc(z * M_SQRT1_2);
}

static double normal_density(double z)
{
    return exp(-z * z / 2) / 2.5066282746310002;
}

static double midpoint(double reach, int i)
{
    return reach * (i + 0.5) / POINTS;
}

/* The probability that a path goes on to the next look and is beyond ± boundary there. */
static double crossing(const assay__looks *looks, double seen, double boundary)
{
    double spread = sqrt(seen - looks->seen), sum = 0;
    if (looks->seen == 0)
        return 2 * upper_tail(boundary / spread);
    for (int i = 0; i < POINTS; i++) {
        double x = midpoint(looks->reach, i);
        sum += looks->density[i] *
               (upper_tail((boundary - x) / spread) + upper_tail((boundary + x) / spread));
    }
    return 2 * sum * looks->reach / POINTS;
}

/* Find the boundary by secants on the logarithm of the share, which falls nearly like a parabola.
 * If a secant leaves the bounds, the interval between them is halved instead. */
static double boundary_for(const assay__looks *looks, double seen, double share)
{
    enum { STEPS = 60 };
    double low = 0, high = 40 * sqrt(seen), at = 3 * sqrt(seen), last = low, last_miss = INFINITY;
    for (int k = 0; k < STEPS && high - low > 1e-9 * high; k++) {
        double miss = log(fmax(crossing(looks, seen, at), 1e-300) / share);
        if (fabs(miss) < 1e-7)
            return at;
        if (miss > 0)
            low = at;
        else
            high = at;
        double next = at - miss * (at - last) / (miss - last_miss);
        last = at;
        last_miss = miss;
        at = next > low && next < high ? next : (low + high) / 2;
    }
    return at;
}

/* The density of the paths that arrive at x from the midpoints on either side of 0, which are
 * `distance` apart. All lengths are in units of the spread. */
static double arriving(const double *density, double distance, double x)
{
    double sum = 0;
    for (int k = 0; k < POINTS; k++) {
        double from = distance * (k + 0.5);
        sum += density[k] * (normal_density(x - from) + normal_density(x + from));
    }
    return sum;
}

/* The same without an exponential for each point: exp(-(x - from)² / 2) is the product of
 * exp(-x² / 2), exp(-from² / 2), which is part of the weights, and exp(x from), which grows by one
 * factor from point to point. */
static double arriving_by_factors(const double *weights, double distance, double x)
{
    double growth = exp(x * distance), decline = 1 / growth, up = sqrt(growth), down = 1 / up;
    double sum = 0;
    for (int k = 0; k < POINTS; k++) {
        sum += weights[k] * (up + down);
        up *= growth;
        down *= decline;
    }
    return sum * normal_density(x);
}

static void advance(assay__looks *looks, double seen, double boundary)
{
    static const double EXPONENT_MOST = 500; /* larger exponents would overflow */
    double spread = sqrt(seen - looks->seen), distance = looks->reach / POINTS / spread;
    bool is_first = looks->seen == 0,
         by_factors = boundary / spread * looks->reach / spread < EXPONENT_MOST;
    double weights[POINTS], next[POINTS];
    for (int k = 0; k < POINTS; k++)
        weights[k] = looks->density[k] * exp(-pow(distance * (k + 0.5), 2) / 2);
    for (int i = 0; i < POINTS; i++) {
        double x = midpoint(boundary, i) / spread;
        next[i] = is_first     ? normal_density(x) / spread
                  : by_factors ? arriving_by_factors(weights, distance, x) * distance
                               : arriving(looks->density, distance, x) * distance;
    }
    for (int i = 0; i < POINTS; i++)
        looks->density[i] = next[i];
    looks->reach = boundary;
    looks->seen = seen;
}

double assay__looks_next(assay__looks *looks, assay__look look, double risk)
{
    double may_be_spent = risk * fmin(look.spent, 1);
    double share = fmax(may_be_spent - looks->spent, 1e-12 * risk);
    double boundary = boundary_for(looks, look.seen, share);
    looks->spent = fmax(looks->spent, may_be_spent);
    advance(looks, look.seen, boundary);
    return 2 * upper_tail(boundary / sqrt(look.seen));
}

double assay__looks_risk(const assay__look *looks, size_t count, double risk)
{
    assay__looks so_far = {0};
    double now = risk;
    for (size_t i = 0; i < count; i++)
        now = assay__looks_next(&so_far, looks[i], risk);
    return now;
}
