/* Seed A's measuring calls: each trial is timed on its own, after trials that do not count. */
#include <stdlib.h>

#include "assay/facade.h"
#include "assay/instrument.h"
#include "base/struct_size.h"

enum { DEFAULT_TRIALS = 50, DEFAULT_WARMUP_TRIALS = 5 };

assay_operation_timer assay_time_operation(const char *name)
{
    return (assay_operation_timer){.name = name,
                                   .start_ns = assay_clock_now_ns(assay_clock_default())};
}

double assay_operation_elapsed(const assay_operation_timer *timer)
{
    return (double)(assay_clock_now_ns(assay_clock_default()) - timer->start_ns) * 1e-9;
}

void assay__operation_close(assay__operation_block *block)
{
    if (block->elapsed != NULL)
        *block->elapsed = assay_operation_elapsed(&block->timer);
}

static assay_status run_trials(const assay_forecast *forecast, uint64_t steps,
                               const assay_forecast_options *options, double *seconds)
{
    const assay_clock *clock = options->clock != NULL ? options->clock : assay_clock_default();
    size_t trials = options->n_trials != 0 ? options->n_trials : DEFAULT_TRIALS;
    size_t warmup = options->no_warmup            ? 0
                    : options->warmup_trials != 0 ? options->warmup_trials
                                                  : DEFAULT_WARMUP_TRIALS;
    for (size_t i = 0; i < warmup + trials; i++) {
        uint64_t start_ns = assay_clock_now_ns(clock);
        assay_status status = forecast->run(forecast->context, steps);
        double took = (double)(assay_clock_now_ns(clock) - start_ns) * 1e-9;
        if (status != ASSAY_OK)
            return status;
        if (i >= warmup)
            seconds[i - warmup] = took;
    }
    return ASSAY_OK;
}

assay_status assay_benchmark_forecast(const assay_forecast *forecast, uint64_t n_steps,
                                      const assay_forecast_options *options,
                                      assay_timing_result *single_step,
                                      assay_timing_result *full_trajectory)
{
    assay_forecast_options own;
    assay_status status =
        assay__struct_take(&own, sizeof own, options, "assay_forecast_options", NULL);
    if (status == ASSAY_OK && n_steps == 0)
        status = ASSAY_E_ARGUMENT;
    if (status != ASSAY_OK)
        return status;
    options = &own;
    size_t trials = options->n_trials != 0 ? options->n_trials : DEFAULT_TRIALS;
    double *seconds = calloc(trials, sizeof *seconds);
    if (seconds == NULL)
        return ASSAY_E_MEMORY;
    status = run_trials(forecast, 1, options, seconds);
    if (status == ASSAY_OK)
        status = assay_timing_summarize(seconds, trials, single_step);
    if (status == ASSAY_OK)
        status = run_trials(forecast, n_steps, options, seconds);
    if (status == ASSAY_OK)
        status = assay_timing_summarize(seconds, trials, full_trajectory);
    free(seconds);
    return status;
}

static assay_reading in_mb(assay_reading bytes)
{
    return bytes.validity == ASSAY_VALID ? assay_reading_of(bytes.value / 1e6) : bytes;
}

assay_status assay_measure_memory(uint64_t model_params, size_t bytes_per_parameter,
                                  assay_memory_result *result)
{
    assay_memory memory = {.struct_size = sizeof memory};
    assay_status status = assay_memory_read(&memory);
    if (status != ASSAY_OK)
        return status;
    *result = (assay_memory_result){.peak_mb = in_mb(memory.peak_rss_bytes),
                                    .current_mb = in_mb(memory.rss_bytes),
                                    .model_parameters = model_params,
                                    .parameter_memory_mb =
                                        (double)model_params * (double)bytes_per_parameter / 1e6};
    return ASSAY_OK;
}

assay_status assay_build_profile(const assay_profile_parts *parts, assay_runtime_profile *profile)
{
    assay_status status =
        assay__struct_check(parts, parts->struct_size, sizeof *parts, "assay_profile_parts", NULL);
    if (status != ASSAY_OK)
        return status;
    assay_runtime_profile built = {.model_name = parts->model_name,
                                   .training_seconds = parts->training_seconds,
                                   .inference_single_step = parts->single_step,
                                   .inference_full_trajectory = parts->full_trajectory};
    size_t bytes = parts->bytes_per_parameter != 0 ? parts->bytes_per_parameter : sizeof(float);
    status = assay_measure_memory(parts->model_params, bytes, &built.memory);
    if (status == ASSAY_OK)
        status = assay_compute_throughput(&built.inference_full_trajectory, parts->n_forecast_steps,
                                          parts->shape.latent_dim, &built.throughput);
    if (status == ASSAY_OK)
        status = assay_analyze_complexity(&parts->shape, parts->model_params, &built.complexity);
    if (status == ASSAY_OK)
        *profile = built;
    return status;
}

assay_status assay_quick_benchmark(const assay_forecast *forecast,
                                   const assay_forecast_options *options,
                                   const assay_profile_parts *parts, assay_runtime_profile *profile)
{
    assay_profile_parts measured;
    assay_status status =
        assay__struct_take(&measured, sizeof measured, parts, "assay_profile_parts", NULL);
    if (status == ASSAY_OK)
        status = assay_benchmark_forecast(forecast, parts->n_forecast_steps, options,
                                          &measured.single_step, &measured.full_trajectory);
    return status == ASSAY_OK ? assay_build_profile(&measured, profile) : status;
}
