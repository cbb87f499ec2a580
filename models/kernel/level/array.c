/* Kernels that pass over arrays: sums, transposition, the squared error, dropout, the step of Adam,
 * and parts of backward. Their speed is limited by memory or by the vector units. */
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

/* Four rows at a time share one access to the sums. */
void ASSAY__AT(column_sum)(int64_t rows, int64_t columns, const float *x, int64_t stride,
                           float *sum)
{
    if (columns == 1 && stride == 1) {
        float only = 0;
        ASSAY__SUM(only)
        for (int64_t i = 0; i < rows; i++)
            only += x[i];
        *sum += only;
        return;
    }
    int64_t i = 0;
    for (; i + 4 <= rows; i += 4) {
        const float *a = x + i * stride, *b = a + stride, *c = b + stride, *d = c + stride;
        ASSAY__LANES
        for (int64_t j = 0; j < columns; j++)
            sum[j] += (a[j] + b[j]) + (c[j] + d[j]);
    }
    for (; i < rows; i++) {
        ASSAY__LANES
        for (int64_t j = 0; j < columns; j++)
            sum[j] += x[i * stride + j];
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

/* y (SQUARE, SQUARE) = x^T, with the given row strides, in registers: halves of pairs of rows are
 * exchanged, at distances 1, 2 and 4. */
enum { SQUARE = 8 };
typedef float eight __attribute__((vector_size(32)));
typedef float eight_at __attribute__((vector_size(32), aligned(4), may_alias));

ASSAY__ELEMENT void transpose_square(const float *x, int64_t x_stride, float *y, int64_t y_stride)
{
    eight r[SQUARE], s[SQUARE];
    ASSAY__UNROLL
    for (int i = 0; i < SQUARE; i++)
        r[i] = *(const eight_at *)(x + i * x_stride);
    ASSAY__UNROLL
    for (int i = 0; i < SQUARE; i += 2) {
        s[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        s[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    ASSAY__UNROLL
    for (int i = 0; i < SQUARE; i += 4) {
        ASSAY__UNROLL
        for (int j = i; j < i + 2; j++) {
            r[j] = __builtin_shufflevector(s[j], s[j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            r[j + 2] = __builtin_shufflevector(s[j], s[j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    }
    ASSAY__UNROLL
    for (int j = 0; j < SQUARE / 2; j++) {
        *(eight_at *)(y + j * y_stride) =
            __builtin_shufflevector(r[j], r[j + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        *(eight_at *)(y + (j + 4) * y_stride) =
            __builtin_shufflevector(r[j], r[j + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

/* Transposes two squares beside each other, which make up whole cache lines of x. Where the rows
 * lie 1 KiB or more apart, the first-level cache has room for fewer lines than there are rows. The
 * lines two steps ahead are prefetched, because no prefetcher of the processor follows so many
 * rows. */
ASSAY__ELEMENT void transpose_lines(const float *x, int64_t x_stride, float *y, int64_t y_stride)
{
    enum { AHEAD = 4 * SQUARE };
    ASSAY__UNROLL
    for (int i = 0; i < SQUARE; i++)
        __builtin_prefetch(x + i * x_stride + AHEAD, 0, 2);
    transpose_square(x, x_stride, y, y_stride);
    transpose_square(x + SQUARE, x_stride, y + SQUARE * y_stride, y_stride);
}

/* The inner loop goes down the squares of one column, so that the lines of y are written one after
 * the other. */
void ASSAY__AT(transpose)(int64_t rows, int64_t columns, const float *restrict x, int64_t x_stride,
                          float *restrict y, int64_t y_stride)
{
    const int64_t tall = rows / SQUARE * SQUARE, wide = columns / SQUARE * SQUARE;
    int64_t j = 0;
    for (; j + 2 * SQUARE <= wide; j += 2 * SQUARE)
        for (int64_t i = 0; i < tall; i += SQUARE)
            transpose_lines(x + i * x_stride + j, x_stride, y + j * y_stride + i, y_stride);
    for (; j < wide; j += SQUARE)
        for (int64_t i = 0; i < tall; i += SQUARE)
            transpose_square(x + i * x_stride + j, x_stride, y + j * y_stride + i, y_stride);
    for (int64_t i = 0; i < rows; i++)
        for (j = i < tall ? wide : 0; j < columns; j++)
            y[j * y_stride + i] = x[i * x_stride + j];
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
