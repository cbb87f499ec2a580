/* Models made from a factory, with data of their own, for the scaling runs. */
#ifndef ASSAY_MODELS_PROFILE_FACTORY_H
#define ASSAY_MODELS_PROFILE_FACTORY_H

#include "assay/model_scaling.h"

/* A model in evaluation mode, and its example. */
typedef struct assay__factory_model {
    assay_model *model;
    assay_tensor target;
    assay_tensor inputs[];
} assay__factory_model;

/* Index of a whole-number option, '_' and '-' alike. ASSAY_E_NOT_FOUND names those there are. */
ASSAY_MUST_USE assay_status assay__factory_option(const assay_model_factory *factory,
                                                  const char *name, assay_error *error,
                                                  size_t *index);

/* A copy of the factory's settings, to be changed; caller frees. ASSAY_E_UNSUPPORTED for a class
 * without examples. */
ASSAY_MUST_USE assay_status assay__factory_settings(const assay_model_factory *factory,
                                                    assay_error *error, double **settings);

/* Make a model with these settings. ASSAY_E_ARGUMENT names a setting outside its limits. */
ASSAY_MUST_USE assay_status assay__factory_make(const assay_model_factory *factory,
                                                const double *settings, assay_error *error,
                                                assay__factory_model **instance);
void assay__factory_unmake(assay__factory_model *instance);

ASSAY_MUST_USE assay_status assay__factory_forward(assay__factory_model *instance,
                                                   assay_error *error);

#endif
