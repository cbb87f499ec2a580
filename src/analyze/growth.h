/* The steps of a growth fit: values are grouped by size (growth_values.c), classes are fitted and
 * tested (growth_classes.c), and one class is chosen (growth.c). Without repeats the chosen class
 * also has to compete with curves that are no class (growth_rivals.c). */
#ifndef ASSAY_ANALYZE_GROWTH_H
#define ASSAY_ANALYZE_GROWTH_H

#include "assay/growth.h"
#include "stats/fit.h"

/* The smallest noise that is assumed: no timing repeats better than to 0.1 %, whatever its digits
 * say. */
#define ASSAY__GROWTH_LEAST_NOISE 1e-3

/* The values of each n, on a logarithmic scale and without the outliers. */
typedef struct assay__growth_values {
    size_t count; /* number of different n */
    double *log_n, *mean_log, *weight;
    double *scratch;       /* room for 3 × count numbers */
    double value_count;    /* values that were kept, over all n */
    double within_squares; /* squared deviations of log values from the mean of their n */
    size_t outlier_count;
} assay__growth_values;

/* Group the values by size. Also fills `growth->sizes` and the counts of `growth`. Fails with
 * ASSAY_E_MEMORY or ASSAY_E_LIMIT. */
ASSAY_MUST_USE assay_status assay__growth_values_init(assay__growth_values *values,
                                                      const double *sizes, const double *seconds,
                                                      size_t count, assay_error *error,
                                                      assay_growth *growth);
void assay__growth_values_release(assay__growth_values *values);

assay__fit_points assay__growth_points(const assay__growth_values *values);

/* One class, fitted with and without overhead. */
typedef struct assay__growth_class_fit {
    assay__fit_curve curve; /* the one with the better score */
    double free_squares;    /* of the curve with overhead, for the lack-of-fit test */
    int free_parameters;    /* of that curve; an overhead of 0 does not count */
    double score;           /* Bayesian information criterion; infinite if not possible */
} assay__growth_class_fit;

typedef struct assay__growth_fits {
    assay__growth_class_fit classes[ASSAY_GROWTH_CANDIDATES];
    assay__fit_curve power; /* with overhead; its class is the last one */
    double noise_squares;   /* the variance of log t of one value */
    double noise_freedom;   /* its degrees of freedom */
    bool noise_from_repeats;
} assay__growth_fits;

/* Fit every class and fill `candidates` (curves, p-values, weights). */
void assay__growth_fit_classes(const assay__growth_values *values, assay__growth_fits *fits,
                               assay_growth_candidate *candidates);

/* log g(n) of a named class. */
double assay__growth_log_shape(assay_growth_class growth_class, double log_n);

/* The Bayesian information criterion of a curve that leaves these squared deviations from the
 * means. Less is better; a difference is 2 log(odds). */
double assay__growth_score(const assay__growth_values *values, double squares, int parameters);

/* The best of the curves that are no class. */
typedef struct assay__growth_rival {
    double score;  /* infinite if there are too few sizes */
    char name[96]; /* "a sum of n and n^2" */
} assay__growth_rival;

assay__growth_rival assay__growth_find_rival(const assay__growth_values *values);

#endif
