/* The elementwise functions of float32 values that assay__activate() can compute (kernels.h).
 *
 * The error is at most 4 units in the last place of float32 over the whole range. The exception is
 * gelu below x = -1, with at most 6 units, or 7 without fused multiply-adds; PyTorch's own formula
 * cancels there. NaN and infinities give what libm gives. Results of gelu below 2^-126 are 0. Where
 * the sigmoid in silu is below 2^-126 it is subnormal: it has fewer digits, and so has the result.
 * The sine of an argument beyond 8192 is computed by libm. elementary.h has the same functions for
 * one element, for callers that fuse them into loops of their own. */
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
