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

void ASSAY__AT(spectrum_step)(const int64_t *offsets, const int32_t *neighbours, int64_t first,
                              int64_t nodes, int64_t width, double a, double b, double c,
                              const double *z, double *previous)
{
    for (int64_t i = 0; i < nodes; i++) {
        const int64_t start = offsets[first + i];
        const int64_t end = offsets[first + i + 1];
        const double share = start == end ? 0 : b / (double)(end - start);
        double *restrict out = previous + i * width;
        for (int64_t column = 0; column < width; column += 8) {
            double sum[8] = {0};
            for (int64_t e = start; e < end; e++) {
                const double *restrict row = z + (neighbours[e] - first) * width + column;
                for (int j = 0; j < 8; j++)
                    sum[j] += row[j];
            }
            const double *restrict own = z + i * width + column;
            for (int j = 0; j < 8; j++)
                out[column + j] = a * own[j] + share * sum[j] - c * out[column + j];
        }
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
