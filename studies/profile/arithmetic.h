/* The arithmetic of a model, and how near its passes come to what the machine can do. */
#ifndef ASSAY_STUDIES_PROFILE_ARITHMETIC_H
#define ASSAY_STUDIES_PROFILE_ARITHMETIC_H

#include "studies/profile/profile.h"

/* Count the FLOPs by component under every convention into `model`, which is or will be the
 * record's; and into figures the work of each pass, what each convention leaves out, and the peak
 * of the machine as it was kept. ASSAY_OK for a class that does not describe its arithmetic: then
 * the work is missing, with the reason. */
ASSAY_MUST_USE assay_status assay__arithmetic_count(const assay__profile_plan *plan,
                                                    assay_error *error, assay_record *record,
                                                    assay_record_model *model);

/* The rate of each pass that the record has a time and the work of, beside the roof. */
ASSAY_MUST_USE assay_status assay__arithmetic_rate(assay_record *record);

#endif
