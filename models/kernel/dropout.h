/* Dropout: each element is kept with probability 1 - rate, and the kept elements are divided by
 * 1 - rate. */
#ifndef ASSAY_MODELS_KERNEL_DROPOUT_H
#define ASSAY_MODELS_KERNEL_DROPOUT_H

#include <stdint.h>

/* y = x mask / (1 - rate) over `count` elements; y may be x. The mask is a function of the key and
 * the element's index. So nothing has to be stored: backward is this function on dy, with the same
 * key. A rate of 0 or less copies x, and a rate of 1 or more gives zeros. */
void assay__dropout(int64_t count, float rate, uint64_t key, const float *x, float *y);

#endif
