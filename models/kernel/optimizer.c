/* One pass over parameters, gradients and moments: they are far larger than a cache, so the cost is
 * that of reading each once. */
#include "models/kernel/optimizer.h"

#include <math.h>

#include "base/error.h"
#include "models/kernel/simd.h"

ASSAY__SIMD static void adam(size_t count, float rate, float correction, const float *gradient,
                             float *restrict first, float *restrict second, float *restrict value)
{
    const float beta1 = 0.9F, beta2 = 0.999F, epsilon = 1e-8F;
    ASSAY__LANES
    for (size_t i = 0; i < count; i++) {
        float g = gradient[i];
        first[i] = beta1 * first[i] + (1 - beta1) * g;
        second[i] = beta2 * second[i] + (1 - beta2) * g * g;
        value[i] -= rate * first[i] / (sqrtf(second[i]) * correction + epsilon);
    }
}

assay_status assay__adam_step(assay__adam *state, assay__memory *memory,
                              assay__parameters *parameters, double learning_rate,
                              assay_error *error)
{
    if (state->first == NULL)
        state->first = assay__memory_floats(memory, ASSAY__OPTIMIZER, parameters->total);
    if (state->second == NULL)
        state->second = assay__memory_floats(memory, ASSAY__OPTIMIZER, parameters->total);
    if (state->first == NULL || state->second == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for Adam's moments");
    state->step++;
    double rate = learning_rate / (1 - pow(0.9, (double)state->step));
    double correction = 1 / sqrt(1 - pow(0.999, (double)state->step));
    adam(parameters->total, (float)rate, (float)correction, parameters->gradients, state->first,
         state->second, parameters->values);
    return ASSAY_OK;
}
