/* A declaration that the files of a runtime profile share. */
#ifndef ASSAY_MODELS_PROFILE_RUNTIME_H
#define ASSAY_MODELS_PROFILE_RUNTIME_H

#include "assay/runtime.h"

/* The kind of model that the shape names. If it names none, the kind follows from the shape's sizes
 * and from `name`, the model's name, which may be NULL. */
assay_runtime_kind assay__runtime_kind(const char *name, const assay_complexity_shape *shape);

#endif
