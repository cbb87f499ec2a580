/* The steps of a growth fit: values grouped by size (growth_values.c), classes fitted and tested
 * (growth_classes.c), one chosen (growth.c) and, without repeats, held against curves that are no
 * class (growth_rivals.c). */
#ifndef ASSAY_ANALYZE_GROWTH_H
#define ASSAY_ANALYZE_GROWTH_H

#include "assay/growth.h"
#include "stats/fit.h"

/* No timing repeats better than to 0.1 %, whatever its digits say. */
#define ASSAY__GROWTH_LEAST_NOISE 1e-3

/* Values of one n, on the log scale, outliers set aside. */
typedef struct assay__growth_values {
    size_t count; /* different n */
    double *log_n, *mean_log, *weight;
    double *scratch;       /* room for 3 × count numbers */
    double value_count;    /* kept */
    double within_squares; /* of log values about the means of their n */
    size_t outlier_count;
} assay__growth_values;

/* Group; fills `growth->sizes` and the counts of `growth` too. ASSAY_E_MEMORY, or ASSAY_E_LIMIT. */
ASSAY_MUST_USE assay_status assay__growth_values_init(assay__growth_values *values,
                                                      const double *sizes, const double *seconds,
                                                      size_t count, assay_error *error,
                                                      assay_growth *growth);
void assay__growth_values_release(assay__growth_values *values);

assay__fit_points assay__growth_points(const assay__growth_values *values);

/* One class, fitted with and without overhead. */
typedef struct assay__growth_class_fit {
    assay__fit_curve curve; /* of the better score */
    double free_squares; /* of the curve with overhead, about the means: for the lack-of-fit test */
    int free_parameters; /* that curve uses: an overhead of 0 is none */
    double score;        /* Bayesian information criterion; infinite: not possible */
} assay__growth_class_fit;

typedef struct assay__growth_fits {
    assay__growth_class_fit classes[ASSAY_GROWTH_CANDIDATES];
    assay__fit_curve power; /* with overhead; the same as the last class's */
    double noise_squares;   /* per value: variance of log t */
    double noise_freedom;   /* its degrees of freedom */
    bool noise_from_repeats;
} assay__growth_fits;

/* Fit every class and fill `candidates` (curves, p-values, weights). */
void assay__growth_fit_classes(const assay__growth_values *values, assay__growth_fits *fits,
                               assay_growth_candidate *candidates);

/* log g(n) of a named class. */
double assay__growth_log_shape(assay_growth_class growth_class, double log_n);

/* Bayesian information criterion of a curve that leaves these squares about the means: less is
 * better, by 2 log(odds). */
double assay__growth_score(const assay__growth_values *values, double squares, int parameters);

/* The best of the curves that are no class. */
typedef struct assay__growth_rival {
    double score;  /* infinite: there are too few sizes for any */
    char name[96]; /* "a sum of n and n^2" */
} assay__growth_rival;

assay__growth_rival assay__growth_find_rival(const assay__growth_values *values);

#endif
