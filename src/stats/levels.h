/* Finds two levels between which a machine jumps from time to time. */
#ifndef ASSAY_STATS_LEVELS_H
#define ASSAY_STATS_LEVELS_H

#include <stddef.h>

#include "assay/status.h"

/* For two series that were measured one after the other: the distance between two levels on which
 * at least one of them stayed for a while, if the series changed between the levels too seldom to
 * tell whether a difference belongs to the series or to the level. 0 otherwise. Counts must be at
 * least 2. The only failure is ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__stats_seldom_levels(const double *a, size_t a_count,
                                                       const double *b, size_t b_count,
                                                       double *apart);

#endif
