/* One vectorised loop per function over the elements of kernel/elementary.h. Slopes of tanh and the
 * sigmoid come from the function's value, as PyTorch's do: good to half an ulp of 1, which the
 * product with dy sees, at no exponential more. */
#include "field/activation_slope.h"

#include <string.h>

#include "models/kernel/elementary.h"

ASSAY__SIMD static void identity(int64_t count, const float *x, float *y, float *slope)
{
    memmove(y, x, (size_t)count * sizeof *y);
    for (int64_t i = 0; i < count; i++)
        slope[i] = 1;
}

ASSAY__SIMD static void relu(int64_t count, const float *x, float *y, float *slope)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++) {
        float v = x[i];
        y[i] = v <= 0 ? 0 : v; /* NaN stays */
        slope[i] = v <= 0 ? 0.0F : 1.0F;
    }
}

ASSAY__SIMD static void hyperbolic_tangent(int64_t count, const float *x, float *y, float *slope)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++) {
        float t = assay__tanh1(x[i]);
        y[i] = t;
        slope[i] = 1 - t * t;
    }
}

ASSAY__SIMD static void sigmoid(int64_t count, const float *x, float *y, float *slope)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++) {
        float s = assay__sigmoid1(x[i]);
        y[i] = s;
        slope[i] = s * (1 - s);
    }
}

ASSAY__SIMD static void gelu(int64_t count, const float *x, float *y, float *slope)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++) {
        float v = x[i], density;
        float below = assay__normal1(v, &density);
        y[i] = v * below;
        slope[i] = below + v * density;
    }
}

ASSAY__SIMD static void silu(int64_t count, const float *x, float *y, float *slope)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++) {
        float v = x[i];
        float s = assay__sigmoid1(v);
        y[i] = v * s;
        slope[i] = s + v * s * (1 - s);
    }
}

void assay__activate_with_slope(assay__activation kind, int64_t count, const float *x, float *y,
                                float *slope)
{
    switch (kind) {
    case ASSAY__RELU:
        relu(count, x, y, slope);
        return;
    case ASSAY__GELU:
        gelu(count, x, y, slope);
        return;
    case ASSAY__TANH:
        hyperbolic_tangent(count, x, y, slope);
        return;
    case ASSAY__SIGMOID:
        sigmoid(count, x, y, slope);
        return;
    case ASSAY__SINE:
        assay__sin_cos(count, x, y, slope);
        return;
    case ASSAY__SILU:
        silu(count, x, y, slope);
        return;
    case ASSAY__IDENTITY:
    case ASSAY__ACTIVATIONS_COUNT:
        break;
    }
    identity(count, x, y, slope);
}
