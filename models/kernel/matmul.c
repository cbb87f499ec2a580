/* Our own product (level/product.c) computes the sizes for which it is faster, and these are the
 * sizes of our models. OpenBLAS, which picks its kernels for the processor at run time, computes
 * the others. A large product is split into columns or rows of the result, one part for each
 * thread. */
#include "models/kernel/matmul.h"

#include <cblas.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/level.h"
#include "models/kernel/kernels.h"
#include "models/kernel/threads.h"

static CBLAS_TRANSPOSE transpose_of(assay__matrix matrix)
{
    return matrix.transposed ? CblasTrans : CblasNoTrans;
}

/* c = beta c, the whole result where a dimension is 0. A beta of 0 overwrites c, so that a NaN in c
 * does not stay, as in BLAS. */
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

/* Returns whether OpenBLAS does not know this processor and has fallen back on its kernels for a
 * processor of 2004. Debian's 0.3.21 does so on an Intel Xeon of 2023 (family 6 model 207): it
 * takes "Prescott", at a fifth of the speed of our product. With OPENBLAS_CORETYPE=SkylakeX it is
 * as fast as elsewhere, but that variable must be set before the program starts. */
static bool blas_is_lost(void)
{
    enum { UNKNOWN, KNOWS, LOST };
    static atomic_int found = UNKNOWN; /* every thread finds the same */
    int known = atomic_load_explicit(&found, memory_order_relaxed);
    if (known == UNKNOWN) {
        bool old = strcmp(openblas_get_corename(), "Prescott") == 0;
        known = old && assay__level_now(NULL) >= 1 ? LOST : KNOWS;
        atomic_store_explicit(&found, known, memory_order_relaxed);
    }
    return known == LOST;
}

/* OpenBLAS 0.3.21 multiplies small matrices on AVX-512 by a kernel that takes a buffer from malloc
 * for the last one to eight columns past a multiple of 16, if k is 32 or more
 * (sgemm_small_kernel_nn_skylakex.c). A step of ours must not allocate. columns_apart() returns the
 * number of these columns, and 0 if there are none; product() then multiplies them apart, SAFE_K
 * values of k at a time. */
enum { SMALL = 1000000, BLOCK = 16, MAX_REST = 8, SAFE_K = 31 };

static int64_t columns_apart(int64_t m, int64_t n, int64_t k, assay__matrix a, assay__matrix b)
{
    int64_t rest = n % BLOCK;
    bool small = (double)m * (double)n * (double)k <= SMALL;
    return small && !a.transposed && !b.transposed && k > SAFE_K && rest <= MAX_REST ? rest : 0;
}

/* Computes a product on one thread; the sizes are at least 1. Unless it is NULL, `bias` (n) takes
 * the place of the old rows of c, and beta must be 1. */
static void product(int64_t m, int64_t n, int64_t k, float alpha, assay__matrix a, assay__matrix b,
                    const float *bias, float beta, float *c, int64_t c_stride)
{
    if (alpha == 1 && (beta == 0 || beta == 1) &&
        (assay__product_pays(m, n, a.transposed, a.stride, b.transposed) || blas_is_lost())) {
        assay__product(m, n, k, a.data, a.transposed ? 1 : a.stride, a.transposed ? a.stride : 1,
                       b.data, b.transposed ? 1 : b.stride, b.transposed ? b.stride : 1, bias,
                       bias == NULL && beta == 1, c, c_stride);
        return;
    }
    for (int64_t i = 0; bias != NULL && i < m; i++)
        memcpy(c + i * c_stride, bias, (size_t)n * sizeof *c);
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

/* ---- On several threads ---- */

typedef struct shared_product {
    int64_t m, n, k;
    float alpha, beta;
    assay__matrix a, b;
    const float *bias;
    float *c;
    int64_t c_stride;
    int parts;
    int64_t grain; /* a part of the columns begins at a multiple of this */
} shared_product;

/* Computes some columns of the result. The split is by columns so that no two parts copy the same
 * columns of `b`. */
static void columns_part(void *context, int part)
{
    const shared_product *p = context;
    const int64_t first = assay__part_start(p->n, p->grain, p->parts, part);
    const int64_t end = assay__part_start(p->n, p->grain, p->parts, part + 1);
    assay__matrix b = p->b;
    b.data += first * (b.transposed ? b.stride : 1);
    if (end > first) {
        product(p->m, end - first, p->k, p->alpha, p->a, b,
                p->bias == NULL ? NULL : p->bias + first, p->beta, p->c + first, p->c_stride);
    }
}

/* Computes some rows of the result. */
static void rows_part(void *context, int part)
{
    enum { GRAIN = 24 }; /* a multiple of the tile's rows at every level */
    const shared_product *p = context;
    const int64_t first = assay__part_start(p->m, GRAIN, p->parts, part);
    const int64_t end = assay__part_start(p->m, GRAIN, p->parts, part + 1);
    assay__matrix a = p->a;
    a.data += first * (a.transposed ? 1 : a.stride);
    if (end > first) {
        product(end - first, p->n, p->k, p->alpha, a, p->b, p->bias, p->beta,
                p->c + first * p->c_stride, p->c_stride);
    }
}

static void shared(shared_product p)
{
    enum { LEAST = 200000 };         /* multiply-adds of a part, which take some microseconds */
    enum { NARROW = 16, WIDE = 32 }; /* columns: one vector of AVX-512, and two */
    const int64_t steps = p.m * p.n * p.k;
    const bool by_columns = 4 * p.n >= p.m;
    p.parts = assay__parts(steps, LEAST);
    p.grain = NARROW;
    if (by_columns && p.n >= 2 * WIDE * p.parts) {
        p.grain = WIDE;
        p.parts = assay__fine_parts(steps, LEAST);
    }
    if (p.parts == 1)
        product(p.m, p.n, p.k, p.alpha, p.a, p.b, p.bias, p.beta, p.c, p.c_stride);
    else
        assay__parallel(p.parts, by_columns ? columns_part : rows_part, &p);
}

void assay__matmul(int64_t m, int64_t n, int64_t k, float alpha, assay__matrix a, assay__matrix b,
                   float beta, float *c, int64_t c_stride)
{
    if (m == 0 || n == 0 || k == 0)
        scale(m, n, beta, c, c_stride);
    else
        shared((shared_product){m, n, k, alpha, beta, a, b, NULL, c, c_stride, 1, 1});
}

void assay__matmul_bias(int64_t m, int64_t n, int64_t k, assay__matrix a, assay__matrix b,
                        const float *bias, float *c, int64_t c_stride)
{
    if (m > 0 && n > 0 && k > 0)
        shared((shared_product){m, n, k, 1, 1, a, b, bias, c, c_stride, 1, 1});
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
