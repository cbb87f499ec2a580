/* A product of two matrices of which the second overlaps itself: its row t + 1 begins `dim` values
 * after row t. BLAS refuses such a matrix, because its rows must not overlap, and a copy without
 * overlaps would be p + 1 times as large as the series. So this file keeps tiles of products in
 * registers. It takes some hundred steps at a time; they stay in the first-level cache while every
 * tile passes over them. */
#include "models/kernel/level/level.h"

#if ASSAY__MANY_REGISTERS
enum { ROWS = 4, VECTORS = 16 / ASSAY__DOUBLES < 4 ? 16 / ASSAY__DOUBLES : 4 };
#else
enum { ROWS = 3, VECTORS = 4 };
#endif
enum { STEPS_PER_BLOCK = 128 };

typedef struct window {
    int64_t steps, dim, width;
    const double *series;
    double *products;
} window;

/* products (rows, vectors x DOUBLES at `row`, `column`) += sum over the steps of the outer product
 * of a window's last values and its first values. `rows` and `vectors` are constants where this is
 * inlined. */
ASSAY__ELEMENT void tile(const int rows, const int vectors, const window *w, int64_t row,
                         int64_t column)
{
    assay__doubles sums[ROWS][VECTORS];
    const double *x = w->series + w->width - w->dim + row, *y = w->series + column;
    double *to = w->products + row * w->width + column;
    ASSAY__UNROLL
    for (int i = 0; i < rows; i++) {
        ASSAY__UNROLL
        for (int v = 0; v < vectors; v++)
            sums[i][v] = *(assay__doubles_at *)(to + i * w->width + v * ASSAY__DOUBLES);
    }
    for (int64_t t = 0; t < w->steps; t++, x += w->dim, y += w->dim) {
        ASSAY__UNROLL
        for (int v = 0; v < vectors; v++) {
            const assay__doubles values = *(const assay__doubles_at *)(y + v * ASSAY__DOUBLES);
            ASSAY__UNROLL
            for (int i = 0; i < rows; i++)
                sums[i][v] += x[i] * values;
        }
    }
    ASSAY__UNROLL
    for (int i = 0; i < rows; i++) {
        ASSAY__UNROLL
        for (int v = 0; v < vectors; v++)
            *(assay__doubles_at *)(to + i * w->width + v * ASSAY__DOUBLES) = sums[i][v];
    }
}

/* The columns past the last whole vector. */
static void remainder_of(int rows, const window *w, int64_t row, int64_t column)
{
    const double *x = w->series + w->width - w->dim + row;
    for (int i = 0; i < rows; i++) {
        for (int64_t j = column; j < w->width; j++) {
            double sum = w->products[(row + i) * w->width + j];
            for (int64_t t = 0; t < w->steps; t++)
                sum += x[t * w->dim + i] * w->series[t * w->dim + j];
            w->products[(row + i) * w->width + j] = sum;
        }
    }
}

ASSAY__ELEMENT void strip(const int rows, const window *w, int64_t row)
{
    int64_t column = 0;
    for (; column + VECTORS * ASSAY__DOUBLES <= w->width; column += VECTORS * ASSAY__DOUBLES)
        tile(rows, VECTORS, w, row, column);
    for (; column + ASSAY__DOUBLES <= w->width; column += ASSAY__DOUBLES)
        tile(rows, 1, w, row, column);
    if (column < w->width)
        remainder_of(rows, w, row, column);
}

void ASSAY__AT(gram_accumulate)(int64_t count, int64_t dim, int64_t width, const double *series,
                                double *products)
{
    for (int64_t start = 0; start < count; start += STEPS_PER_BLOCK) {
        const window w = {count - start < STEPS_PER_BLOCK ? count - start : STEPS_PER_BLOCK, dim,
                          width, series + start * dim, products};
        int64_t row = 0;
        for (; row + ROWS <= dim; row += ROWS)
            strip(ROWS, &w, row);
        for (; row < dim; row++)
            strip(1, &w, row);
    }
}
