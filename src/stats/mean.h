/* What is known about the mean of a series: for intervals and for stopping rules. */
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

#endif
