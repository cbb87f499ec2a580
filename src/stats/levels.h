/* Two levels between which a machine jumps now and then. */
#ifndef ASSAY_STATS_LEVELS_H
#define ASSAY_STATS_LEVELS_H

#include <stddef.h>

#include "assay/status.h"

/* Two series measured one after the other, at least one of which stayed on either of two levels for
 * a while: how far apart the levels are, if the series changed between them too seldom to tell what
 * belongs to the series from what belongs to the level. 0 otherwise. Counts ≥ 2; ASSAY_E_MEMORY is
 * the only failure. */
ASSAY_MUST_USE assay_status assay__stats_seldom_levels(const double *a, size_t a_count,
                                                       const double *b, size_t b_count,
                                                       double *apart);

#endif
