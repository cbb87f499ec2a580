/* The models of the study "fields", the points of a function, one epoch of a training, and the test
 * of a model. */
#ifndef ASSAY_STUDIES_FIELDS_TRAINING_H
#define ASSAY_STUDIES_FIELDS_TRAINING_H

#include <stdint.h>

#include "assay/model.h"
#include "base/random.h"
#include "models/instance.h"
#include "studies/fields/functions.h"

enum { ASSAY__FIELDS_MODELS = 3, ASSAY__FIELDS_BATCH = 128 };

typedef struct assay__fields_model {
    const char *label;      /* "SIREN" */
    const char *class_name; /* "siren" */
    double learning_rate;
    double cost; /* of an epoch relative to the MLP's, roughly; for the progress line */
} assay__fields_model;

extern const assay__fields_model assay__fields_models[ASSAY__FIELDS_MODELS];

/* The points to learn from and to test on. They are the same for every function and model. */
typedef struct assay__fields_points {
    int64_t samples, tests;
    float *x;            /* (samples, 2), uniform */
    float *test_x;       /* (tests, 2), a grid */
    float *shuffled;     /* (samples, 2), in the order of an epoch */
    float *targets;      /* (samples), of the present function */
    float *shuffled_y;   /* (samples) */
    float *test_targets; /* (tests) */
    int64_t *order;      /* (samples) */
} assay__fields_points;

ASSAY_MUST_USE assay_status assay__fields_points_init(assay__fields_points *points, int64_t samples,
                                                      uint64_t seed, assay_error *error);
void assay__fields_points_release(assay__fields_points *points);
/* Compute the targets of this function. This also resets the order of the points, so that the next
 * epoch does not depend on earlier epochs. */
void assay__fields_points_evaluate(assay__fields_points *points,
                                   const assay__fields_function *function);

/* Make a model with the settings of the study. */
ASSAY_MUST_USE assay_status assay__fields_model_new(const assay__fields_model *model, uint64_t seed,
                                                    assay_error *error, assay_model **instance);

/* The same with some settings changed. */
ASSAY_MUST_USE assay_status assay__fields_variant_new(const assay__fields_model *model,
                                                      const assay__setting *changed, size_t count,
                                                      uint64_t seed, assay_error *error,
                                                      assay_model **instance);

/* Run one epoch over the points in a new random order. *loss is the mean loss of its points, each
 * taken before the update of its batch. ASSAY_E_DATA if the loss is not finite. */
ASSAY_MUST_USE assay_status assay__fields_epoch(assay_model *instance, double learning_rate,
                                                assay__fields_points *points, assay__random *random,
                                                assay_error *error, double *loss);

/* The accuracy of the model on the test points. */
typedef struct assay__fields_accuracy {
    double rmse, r2, largest_error;
} assay__fields_accuracy;

ASSAY_MUST_USE assay_status assay__fields_test(assay_model *instance,
                                               const assay__fields_points *points,
                                               assay_error *error,
                                               assay__fields_accuracy *accuracy);

#endif
