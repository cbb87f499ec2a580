/* Forecasts of a profiled model. */
#ifndef ASSAY_STUDIES_PROFILE_FORECAST_H
#define ASSAY_STUDIES_PROFILE_FORECAST_H

#include "studies/profile/profile.h"

/* Time a fit, where the class has one, single steps and whole forecasts into the record; `forecast`
 * receives the runtime profile (runtime.h). `model` is as described in the record. */
ASSAY_MUST_USE assay_status assay__forecast_measure(const assay__profile_plan *plan,
                                                    const assay_record_model *model,
                                                    assay_error *error, assay_record *record,
                                                    assay_runtime_profile *forecast);

/* Call the last subject of the record "MODEL WHAT". `model` belongs to the record, `covers` is
 * static. */
ASSAY_MUST_USE assay_status assay__profile_name_subject(assay_record *record, const char *model,
                                                        const char *what, const char *covers);

#endif
