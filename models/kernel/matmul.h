/* Matrix products of row-major float32 matrices. They run on as many threads as
 * assay_models_set_threads() has set. */
#ifndef ASSAY_MODELS_KERNEL_MATMUL_H
#define ASSAY_MODELS_KERNEL_MATMUL_H

#include <stdbool.h>
#include <stdint.h>

/* A matrix in memory: element (i, j) stands at data[i * stride + j], or at data[j * stride + i] if
 * `transposed`. */
typedef struct assay__matrix {
    const float *data;
    int64_t stride;
    bool transposed;
} assay__matrix;

/* c (m, n; row stride c_stride) = alpha a (m, k) b (k, n) + beta c. With beta 0, c is not read. */
void assay__matmul(int64_t m, int64_t n, int64_t k, float alpha, assay__matrix a, assay__matrix b,
                   float beta, float *c, int64_t c_stride);

/* c (m, n; row stride c_stride) = a (m, k) b (k, n) + bias (n), which is added to each row; k must
 * be at least 1. */
void assay__matmul_bias(int64_t m, int64_t n, int64_t k, assay__matrix a, assay__matrix b,
                        const float *bias, float *c, int64_t c_stride);

/* y (m) = a (m, k) x (k) + beta y, where a is row-major with row stride `stride`. */
void assay__matvec(int64_t m, int64_t k, const float *a, int64_t stride, const float *x, float beta,
                   float *y);

#endif
