/* Sums over the neighbours of each node, where every node has a row of values. The compiler
 * vectorises over the row. */
#include <string.h>

#include "models/kernel/elementary.h"
#include "models/kernel/level/level.h"

static const float EPSILON = 1e-6F; /* added when gates are normalised, as in the authors' code */

void ASSAY__AT(neighbours_sum_add)(const int64_t *offsets, const int32_t *neighbours, int64_t first,
                                   int64_t end, int64_t width, const float *x, float *y)
{
    for (int64_t i = first; i < end; i++) {
        float *restrict sum = y + i * width;
        const float *restrict own = x + i * width;
        for (int64_t j = 0; j < width; j++)
            sum[j] += own[j];
        for (int64_t e = offsets[i]; e < offsets[i + 1]; e++) {
            const float *restrict row = x + neighbours[e] * width;
            for (int64_t j = 0; j < width; j++)
                sum[j] += row[j];
        }
    }
}

void ASSAY__AT(neighbours_propagate)(const int64_t *offsets, const int32_t *neighbours,
                                     int64_t first, int64_t end, int64_t width, const float *c,
                                     const float *x, float *y)
{
    for (int64_t i = first; i < end; i++) {
        float *restrict sum = y + i * width;
        const float *restrict own = x + i * width;
        for (int64_t j = 0; j < width; j++)
            sum[j] += c[i] * c[i] * own[j];
        for (int64_t e = offsets[i]; e < offsets[i + 1]; e++) {
            int32_t other = neighbours[e];
            if (other == i)
                continue;
            const float *restrict row = x + other * width;
            const float factor = c[i] * c[other];
            for (int64_t j = 0; j < width; j++)
                sum[j] += factor * row[j];
        }
    }
}

void ASSAY__AT(neighbours_gated)(const int64_t *offsets, const int32_t *neighbours, int64_t nodes,
                                 int64_t width, const float *b, const float *d, const float *e,
                                 float *restrict weights, float *y)
{
    for (int64_t i = 0; i < nodes; i++) {
        int64_t start = offsets[i], end = offsets[i + 1];
        float *restrict sum = weights + width;
        memset(weights, 0, 2 * (size_t)width * sizeof *weights);
        for (int64_t edge = start; edge < end; edge++) {
            const float *restrict own = d + i * width;
            const float *restrict theirs = e + neighbours[edge] * width;
            const float *restrict value = b + neighbours[edge] * width;
            ASSAY__LANES
            for (int64_t j = 0; j < width; j++) {
                float gate = assay__sigmoid1(own[j] + theirs[j]);
                weights[j] += gate;
                sum[j] += gate * value[j];
            }
        }
        for (int64_t j = 0; j < width; j++)
            y[i * width + j] += sum[j] / (weights[j] + EPSILON);
    }
}

/* With s = sum of gates, m = sum of gate x value, y = m / (s + eps) per element:
 *     dvalue = dy gate / (s + eps),  dgate = dy (value - y) / (s + eps),
 * and a gate's slope is gate (1 - gate). */
void ASSAY__AT(neighbours_gated_backward)(const int64_t *offsets, const int32_t *neighbours,
                                          int64_t nodes, int64_t width, const float *b,
                                          const float *d, const float *e, const float *dy,
                                          float *restrict row, float *db, float *dd, float *de)
{
    for (int64_t i = 0; i < nodes; i++) {
        int64_t start = offsets[i], end = offsets[i + 1];
        const float *restrict own = d + i * width;
        float *restrict weights = row, *restrict mean = row + width;
        float *restrict down = dd + i * width;
        memset(row, 0, 2 * (size_t)width * sizeof *row);
        memset(down, 0, (size_t)width * sizeof *down);
        for (int64_t edge = start; edge < end; edge++) {
            const float *restrict theirs = e + neighbours[edge] * width;
            const float *restrict value = b + neighbours[edge] * width;
            ASSAY__LANES
            for (int64_t j = 0; j < width; j++) {
                float gate = assay__sigmoid1(own[j] + theirs[j]);
                weights[j] += gate;
                mean[j] += gate * value[j];
            }
        }
        for (int64_t j = 0; j < width; j++) {
            weights[j] = 1 / (weights[j] + EPSILON);
            mean[j] *= weights[j];
        }
        for (int64_t edge = start; edge < end; edge++) {
            int64_t other = neighbours[edge] * width;
            const float *restrict theirs = e + other, *restrict value = b + other;
            const float *restrict dout = dy + i * width;
            float *restrict dvalue = db + other, *restrict dtheirs = de + other;
            ASSAY__LANES
            for (int64_t j = 0; j < width; j++) {
                float gate = assay__sigmoid1(own[j] + theirs[j]);
                float share = dout[j] * weights[j];
                float slope = share * (value[j] - mean[j]) * gate * (1 - gate);
                dvalue[j] += share * gate;
                down[j] += slope;
                dtheirs[j] += slope;
            }
        }
    }
}
