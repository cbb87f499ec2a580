/* The study of routes: next-road models trained, trajectories generated with them and timed,
 * compared with real ones and with each other.
 *
 * Leaves in the folder of the plan:
 *   city.geo, city.rel, train.csv, test.csv    the data, if it was made up
 *   MODEL/weights.safetensors, training.json   for each model trained
 *   MODEL/generated.csv, generation.json       trajectories; how many, and what they cost
 *   MODEL/results.json                         likeness to the real ones, with what they cost
 *   comparison.json                            the interleaved comparison, a record of its own
 *   record.json                                all of it: the study's run record
 *   summary.json                               all of it, as the seed has it
 */
#ifndef ASSAY_STUDIES_ROUTES_STUDY_H
#define ASSAY_STUDIES_ROUTES_STUDY_H

#include "studies/common/frame.h"

typedef enum assay__od_source { ASSAY__OD_TEST, ASSAY__OD_TRAIN } assay__od_source;

typedef struct assay__routes_source {
    /* Files in LibCity's form (docs/models.md), all of the first three or none of them. Without
     * `test` a fifth of the trajectories, chosen by the seed, is kept for testing. */
    const char *geo, *rel, *trajectories, *test;
    /* Without files: a made-up city and drives in it. */
    int64_t roads, drives;
} assay__routes_source;

typedef enum assay__routes_model {
    ASSAY__VANILLA,
    ASSAY__DISTILLED,
    ASSAY__ROUTES_MODELS
} assay__routes_model;

/* "vanilla", "distilled". */
extern const char *const assay__routes_model_names[ASSAY__ROUTES_MODELS];

typedef struct assay__routes_settings {
    assay__routes_source source;
    bool models[ASSAY__ROUTES_MODELS]; /* which to generate with; a teacher is trained anyway */
    assay__od_source od_source;
    size_t num_gene;
    bool beam_search;
    int64_t beam_width;
    int64_t epochs;
    double compare_seconds; /* budget of the comparison */
    bool skip_performance;  /* leave generation_performance out of results.json */
    const char *evaluate;   /* a file of generated trajectories: evaluate it and nothing else */
} assay__routes_settings;

/* Defaults; `quick` for a small city and little training. */
assay__routes_settings assay__routes_settings_of(bool quick);

/* Run the study, or what is left of it. Steps and settings of the plan are filled in here.
 * `summary_path`: where else the summary goes, NULL for nowhere. */
ASSAY_MUST_USE assay_status assay__routes_study(const assay__study_plan *plan,
                                                const assay__routes_settings *settings,
                                                const char *summary_path, assay_error *error);

#endif
