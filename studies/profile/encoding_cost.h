/* Times the computation of a graph's encodings, which happens once per graph. */
#ifndef ASSAY_STUDIES_PROFILE_ENCODING_COST_H
#define ASSAY_STUDIES_PROFILE_ENCODING_COST_H

#include "assay/model_scaling.h"
#include "assay/record.h"

enum { ASSAY__ENCODINGS = 2 };

/* The name of an encoding, "lap" or "rwse"; and its name as the model of subjects, such as "lap
 * encoding". */
const char *assay__encoding_name(int encoding);
const char *assay__encoding_model(int encoding);

/* Time the computation of both encodings from the edges alone, in turn, with 10 runs each. Adds the
 * subjects "lap encoding" and "rwse encoding" to the record. If `parameter` is not NULL, they are
 * called "lap encoding/PARAMETER=17", and the parameter is the number of nodes. */
ASSAY_MUST_USE assay_status assay__encodings_measure(const assay_scaling_graph *graph,
                                                     int64_t width, const char *parameter,
                                                     assay_error *error, assay_record *record);

#endif
