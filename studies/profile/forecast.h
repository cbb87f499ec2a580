/* Times the forecasts of a profiled model. */
#ifndef ASSAY_STUDIES_PROFILE_FORECAST_H
#define ASSAY_STUDIES_PROFILE_FORECAST_H

#include "studies/profile/profile.h"

/* Time a fit (if the class has one), single steps and whole forecasts, and add them to the record.
 * `forecast` receives the runtime profile (runtime.h). `model` is the description of the model for
 * the record. */
ASSAY_MUST_USE assay_status assay__forecast_measure(const assay__profile_plan *plan,
                                                    const assay_record_model *model,
                                                    assay_error *error, assay_record *record,
                                                    assay_runtime_profile *forecast);

/* Rename the last subject of the record to "MODEL WHAT". `model` must belong to the record, and
 * `covers` must be static. */
ASSAY_MUST_USE assay_status assay__profile_name_subject(assay_record *record, const char *model,
                                                        const char *what, const char *covers);

#endif
