/* y = x W^T + b, as PyTorch's nn.Linear stores it. Rows are samples. */
#ifndef ASSAY_MODELS_KERNEL_LINEAR_H
#define ASSAY_MODELS_KERNEL_LINEAR_H

#include <stdint.h>

/* y (rows, out) = x (rows, in) weight (out, in)^T + bias (out; NULL: none) */
void assay__linear_forward(int64_t rows, int64_t in, int64_t out, const float *x,
                           const float *weight, const float *bias, float *y);

/* From dy (rows, out): dx (rows, in; NULL: not wanted; overwritten), and added to what stands
 * there: dweight (out, in), dbias (out; NULL: none). */
void assay__linear_backward(int64_t rows, int64_t in, int64_t out, const float *dy, const float *x,
                            const float *weight, float *dx, float *dweight, float *dbias);

#endif
