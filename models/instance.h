/* Makes instances of models by the name of their class, with a few settings changed. */
#ifndef ASSAY_MODELS_INSTANCE_H
#define ASSAY_MODELS_INSTANCE_H

#include "assay/model.h"

typedef struct assay__setting {
    const char *name; /* "hidden-dim" */
    double value;
} assay__setting;

/* Makes a model whose other settings keep their defaults; free it with assay_model_free(). `device`
 * is as for assay_model_class_on(); pass NULL for the processor. ASSAY_E_ARGUMENT for a setting
 * that the class does not have, besides the failures of finding and making a model. */
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
