/* An activation and its derivative in one pass: what backward needs is nearly free while the
 * function itself is computed, and expensive afterwards. */
#ifndef ASSAY_MODELS_FIELD_ACTIVATION_SLOPE_H
#define ASSAY_MODELS_FIELD_ACTIVATION_SLOPE_H

#include "models/kernel/activation.h"

/* y = f(x), slope = f'(x), `count` elements; y may be x. */
void assay__activate_with_slope(assay__activation kind, int64_t count, const float *x, float *y,
                                float *slope);

#endif
