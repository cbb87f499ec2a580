/* The inner loops of the graph encodings: products of a sparse matrix by a block of columns. */
#include <string.h>

#include "models/kernel/level/level.h"

void ASSAY__AT(walk_step)(const int64_t *offsets, const int32_t *neighbours, int64_t first,
                          int64_t nodes, const float *before, const float *after, const float *x,
                          float *y)
{
    for (int64_t i = 0; i < nodes; i++) {
        float *restrict out = y + i * ASSAY__WALK_STARTS;
        float sum[ASSAY__WALK_STARTS] = {0};
        const int64_t end = offsets[first + i + 1];
        for (int64_t e = offsets[first + i]; e < end; e++) {
            int64_t j = neighbours[e] - first;
            const float *restrict row = x + j * ASSAY__WALK_STARTS;
            const float factor = before[j];
            for (int c = 0; c < ASSAY__WALK_STARTS; c++)
                sum[c] += factor * row[c];
        }
        const float factor = after[i];
        for (int c = 0; c < ASSAY__WALK_STARTS; c++)
            out[c] = factor * sum[c];
    }
}

void ASSAY__AT(walk_multiply)(int64_t nodes, const float *x, const float *y,
                              float *restrict products)
{
    memset(products, 0, ASSAY__WALK_STARTS * sizeof *products);
    for (int64_t i = 0; i < nodes; i++)
        for (int c = 0; c < ASSAY__WALK_STARTS; c++)
            products[c] += x[i * ASSAY__WALK_STARTS + c] * y[i * ASSAY__WALK_STARTS + c];
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
