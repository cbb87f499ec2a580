/* Counts the arithmetic of a model, and computes how near its passes come to the machine's peak. */
#ifndef ASSAY_STUDIES_PROFILE_ARITHMETIC_H
#define ASSAY_STUDIES_PROFILE_ARITHMETIC_H

#include "studies/profile/profile.h"

/* Count the FLOPs by component under every convention, and add them to `model`, which belongs to
 * the record or will be added to it. Also add to the record the figures of each pass's work, of the
 * operations that each convention leaves out, and of the machine's peak, which is loaded from its
 * file, or measured now if the model is on a device. If the class does not describe its arithmetic,
 * the result is ASSAY_OK, and the work is missing in the record, with the reason. */
ASSAY_MUST_USE assay_status assay__arithmetic_count(const assay__profile_plan *plan,
                                                    assay_error *error, assay_record *record,
                                                    assay_record_model *model);

/* Add the rate and the roof of each pass whose time and work the record has. */
ASSAY_MUST_USE assay_status assay__arithmetic_rate(assay_record *record);

#endif
