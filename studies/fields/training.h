/* What the study "fields" trains: models, points of a function, one epoch, one test. */
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
    double cost; /* of an epoch beside an MLP's, roughly: for the progress line */
} assay__fields_model;

extern const assay__fields_model assay__fields_models[ASSAY__FIELDS_MODELS];

/* Points to learn from, the same for every function and model. */
typedef struct assay__fields_points {
    int64_t samples, tests;
    float *x;            /* (samples, 2), uniform */
    float *test_x;       /* (tests, 2), a grid */
    float *shuffled;     /* (samples, 2), an epoch's order */
    float *targets;      /* (samples), of the function at hand */
    float *shuffled_y;   /* (samples) */
    float *test_targets; /* (tests) */
    int64_t *order;      /* (samples) */
} assay__fields_points;

ASSAY_MUST_USE assay_status assay__fields_points_init(assay__fields_points *points, int64_t samples,
                                                      uint64_t seed, assay_error *error);
void assay__fields_points_release(assay__fields_points *points);
/* Take the values of this function. The next epoch does not depend on the order that epochs before
 * it left behind. */
void assay__fields_points_evaluate(assay__fields_points *points,
                                   const assay__fields_function *function);

ASSAY_MUST_USE assay_status assay__fields_model_new(const assay__fields_model *model, uint64_t seed,
                                                    assay_error *error, assay_model **instance);

/* The same with some settings changed. */
ASSAY_MUST_USE assay_status assay__fields_variant_new(const assay__fields_model *model,
                                                      const assay__setting *changed, size_t count,
                                                      uint64_t seed, assay_error *error,
                                                      assay_model **instance);

/* One epoch over the points in a new order; *loss is the mean over its batches. */
ASSAY_MUST_USE assay_status assay__fields_epoch(assay_model *instance, double learning_rate,
                                                assay__fields_points *points, assay__random *random,
                                                assay_error *error, double *loss);

/* How far the model is from the function on the test points. */
typedef struct assay__fields_accuracy {
    double rmse, r2, largest_error;
} assay__fields_accuracy;

ASSAY_MUST_USE assay_status assay__fields_test(assay_model *instance,
                                               const assay__fields_points *points,
                                               assay_error *error,
                                               assay__fields_accuracy *accuracy);

#endif
