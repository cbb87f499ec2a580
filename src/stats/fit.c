/* Separable least squares on a logarithmic scale.
 *
 * log y = log(coefficient) + log(ratio + g(x)), where ratio = offset / coefficient. The first term
 * is a mean of residuals, so only the ratio (and for a power law the exponent) has to be searched.
 * Each is searched on a grid and then by golden sections within the best cell, because the squares
 * are smooth in log(ratio) but flat towards both ends, where gradient methods go astray. Golub and
 * Pereyra 1973 describe the separation. Least squares on y itself would let the largest x decide
 * alone. */
#include "stats/fit.h"

#include <math.h>

static const double GOLDEN = 0.61803398874989485;

/* RATIO_MARGIN is how far beyond the range of log g the ratio is searched, in natural logarithms.
 * At the lower end the offset is 1/1000 of the smallest term and has no visible effect; at the
 * upper end the growth has none. */
enum { RATIO_MARGIN = 7, RATIO_CELLS = 20, RATIO_STEPS = 18 };
enum { EXPONENT_CELLS = 56, EXPONENT_STEPS = 26, RANGE_STEPS = 26 };

typedef struct log_curve {
    double log_ratio; /* relative to the largest g; -infinity for no offset */
    double log_coefficient;
    double squares;
} log_curve;

/* Turn logarithms into values relative to the largest value. Returns the logarithm of the largest.
 */
static double normalise(double *log_g, size_t count)
{
    double top = -INFINITY;
    for (size_t i = 0; i < count; i++)
        top = fmax(top, log_g[i]);
    for (size_t i = 0; i < count; i++)
        log_g[i] = exp(log_g[i] - top);
    return top;
}

/* `g` is relative to its largest value. */
static log_curve curve_at(const assay__fit_points *points, const double *g, double log_ratio)
{
    double weight = 0, mean = 0, squares = 0, ratio = exp(log_ratio);
    for (size_t i = 0; i < points->count; i++) {
        double residual = points->mean_log_y[i] - log(ratio + g[i]);
        if (isinf(residual))
            return (log_curve){log_ratio, 0, INFINITY};
        double change = residual - mean;
        weight += points->weight[i];
        mean += change * points->weight[i] / weight;
        squares += points->weight[i] * change * (residual - mean);
    }
    return (log_curve){log_ratio, mean, squares};
}

/* A function of one number that a search minimises: the squares of a curve. */
typedef struct valley {
    const assay__fit_points *points;
    double *g; /* read for a ratio, overwritten for an exponent */
    double (*squares)(const struct valley *valley, double at);
} valley;

/* The minimum of the squares on an interval on which they have only one minimum. */
static double golden_section(const valley *v, double low, double high, int steps)
{
    double left = high - GOLDEN * (high - low), right = low + GOLDEN * (high - low);
    double at_left = v->squares(v, left), at_right = v->squares(v, right);
    for (int step = 0; step < steps; step++) {
        if (at_left <= at_right) {
            high = right;
            right = left;
            at_right = at_left;
            left = high - GOLDEN * (high - low);
            at_left = v->squares(v, left);
        } else {
            low = left;
            left = right;
            at_left = at_right;
            right = low + GOLDEN * (high - low);
            at_right = v->squares(v, right);
        }
    }
    return at_left <= at_right ? left : right;
}

static double squares_of_ratio(const valley *v, double log_ratio)
{
    return curve_at(v->points, v->g, log_ratio).squares;
}

static log_curve best_ratio(const assay__fit_points *points, double *g, bool refine)
{
    double bottom = INFINITY;
    for (size_t i = 0; i < points->count; i++)
        if (g[i] > 0)
            bottom = fmin(bottom, g[i]);
    bottom = log(bottom);
    double from = bottom - RATIO_MARGIN, cell = (2 * RATIO_MARGIN - bottom) / RATIO_CELLS;
    log_curve best = curve_at(points, g, from);
    for (int i = 1; i <= RATIO_CELLS; i++) {
        log_curve next = curve_at(points, g, from + i * cell);
        if (next.squares < best.squares)
            best = next;
    }
    if (refine) {
        const valley ratios = {points, g, squares_of_ratio};
        double at =
            golden_section(&ratios, best.log_ratio - cell, best.log_ratio + cell, RATIO_STEPS);
        log_curve refined = curve_at(points, g, at);
        if (refined.squares < best.squares)
            best = refined;
    }
    log_curve without = curve_at(points, g, -INFINITY);
    /* An offset that improves the fit by less than this cannot be distinguished from none. */
    return without.squares <= best.squares * (1 + 1e-9) ? without : best;
}

static assay__fit_curve in_units(log_curve curve, double top, double exponent)
{
    return (assay__fit_curve){.offset = exp(curve.log_ratio + curve.log_coefficient),
                              .coefficient = exp(curve.log_coefficient - top),
                              .exponent = exponent,
                              .squares = curve.squares};
}

