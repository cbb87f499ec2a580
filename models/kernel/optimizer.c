/* Adam makes one pass over parameters, gradients and moments, split among the threads. These arrays
 * are far larger than a cache, so the cost of a step is that of reading each array once. */
#include "models/kernel/optimizer.h"

#include <math.h>

#include "base/error.h"
#include "models/kernel/kernels.h"
#include "models/kernel/threads.h"

typedef struct adam_pass {
    float rate, correction;
    const float *gradient;
    float *first, *second, *value;
} adam_pass;

static void adam_range(void *context, int64_t first, int64_t count)
{
    const adam_pass *p = context;
    assay__adam_update((size_t)count, p->rate, p->correction, p->gradient + first, p->first + first,
                       p->second + first, p->value + first);
}

static assay_status take_moments(assay__adam *state, assay__memory *memory, size_t total,
                                 assay_error *error)
{
    if (state->first == NULL)
        state->first = assay__memory_floats(memory, ASSAY__OPTIMIZER, total);
    if (state->second == NULL)
        state->second = assay__memory_floats(memory, ASSAY__OPTIMIZER, total);
    if (state->first == NULL || state->second == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for Adam's moments");
    return ASSAY_OK;
}

assay_status assay__adam_step(assay__adam *state, assay__memory *memory,
                              assay__parameters *parameters, double learning_rate,
                              assay_error *error)
{
    assay_status status = take_moments(state, memory, parameters->total, error);
    if (status != ASSAY_OK)
        return status;
    state->step++;
    double rate = learning_rate / (1 - pow(0.9, (double)state->step));
    double correction = 1 / sqrt(1 - pow(0.999, (double)state->step));
    enum { GRAIN = 1024, LEAST = 16384 };
    adam_pass pass = {(float)rate,  (float)correction, parameters->gradients,
                      state->first, state->second,     parameters->values};
    assay__parallel_ranges((int64_t)parameters->total, GRAIN, LEAST, adam_range, &pass);
    return ASSAY_OK;
}

static assay_status momentum_step(assay__adam *state, assay__memory *memory,
                                  const assay__parameters *parameters, float rate,
                                  assay_error *error)
{
    const float momentum = 0.9F;
    if (state->first == NULL)
        state->first = assay__memory_floats(memory, ASSAY__OPTIMIZER, parameters->total);
    if (state->first == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for the momentum");
    for (size_t i = 0; i < parameters->total; i++) {
        state->first[i] = momentum * state->first[i] + parameters->gradients[i];
        parameters->values[i] -= rate * state->first[i];
    }
    return ASSAY_OK;
}

assay_status assay__optimizer_step(assay_optimizer optimizer, assay__adam *moments,
                                   assay__memory *memory, assay__parameters *parameters,
                                   double learning_rate, assay_error *error)
{
    const float rate = (float)learning_rate, kept = (float)(1 - 0.01 * learning_rate);
    assay_status status;
    switch (optimizer) {
    case ASSAY_OPTIMIZER_SGD:
        for (size_t i = 0; i < parameters->total; i++)
            parameters->values[i] -= rate * parameters->gradients[i];
        return ASSAY_OK;
    case ASSAY_OPTIMIZER_MOMENTUM:
        return momentum_step(moments, memory, parameters, rate, error);
    case ASSAY_OPTIMIZER_ADAMW:
        /* The memory comes first, so that a failed step leaves the parameters as they were. */
        status = take_moments(moments, memory, parameters->total, error);
        if (status != ASSAY_OK)
            return status;
        for (size_t i = 0; i < parameters->total; i++)
            parameters->values[i] *= kept;
        break;
    case ASSAY_OPTIMIZER_ADAM:
        break;
    }
    return assay__adam_step(moments, memory, parameters, learning_rate, error);
}
