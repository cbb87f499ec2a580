/* A series as an autoregression: how strongly each value depends on the values before it. */
#ifndef ASSAY_STATS_AUTOREGRESSION_H
#define ASSAY_STATS_AUTOREGRESSION_H

#include <stddef.h>

enum { ASSAY__AR_ORDER_MAX = 10 };

typedef struct assay__autoregression {
    size_t order;
    double coefficients[ASSAY__AR_ORDER_MAX];
    double coefficient_sum;     /* with the small-sample bias taken out; 0 ≤ it < 1 */
    double innovation_variance; /* of what the past does not explain; unbiased */
    double innovation_skewness; /* 0 when there are too few values to tell */
    double long_run_variance;   /* count × the variance of the mean */
    double degrees_of_freedom;  /* of long_run_variance */
} assay__autoregression;

/* Fit values[0 … count) (finite, at least 2, not all equal) around their mean. */
void assay__autoregression_fit(const double *values, size_t count, double mean,
                               assay__autoregression *fit);

/* The same, with the sum of the coefficients moved by so many of its standard errors where
 * autocorrelation shows clearly; assay__autoregression_fit() moves it by 0.7. */
void assay__autoregression_fit_moved(const double *values, size_t count, double mean,
                                     double move_clear, assay__autoregression *fit);

#endif
