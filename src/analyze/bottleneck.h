/* The rules of bottleneck.c, applied to figures that are not in a record. */
#ifndef ASSAY_ANALYZE_BOTTLENECK_H
#define ASSAY_ANALYZE_BOTTLENECK_H

#include "analyze/operations.h"
#include "assay/bottleneck.h"

/* Find the rules that hold for one operation. Rules about shares of the whole run are not tried,
 * because the time of the run is not known. Caller frees `*findings`. */
ASSAY_MUST_USE assay_status assay__bottlenecks_of(const assay__operation_row *row,
                                                  assay_finding **findings, size_t *count);

#endif
