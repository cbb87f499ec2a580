/* The inner loops of the graph encodings: products of a sparse matrix by a block of columns. */
#include <string.h>

#include "models/kernel/level/level.h"

/* Walks are computed some columns at a time, whose sums stay in registers. gcc would interleave two
 * neighbours of a plain loop over the columns, and then not vectorise it. */
enum {
    WALK_VECTORS = ASSAY__WALK_STARTS / ASSAY__FLOATS,
    AT_ONCE = WALK_VECTORS < 8 ? WALK_VECTORS : 8,
    WALK_COLUMNS = AT_ONCE * ASSAY__FLOATS
};
_Static_assert(ASSAY__WALK_STARTS % WALK_COLUMNS == 0, "no columns are left");

typedef struct walk_sums {
    assay__floats of[AT_ONCE];
} walk_sums;

/* sums += factor x[columns] */
ASSAY__ELEMENT void add_columns(walk_sums *sums, assay__floats factor, const float *x)
{
    ASSAY__UNROLL
    for (int v = 0; v < AT_ONCE; v++)
        sums->of[v] += factor * *(const assay__floats_at *)(x + v * ASSAY__FLOATS);
}

void ASSAY__AT(walk_step)(const int64_t *offsets, const int32_t *neighbours, int64_t first,
                          int64_t nodes, const float *before, const float *after, const float *x,
                          float *y)
{
    for (int64_t at = 0; at < nodes * ASSAY__WALK_STARTS; at += WALK_COLUMNS) {
        const int64_t i = at / ASSAY__WALK_STARTS, column = at % ASSAY__WALK_STARTS;
        const int64_t end = offsets[first + i + 1];
        walk_sums sums = {{{0}}};
        for (int64_t e = offsets[first + i]; e < end; e++) {
            const int64_t j = neighbours[e] - first;
            add_columns(&sums, before[j] - (assay__floats){0}, x + j * ASSAY__WALK_STARTS + column);
        }
        ASSAY__UNROLL
        for (int v = 0; v < AT_ONCE; v++)
            *(assay__floats_at *)(y + at + v * ASSAY__FLOATS) = after[i] * sums.of[v];
    }
}

void ASSAY__AT(walk_multiply)(int64_t nodes, const float *x, const float *y, float *products)
{
    for (int64_t column = 0; column < ASSAY__WALK_STARTS; column += WALK_COLUMNS) {
        walk_sums sums = {{{0}}};
        for (int64_t i = 0; i < nodes; i++) {
            const float *left = x + i * ASSAY__WALK_STARTS + column;
            const float *right = y + i * ASSAY__WALK_STARTS + column;
            ASSAY__UNROLL
            for (int v = 0; v < AT_ONCE; v++) {
                sums.of[v] += *(const assay__floats_at *)(left + v * ASSAY__FLOATS) *
                              *(const assay__floats_at *)(right + v * ASSAY__FLOATS);
            }
        }
        memcpy(products + column, sums.of, sizeof sums.of);
    }
}

/* The neighbours of a node: the rows `list` of z, counted from `first`. */
typedef struct neighbourhood {
    const int32_t *list;
    int64_t count, first;
} neighbourhood;

/* `vectors` vectors of columns of one row. Their sums are independent of each other, so an addition
 * need not wait for the one before it, and each neighbour is looked up once for all of them. */
static inline __attribute__((always_inline)) void
step_columns(int vectors, const neighbourhood *around, int64_t width, double a, double share,
             double c, const double *z, const double *own, double *out)
{
    assay__doubles sum[24 / ASSAY__DOUBLES];
    ASSAY__UNROLL
    for (int j = 0; j < vectors; j++)
        sum[j] = (assay__doubles){0};
    for (int64_t e = 0; e < around->count; e++) {
        const double *row = z + (around->list[e] - around->first) * width;
        ASSAY__UNROLL
        for (int j = 0; j < vectors; j++)
            sum[j] += *(const assay__doubles_at *)(row + j * ASSAY__DOUBLES);
    }
    ASSAY__UNROLL
    for (int j = 0; j < vectors; j++) {
        assay__doubles_at *to = (assay__doubles_at *)(out + j * ASSAY__DOUBLES);
        *to = a * *(const assay__doubles_at *)(own + j * ASSAY__DOUBLES) + share * sum[j] - c * *to;
    }
}

void ASSAY__AT(spectrum_step)(const int64_t *offsets, const int32_t *neighbours, int64_t first,
                              int64_t nodes, int64_t width, double a, double b, double c,
                              const double *z, double *previous)
{
    for (int64_t i = 0; i < nodes; i++) {
        const int64_t start = offsets[first + i], end = offsets[first + i + 1];
        const neighbourhood around = {neighbours + start, end - start, first};
        const double share = start == end ? 0 : b / (double)(end - start);
        const double *own = z + i * width;
        double *out = previous + i * width;
        int64_t at = 0;
        for (; at + 24 <= width; at += 24)
            step_columns(24 / ASSAY__DOUBLES, &around, width, a, share, c, z + at, own + at,
                         out + at);
        for (; at < width; at += 8)
            step_columns(8 / ASSAY__DOUBLES, &around, width, a, share, c, z + at, own + at,
                         out + at);
    }
}

void ASSAY__AT(spectrum_apply)(const int64_t *offsets, const int32_t *neighbours, int64_t first,
                               int64_t nodes, const double *root, int64_t width, const double *x,
                               double *y)
{
    for (int64_t i = 0; i < nodes; i++) {
        double *restrict out = y + i * width;
        for (int64_t j = 0; j < width; j++)
            out[j] = root[i] > 0 ? x[i * width + j] : 0;
        for (int64_t e = offsets[first + i]; e < offsets[first + i + 1]; e++) {
            int64_t other = neighbours[e] - first;
            const double *restrict row = x + other * width;
            const double factor = root[i] * root[other];
            for (int64_t j = 0; j < width; j++)
                out[j] -= factor * row[j];
        }
    }
}
