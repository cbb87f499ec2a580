/* What a graph's encodings cost once, when they are computed. */
#ifndef ASSAY_STUDIES_PROFILE_ENCODING_COST_H
#define ASSAY_STUDIES_PROFILE_ENCODING_COST_H

#include "assay/model_scaling.h"
#include "assay/record.h"

enum { ASSAY__ENCODINGS = 2 };

/* "lap", "rwse"; and as the model of the subjects: "lap encoding". */
const char *assay__encoding_name(int encoding);
const char *assay__encoding_model(int encoding);

/* Time the computation of each encoding from the edges alone, in turns, 10 runs each. Adds the
 * subjects "lap encoding" and "rwse encoding" to the record; with a parameter,
 * "lap encoding/PARAMETER=17", whose parameter is the number of nodes. */
ASSAY_MUST_USE assay_status assay__encodings_measure(const assay_scaling_graph *graph,
                                                     int64_t width, const char *parameter,
                                                     assay_error *error, assay_record *record);

#endif
