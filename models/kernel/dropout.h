/* Dropout: each element kept with probability 1 - rate and then scaled by 1 / (1 - rate). */
#ifndef ASSAY_MODELS_KERNEL_DROPOUT_H
#define ASSAY_MODELS_KERNEL_DROPOUT_H

#include <stdint.h>

/* y = x mask / (1 - rate); y may be x. The mask is a function of (key, element index), so backward
 * makes it again from the same key and nothing is stored; backward is this function on dy. */
void assay__dropout(int64_t count, float rate, uint64_t key, const float *x, float *y);

#endif
