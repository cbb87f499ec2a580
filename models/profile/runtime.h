/* What the parts of a runtime profile share. */
#ifndef ASSAY_MODELS_PROFILE_RUNTIME_H
#define ASSAY_MODELS_PROFILE_RUNTIME_H

#include "assay/runtime.h"

/* The kind that the shape says or that its sizes and the model's name (or NULL) tell. */
assay_runtime_kind assay__runtime_kind(const char *name, const assay_complexity_shape *shape);

#endif
