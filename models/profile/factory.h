/* Makes models from a factory for the scaling runs, each with example data of its own. */
#ifndef ASSAY_MODELS_PROFILE_FACTORY_H
#define ASSAY_MODELS_PROFILE_FACTORY_H

#include "assay/model_scaling.h"

/* A model in evaluation mode, and its example. */
typedef struct assay__factory_model {
    assay_model *model;
    assay_tensor target;
    assay_tensor inputs[];
} assay__factory_model;

/* Find the index of a whole-number option. In `name`, '_' and '-' are the same. ASSAY_E_NOT_FOUND
 * if there is none; the message names the options that the class has. */
ASSAY_MUST_USE assay_status assay__factory_option(const assay_model_factory *factory,
                                                  const char *name, assay_error *error,
                                                  size_t *index);

/* Copy the factory's settings, so that they can be changed. The caller frees the array.
 * ASSAY_E_UNSUPPORTED if the class cannot make examples. */
ASSAY_MUST_USE assay_status assay__factory_settings(const assay_model_factory *factory,
                                                    assay_error *error, double **settings);

/* Make a model with these settings. ASSAY_E_ARGUMENT names a setting outside its limits. */
ASSAY_MUST_USE assay_status assay__factory_make(const assay_model_factory *factory,
                                                const double *settings, assay_error *error,
                                                assay__factory_model **instance);
void assay__factory_unmake(assay__factory_model *instance);

/* Run one forward pass on the example. */
ASSAY_MUST_USE assay_status assay__factory_forward(assay__factory_model *instance,
                                                   assay_error *error);

#endif
