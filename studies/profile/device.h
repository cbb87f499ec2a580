/* Compares a model on a device with the same model on the processor, and measures the peak of the
 * device. */
#ifndef ASSAY_STUDIES_PROFILE_DEVICE_H
#define ASSAY_STUDIES_PROFILE_DEVICE_H

#include "assay/record.h"
#include "studies/common/peak.h"
#include "studies/profile/profile.h"

/* Whether the plan's model is on a device other than the processor. */
bool assay__device_is_used(const assay__profile_plan *plan);

/* Measure the peak of the model's device. In the result, `processor` is the name of the device. */
ASSAY_MUST_USE assay_status assay__device_peak(const assay__profile_plan *plan, assay_error *error,
                                               assay__peak *peak);

/* Time the passes of the same model on the processor, with at most 20 runs of each, and add the
 * times to the record as figures ASSAY__FIGURE_HOST of the passes. The passes on the device must be
 * in the record already. */
ASSAY_MUST_USE assay_status assay__device_compare(const assay__profile_plan *plan,
                                                  assay_error *error, assay_record *record);

/* Print the passes on the processor and on the device side by side. If the record has no passes on
 * a device, print nothing. */
void assay__device_print(const assay_record *record, FILE *stream);

#endif
