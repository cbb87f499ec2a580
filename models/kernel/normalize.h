/* Softmax and layer normalisation over rows of float32, forward and backward, vectorised. */
#ifndef ASSAY_MODELS_KERNEL_NORMALIZE_H
#define ASSAY_MODELS_KERNEL_NORMALIZE_H

#include <stdint.h>

/* Rows of y = softmax of rows of x, (rows, columns) with that row stride; y may be x. */
void assay__softmax_forward(int64_t rows, int64_t columns, int64_t stride, const float *x,
                            float *y);
/* dx = y (dy - sum(dy y)); dx may be dy. */
void assay__softmax_backward(int64_t rows, int64_t columns, int64_t stride, const float *dy,
                             const float *y, float *dx);

/* y = (x - mean) / sqrt(variance + epsilon) scale + shift over each row of (rows, columns);
 * variance divides by columns, as PyTorch. mean and rstd (rows) are kept for backward. */
void assay__layer_norm_forward(int64_t rows, int64_t columns, float epsilon, const float *x,
                               const float *scale, const float *shift, float *y, float *mean,
                               float *rstd);
/* The same of x + r (residual): the sum is written to `sum` (rows, columns), which may be x or r.
 */
void assay__layer_norm_residual(int64_t rows, int64_t columns, float epsilon, const float *x,
                                const float *r, const float *scale, const float *shift, float *sum,
                                float *y, float *mean, float *rstd);
/* dx overwritten (may be dy); dscale and dshift (columns) added to. */
void assay__layer_norm_backward(int64_t rows, int64_t columns, const float *dy, const float *x,
                                const float *scale, const float *mean, const float *rstd, float *dx,
                                float *dscale, float *dshift);

#endif
