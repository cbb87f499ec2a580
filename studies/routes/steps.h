/* The steps of a study of routes: first the data, then three kinds of steps with one step for each
 * model, last the comparison. The models decide which of these steps a study really has. */
#ifndef ASSAY_STUDIES_ROUTES_STEPS_H
#define ASSAY_STUDIES_ROUTES_STEPS_H

#include "studies/routes/study.h"

enum { ASSAY__DATA, ASSAY__OF_MODELS };                                     /* steps */
enum { ASSAY__TRAIN, ASSAY__GENERATE, ASSAY__EVALUATE, ASSAY__STEP_KINDS }; /* kinds */
enum {
    ASSAY__MAX_MODEL_STEPS = ASSAY__STEP_KINDS * ASSAY__ROUTES_MAX_MODELS,
    ASSAY__MAX_STEPS = ASSAY__OF_MODELS + ASSAY__MAX_MODEL_STEPS + 1,
    ASSAY__STEP_BYTES = 96
};

typedef struct assay__routes_steps {
    assay__study_step steps[ASSAY__MAX_STEPS];
    char names[ASSAY__MAX_MODEL_STEPS][ASSAY__STEP_BYTES];
} assay__routes_steps;

/* The index of the step of this kind for a model; and the index of the comparison, the last
 * step. */
size_t assay__routes_step(const assay__routes_settings *settings, size_t kind, size_t model);
size_t assay__routes_compare_step(const assay__routes_settings *settings);

/* Whether the study trains the model. It also trains a teacher that only its student needs. */
bool assay__routes_trains(const assay__routes_settings *settings, size_t model);
/* The number of models that generate trajectories. */
size_t assay__routes_generating(const assay__routes_settings *settings);

/* Fill the list of steps. A step that this study does not have gets weight 0. Do not move `list`
 * after this call: its steps point to its names. */
void assay__routes_list_steps(const assay__routes_settings *settings, assay__routes_steps *list);

#endif
