#include "models/kernel/loss.h"

#include <stddef.h>

#include "models/kernel/simd.h"

ASSAY__SIMD double assay__mse(int64_t count, const float *y, const float *target, float *dy)
{
    double sum = 0;
    ASSAY__SUM(sum)
    for (int64_t i = 0; i < count; i++) {
        float difference = y[i] - target[i];
        sum += (double)difference * (double)difference;
    }
    if (dy != NULL) {
        float scale = (float)(2 / (double)count);
        ASSAY__LANES
        for (int64_t i = 0; i < count; i++)
            dy[i] = scale * (y[i] - target[i]);
    }
    return sum / (double)count;
}
