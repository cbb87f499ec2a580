/* Instances of models by name, with a few settings changed. */
#ifndef ASSAY_MODELS_INSTANCE_H
#define ASSAY_MODELS_INSTANCE_H

#include "assay/model.h"

typedef struct assay__setting {
    const char *name; /* "hidden-dim" */
    double value;
} assay__setting;

/* The others keep their defaults. `device`: as for assay_model_class_on(), NULL for the processor.
 * ASSAY_E_ARGUMENT for a setting the class does not have. */
ASSAY_MUST_USE assay_status assay__instance_new_on(const char *class_name, const char *device,
                                                   const assay__setting *settings, size_t count,
                                                   uint64_t seed, assay_error *error,
                                                   assay_model **model);

/* The same on the processor. */
ASSAY_MUST_USE assay_status assay__instance_new(const char *class_name,
                                                const assay__setting *settings, size_t count,
                                                uint64_t seed, assay_error *error,
                                                assay_model **model);

#endif
