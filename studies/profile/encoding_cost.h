/* What a graph's encodings cost once, when they are computed. */
#ifndef ASSAY_STUDIES_PROFILE_ENCODING_COST_H
#define ASSAY_STUDIES_PROFILE_ENCODING_COST_H

#include "assay/model_scaling.h"

/* Time the computation from the edges alone, 10 runs. "none" costs nothing: the count is 0 and all
 * figures are. ASSAY_E_ARGUMENT for another name. */
ASSAY_MUST_USE assay_status assay__encoding_measure(const assay_pe_config *config,
                                                    const assay_scaling_graph *graph,
                                                    assay_error *error, assay_timing *timing);

#endif
