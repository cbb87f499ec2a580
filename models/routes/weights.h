/* Loads a next-road model of any size from a file of weights. */
#ifndef ASSAY_MODELS_ROUTES_WEIGHTS_H
#define ASSAY_MODELS_ROUTES_WEIGHTS_H

#include "assay/model.h"
#include "models/road/next_road.h"

typedef struct assay__weighted_model {
    assay_model *instance;
    assay__next_road *next_road; /* belongs to the instance */
} assay__weighted_model;

/* Load a model; its sizes follow from the tensors of the file. ASSAY_E_FORMAT if the weights belong
 * to another kind of model. */
ASSAY_MUST_USE assay_status assay__weighted_model_load(const char *path, assay_error *error,
                                                       assay__weighted_model *model);
/* A struct that is all zero is accepted. */
void assay__weighted_model_release(assay__weighted_model *model);

#endif
