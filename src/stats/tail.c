/* Judges the end of a series. Three curves are fitted: a level, an even slope, and a decay that
 * ends in a level. The time constant of the decay is the best of a grid. All are fitted by
 * generalised least squares for noise that is an autoregression of order 1. Its ρ comes from the
 * residuals of the best plain fit, so that a trend is not taken for autocorrelation, and is
 * corrected for the bias of a fit with a trend (Marriott and Pope 1954: −(2 + 4ρ)/n).
 *
 * A trend counts if Student's test finds it at a level of 1 %. The trend fades, instead of going
 * on, if a decay fits better than a slope by more than chance explains. Less evidence is needed if
 * the decay continues the change before it. The level part then begins where the rest of the decay
 * is no larger than the noise. The penalties were chosen with bench/steady.c: with smaller ones,
 * drifts are called settled; with larger ones, warm-ups that fade away are called drifts.
 *
 * The cuts of segments.c do not suffice, because their penalties must be high enough for noise
 * alone. The rest of a decay after the last cut is too small for a cut of its own, but it is still
 * a warm-up. Where the drift is weak, their estimate of the noise, which comes from medians, is too
 * uncertain. Mann and Kendall's test would also need a correction for autocorrelation, and cannot
 * distinguish a decay from a drift. A ramp with a knot instead of a decay ends 10 to 20 values
 * late. */
#include "stats/tail.h"
#include "stats/distribution.h"

#include <math.h>

static const double TREND_LEVEL = 0.99, FADING_PRICE = 8, FADING_PRICE_CONTINUED = 2;
static const double GRID_STEP = 1.15, DECAY_MOST = 0.25; /* share of the stretch */
static const double RHO_MAX = 0.9;

/* A fit of level + height × shape, where the shape falls from 1 at the first value: as exp(−i/τ),
 * or evenly to 0 at the last if τ is infinite. */
typedef struct line {
    double tau, level, height;
    double gain; /* reduction of the sum of squares of a level by the shape */
    double rest; /* the sum of squares that is left */
} line;

static double shape_at(size_t i, size_t count, double tau)
{
    return isinf(tau) ? 1 - (double)i / (double)(count - 1) : exp(-(double)i / tau);
}

static line fit(const double *values, size_t count, double rho, double tau)
{
    double first = sqrt(1 - rho * rho), origin = values[count - 1], shape_before = 0, before = 0;
    double cc = 0, cs = 0, ss = 0, cy = 0, sy = 0, yy = 0;
    double shape = 1, factor = exp(-1 / tau), fall = isinf(tau) ? 1 / (double)(count - 1) : 0;
    for (size_t i = 0; i < count; i++) {
        double value = values[i] - origin;
        double c = i == 0 ? first : 1 - rho;
        double s = i == 0 ? first * shape : shape - rho * shape_before;
        double y = i == 0 ? first * value : value - rho * before;
        cc += c * c;
        cs += c * s;
        ss += s * s;
        cy += c * y;
        sy += s * y;
        yy += y * y;
        shape_before = shape;
        shape = shape * factor - fall;
        before = value;
    }
    double across = ss - cs * cs / cc, along = sy - cs * cy / cc;
    line found = {.tau = tau, .height = across > 0 ? along / across : 0};
    found.level = origin + (cy - found.height * cs) / cc;
    found.gain = found.height * along;
    found.rest = fmax(0, yy - cy * cy / cc - found.gain);
    return found;
}

/* The slope, or the decay that fits better. */
static line fit_best(const double *values, size_t count, double rho)
{
    line best = fit(values, count, rho, INFINITY);
    for (double tau = 1; tau <= DECAY_MOST * (double)count; tau *= GRID_STEP) {
        line candidate = fit(values, count, rho, tau);
        if (candidate.gain > best.gain)
            best = candidate;
    }
    return best;
}

/* The autocorrelation of neighbouring residuals. */
static double autocorrelation(const double *values, size_t count, const line *around)
{
    double before = 0, square = 0, product = 0, n = (double)count;
    for (size_t i = 0; i < count; i++) {
        double shape = shape_at(i, count, around->tau);
        double rest = values[i] - around->level - around->height * shape;
        product += i > 0 ? rest * before : 0;
        square += rest * rest;
        before = rest;
    }
    double rho = square > 0 ? product / square : 0;
    return fmin(fmax((n * rho + 2) / (n - 4), 0), RHO_MAX);
}

assay__tail assay__tail_judge(const double *values, size_t count, double before)
{
    line plain = fit_best(values, count, 0);
    double rho = autocorrelation(values, count, &plain), freedom = (double)count - 4;
    line slope = fit(values, count, rho, INFINITY), best = fit_best(values, count, rho);
    double t = assay__stats_student_quantile(0.5 + TREND_LEVEL / 2, freedom);
    double variance = best.rest / freedom, noise = sqrt(variance / (1 - rho * rho));
    bool continued = !isnan(before) && (before > best.level) == (best.height > 0);
    double price = continued ? FADING_PRICE_CONTINUED : FADING_PRICE;
    bool fades = best.gain > slope.gain + price * variance;
    if (!fades && slope.gain > t * t * variance)
        return (assay__tail){.settled = count, .change = -slope.height};
    if (!fades || !(best.gain > (t * t + price) * variance) || fabs(best.height) <= noise)
        return (assay__tail){.settled = 0};
    double settled = ceil(best.tau * log(fabs(best.height) / noise));
    return (assay__tail){.settled = settled < (double)count ? (size_t)settled : count,
                         .change = -best.height};
}
