/* Starts the kernel `drop` with the threshold and the key of the mask. A rate of 1 or more clears
 * y. */
#include "models/cuda/dropout.h"

void assay__gpu_dropout(assay__gpu *gpu, int64_t count, float rate, uint64_t key, const float *x,
                        float *y)
{
    if (rate >= 1)
        assay__gpu_zero(gpu, y, (size_t)count);
    else
        ASSAY__LAUNCH(gpu, drop, assay__gpu_blocks(count), 1, ASSAY__BLOCK, .count = count,
                      .scale = 1 / (1 - rate), .threshold = (unsigned)((double)rate * 0x1p32),
                      .low = (unsigned)key, .high = (unsigned)(key >> 32), .x = x, .y = y);
}
