/* Layer normalisation. A row is read from memory once: it fits into the first-level cache, where
 * the later passes over it find it. */
#include <math.h>

#include "models/kernel/level/level.h"

/* Computes the mean first, and then the squares of the differences from it. The one-pass formula
 * would cancel where the mean is large. */
static void normalize_row(int64_t columns, float epsilon, const float *x, const float *scale,
                          const float *shift, float *y, float *mean, float *rstd)
{
    float sum = 0;
    ASSAY__SUM(sum)
    for (int64_t j = 0; j < columns; j++)
        sum += x[j];
    float middle = sum / (float)columns;
    float squares = 0;
    ASSAY__SUM(squares)
    for (int64_t j = 0; j < columns; j++)
        squares += (x[j] - middle) * (x[j] - middle);
    float inverse = 1 / sqrtf(squares / (float)columns + epsilon);
    ASSAY__LANES
    for (int64_t j = 0; j < columns; j++)
        y[j] = (x[j] - middle) * inverse * scale[j] + shift[j];
    *mean = middle;
    *rstd = inverse;
}

void ASSAY__AT(layer_norm_forward)(int64_t rows, int64_t columns, float epsilon, const float *x,
                                   const float *scale, const float *shift, float *y, float *mean,
                                   float *rstd)
{
    for (int64_t i = 0; i < rows; i++) {
        normalize_row(columns, epsilon, x + i * columns, scale, shift, y + i * columns, mean + i,
                      rstd + i);
    }
}

static void add(int64_t count, const float *x, const float *r, float *sum)
{
    ASSAY__LANES
    for (int64_t j = 0; j < count; j++)
        sum[j] = x[j] + r[j];
}

void ASSAY__AT(layer_norm_residual)(int64_t rows, int64_t columns, float epsilon, const float *x,
                                    const float *r, const float *scale, const float *shift,
                                    float *sum, float *y, float *mean, float *rstd)
{
    for (int64_t i = 0; i < rows; i++) {
        int64_t row = i * columns;
        add(columns, x + row, r + row, sum + row);
        normalize_row(columns, epsilon, sum + row, scale, shift, y + row, mean + i, rstd + i);
    }
}

/* With n = (x - mean) rstd and g = dy scale: dx = rstd (g - mean(g) - n mean(g n)). */
void ASSAY__AT(layer_norm_backward)(int64_t rows, int64_t columns, const float *dy, const float *x,
                                    const float *scale, const float *mean, const float *rstd,
                                    float *dx, float *dscale, float *dshift)
{
    for (int64_t i = 0; i < rows; i++) {
        const float *dy_row = dy + i * columns, *x_row = x + i * columns;
        float *dx_row = dx + i * columns;
        float middle = mean[i], inverse = rstd[i];
        float sum = 0, product = 0;
        ASSAY__SUM(sum, product)
        for (int64_t j = 0; j < columns; j++) {
            float normal = (x_row[j] - middle) * inverse;
            float g = dy_row[j] * scale[j];
            dscale[j] += dy_row[j] * normal;
            dshift[j] += dy_row[j];
            sum += g;
            product += g * normal;
        }
        sum /= (float)columns;
        product /= (float)columns;
        ASSAY__LANES
        for (int64_t j = 0; j < columns; j++) {
            float normal = (x_row[j] - middle) * inverse;
            dx_row[j] = inverse * (dy_row[j] * scale[j] - sum - normal * product);
        }
    }
}
