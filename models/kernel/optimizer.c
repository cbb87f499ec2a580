/* One pass over parameters, gradients and moments: they are far larger than a cache, so the cost is
 * that of reading each once. */
#include "models/kernel/optimizer.h"

#include <math.h>

#include "base/error.h"
#include "models/kernel/kernels.h"

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
    assay__adam_update(parameters->total, (float)rate, (float)correction, parameters->gradients,
                       state->first, state->second, parameters->values);
    return ASSAY_OK;
}
