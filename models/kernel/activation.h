/* Elementwise functions of `count` float32 values and their derivatives, vectorised; x and y may be
 * the same array. Accuracy, in units in the last place of float32: 4 or better over the whole range
 * (gelu 7 below x = -1, where PyTorch's own cancels); NaN and infinities as libm. Results of gelu
 * below 2^-126 are 0; where the factor of x in silu is below 2^-126, it has that many digits fewer.
 * Sines of arguments beyond 8192 are left to libm. elementary.h has the same for one element, to
 * fuse into other loops. */
#ifndef ASSAY_MODELS_KERNEL_ACTIVATION_H
#define ASSAY_MODELS_KERNEL_ACTIVATION_H

#include <stdint.h>

typedef enum assay__activation {
    ASSAY__IDENTITY,
    ASSAY__RELU,
    ASSAY__GELU, /* exact: x Phi(x), as PyTorch's default */
    ASSAY__TANH,
    ASSAY__SIGMOID,
    ASSAY__SINE,
    ASSAY__SILU, /* x sigmoid(x) */
    ASSAY__ACTIVATIONS_COUNT
} assay__activation;

void assay__activate(assay__activation kind, int64_t count, const float *x, float *y);

/* y = f(x), slope = f'(x): what backward needs is nearly free while the function itself is
 * computed, and expensive afterwards. Slopes are good to 4 units in the last place of 1. */
void assay__activate_with_slope(assay__activation kind, int64_t count, const float *x, float *y,
                                float *slope);

/* dx = dy f'(x); x is what forward got. dx may be dy. */
void assay__relu_backward(int64_t count, const float *dy, const float *x, float *dx);
void assay__gelu_backward(int64_t count, const float *dy, const float *x, float *dx);

#endif
