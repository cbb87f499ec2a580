/* Curves that are no class, but that times without repeats may follow.
 *
 * If every size was measured once, the noise is known only from the deviations from the chosen
 * curve, and no test can reject that curve by its own deviations. So the curve has to compete with
 * other curves: with an exponential, with sums of two classes, and with classes whose growth
 * changes within the sizes. The change is a jump (the data no longer fit a cache), or it lasts over
 * a range of sizes or from some size on (another algorithm, another limit). These curves are scored
 * like the classes, by the Bayesian information criterion, with one parameter for each end of a
 * change. bench/growth.c measures how often the right class survives, and how often a shape that is
 * no class is found out.
 *
 * A test for patterns in the deviations (von Neumann's ratio, its distribution by simulation) needs
 * no list of shapes, but finds half as many. Over nine sizes n log n comes so close to a line with
 * a jump that its deviations look like noise; only the comparison with the other curve shows the
 * difference. */
#include <math.h>
#include <stdio.h>

#include "analyze/growth.h"

enum { NAMED = ASSAY_GROWTH_CANDIDATES - 1 };
/* PLACES_MAX: with more sizes than this, changes are tried at about this many places, evenly
 * spaced. SUM_CELLS: the sums with overhead are tried at this many ratios of their two terms, less
 * one. */
enum { PLACES_MAX = 28, SUM_CELLS = 10 };
/* A rival needs this many sizes more than it has parameters, because a curve through all points
 * proves nothing. */
enum { FREEDOM_LEAST = 2 };
/* The growth of an exponential over all sizes, in natural logarithms: the range and the factor of
 * the search. */
static const double GROWTH_LEAST = 2, GROWTH_MOST = 60, GROWTH_STEP = 1.3;

typedef struct contest {
    const assay__growth_values *values;
    double *x, *y; /* x and y of a fit, one for each size */
    assay__growth_rival best;
} contest;

/* Whether there are enough sizes for a curve with this many parameters. */
static bool admits(const contest *self, int parameters)
{
    return (double)self->values->count >= parameters + FREEDOM_LEAST;
}

static bool enter(contest *self, double squares, int parameters)
{
    double score = assay__growth_score(self->values, squares, parameters);
    if (!(score < self->best.score))
        return false;
    self->best.score = score;
    return true;
}

static assay__fit_points points_of(const contest *self)
{
    assay__fit_points points = assay__growth_points(self->values);
    points.mean_log_y = self->y;
    return points;
}

/* Set y to log t - log g(n) of a class. Returns false if g is not defined for a size. */
static bool take_off(contest *self, assay_growth_class growth_class)
{
    const assay__growth_values *values = self->values;
    for (size_t i = 0; i < values->count; i++) {
        double shape = assay__growth_log_shape(growth_class, values->log_n[i]);
        if (!isfinite(shape))
            return false;
        self->y[i] = values->mean_log[i] - shape;
    }
    return true;
}

/* t = b exp(c n) and t = a + b exp(c n). */
static void try_exponentials(contest *self)
{
    const assay__growth_values *values = self->values;
    assay__fit_points points = assay__growth_points(values);
    double last = exp(values->log_n[values->count - 1]);
    for (size_t i = 0; i < values->count; i++)
        self->x[i] = exp(values->log_n[i]) / last;
    assay__fit_points on_n = points;
    on_n.log_x = self->x;
    if (admits(self, 2) && enter(self, assay__fit_power(&on_n).squares, 2))
        snprintf(self->best.name, sizeof self->best.name, "an exponential");
    for (double growth = GROWTH_LEAST; admits(self, 3) && growth <= GROWTH_MOST;
         growth *= GROWTH_STEP) {
        for (size_t i = 0; i < values->count; i++)
            values->scratch[i] = growth * self->x[i];
        if (enter(self, assay__fit_offset_scale(&points, values->scratch).squares, 3))
            snprintf(self->best.name, sizeof self->best.name, "an exponential");
    }
}

static void name_sum(contest *self, assay_growth_class low, assay_growth_class high)
{
    snprintf(self->best.name, sizeof self->best.name, "a sum of %s and %s",
             assay_growth_class_name(low), assay_growth_class_name(high));
}

