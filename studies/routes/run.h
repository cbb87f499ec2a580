/* The state of a running study of routes, for the files that implement it: study.c has the steps,
 * generation.c the searches, findings.c the results in the run record, map.c the routes for a map,
 * compare.c the interleaved comparison, and report.c the text and the JSON. */
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
    /* With the indices of settings->models. NULL if a model neither generates nor teaches. */
    assay__next_road *models[ASSAY__ROUTES_MAX_MODELS];
    assay__weighted_model weighted[ASSAY__ROUTES_MAX_MODELS]; /* models from files */
    assay_record *found; /* the study's record: results of all steps so far */
} assay__routes_run;

/* All settings that influence the results, as text for the frame. The caller frees it. NULL if
 * there is no memory. */
char *assay__routes_settings_text(const assay__routes_settings *settings);

/* ---- Results of the steps ---- */

/* Add the settings of the study, the size of its network and the number of drives. */
ASSAY_MUST_USE assay_status assay__routes_found_data(const assay__routes_run *run,
                                                     assay_record *found);

/* The results of training a model. */
typedef struct assay__routes_trained {
    const assay__routes_training *training;
    const double *losses; /* (training->epochs) */
    double test_loss;     /* cross-entropy, comparable between all models */
    double seconds;
} assay__routes_trained;

/* Add a model that was loaded from a file; and a model that was trained. */
ASSAY_MUST_USE assay_status assay__routes_found_loaded(const assay__routes_run *run, size_t model,
                                                       assay_record *found);
ASSAY_MUST_USE assay_status assay__routes_found_training(const assay__routes_run *run, size_t model,
                                                         const assay__routes_trained *trained,
                                                         assay_record *found);

/* Add the series for a map: the ends of all roads; and some generated routes of the model, with
 * real routes that have the same first and last road. Nothing is added for a network of more than
 * 10 000 roads. `generated_file` is that of assay__evaluate_trajectories(). */
ASSAY_MUST_USE assay_status assay__routes_found_network(const assay__road_network *network,
                                                        assay_record *found);
ASSAY_MUST_USE assay_status assay__routes_found_trips(const assay__routes_run *run,
                                                      const char *model,
                                                      const assay__trajectories *real,
                                                      const char *generated_file,
                                                      assay_record *found, assay_error *error);

/* Generate trajectories with a model into `output_file`, and add to `found` the times of the
 * searches and what was measured beside them. ASSAY_E_STATE if the user stops it. */
ASSAY_MUST_USE assay_status assay__routes_generate(assay__routes_run *run, size_t model,
                                                   const char *output_file, assay_record *found,
                                                   assay_error *error);

/* Time all generating models in turn on the same pairs, and add samples and verdicts to `found`.
 * ASSAY_E_STATE if the user stops it. */
ASSAY_MUST_USE assay_status assay__routes_compare(assay__routes_run *run, assay_error *error,
                                                  assay_record *found);

/* ---- Views of the record ---- */

/* Print text, in the order of the study. */
void assay__routes_print_data(const assay__routes_run *run);
void assay__routes_print_training(const assay__routes_run *run);
ASSAY_MUST_USE assay_status assay__routes_print_model(const assay__routes_run *run, size_t model,
                                                      assay_error *error);
ASSAY_MUST_USE assay_status assay__routes_print_comparison(const assay__routes_run *run,
                                                           assay_error *error);

/* Write performance.json from the record. */
ASSAY_MUST_USE assay_status assay__routes_save_performance(const assay__routes_run *run,
                                                           size_t model, const char *path,
                                                           assay_error *error);

/* The content of training.json, generation.json, results.json and summary.json. NULL if there is no
 * memory. */
json_t *assay__routes_training_json(const assay__routes_run *run, size_t model);
json_t *assay__routes_generation_json(const assay__routes_run *run, size_t model);
json_t *assay__routes_results_json(const assay__routes_run *run, size_t model);
json_t *assay__routes_summary_json(const assay__routes_run *run);

#endif
