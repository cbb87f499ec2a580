/* Losses: the value returned, its gradient written. */
#ifndef ASSAY_MODELS_KERNEL_LOSS_H
#define ASSAY_MODELS_KERNEL_LOSS_H

#include <stdint.h>

/* Mean over all `count` elements of (y - target)^2; dy (count; NULL: not wanted) = 2 (y - target) /
 * count. Summed in double. */
double assay__mse(int64_t count, const float *y, const float *target, float *dy);

#endif
