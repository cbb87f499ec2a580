/* One vectorised loop per function over the elements of elementary.h. Derivatives are computed from
 * x, not from the output: 1 - tanh(x)^2 loses all its digits where tanh(x) rounds to 1, exp(-2 |x|)
 * keeps them. */
#include "models/kernel/activation.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "models/kernel/elementary.h"

ASSAY__SIMD void assay__tanh(int64_t count, const float *x, float *y)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++)
        y[i] = assay__tanh1(x[i]);
}

ASSAY__SIMD void assay__sigmoid(int64_t count, const float *x, float *y)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++)
        y[i] = assay__sigmoid1(x[i]);
}

/* Sizes of floats compare as their bits do; NaN is larger than all. */
ASSAY__SIMD static bool sine_range(int64_t count, const float *x)
{
    int32_t most = 0;
    ASSAY__MAX(most)
    for (int64_t i = 0; i < count; i++) {
        int32_t size = assay__to_bits(x[i]) & INT32_MAX;
        most = size > most ? size : most;
    }
    return most <= assay__to_bits(ASSAY__SINE_RANGE);
}

ASSAY__SIMD static void sine(int64_t count, const float *x, float *y)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++) {
        float cosine;
        assay__sin_cos1(x[i], &y[i], &cosine);
    }
}

ASSAY__SIMD static void sine_backward(int64_t count, const float *dy, const float *x, float *dx)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++) {
        float sine_of, cosine;
        assay__sin_cos1(x[i], &sine_of, &cosine);
        dx[i] = dy[i] * cosine;
    }
}

ASSAY__SIMD static void sin_cos(int64_t count, const float *x, float *sine_of, float *cosine)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++) {
        float s, c;
        assay__sin_cos1(x[i], &s, &c);
        sine_of[i] = s;
        cosine[i] = c;
    }
}

/* Arguments beyond the range of the fast reduction are rare enough to leave an array that has one
 * to libm; a block at a time, so that one of them does not slow a whole layer. */
enum { BLOCK = 1024 };

#define FOR_BLOCKS(count, start, length)                                                           \
    for (int64_t start = 0, length;                                                                \
         length = (count) - (start) < BLOCK ? (count) - (start) : BLOCK, (start) < (count);        \
         start += BLOCK)

void assay__sin_cos(int64_t count, const float *x, float *sine_of, float *cosine)
{
    FOR_BLOCKS(count, start, length)
    {
        if (sine_range(length, x + start)) {
            sin_cos(length, x + start, sine_of + start, cosine + start);
            continue;
        }
        for (int64_t i = start; i < start + length; i++) {
            float argument = x[i];
            sine_of[i] = sinf(argument);
            cosine[i] = cosf(argument);
        }
    }
}

static void activate_sine(int64_t count, const float *x, float *y)
{
    FOR_BLOCKS(count, start, length)
    {
        if (sine_range(length, x + start)) {
            sine(length, x + start, y + start);
            continue;
        }
        for (int64_t i = start; i < start + length; i++)
            y[i] = sinf(x[i]);
    }
}

static void activate_sine_backward(int64_t count, const float *dy, const float *x, float *dx)
{
    FOR_BLOCKS(count, start, length)
    {
        if (sine_range(length, x + start)) {
            sine_backward(length, dy + start, x + start, dx + start);
            continue;
        }
        for (int64_t i = start; i < start + length; i++)
            dx[i] = dy[i] * cosf(x[i]);
    }
}

ASSAY__SIMD static void relu(int64_t count, const float *x, float *y)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++)
        y[i] = x[i] <= 0 ? 0 : x[i]; /* NaN stays */
}

ASSAY__SIMD static void relu_backward(int64_t count, const float *dy, const float *x, float *dx)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++)
        dx[i] = x[i] <= 0 ? 0 : dy[i];
}

ASSAY__SIMD static void gelu(int64_t count, const float *x, float *y)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++)
        y[i] = assay__gelu1(x[i]);
}

ASSAY__SIMD static void gelu_backward(int64_t count, const float *dy, const float *x, float *dx)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++) {
        float density;
        float below = assay__normal1(x[i], &density);
        dx[i] = dy[i] * (below + x[i] * density);
    }
}

ASSAY__SIMD static void tanh_backward(int64_t count, const float *dy, const float *x, float *dx)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++) {
        float z = assay__exp1(-2 * assay__abs1(x[i]));
        dx[i] = dy[i] * (4 * z / ((1 + z) * (1 + z)));
    }
}

ASSAY__SIMD static void sigmoid_backward(int64_t count, const float *dy, const float *x, float *dx)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++) {
        float z = assay__exp1(-assay__abs1(x[i]));
        dx[i] = dy[i] * (z / ((1 + z) * (1 + z)));
    }
}

ASSAY__SIMD static void silu(int64_t count, const float *x, float *y)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++)
        y[i] = x[i] * assay__sigmoid1(x[i]);
}

ASSAY__SIMD static void silu_backward(int64_t count, const float *dy, const float *x, float *dx)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++) {
        float z = assay__exp1(-assay__abs1(x[i]));
        float share = 1 / (1 + z);
        float sigmoid = (x[i] < 0 ? z : 1) * share;
        float slope = z * share * share;
        dx[i] = dy[i] * (sigmoid + x[i] * slope);
    }
}

void assay__activate(assay__activation kind, int64_t count, const float *x, float *y)
{
    switch (kind) {
    case ASSAY__RELU:
        relu(count, x, y);
        return;
    case ASSAY__GELU:
        gelu(count, x, y);
        return;
    case ASSAY__TANH:
        assay__tanh(count, x, y);
        return;
    case ASSAY__SIGMOID:
        assay__sigmoid(count, x, y);
        return;
    case ASSAY__SINE:
        activate_sine(count, x, y);
        return;
    case ASSAY__SILU:
        silu(count, x, y);
        return;
    case ASSAY__IDENTITY:
    case ASSAY__ACTIVATIONS_COUNT:
        break;
    }
    memmove(y, x, (size_t)count * sizeof *y);
}

void assay__activate_backward(assay__activation kind, int64_t count, const float *dy,
                              const float *x, float *dx)
{
    switch (kind) {
    case ASSAY__RELU:
        relu_backward(count, dy, x, dx);
        return;
    case ASSAY__GELU:
        gelu_backward(count, dy, x, dx);
        return;
    case ASSAY__TANH:
        tanh_backward(count, dy, x, dx);
        return;
    case ASSAY__SIGMOID:
        sigmoid_backward(count, dy, x, dx);
        return;
    case ASSAY__SINE:
        activate_sine_backward(count, dy, x, dx);
        return;
    case ASSAY__SILU:
        silu_backward(count, dy, x, dx);
        return;
    case ASSAY__IDENTITY:
    case ASSAY__ACTIVATIONS_COUNT:
        break;
    }
    memmove(dx, dy, (size_t)count * sizeof *dx);
}
