/* Dropout with the host's masks: kernel/dropout.h. */
#ifndef ASSAY_MODELS_CUDA_DROPOUT_H
#define ASSAY_MODELS_CUDA_DROPOUT_H

#include "models/cuda/gpu.h"

/* y = x mask / (1 - rate); y may be x */
void assay__gpu_dropout(assay__gpu *gpu, int64_t count, float rate, uint64_t key, const float *x,
                        float *y);

#endif
