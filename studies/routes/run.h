/* A study of routes under way, for the files that make it: study.c, the steps; findings.c, what
 * they add to the run record; compare.c, the interleaved comparison; report.c, text and JSON. */
#ifndef ASSAY_STUDIES_ROUTES_RUN_H
#define ASSAY_STUDIES_ROUTES_RUN_H

#include "assay/record.h"
#include "studies/common/results.h"
#include "studies/routes/evaluate.h"
#include "studies/routes/generate.h"
#include "studies/routes/study.h"
#include "studies/routes/train.h"

typedef struct assay__routes_run {
    const assay__study_plan *plan;
    const assay__routes_settings *settings;
    assay__study *study;
    FILE *output;
    assay__routes_data data;
    assay__od_pair *pairs;                          /* (settings->num_gene) */
    assay__next_road *models[ASSAY__ROUTES_MODELS]; /* NULL: neither generates nor teaches */
    assay_record *found;                            /* by all steps so far: the study's record */
} assay__routes_run;

/* Everything that decides the results, for the frame. Caller frees; NULL without memory. */
char *assay__routes_settings_text(const assay__routes_settings *settings);

/* ---- What steps find ---- */

/* The settings of the study, and how large its network is and how many drives there are. */
ASSAY_MUST_USE assay_status assay__routes_found_data(const assay__routes_run *run,
                                                     assay_record *found);

/* A model as it was trained. */
typedef struct assay__routes_trained {
    const assay__routes_training *training;
    const double *losses; /* (training->epochs) */
    double test_loss;     /* cross-entropy, the same scale for both models */
    double seconds;
} assay__routes_trained;

ASSAY_MUST_USE assay_status assay__routes_found_training(const assay__routes_run *run,
                                                         assay__routes_model model,
                                                         const assay__routes_trained *trained,
                                                         assay_record *found);

/* Time both models on the same pairs, taking turns: samples and verdict, added to `found`.
 * ASSAY_E_STATE when the user stopped it. */
ASSAY_MUST_USE assay_status assay__routes_compare(assay__routes_run *run, assay_error *error,
                                                  assay_record *found);

/* ---- Views of what was found ---- */

/* Text, in the order of the study. */
void assay__routes_print_data(const assay__routes_run *run);
void assay__routes_print_training(const assay__routes_run *run);
ASSAY_MUST_USE assay_status assay__routes_print_model(const assay__routes_run *run,
                                                      assay__routes_model model,
                                                      assay_error *error);
ASSAY_MUST_USE assay_status assay__routes_print_comparison(const assay__routes_run *run,
                                                           assay_error *error);

/* The files of the same names. NULL when out of memory. */
json_t *assay__routes_training_json(const assay__routes_run *run, assay__routes_model model);
json_t *assay__routes_generation_json(const assay__routes_run *run, assay__routes_model model);
json_t *assay__routes_results_json(const assay__routes_run *run, assay__routes_model model);
json_t *assay__routes_summary_json(const assay__routes_run *run);

#endif
