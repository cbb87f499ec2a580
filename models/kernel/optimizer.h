/* One step of an optimizer over all parameters of a model. */
#ifndef ASSAY_MODELS_KERNEL_OPTIMIZER_H
#define ASSAY_MODELS_KERNEL_OPTIMIZER_H

#include "assay/status.h"
#include "models/kernel/memory.h"
#include "models/kernel/parameters.h"

/* The state of an optimizer; a struct that is all zero is the start. Adam follows Kingma and Ba
 * 2015, algorithm 1, with PyTorch's defaults: beta 0.9 and 0.999, epsilon 1e-8 outside the root.
 * The moments are taken from the model's memory at the first step that needs them. */
typedef struct assay__adam {
    float *first, *second; /* (total) each */
    int64_t step;
} assay__adam;

/* One step of Adam. ASSAY_E_MEMORY if there is no memory for the moments. */
ASSAY_MUST_USE assay_status assay__adam_step(assay__adam *adam, assay__memory *memory,
                                             assay__parameters *parameters, double learning_rate,
                                             assay_error *error);

/* One step of the given optimizer. SGD needs no state; momentum keeps its velocity in `first`.
 * ASSAY_E_MEMORY if there is no memory for the moments. */
ASSAY_MUST_USE assay_status assay__optimizer_step(assay_optimizer optimizer, assay__adam *moments,
                                                  assay__memory *memory,
                                                  assay__parameters *parameters,
                                                  double learning_rate, assay_error *error);

#endif
