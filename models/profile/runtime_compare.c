/* Compares runtime profiles: the ratios of every pair, and the best profile by each figure. */
#include <stdlib.h>

#include "assay/runtime.h"

static assay_reading ratio(assay_reading numerator, assay_reading denominator)
{
    if (numerator.validity != ASSAY_VALID)
        return numerator;
    if (denominator.validity != ASSAY_VALID)
        return denominator;
    return denominator.value > 0 ? assay_reading_of(numerator.value / denominator.value)
                                 : assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
}

/* The time of a step within a whole forecast. The forecast of a single step is not a measure of
 * inference. It includes the work before the first step (an LSTM reads its window, step by step) as
 * if that came with every step. */
static assay_reading step_seconds(const assay_runtime_profile *profile)
{
    return profile->throughput.seconds_per_step > 0
               ? assay_reading_of(profile->throughput.seconds_per_step)
               : assay_reading_missing(ASSAY_NOT_MEASURED);
}

static assay_reading training_seconds(const assay_runtime_profile *profile)
{
    return profile->training_seconds;
}

static assay_reading parameter_bytes(const assay_runtime_profile *profile)
{
    return assay_reading_of(profile->memory.parameter_bytes);
}

static assay_reading parameters(const assay_runtime_profile *profile)
{
    return assay_reading_of((double)profile->memory.model_parameters);
}

static assay_runtime_ratio ratios_of(const assay_runtime_profile *profiles, size_t a, size_t b)
{
    const assay_runtime_profile *first = &profiles[a], *second = &profiles[b];
    return (assay_runtime_ratio){
        .a = a,
        .b = b,
        .training_time = ratio(training_seconds(second), training_seconds(first)),
        .inference_speedup = ratio(step_seconds(first), step_seconds(second)),
        .memory = ratio(parameter_bytes(second), parameter_bytes(first)),
        .parameters = ratio(parameters(second), parameters(first))};
}

static int lowest(const assay_runtime_profile *profiles, size_t count,
                  assay_reading (*figure)(const assay_runtime_profile *))
{
    int best = ASSAY_RUNTIME_NONE;
    for (size_t i = 0; i < count; i++) {
        assay_reading reading = figure(&profiles[i]);
        if (reading.validity == ASSAY_VALID &&
            (best == ASSAY_RUNTIME_NONE || reading.value < figure(&profiles[best]).value))
            best = (int)i;
    }
    return best;
}

assay_status assay_compare_models(const assay_runtime_profile *profiles, size_t count,
                                  assay_runtime_comparison *comparison)
{
    *comparison = (assay_runtime_comparison){0};
    if (count < 2)
        return ASSAY_E_DATA;
    if (count > 1024)
        return ASSAY_E_LIMIT;
    size_t pairs = count * (count - 1) / 2, next = 0;
    assay_runtime_ratio *ratios = calloc(pairs, sizeof *ratios);
    if (ratios == NULL)
        return ASSAY_E_MEMORY;
    for (size_t b = 1; b < count; b++)
        for (size_t a = 0; a < b; a++)
            ratios[next++] = ratios_of(profiles, a, b);
    *comparison =
        (assay_runtime_comparison){.profiles = profiles,
                                   .count = count,
                                   .ratios = ratios,
                                   .ratio_count = pairs,
                                   .fastest_training = lowest(profiles, count, training_seconds),
                                   .fastest_inference = lowest(profiles, count, step_seconds),
                                   .smallest_memory = lowest(profiles, count, parameter_bytes)};
    return ASSAY_OK;
}

void assay_runtime_comparison_release(assay_runtime_comparison *comparison)
{
    free(comparison->ratios);
    *comparison = (assay_runtime_comparison){0};
}
