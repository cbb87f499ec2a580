/* Fits curves y = offset + coefficient * g(x) with offset >= 0 and coefficient > 0 on a logarithmic
 * scale.
 *
 * The means of log y at each distinct x are fitted, weighted by the number of values of each mean.
 * So errors count relative to y, and the cost does not depend on the number of repeats. Nothing is
 * allocated. Every thread may call these functions at any time. */
#ifndef ASSAY_STATS_FIT_H
#define ASSAY_STATS_FIT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct assay__fit_points {
    const double *log_x;      /* finite */
    const double *mean_log_y; /* finite */
    const double *weight;     /* number of values of each mean, > 0 */
    size_t count;
} assay__fit_points;

typedef struct assay__fit_curve {
    double offset;      /* >= 0; exactly 0 if a negative one would fit better */
    double coefficient; /* > 0 */
    double exponent;    /* of a power law */
    double squares;     /* weighted sum of squared deviations on the log scale */
} assay__fit_curve;

/* The range in which the exponent of a power law is searched. */
#define ASSAY__FIT_EXPONENT_MIN (-4.0)
#define ASSAY__FIT_EXPONENT_MAX 10.0

/* y = coefficient * g(x), where log_g[i] is the logarithm of g at x_i. The squares are infinite if
 * g is 0 (log_g is -infinity) anywhere. */
assay__fit_curve assay__fit_scale(const assay__fit_points *points, const double *log_g);

/* y = offset + coefficient * g(x). At least one log_g must be finite. Overwrites log_g. */
assay__fit_curve assay__fit_offset_scale(const assay__fit_points *points, double *log_g);

/* y = coefficient * x^exponent: the weighted regression line of log y on log x. At least two
 * different x. */
assay__fit_curve assay__fit_power(const assay__fit_points *points);

/* y = offset + coefficient * x^exponent. `scratch` has room for `count` numbers. */
assay__fit_curve assay__fit_offset_power(const assay__fit_points *points, double *scratch);

/* The exponents around `best` whose best curve has at most `squares_limit` squares: a profile
 * likelihood interval. has_low and has_high are false for an end that is not found in the range of
 * the search. */
typedef struct assay__fit_range {
    double low, high;
    bool has_low, has_high;
} assay__fit_range;

assay__fit_range assay__fit_power_range(const assay__fit_points *points,
                                        const assay__fit_curve *best, double squares_limit,
                                        double *scratch);

#endif
