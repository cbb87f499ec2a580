/* Seed A's measuring calls: forecasts timed one by one, and profiles built of what was measured. */
#include "assay/memory.h"
#include "assay/runtime.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "models/profile/runs.h"

enum { DEFAULT_TRIALS = 50, DEFAULT_WARMUP_TRIALS = 5 };

typedef struct trial {
    const assay_forecast *forecast;
    uint64_t steps;
} trial;

static assay_status run_trial(void *argument)
{
    const trial *self = argument;
    return self->forecast->run(self->forecast->context, self->steps);
}

assay_status assay_forecast_benchmark(const assay_forecast *forecast, uint64_t n_steps,
                                      const assay_sampling_options *given, assay_error *error,
                                      assay_timing *single_step, assay_timing *full_trajectory)
{
    assay_sampling_options options;
    assay_status status =
        assay__runs_take(given, DEFAULT_TRIALS, DEFAULT_WARMUP_TRIALS, error, &options);
    if (status != ASSAY_OK)
        return status;
    if (n_steps == 0)
        return assay__fail(error, ASSAY_E_ARGUMENT, "a forecast of 0 steps; give at least 1");
    trial single = {forecast, 1}, full = {forecast, n_steps};
    status = assay_benchmark_function(run_trial, &single, &options, error, single_step);
    if (status == ASSAY_OK)
        status = assay_benchmark_function(run_trial, &full, &options, error, full_trajectory);
    return status;
}

assay_status assay_measure_memory(uint64_t model_params, size_t bytes_per_parameter,
                                  assay_memory_result *result)
{
    assay_memory memory = {.struct_size = sizeof memory};
    assay_status status = assay_memory_read(&memory);
    if (status != ASSAY_OK)
        return status;
    *result = (assay_memory_result){.peak_bytes = memory.peak_rss_bytes,
                                    .current_bytes = memory.rss_bytes,
                                    .model_parameters = model_params,
                                    .parameter_bytes =
                                        (double)model_params * (double)bytes_per_parameter};
    return ASSAY_OK;
}

assay_status assay_build_profile(const assay_profile_parts *parts, assay_error *error,
                                 assay_runtime_profile *profile)
{
    assay_status status =
        assay__struct_check(parts, parts->struct_size, sizeof *parts, "assay_profile_parts", error);
    if (status != ASSAY_OK)
        return status;
    assay_runtime_profile built = {.model_name = parts->model_name,
                                   .training_seconds = parts->training_seconds,
                                   .inference_single_step = parts->single_step,
                                   .inference_full_trajectory = parts->full_trajectory,
                                   .single_step_covers = parts->single_step_covers,
                                   .full_trajectory_covers = parts->full_trajectory_covers};
    size_t bytes = parts->bytes_per_parameter != 0 ? parts->bytes_per_parameter : sizeof(float);
    status = assay_measure_memory(parts->model_params, bytes, &built.memory);
    if (status == ASSAY_OK)
        status = assay_compute_throughput(&built.inference_full_trajectory, parts->n_forecast_steps,
                                          parts->shape.latent_dim, &built.throughput);
    if (status == ASSAY_OK)
        status = assay_analyze_complexity(&parts->shape, parts->model_params, &built.complexity);
    if (status != ASSAY_OK)
        return assay__fail(error, status, "cannot profile '%s': %s",
                           parts->model_name != NULL ? parts->model_name : "",
                           assay_status_message(status));
    *profile = built;
    return ASSAY_OK;
}

assay_status assay_quick_benchmark(const assay_forecast *forecast, const assay_profile_parts *parts,
                                   const assay_sampling_options *options, assay_error *error,
                                   assay_runtime_profile *profile)
{
    assay_profile_parts measured;
    assay_status status =
        assay__struct_take(&measured, sizeof measured, parts, "assay_profile_parts", error);
    if (status == ASSAY_OK)
        status = assay_forecast_benchmark(forecast, measured.n_forecast_steps, options, error,
                                          &measured.single_step, &measured.full_trajectory);
    return status == ASSAY_OK ? assay_build_profile(&measured, error, profile) : status;
}
