/* The mean of a series and its standard error, for intervals and for stopping rules. */
#ifndef ASSAY_STATS_MEAN_H
#define ASSAY_STATS_MEAN_H

#include "assay/stats.h"

typedef struct assay__mean {
    double mean, standard_error, degrees_of_freedom;
    double skewness; /* of the studentised mean: that of the innovations over √count */
} assay__mean;

/* Of finite values, two at least. */
assay__mean assay__mean_describe(const double *values, size_t count);

assay_interval assay__mean_interval(const assay__mean *mean, double level);

/* The mean, its standard error corrected for autocorrelation, and the degrees of freedom with which
 * a Student quantile makes an interval of it: for those who combine several series. Needs two
 * values (else ASSAY_E_DATA); all equal gives an error of 0. Cost: 20 passes over the values at
 * most; allocates nothing. */
ASSAY_MUST_USE assay_status assay__stats_mean_error(const double *values, size_t count,
                                                    double *mean, double *standard_error,
                                                    double *degrees_of_freedom);

/* assay_stats_mean_interval() for times, which are not negative: `low` is above 0 if the mean is,
 * and from 8 values on neither end lies beyond all of them. Every interval of a mean time in
 * records, reports and exports is this one. */
ASSAY_MUST_USE assay_status assay__stats_time_interval(const double *seconds, size_t count,
                                                       double level, assay_interval *interval);

#endif
