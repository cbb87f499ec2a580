/* A study of routes under way, for the files that make it: study.c, the steps; findings.c, what
 * they add to the run record; compare.c, the interleaved comparison; report.c, text and JSON. */
#ifndef ASSAY_STUDIES_ROUTES_RUN_H
#define ASSAY_STUDIES_ROUTES_RUN_H

#include "assay/record.h"
#include "models/routes/evaluate.h"
#include "models/routes/generate.h"
#include "models/routes/weights.h"
#include "studies/common/results.h"
#include "studies/routes/performance.h"
#include "studies/routes/study.h"
#include "studies/routes/train.h"

typedef struct assay__routes_run {
    const assay__study_plan *plan;
    const assay__routes_settings *settings;
    assay__study *study;
    FILE *output;
    assay__routes_data data;
    assay__od_pair *pairs; /* (settings->num_gene) */
    /* By the indices of settings->models; NULL: neither generates nor teaches. */
    assay__next_road *models[ASSAY__ROUTES_MAX_MODELS];
    assay__weighted_model weighted[ASSAY__ROUTES_MAX_MODELS]; /* whose weights were given */
    assay_record *found; /* by all steps so far: the study's record */
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
    double test_loss;     /* cross-entropy, the same scale for all models */
    double seconds;
} assay__routes_trained;

/* A model as it was loaded. */
ASSAY_MUST_USE assay_status assay__routes_found_loaded(const assay__routes_run *run, size_t model,
                                                       assay_record *found);
ASSAY_MUST_USE assay_status assay__routes_found_training(const assay__routes_run *run, size_t model,
                                                         const assay__routes_trained *trained,
                                                         assay_record *found);

/* For a map: the ends of all roads, and some routes that the model generated beside real ones with
 * the same ends. Nothing for a network of more than 10 000 roads. The trajectories in
 * `generated_file` are those of assay__evaluate_trajectories(). */
ASSAY_MUST_USE assay_status assay__routes_found_network(const assay__road_network *network,
                                                        assay_record *found);
ASSAY_MUST_USE assay_status assay__routes_found_trips(const assay__routes_run *run,
                                                      const char *model,
                                                      const assay__trajectories *real,
                                                      const char *generated_file,
                                                      assay_record *found, assay_error *error);

/* Time all models that generate on the same pairs, taking turns: samples and verdicts, added to
 * `found`.
 * ASSAY_E_STATE when the user stopped it. */
ASSAY_MUST_USE assay_status assay__routes_compare(assay__routes_run *run, assay_error *error,
                                                  assay_record *found);

/* ---- Views of what was found ---- */

/* Text, in the order of the study. */
void assay__routes_print_data(const assay__routes_run *run);
void assay__routes_print_training(const assay__routes_run *run);
ASSAY_MUST_USE assay_status assay__routes_print_model(const assay__routes_run *run, size_t model,
                                                      assay_error *error);
ASSAY_MUST_USE assay_status assay__routes_print_comparison(const assay__routes_run *run,
                                                           assay_error *error);

/* performance.json, by the generation as the record has it. */
ASSAY_MUST_USE assay_status assay__routes_save_performance(const assay__routes_run *run,
                                                           size_t model, const char *path,
                                                           assay_error *error);

/* The files of the same names. NULL when out of memory. */
json_t *assay__routes_training_json(const assay__routes_run *run, size_t model);
json_t *assay__routes_generation_json(const assay__routes_run *run, size_t model);
json_t *assay__routes_results_json(const assay__routes_run *run, size_t model);
json_t *assay__routes_summary_json(const assay__routes_run *run);

#endif
