/* Curves y = offset + coefficient * g(x), offset >= 0, coefficient > 0, fitted on the log scale.
 *
 * What is fitted are the means of log y at each distinct x, weighted by how many values each mean
 * stands for; so errors count by their size relative to y, and the cost does not depend on the
 * number of repeats. Arrays in, numbers out; nothing allocates. Threads: any. */
#ifndef ASSAY_STATS_FIT_H
#define ASSAY_STATS_FIT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct assay__fit_points {
    const double *log_x;      /* finite */
    const double *mean_log_y; /* finite */
    const double *weight;     /* values behind each mean, > 0 */
    size_t count;
} assay__fit_points;

typedef struct assay__fit_curve {
    double offset;      /* >= 0; exactly 0 when the data ask for less */
    double coefficient; /* > 0 */
    double exponent;    /* of a power law */
    double squares;     /* weighted sum of squared deviations on the log scale */
} assay__fit_curve;

/* The exponents a power law is searched in. */
#define ASSAY__FIT_EXPONENT_MIN (-4.0)
#define ASSAY__FIT_EXPONENT_MAX 10.0

/* y = coefficient * g(x), with log_g[i] the logarithm of g at x_i. Squares are infinite if g is 0
 * (log_g -infinity) anywhere. */
assay__fit_curve assay__fit_scale(const assay__fit_points *points, const double *log_g);

/* y = offset + coefficient * g(x); at least one log_g is finite. Overwrites log_g. */
assay__fit_curve assay__fit_offset_scale(const assay__fit_points *points, double *log_g);

/* y = coefficient * x^exponent: the weighted regression line of log y on log x. At least two
 * different x. */
assay__fit_curve assay__fit_power(const assay__fit_points *points);

/* y = offset + coefficient * x^exponent. `scratch` has room for `count` numbers. */
assay__fit_curve assay__fit_offset_power(const assay__fit_points *points, double *scratch);

/* The exponents around `best` whose best curve has at most `squares_limit` squares: a profile
 * likelihood interval. An end that is not found within the range searched is reported as false. */
typedef struct assay__fit_range {
    double low, high;
    bool has_low, has_high;
} assay__fit_range;

assay__fit_range assay__fit_power_range(const assay__fit_points *points,
                                        const assay__fit_curve *best, double squares_limit,
                                        double *scratch);

#endif
