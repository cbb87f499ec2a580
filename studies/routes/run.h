/* A study of routes under way, for the files that make it: study.c, the steps; compare.c, the
 * interleaved comparison; report.c, text and JSON. */
#ifndef ASSAY_STUDIES_ROUTES_RUN_H
#define ASSAY_STUDIES_ROUTES_RUN_H

#include "assay/record.h"
#include "studies/routes/evaluate.h"
#include "studies/routes/generate.h"
#include "studies/routes/study.h"
#include "studies/routes/train.h"

enum { ASSAY__ROUTES_MAX_EPOCHS = 1000 };

typedef struct assay__routes_trained {
    assay__next_road *model;
    bool needed; /* to generate, or as a teacher */
    double losses[ASSAY__ROUTES_MAX_EPOCHS];
    double training_seconds;
    double test_loss; /* cross-entropy, the same scale for both models */
    assay__generation generation;
    assay__road_evaluation evaluation;
    bool evaluated; /* false when nothing was generated */
} assay__routes_trained;

typedef struct assay__routes_run {
    const assay__study_plan *plan;
    const assay__routes_settings *settings;
    assay__study *study;
    FILE *output;
    assay__routes_data data;
    assay__od_pair *pairs; /* (settings->num_gene) */
    assay__routes_trained trained[ASSAY__ROUTES_MODELS];
    assay_record *comparison; /* NULL: only one model */
} assay__routes_run;

/* Time both models on the same pairs, taking turns; a record with samples and verdict.
 * ASSAY_E_STATE when the user stopped it. */
ASSAY_MUST_USE assay_status assay__routes_compare(assay__routes_run *run, assay_error *error,
                                                  assay_record **record);

/* Text, in the order of the study. */
void assay__routes_print_data(const assay__routes_run *run);
void assay__routes_print_training(const assay__routes_run *run);
void assay__routes_print_model(const assay__routes_run *run, assay__routes_model model);
void assay__routes_print_evaluation(const assay__road_evaluation *evaluation, FILE *stream);
ASSAY_MUST_USE assay_status assay__routes_print_comparison(const assay__routes_run *run,
                                                           assay_error *error);

/* training.json and generation.json, there and back. NULL when out of memory. */
json_t *assay__routes_training_json(const assay__routes_run *run, assay__routes_model model);
ASSAY_MUST_USE assay_status assay__routes_training_read(assay__routes_run *run,
                                                        assay__routes_model model,
                                                        const json_t *object, assay_error *error);
json_t *assay__routes_generation_json(const assay__routes_run *run, assay__routes_model model);
ASSAY_MUST_USE assay_status assay__routes_generation_read(assay__routes_run *run,
                                                          assay__routes_model model,
                                                          const json_t *object, assay_error *error);

/* results.json of a model; without evaluation what is known beside it. */
json_t *assay__routes_results_json(const assay__routes_run *run, assay__routes_model model);
json_t *assay__routes_summary_json(const assay__routes_run *run);

#endif
