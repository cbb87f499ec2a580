/* A tile of rows by vectors is held in registers while the inner dimension runs through, as many
 * sums as the level has registers for: the arithmetic is the limit, not the loads, and b may come
 * from the second cache level. */
#include "models/kernel/level/level.h"

#if defined(__AVX512F__)
enum { ROWS = 8, VECTORS = 3 };
#elif defined(__AVX__)
enum { ROWS = 6, VECTORS = 2 };
#elif ASSAY__MANY_REGISTERS
enum { ROWS = 6, VECTORS = 4 };
#else
enum { ROWS = 3, VECTORS = 4 };
#endif

typedef struct product {
    int64_t k;
    const float *a;
    int64_t a_row, a_column;
    const float *b;
    int64_t b_stride;
    bool add;
    float *c;
    int64_t c_stride;
} product;

/* c (rows, vectors x FLOATS) from the first row of a and column `at` of b; inlined for constants.
 */
ASSAY__ELEMENT void tile(const int rows, const int vectors, const product *p, int64_t at)
{
    assay__floats sums[ROWS][VECTORS];
    const float *a = p->a, *b = p->b + at;
    ASSAY__UNROLL
    for (int i = 0; i < rows; i++) {
        ASSAY__UNROLL
        for (int v = 0; v < vectors; v++) {
            sums[i][v] = (assay__floats){0};
            if (p->add)
                sums[i][v] = *(assay__floats_at *)(p->c + i * p->c_stride + at + v * ASSAY__FLOATS);
        }
    }
    for (int64_t j = 0; j < p->k; j++, a += p->a_column, b += p->b_stride) {
        assay__floats row[VECTORS];
        ASSAY__UNROLL
        for (int v = 0; v < vectors; v++)
            row[v] = *(const assay__floats_at *)(b + v * ASSAY__FLOATS);
        ASSAY__UNROLL
        for (int i = 0; i < rows; i++) {
            const assay__floats factor = a[i * p->a_row] - (assay__floats){0};
            ASSAY__UNROLL
            for (int v = 0; v < vectors; v++)
                sums[i][v] += factor * row[v];
        }
    }
    ASSAY__UNROLL
    for (int i = 0; i < rows; i++) {
        ASSAY__UNROLL
        for (int v = 0; v < vectors; v++)
            *(assay__floats_at *)(p->c + i * p->c_stride + at + v * ASSAY__FLOATS) = sums[i][v];
    }
}

/* The columns past the last whole vector. */
static void remainder_of(int rows, const product *p, int64_t at, int64_t n)
{
    for (int i = 0; i < rows; i++) {
        for (int64_t j = at; j < n; j++) {
            float sum = p->add ? p->c[i * p->c_stride + j] : 0;
            for (int64_t l = 0; l < p->k; l++)
                sum += p->a[i * p->a_row + l * p->a_column] * p->b[l * p->b_stride + j];
            p->c[i * p->c_stride + j] = sum;
        }
    }
}

/* All n columns of some rows, a constant number where this is inlined. */
ASSAY__ELEMENT void strip(const int rows, const product *p, int64_t n)
{
    int64_t at = 0;
    for (; at + VECTORS * ASSAY__FLOATS <= n; at += VECTORS * ASSAY__FLOATS)
        tile(rows, VECTORS, p, at);
    if (VECTORS > 2 && n - at >= 2 * ASSAY__FLOATS) {
        tile(rows, 2, p, at);
        at += 2 * ASSAY__FLOATS;
    }
    for (; n - at >= ASSAY__FLOATS; at += ASSAY__FLOATS)
        tile(rows, 1, p, at);
    if (at < n)
        remainder_of(rows, p, at, n);
}

void ASSAY__AT(narrow_product)(int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row,
                               int64_t a_column, const float *b, int64_t b_stride, bool add,
                               float *c, int64_t c_stride)
{
    product p = {k, a, a_row, a_column, b, b_stride, add, c, c_stride};
    while (m > 0) {
        int rows = m >= ROWS ? ROWS : m >= 4 && ROWS > 4 ? 4 : m >= 2 && ROWS > 2 ? 2 : 1;
        if (rows == ROWS)
            strip(ROWS, &p, n);
        else if (rows == 4)
            strip(4, &p, n);
        else if (rows == 2)
            strip(2, &p, n);
        else
            strip(1, &p, n);
        p.a += rows * a_row;
        p.c += rows * c_stride;
        m -= rows;
    }
}
