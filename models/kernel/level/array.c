/* Passes over arrays: as fast as memory, or the vectors, allow. */
#include <math.h>
#include <stddef.h>

#include "models/kernel/level/level.h"

void ASSAY__AT(add)(int64_t count, const float *restrict x, float *restrict y)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++)
        y[i] += x[i];
}

void ASSAY__AT(scale_by)(int64_t count, float factor, float *x)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++)
        x[i] *= factor;
}

void ASSAY__AT(column_sum)(int64_t rows, int64_t columns, const float *x, float *sum)
{
    for (int64_t i = 0; i < rows; i++) {
        ASSAY__LANES
        for (int64_t j = 0; j < columns; j++)
            sum[j] += x[i * columns + j];
    }
}

void ASSAY__AT(column_sum_double)(int64_t rows, int64_t columns, const double *restrict x,
                                  double *restrict sum)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            sum[j] += x[i * columns + j];
}

void ASSAY__AT(subtract_row)(int64_t rows, int64_t columns, const double *restrict x,
                             const double *restrict row, double *restrict y)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            y[i * columns + j] = x[i * columns + j] - row[j];
}

/* Whole lines of y are written, so that each is touched once. */
void ASSAY__AT(transpose)(int64_t rows, int64_t columns, const float *restrict x, int64_t x_stride,
                          float *restrict y, int64_t y_stride)
{
    enum { LINE = 16 };
    for (int64_t start = 0; start < rows; start += LINE) {
        int64_t length = rows - start < LINE ? rows - start : LINE;
        for (int64_t j = 0; j < columns; j++)
            for (int64_t i = 0; i < length; i++)
                y[j * y_stride + start + i] = x[(start + i) * x_stride + j];
    }
}

void ASSAY__AT(scatter_add)(int64_t count, int64_t width, const int32_t *index, const float *from,
                            float *dtable)
{
    for (int64_t i = 0; i < count; i++) {
        if (index[i] < 0)
            continue;
        float *to = dtable + index[i] * width;
        ASSAY__LANES
        for (int64_t j = 0; j < width; j++)
            to[j] += from[i * width + j];
    }
}

double ASSAY__AT(mse)(int64_t count, const float *y, const float *target, float *dy)
{
    double sum = 0;
    ASSAY__SUM(sum)
    for (int64_t i = 0; i < count; i++) {
        float difference = y[i] - target[i];
        sum += (double)difference * (double)difference;
    }
    if (dy != NULL) {
        float scale = (float)(2 / (double)count);
        ASSAY__LANES
        for (int64_t i = 0; i < count; i++)
            dy[i] = scale * (y[i] - target[i]);
    }
    return sum / (double)count;
}

ASSAY__ELEMENT uint32_t finalize(uint32_t h)
{
    h ^= h >> 16;
    h *= 0x85ebca6bU;
    h ^= h >> 13;
    h *= 0xc2b2ae35U;
    h ^= h >> 16;
    return h;
}

void ASSAY__AT(drop)(uint32_t count, float scale, uint32_t threshold, uint32_t low, uint32_t high,
                     const float *x, float *y)
{
    ASSAY__LANES
    for (uint32_t i = 0; i < count; i++) {
        uint32_t hash = finalize(finalize(i * 0x9e3779b9U + low) ^ high);
        y[i] = hash >= threshold ? x[i] * scale : 0;
    }
}

void ASSAY__AT(adam_update)(size_t count, float rate, float correction, const float *gradient,
                            float *restrict first, float *restrict second, float *restrict value)
{
    const float beta1 = 0.9F, beta2 = 0.999F, epsilon = 1e-8F;
    ASSAY__LANES
    for (size_t i = 0; i < count; i++) {
        float g = gradient[i];
        first[i] = beta1 * first[i] + (1 - beta1) * g;
        second[i] = beta2 * second[i] + (1 - beta2) * g * g;
        value[i] -= rate * first[i] / (sqrtf(second[i]) * correction + epsilon);
    }
}

void ASSAY__AT(linear_backward_of_one)(int64_t rows, int64_t in, const float *dy, const float *x,
                                       const float *weight, float *dx, float *dweight)
{
    for (int64_t i = 0; i < rows; i++) {
        float slope = dy[i];
        const float *x_row = x + i * in;
        ASSAY__LANES
        for (int64_t j = 0; j < in; j++)
            dweight[j] += slope * x_row[j];
        for (int64_t j = 0; dx != NULL && j < in; j++)
            dx[i * in + j] = slope * weight[j];
    }
}

void ASSAY__AT(slope_backward)(int64_t rows, int64_t width, float scale,
                               const float *restrict slope, float *restrict dy,
                               float *restrict dbias)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < width; j++) {
            float dz = scale * slope[i * width + j] * dy[i * width + j];
            dy[i * width + j] = dz;
            dbias[j] += dz;
        }
    }
}
