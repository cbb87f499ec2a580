/* The kinds of elementwise functions of float32 values that assay__activate() knows (kernels.h).
 * Accuracy, in units in the last place of float32: 4 or better over the whole range
 * (gelu 7 below x = -1, where PyTorch's own cancels); NaN and infinities as libm. Results of gelu
 * below 2^-126 are 0; where the factor of x in silu is below 2^-126, it has that many digits fewer.
 * Sines of arguments beyond 8192 are left to libm. elementary.h has the same for one element, to
 * fuse into other loops. */
#ifndef ASSAY_MODELS_KERNEL_ACTIVATION_H
#define ASSAY_MODELS_KERNEL_ACTIVATION_H

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

#endif
