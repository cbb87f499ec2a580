/* Next-road models from files of weights, whatever their sizes. */
#ifndef ASSAY_MODELS_ROUTES_WEIGHTS_H
#define ASSAY_MODELS_ROUTES_WEIGHTS_H

#include "assay/model.h"
#include "models/road/next_road.h"

typedef struct assay__weighted_model {
    assay_model *instance;
    assay__next_road *next_road; /* the instance's */
} assay__weighted_model;

/* The sizes are those of the tensors. ASSAY_E_FORMAT for weights of another model. */
ASSAY_MUST_USE assay_status assay__weighted_model_load(const char *path, assay_error *error,
                                                       assay__weighted_model *model);
void assay__weighted_model_release(assay__weighted_model *model); /* all zero is accepted */

#endif
