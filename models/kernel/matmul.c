/* Our own product (level/product.c) where it is faster, which is for the sizes of our models, and
 * OpenBLAS, whose kernels are picked for the processor at run time, for the others. */
#include "models/kernel/matmul.h"

#include <cblas.h>
#include <stdbool.h>

#include "models/kernel/kernels.h"

static CBLAS_TRANSPOSE transpose_of(assay__matrix matrix)
{
    return matrix.transposed ? CblasTrans : CblasNoTrans;
}

/* Of no element or no product: c = beta c, where 0 erases NaN as in BLAS. */
static void scale(int64_t m, int64_t n, float beta, float *c, int64_t c_stride)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            c[i * c_stride + j] = beta == 0 ? 0 : beta * c[i * c_stride + j];
}

static void multiply(int64_t m, int64_t n, int64_t k, float alpha, assay__matrix a, assay__matrix b,
                     float beta, float *c, int64_t c_stride)
{
    cblas_sgemm(CblasRowMajor, transpose_of(a), transpose_of(b), (blasint)m, (blasint)n, (blasint)k,
                alpha, a.data, (blasint)a.stride, b.data, (blasint)b.stride, beta, c,
                (blasint)c_stride);
}

/* OpenBLAS 0.3.21 multiplies small matrices on AVX-512 by a kernel that takes a buffer from malloc
 * for the last one to eight columns past a multiple of 16, if k is 32 or more
 * (sgemm_small_kernel_nn_skylakex.c). A step must not allocate. Returns the number of these columns
 * if there are any. */
enum { SMALL = 1000000, BLOCK = 16, MAX_REST = 8, SAFE_K = 31 };

static int64_t columns_apart(int64_t m, int64_t n, int64_t k, assay__matrix a, assay__matrix b)
{
    int64_t rest = n % BLOCK;
    bool small = (double)m * (double)n * (double)k <= SMALL;
    return small && !a.transposed && !b.transposed && k > SAFE_K && rest <= MAX_REST ? rest : 0;
}

void assay__matmul(int64_t m, int64_t n, int64_t k, float alpha, assay__matrix a, assay__matrix b,
                   float beta, float *c, int64_t c_stride)
{
    if (m == 0 || n == 0 || k == 0) {
        scale(m, n, beta, c, c_stride);
        return;
    }
    if (alpha == 1 && (beta == 0 || beta == 1) &&
        assay__product_pays(m, n, k, a.transposed, a.stride, b.transposed)) {
        assay__product(m, n, k, a.data, a.transposed ? 1 : a.stride, a.transposed ? a.stride : 1,
                       b.data, b.transposed ? 1 : b.stride, b.transposed ? b.stride : 1, beta == 1,
                       c, c_stride);
        return;
    }
    const int64_t rest = columns_apart(m, n, k, a, b), main = n - rest;
    if (main > 0)
        multiply(m, main, k, alpha, a, b, beta, c, c_stride);
    b.data += main;
    for (int64_t l = 0; l < k && rest > 0; l += SAFE_K) {
        int64_t length = k - l < SAFE_K ? k - l : SAFE_K;
        multiply(m, rest, length, alpha, a, b, l == 0 ? beta : 1, c + main, c_stride);
        a.data += length;
        b.data += length * b.stride;
    }
}

void assay__matvec(int64_t m, int64_t k, const float *a, int64_t stride, const float *x, float beta,
                   float *y)
{
    if (m == 0 || k == 0) {
        scale(m, 1, beta, y, 1);
        return;
    }
    cblas_sgemv(CblasRowMajor, CblasNoTrans, (blasint)m, (blasint)k, 1, a, (blasint)stride, x, 1,
                beta, y, 1);
}
