/* The findings of the study "fields", computed from its record. */
#ifndef ASSAY_STUDIES_FIELDS_FINDINGS_H
#define ASSAY_STUDIES_FIELDS_FINDINGS_H

#include "assay/record.h"
#include "assay/timers.h"
#include "assay/training.h"
#include "studies/fields/measure.h"
#include "studies/fields/study.h"

/* The results of one training, from the record. */
typedef struct assay__fields_training {
    char name[ASSAY__FIELDS_NAME_BYTES];
    const assay_record_series *losses, *seconds; /* by epoch */
    assay_reading time, rmse, r2, largest_error, final_loss;
    assay_reading epochs_to_converge, time_to_converge;
} assay__fields_training;

/* All findings of the study. */
typedef struct assay__fields_findings {
    const assay__study_plan *plan;
    assay__fields_options options; /* with defaults filled in */
    assay_record *record;          /* of all steps; the members below are views of it */
    assay__fields_training trainings[ASSAY__FIELDS_FUNCTIONS][ASSAY__FIELDS_MODELS];
    assay_reading parameters[ASSAY__FIELDS_MODELS];
    const assay_record_subject *turns[ASSAY__FIELDS_MODELS]; /* epochs in turn */
    assay_timers *timers;                                    /* seconds by the model's label */
    size_t baseline;                                         /* model that speed-ups refer to */
    assay_speedup_verdict verdicts[ASSAY__FIELDS_MODELS];    /* of the other models */
    assay_warmup warmup[ASSAY__FIELDS_MODELS];               /* on the first function */
    assay_warmup_detection warmup_detected[ASSAY__FIELDS_MODELS];
    assay_convergence_summary converged[ASSAY__FIELDS_MODELS];
} assay__fields_findings;

/* Fill in the views of the record. Also add convergence, totals of the models and comparisons to
 * the record. They are computed here and not in the steps, because they depend on the threshold and
 * the baseline, which may change when a study is resumed. ASSAY_E_FORMAT if the record is
 * incomplete, because files of an earlier run are damaged. */
ASSAY_MUST_USE assay_status assay__fields_analyze(assay__fields_findings *findings,
                                                  assay_error *error);

#endif
