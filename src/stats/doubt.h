/* Recognises series whose mean says little, however narrow its interval is. */
#ifndef ASSAY_STATS_DOUBT_H
#define ASSAY_STATS_DOUBT_H

#include "assay/stats.h"

/* Set *doubt to a sentence that says why the interval of the mean cannot be trusted. It is NULL if
 * nothing speaks against the interval, or if there are fewer than 20 values. The sentence has
 * static storage. Independent values are doubted in 1 to 3 % of series. Needs memory for six copies
 * of 256 values. */
ASSAY_MUST_USE assay_status assay__stats_mean_doubt(const double *values, size_t count,
                                                    const char **doubt);

#endif
