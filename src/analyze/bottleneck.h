/* The rules applied to figures that stand in no record. */
#ifndef ASSAY_ANALYZE_BOTTLENECK_H
#define ASSAY_ANALYZE_BOTTLENECK_H

#include "analyze/operations.h"
#include "assay/bottleneck.h"

/* The rules that hold for one operation, shares of the run aside. Caller frees `*findings`. */
ASSAY_MUST_USE assay_status assay__bottlenecks_of(const assay__operation_row *row,
                                                  assay_finding **findings, size_t *count);

#endif
