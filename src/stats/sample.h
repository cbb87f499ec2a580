/* Moments of a plain array. */
#ifndef ASSAY_STATS_SAMPLE_H
#define ASSAY_STATS_SAMPLE_H

#include <stddef.h>

#include "stats/moments.h"

/* In two passes; all zero for no values. */
assay__moments assay__sample_moments(const double *values, size_t count);

#endif
