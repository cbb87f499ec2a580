/* Dropout on a device, with the same masks as on the host (kernel/dropout.h). */
#ifndef ASSAY_MODELS_CUDA_DROPOUT_H
#define ASSAY_MODELS_CUDA_DROPOUT_H

#include "models/cuda/gpu.h"

/* y (count) = x mask / (1 - rate); y may be x. Call it between assay__gpu_begin() and
 * assay__gpu_end(). */
void assay__gpu_dropout(assay__gpu *gpu, int64_t count, float rate, uint64_t key, const float *x,
                        float *y);

#endif
