/* The study of routes. It trains next-road models, generates trajectories with them and times this,
 * and compares the trajectories with real ones and the models with each other.
 *
 * The study writes these files to the folder of the plan:
 *   city.geo, city.rel, train.csv, test.csv    the data, if it was made up
 *   MODEL/weights.safetensors, training.json   for each trained model
 *   MODEL/generated.csv, generation.json       the trajectories; their number and cost
 *   MODEL/performance.json                     the times of each search, and the slowest search
 *   MODEL/results.json                         similarity to the real trajectories, and the cost
 *   comparison.json                            the interleaved comparison, a record of its own
 *   record.json                                all results: the study's run record
 *   summary.json                               all results as one summary
 */
#ifndef ASSAY_STUDIES_ROUTES_STUDY_H
#define ASSAY_STUDIES_ROUTES_STUDY_H

#include "models/routes/data.h"
#include "studies/common/frame.h"

/* The models that a study trains. Further models are loaded from files of weights. */
enum { ASSAY__VANILLA, ASSAY__DISTILLED, ASSAY__ROUTES_TRAINED, ASSAY__ROUTES_MAX_MODELS = 16 };

typedef struct assay__routes_model {
    const char *name;    /* "vanilla"; also the name of its folder */
    const char *weights; /* a file; NULL: the study trains it */
    bool generates;      /* otherwise it is at most a teacher */
} assay__routes_model;

typedef struct assay__routes_settings {
    assay__routes_source source;
    /* The first two are ASSAY__VANILLA and ASSAY__DISTILLED, even if they do not generate. */
    assay__routes_model models[ASSAY__ROUTES_MAX_MODELS];
    size_t model_count;
    assay_od_source od_source;
    size_t num_gene;
    bool beam_search;
    int64_t beam_width;
    const char *device; /* where the searches run; NULL: the processor */
    int64_t epochs;
    double compare_seconds; /* budget of the comparison */
    bool skip_performance;  /* leave generation_performance out of results.json */
    const char *evaluate;   /* if not NULL, only evaluate this file of generated trajectories */
    const char *generation_performance; /* file with the cost of those, or NULL */
} assay__routes_settings;

/* The default settings; with `quick`, a small city and little training. */
assay__routes_settings assay__routes_settings_of(bool quick);

/* Run the study, or the steps that an earlier run has left. The study fills in the steps and the
 * settings of the plan. A copy of the summary goes to `summary_path`, unless that is NULL. */
ASSAY_MUST_USE assay_status assay__routes_study(const assay__study_plan *plan,
                                                const assay__routes_settings *settings,
                                                const char *summary_path, assay_error *error);

#endif
