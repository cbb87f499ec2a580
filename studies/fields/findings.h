/* What follows from the record of the study "fields". */
#ifndef ASSAY_STUDIES_FIELDS_FINDINGS_H
#define ASSAY_STUDIES_FIELDS_FINDINGS_H

#include "assay/record.h"
#include "assay/timers.h"
#include "assay/training.h"
#include "studies/fields/measure.h"
#include "studies/fields/study.h"

/* One training as the record has it. */
typedef struct assay__fields_training {
    char name[ASSAY__FIELDS_NAME_BYTES];
    const assay_record_series *losses, *seconds; /* by epoch */
    assay_reading time, rmse, r2, largest_error, final_loss;
    assay_reading epochs_to_converge, time_to_converge;
} assay__fields_training;

/* Everything the study found. */
typedef struct assay__fields_findings {
    const assay__study_plan *plan;
    assay__fields_options options; /* defaults filled in */
    assay_record *record;          /* of all steps; all that follows is a view of it */
    assay__fields_training trainings[ASSAY__FIELDS_FUNCTIONS][ASSAY__FIELDS_MODELS];
    assay_reading parameters[ASSAY__FIELDS_MODELS];
    const assay_record_subject *turns[ASSAY__FIELDS_MODELS]; /* epochs in turns */
    assay_timers *timers;                                    /* seconds by model's label */
    size_t baseline;                                         /* of the speed-up: a model */
    assay_speedup_verdict verdicts[ASSAY__FIELDS_MODELS];    /* of the others, from the turns */
    assay_warmup warmup[ASSAY__FIELDS_MODELS];               /* on the first function */
    assay_warmup_detection warmup_detected[ASSAY__FIELDS_MODELS];
    assay_convergence_summary converged[ASSAY__FIELDS_MODELS];
} assay__fields_findings;

/* Fill in the views of the record, and add to it what depends on threshold and baseline, which a
 * resumed study may change: convergence, totals of the models, comparisons. ASSAY_E_FORMAT for a
 * record that lacks something, which an earlier run left damaged. */
ASSAY_MUST_USE assay_status assay__fields_analyze(assay__fields_findings *findings,
                                                  assay_error *error);

#endif
