/* The functions of instance.c that only classes.c uses. */
#ifndef ASSAY_MODELS_CUDA_PARTS_H
#define ASSAY_MODELS_CUDA_PARTS_H

#include "models/cuda/instance.h"

/* Fills the table of a class on a device: the table of the host's class, with the functions of
 * models on a device. */
void assay__gpu_class_fill(const assay_model_class *host, assay_model_class *class_);

/* Makes a model: the host's instance, and its parameters on the device. */
ASSAY_MUST_USE assay_status assay__gpu_model_make(const assay__gpu_kind *kind, assay__gpu *gpu,
                                                  const double *settings, uint64_t seed,
                                                  assay_error *error, void **state);
void assay__gpu_model_free(void *state); /* the destroy() of every such class */

#endif
