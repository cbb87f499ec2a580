/* The study of routes: next-road models trained, trajectories generated with them and timed,
 * compared with real ones and with each other.
 *
 * Leaves in the folder of the plan:
 *   city.geo, city.rel, train.csv, test.csv    the data, if it was made up
 *   MODEL/weights.safetensors, training.json   for each model trained
 *   MODEL/generated.csv, generation.json       trajectories; how many, and what they cost
 *   MODEL/performance.json                     what each search took, and which was the slowest
 *   MODEL/results.json                         likeness to the real ones, with what they cost
 *   comparison.json                            the interleaved comparison, a record of its own
 *   record.json                                all of it: the study's run record
 *   summary.json                               all of it as one summary
 */
#ifndef ASSAY_STUDIES_ROUTES_STUDY_H
#define ASSAY_STUDIES_ROUTES_STUDY_H

#include "models/routes/data.h"
#include "studies/common/frame.h"

/* What a study trains; the others come with their weights. */
enum { ASSAY__VANILLA, ASSAY__DISTILLED, ASSAY__ROUTES_TRAINED, ASSAY__ROUTES_MAX_MODELS = 16 };

typedef struct assay__routes_model {
    const char *name;    /* "vanilla"; also of its folder */
    const char *weights; /* a file; NULL: the study trains it */
    bool generates;      /* else it teaches at most */
} assay__routes_model;

typedef struct assay__routes_settings {
    assay__routes_source source;
    /* The first two are ASSAY__VANILLA and ASSAY__DISTILLED, asked for or not. */
    assay__routes_model models[ASSAY__ROUTES_MAX_MODELS];
    size_t model_count;
    assay_od_source od_source;
    size_t num_gene;
    bool beam_search;
    int64_t beam_width;
    const char *device; /* of the searches; NULL: the processor */
    int64_t epochs;
    double compare_seconds; /* budget of the comparison */
    bool skip_performance;  /* leave generation_performance out of results.json */
    const char *evaluate;   /* a file of generated trajectories: evaluate it and nothing else */
    const char *generation_performance; /* what those cost: a file, or NULL */
} assay__routes_settings;

/* Defaults; `quick` for a small city and little training. */
assay__routes_settings assay__routes_settings_of(bool quick);

/* Run the study, or what is left of it. Steps and settings of the plan are filled in here.
 * `summary_path`: where else the summary goes, NULL for nowhere. */
ASSAY_MUST_USE assay_status assay__routes_study(const assay__study_plan *plan,
                                                const assay__routes_settings *settings,
                                                const char *summary_path, assay_error *error);

#endif
