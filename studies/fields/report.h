/* What the study "fields" shows of its trainings, and the files it leaves. */
#ifndef ASSAY_STUDIES_FIELDS_REPORT_H
#define ASSAY_STUDIES_FIELDS_REPORT_H

#include <jansson.h>

#include "assay/timers.h"
#include "assay/training.h"
#include "studies/fields/study.h"
#include "studies/fields/training.h"

/* Everything the study found. */
typedef struct assay__fields_findings {
    const assay__study_plan *plan;
    assay__fields_options options; /* defaults filled in */
    assay__fields_result results[ASSAY__FIELDS_FUNCTIONS][ASSAY__FIELDS_MODELS];
    size_t rounds;
    double *round_seconds[ASSAY__FIELDS_MODELS]; /* (rounds) of one epoch each, interleaved */
    assay_timers *timers;                        /* seconds by model's label */
    size_t baseline;                             /* of the speed-up: a model */
    assay_speedup_verdict verdicts[ASSAY__FIELDS_MODELS];
    assay_warmup warmup[ASSAY__FIELDS_MODELS]; /* on the first function */
    assay_warmup_detection warmup_detected[ASSAY__FIELDS_MODELS];
    assay_convergence convergence[ASSAY__FIELDS_MODELS][ASSAY__FIELDS_FUNCTIONS];
    assay_convergence_summary converged[ASSAY__FIELDS_MODELS];
} assay__fields_findings;

/* From results and rounds, all that follows them. */
ASSAY_MUST_USE assay_status assay__fields_analyze(assay__fields_findings *findings,
                                                  assay_error *error);

ASSAY_MUST_USE assay_status assay__fields_print(const assay__fields_findings *findings,
                                                FILE *stream, assay_error *error);

/* The CSV and JSON files into the folder of the study. */
ASSAY_MUST_USE assay_status assay__fields_export(const assay__fields_findings *findings,
                                                 assay__study *study, assay_error *error);

#endif