/* t = a g(n) + b h(n). Divided by g(n), this is an overhead a and a coefficient b. */
static void try_sums(contest *self)
{
    const assay__growth_values *values = self->values;
    assay__fit_points points = points_of(self);
    for (int low = ASSAY_GROWTH_LOG; low < NAMED && admits(self, 2); low++)
        for (int high = low + 1; high <= NAMED; high++) {
            if (!take_off(self, (assay_growth_class)low))
                continue;
            for (size_t i = 0; i < values->count; i++)
                values->scratch[i] =
                    assay__growth_log_shape((assay_growth_class)high, values->log_n[i]) -
                    assay__growth_log_shape((assay_growth_class)low, values->log_n[i]);
            assay__fit_curve sum = assay__fit_offset_scale(&points, values->scratch);
            if (sum.offset > 0 && enter(self, sum.squares, 2))
                name_sum(self, (assay_growth_class)low, (assay_growth_class)high);
        }
}

/* t = a + b (n^low + r n^high), where both terms are equal at the size exp(log_equal). */
static void try_sum_with_overhead(contest *self, int low, int high, double log_equal)
{
    static const assay_growth_class classes[] = {ASSAY_GROWTH_UNKNOWN, ASSAY_GROWTH_LINEAR,
                                                 ASSAY_GROWTH_QUADRATIC, ASSAY_GROWTH_CUBIC};
    const assay__growth_values *values = self->values;
    assay__fit_points points = assay__growth_points(values);
    for (size_t i = 0; i < values->count; i++)
        values->scratch[i] =
            low * values->log_n[i] + log1p(exp((high - low) * (values->log_n[i] - log_equal)));
    if (enter(self, assay__fit_offset_scale(&points, values->scratch).squares, 3))
        name_sum(self, classes[low], classes[high]);
}

static void try_sums_with_overhead(contest *self)
{
    const assay__growth_values *values = self->values;
    double first = values->log_n[0], range = values->log_n[values->count - 1] - first;
    for (int low = 1; low < 3 && admits(self, 3); low++)
        for (int high = low + 1; high <= 3; high++)
            for (int cell = 1; cell < SUM_CELLS; cell++)
                try_sum_with_overhead(self, low, high, first + range * cell / SUM_CELLS);
}

/* The logarithm of a place. Places are counted in halves: even ones are sizes, odd ones the middle
 * between two. */
static double log_place(const contest *self, size_t place)
{
    const double *log_n = self->values->log_n;
    return 0.5 * (log_n[place / 2] + log_n[(place + 1) / 2]);
}

/* Try a class times a power of n between two places, with constant factors outside them. */
static void try_change(contest *self, size_t from, size_t to)
{
    const assay__growth_values *values = self->values;
    size_t last = 2 * (values->count - 1);
    bool jump = to - from == 2 && from % 2 == 0;
    int parameters = jump ? 3 : 2 + (from > 0) + (to < last);
    if (!admits(self, parameters))
        return;
    double low = log_place(self, from), high = log_place(self, to);
    for (size_t i = 0; i < values->count; i++)
        self->x[i] = fmin(fmax(values->log_n[i], low), high);
    assay__fit_points points = points_of(self);
    points.log_x = self->x;
    if (!enter(self, assay__fit_power(&points).squares, parameters))
        return;
    if (jump || (from > 0 && to < last))
        snprintf(self->best.name, sizeof self->best.name, "%s %.4g and %.4g",
                 jump ? "a jump between the sizes" : "a growth that changes between the sizes",
                 exp(low), exp(high));
    else
        snprintf(self->best.name, sizeof self->best.name,
                 "a growth that changes near the size %.4g", exp(from > 0 ? low : high));
}

/* The next place where a change may end. At least two sizes come after it, or none. */
static size_t next_end(size_t to, size_t last, size_t stride)
{
    if (to == last)
        return last + 1;
    return to + stride + 2 <= last ? to + stride : last;
}

/* Try all changes. At least two sizes lie on either side of a change, because a single size may be
 * an outlier. A change over all sizes is not tried, because it is a power. */
static void try_changes(contest *self)
{
    size_t last = 2 * (self->values->count - 1), stride = 1 + last / PLACES_MAX;
    for (int c = ASSAY_GROWTH_CONSTANT; c <= NAMED; c++) {
        if (!take_off(self, (assay_growth_class)c))
            continue;
        for (size_t from = 0; from < last; from += from == 0 ? 2 : stride)
            for (size_t to = from + 2; to <= last; to = next_end(to, last, stride))
                if (to - from < last && !((from == 0 || to == last) && to - from == 2))
                    try_change(self, from, to);
    }
}

assay__growth_rival assay__growth_find_rival(const assay__growth_values *values)
{
    contest all = {.values = values,
                   .x = values->scratch + values->count,
                   .y = values->scratch + 2 * values->count,
                   .best = {.score = INFINITY}};
    try_exponentials(&all);
    try_sums(&all);
    try_sums_with_overhead(&all);
    try_changes(&all);
    return all.best;
}
