/* The mean of a series and its standard error, for intervals and for stopping rules. */
#ifndef ASSAY_STATS_MEAN_H
#define ASSAY_STATS_MEAN_H

#include "assay/stats.h"

typedef struct assay__mean {
    double mean, standard_error, degrees_of_freedom;
    double skewness; /* of the studentised mean: skewness of the innovations / √count */
} assay__mean;

/* The mean of at least two finite values. */
assay__mean assay__mean_describe(const double *values, size_t count);

assay_interval assay__mean_interval(const assay__mean *mean, double level);

/* The mean, its standard error corrected for autocorrelation, and the degrees of freedom with which
 * a Student quantile gives an interval. Callers use it to combine several series. Fails with
 * ASSAY_E_DATA for fewer than two values. If all values are equal, the error is 0. It makes at most
 * 20 passes over the values and allocates nothing. */
ASSAY_MUST_USE assay_status assay__stats_mean_error(const double *values, size_t count,
                                                    double *mean, double *standard_error,
                                                    double *degrees_of_freedom);

/* assay_stats_mean_interval() for times, which are not negative. `low` is above 0 if the mean is,
 * and from 8 values on the interval lies within the range of the values. Every interval of a mean
 * time in records, reports and exports is computed by this call. */
ASSAY_MUST_USE assay_status assay__stats_time_interval(const double *seconds, size_t count,
                                                       double level, assay_interval *interval);

#endif
