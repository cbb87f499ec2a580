/* A model on a device beside the same model on the processor, and what the device can do at best.
 */
#ifndef ASSAY_STUDIES_PROFILE_DEVICE_H
#define ASSAY_STUDIES_PROFILE_DEVICE_H

#include "assay/record.h"
#include "studies/common/peak.h"
#include "studies/profile/profile.h"

/* Whether the plan's model computes elsewhere than on the processor. */
bool assay__device_is_used(const assay__profile_plan *plan);

/* The peak of its device, measured now; `processor` is the name of the device. */
ASSAY_MUST_USE assay_status assay__device_peak(const assay__profile_plan *plan, assay_error *error,
                                               assay__peak *peak);

/* After the passes on the device are in the record: the times of the same passes of the same model
 * on the processor, at most 20 runs of each, as figures ASSAY__FIGURE_HOST of the passes. */
ASSAY_MUST_USE assay_status assay__device_compare(const assay__profile_plan *plan,
                                                  assay_error *error, assay_record *record);

/* The passes on both, side by side; nothing where the record has them on the processor alone. */
void assay__device_print(const assay_record *record, FILE *stream);

#endif
