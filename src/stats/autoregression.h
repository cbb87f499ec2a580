/* Fits an autoregression to a series: how strongly each value depends on the values before it. */
#ifndef ASSAY_STATS_AUTOREGRESSION_H
#define ASSAY_STATS_AUTOREGRESSION_H

#include <stddef.h>

enum { ASSAY__AR_ORDER_MAX = 10 };

typedef struct assay__autoregression {
    size_t order;
    double coefficients[ASSAY__AR_ORDER_MAX];
    double coefficient_sum;     /* corrected for the small-sample bias; 0 ≤ it < 1 */
    double innovation_variance; /* variance that the past does not explain; unbiased */
    double innovation_skewness; /* 0 if there are too few values */
    double long_run_variance;   /* count × the variance of the mean */
    double degrees_of_freedom;  /* of long_run_variance */
} assay__autoregression;

/* Fit values[0 … count) around their mean. There must be at least 2 finite values that are not all
 * equal. */
void assay__autoregression_fit(const double *values, size_t count, double mean,
                               assay__autoregression *fit);

/* The same, but where autocorrelation shows clearly, the sum of the coefficients is moved by
 * `move_clear` of its standard errors. assay__autoregression_fit() moves it by 0.7. */
void assay__autoregression_fit_moved(const double *values, size_t count, double mean,
                                     double move_clear, assay__autoregression *fit);

#endif
