/* The linear map y = x W^T + b, with weights stored as PyTorch's nn.Linear stores them. Rows of x
 * and y are samples. */
#ifndef ASSAY_MODELS_KERNEL_LINEAR_H
#define ASSAY_MODELS_KERNEL_LINEAR_H

#include <stdint.h>

/* y (rows, out) = x (rows, in) weight (out, in)^T + bias (out). Pass NULL for a map without
 * bias. */
void assay__linear_forward(int64_t rows, int64_t in, int64_t out, const float *x,
                           const float *weight, const float *bias, float *y);

/* Computes the gradients from dy (rows, out). dx (rows, in) is overwritten; pass NULL if you do not
 * need it. dweight (out, in) and dbias (out) are added to what stands there; pass NULL for dbias if
 * the map has no bias. */
void assay__linear_backward(int64_t rows, int64_t in, int64_t out, const float *dy, const float *x,
                            const float *weight, float *dx, float *dweight, float *dbias);

/* sum (columns) += the rows of x (rows, columns): the gradient of a bias, on several threads. */
void assay__column_sums(int64_t rows, int64_t columns, const float *x, float *sum);

#endif
