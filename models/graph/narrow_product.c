/* A tile of 8 rows by up to 3 vectors of 16 columns is held in registers while the inner dimension
 * runs through: 24 multiply-adds for 3 loads of b and 8 values of a, so the arithmetic is the limit
 * and b may come from the second cache level. */
#include "models/graph/narrow_product.h"

#include "models/kernel/matmul.h"

#if defined(__x86_64__) && defined(__GNUC__)

#define WIDE __attribute__((target("avx512f")))

typedef float lanes __attribute__((vector_size(64)));
typedef float lanes_in_memory __attribute__((vector_size(64), aligned(4), may_alias));

enum { ROWS = ASSAY__NARROW_ROWS, LANES = ASSAY__NARROW_COLUMNS };

_Static_assert(sizeof(lanes) == LANES * sizeof(float), "a vector is as wide as the padding");

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

/* c (ROWS, vectors x LANES) of the product; inlined for each number of vectors, which is a constant
 * so that the sums are registers. */
WIDE static inline __attribute__((always_inline)) void tile(const int vectors, int64_t k,
                                                            assay__narrow_operand a, const float *b,
                                                            int64_t b_stride, bool add, float *c,
                                                            int64_t c_stride)
{
    lanes sums[ROWS][3];
    UNROLL
    for (int i = 0; i < ROWS; i++) {
        UNROLL
        for (int v = 0; v < vectors; v++) {
            sums[i][v] = (lanes){0};
            if (add)
                sums[i][v] = *(lanes_in_memory *)(c + i * c_stride + v * LANES);
        }
    }
    for (int64_t j = 0; j < k; j++) {
        lanes row[3];
        UNROLL
        for (int v = 0; v < vectors; v++)
            row[v] = *(const lanes_in_memory *)(b + j * b_stride + v * LANES);
        UNROLL
        for (int i = 0; i < ROWS; i++) {
            const lanes factor = a.data[i * a.row + j * a.column] - (lanes){0};
            UNROLL
            for (int v = 0; v < vectors; v++)
                sums[i][v] += factor * row[v];
        }
    }
    UNROLL
    for (int i = 0; i < ROWS; i++) {
        UNROLL
        for (int v = 0; v < vectors; v++)
            *(lanes_in_memory *)(c + i * c_stride + v * LANES) = sums[i][v];
    }
}

WIDE static void product(int64_t m, int64_t n, int64_t k, assay__narrow_operand a, const float *b,
                         int64_t b_stride, bool add, float *c, int64_t c_stride)
{
    for (int64_t i = 0; i < m; i += ROWS) {
        const assay__narrow_operand strip = {a.data + i * a.row, a.row, a.column};
        float *out = c + i * c_stride;
        int64_t j = 0;
        for (; j + 3 * LANES <= n; j += 3 * LANES)
            tile(3, k, strip, b + j, b_stride, add, out + j, c_stride);
        if (n - j == 2 * LANES)
            tile(2, k, strip, b + j, b_stride, add, out + j, c_stride);
        else if (n - j == LANES)
            tile(1, k, strip, b + j, b_stride, add, out + j, c_stride);
    }
}

#endif

void assay__narrow_product(int64_t m, int64_t n, int64_t k, assay__narrow_operand a, const float *b,
                           int64_t b_stride, bool add, float *c, int64_t c_stride)
{
#ifdef WIDE
    if (__builtin_cpu_supports("avx512f")) {
        product(m, n, k, a, b, b_stride, add, c, c_stride);
        return;
    }
#endif
    bool transposed = a.column != 1;
    assay__matmul(m, n, k, 1,
                  (assay__matrix){.data = a.data,
                                  .stride = transposed ? a.column : a.row,
                                  .transposed = transposed},
                  (assay__matrix){.data = b, .stride = b_stride}, add ? 1 : 0, c, c_stride);
}
