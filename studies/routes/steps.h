/* The steps of a study of routes: data, then three kinds of steps with one for each model, then the
 * comparison. Which of them a study has is a matter of its models. */
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

/* The step of this kind for a model, and the last one. */
size_t assay__routes_step(const assay__routes_settings *settings, size_t kind, size_t model);
size_t assay__routes_compare_step(const assay__routes_settings *settings);

/* Does the study train the model? A teacher also for the sake of its pupil. */
bool assay__routes_trains(const assay__routes_settings *settings, size_t model);
/* How many models generate. */
size_t assay__routes_generating(const assay__routes_settings *settings);

/* A step that this study does not have weighs nothing. `list` must stay where it is. */
void assay__routes_list_steps(const assay__routes_settings *settings, assay__routes_steps *list);

#endif