/* This works with logarithms throughout, so that no power of n underflows. */
assay__fit_curve assay__fit_scale(const assay__fit_points *points, const double *log_g)
{
    double weight = 0, mean = 0, squares = 0;
    for (size_t i = 0; i < points->count; i++) {
        double residual = points->mean_log_y[i] - log_g[i];
        if (isinf(residual))
            return (assay__fit_curve){.squares = INFINITY};
        double change = residual - mean;
        weight += points->weight[i];
        mean += change * points->weight[i] / weight;
        squares += points->weight[i] * change * (residual - mean);
    }
    return (assay__fit_curve){.coefficient = exp(mean), .squares = squares};
}

assay__fit_curve assay__fit_offset_scale(const assay__fit_points *points, double *log_g)
{
    double top = normalise(log_g, points->count);
    return in_units(best_ratio(points, log_g, true), top, 0);
}

assay__fit_curve assay__fit_power(const assay__fit_points *points)
{
    double weight = 0, mean_x = 0, mean_y = 0, xx = 0, xy = 0, yy = 0;
    for (size_t i = 0; i < points->count; i++) {
        double w = points->weight[i];
        double dx = points->log_x[i] - mean_x, dy = points->mean_log_y[i] - mean_y;
        weight += w;
        mean_x += dx * w / weight;
        mean_y += dy * w / weight;
        xx += w * dx * (points->log_x[i] - mean_x);
        xy += w * dx * (points->mean_log_y[i] - mean_y);
        yy += w * dy * (points->mean_log_y[i] - mean_y);
    }
    double slope = xy / xx;
    return (assay__fit_curve){.coefficient = exp(mean_y - slope * mean_x),
                              .exponent = slope,
                              .squares = fmax(0, yy - slope * xy)};
}

static log_curve power_at(const assay__fit_points *points, double exponent, bool refine,
                          double *scratch, double *top)
{
    for (size_t i = 0; i < points->count; i++)
        scratch[i] = exponent * points->log_x[i];
    *top = normalise(scratch, points->count);
    return best_ratio(points, scratch, refine);
}

static double power_squares(const assay__fit_points *points, double exponent, double *scratch)
{
    double top;
    return power_at(points, exponent, true, scratch, &top).squares;
}

static double squares_of_exponent(const valley *v, double exponent)
{
    return power_squares(v->points, exponent, v->g);
}

assay__fit_curve assay__fit_offset_power(const assay__fit_points *points, double *scratch)
{
    double cell = (ASSAY__FIT_EXPONENT_MAX - ASSAY__FIT_EXPONENT_MIN) / EXPONENT_CELLS;
    double exponent = ASSAY__FIT_EXPONENT_MIN, squares = INFINITY, top;
    for (int i = 0; i <= EXPONENT_CELLS; i++) {
        double at = ASSAY__FIT_EXPONENT_MIN + i * cell;
        double here = power_at(points, at, false, scratch, &top).squares;
        if (here < squares) {
            squares = here;
            exponent = at;
        }
    }
    double low = fmax(exponent - cell, ASSAY__FIT_EXPONENT_MIN);
    double high = fmin(exponent + cell, ASSAY__FIT_EXPONENT_MAX);
    const valley exponents = {points, scratch, squares_of_exponent};
    exponent = golden_section(&exponents, low, high, EXPONENT_STEPS);
    assay__fit_curve plain = assay__fit_power(points);
    log_curve curve = power_at(points, exponent, true, scratch, &top);
    /* Without an offset the best curve is known exactly. */
    return plain.squares <= curve.squares ? plain : in_units(curve, top, exponent);
}

/* Walk from `inside` towards `end` until the squares pass the limit, then bisect. */
static bool find_crossing(const assay__fit_points *points, double inside, double end, double limit,
                          double *scratch, double *crossing)
{
    double stride = 0.01, outside = inside;
    for (;;) {
        outside = inside < end ? fmin(inside + stride, end) : fmax(inside - stride, end);
        if (power_squares(points, outside, scratch) > limit)
            break;
        if (outside == end)
            return false;
        inside = outside;
        stride *= 1.5;
    }
    for (int step = 0; step < RANGE_STEPS; step++) {
        double middle = 0.5 * (inside + outside);
        if (power_squares(points, middle, scratch) > limit)
            outside = middle;
        else
            inside = middle;
    }
    *crossing = inside;
    return true;
}

assay__fit_range assay__fit_power_range(const assay__fit_points *points,
                                        const assay__fit_curve *best, double squares_limit,
                                        double *scratch)
{
    assay__fit_range range = {.low = best->exponent, .high = best->exponent};
    range.has_low = find_crossing(points, best->exponent, ASSAY__FIT_EXPONENT_MIN, squares_limit,
                                  scratch, &range.low);
    range.has_high = find_crossing(points, best->exponent, ASSAY__FIT_EXPONENT_MAX, squares_limit,
                                   scratch, &range.high);
    return range;
}
