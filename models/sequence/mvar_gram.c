/* A product of two matrices whose second one overlaps itself: row t + 1 begins `dim` values after
 * row t. BLAS refuses such a matrix (its rows must not overlap), and a copy without overlaps would
 * be p + 1 times the series. So: tiles of 4 x 16 products in registers, over some hundred steps
 * that stay in the first-level cache while every tile passes over them. Vectors of 8 doubles are
 * written out (a GNU extension gcc and clang share), since compilers do not keep an array of
 * accumulators in registers by themselves. */
#include "models/sequence/mvar_gram.h"

#include <string.h>

#include "models/kernel/simd.h"

enum { LANES = 8, VECTORS = ASSAY__GRAM_COLUMNS / LANES, STEPS_PER_BLOCK = 128 };

typedef double vector __attribute__((vector_size(LANES * sizeof(double))));
typedef double unaligned_vector
    __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));

_Static_assert(VECTORS == 2 && ASSAY__GRAM_ROWS == 4, "tile() is written for 4 x 2 vectors");

int64_t assay__gram_rows(int64_t dim)
{
    return (dim + ASSAY__GRAM_ROWS - 1) / ASSAY__GRAM_ROWS * ASSAY__GRAM_ROWS;
}

int64_t assay__gram_columns(int64_t width)
{
    return (width + ASSAY__GRAM_COLUMNS - 1) / ASSAY__GRAM_COLUMNS * ASSAY__GRAM_COLUMNS;
}

static inline __attribute__((always_inline)) void add_to(double *products, const vector *sum)
{
    *(unaligned_vector *)products += *sum;
}

/* products (4, 16; row stride) += sum over steps of the outer product of x (4) and w (16). */
static inline __attribute__((always_inline)) void
tile(int64_t steps, int64_t dim, const double *x, const double *w, double *products, int64_t stride)
{
    vector sum[ASSAY__GRAM_ROWS][VECTORS] = {0};
    for (int64_t t = 0; t < steps; t++, x += dim, w += dim) {
        vector w0 = *(const unaligned_vector *)w, w1 = *(const unaligned_vector *)(w + LANES);
        for (int row = 0; row < ASSAY__GRAM_ROWS; row++) {
            sum[row][0] += x[row] * w0;
            sum[row][1] += x[row] * w1;
        }
    }
    for (int row = 0; row < ASSAY__GRAM_ROWS; row++) {
        add_to(products + row * stride, &sum[row][0]);
        add_to(products + row * stride + LANES, &sum[row][1]);
    }
}

ASSAY__SIMD static void block(int64_t steps, int64_t dim, int64_t width, const double *series,
                              double *products)
{
    int64_t rows = assay__gram_rows(dim), columns = assay__gram_columns(width);
    const double *last = series + width - dim;
    for (int64_t row = 0; row < rows; row += ASSAY__GRAM_ROWS) {
        for (int64_t column = 0; column < columns; column += ASSAY__GRAM_COLUMNS) {
            tile(steps, dim, last + row, series + column, products + row * columns + column,
                 columns);
        }
    }
}

void assay__gram_accumulate(int64_t count, int64_t dim, int64_t width, const double *series,
                            double *products)
{
    for (int64_t start = 0; start < count; start += STEPS_PER_BLOCK) {
        int64_t steps = count - start < STEPS_PER_BLOCK ? count - start : STEPS_PER_BLOCK;
        block(steps, dim, width, series + start * dim, products);
    }
}
