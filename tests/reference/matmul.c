/* A matrix product by three loops. */
#include "tests/reference/reference.h"

static float element(assay__matrix matrix, int64_t i, int64_t j)
{
    return matrix.transposed ? matrix.data[j * matrix.stride + i]
                             : matrix.data[i * matrix.stride + j];
}

void reference_matmul(int64_t m, int64_t n, int64_t k, float alpha, assay__matrix a,
                      assay__matrix b, float beta, float *c, int64_t c_stride)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t l = 0; l < k; l++)
                sum += (double)element(a, i, l) * (double)element(b, l, j);
            float *to = &c[i * c_stride + j];
            *to = (float)((double)alpha * sum + (beta == 0 ? 0 : (double)beta * (double)*to));
        }
    }
}
