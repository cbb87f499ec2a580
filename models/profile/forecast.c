/* The measuring calls of runtime.h. They time forecasts one by one and build profiles from the
 * measurements. */
#include "assay/memory.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "models/profile/runs.h"
#include "models/profile/runtime.h"

/* The advice is 50 trials for stable statistics, 100 for calls below 1 ms, and fewer for calls
 * above 1 s (document A of docs/seed-map.md). */
enum { TRIALS = 50, TRIALS_BELOW_1_MS = 100, TRIALS_ABOVE_1_S = 10, WARMUP_TRIALS = 5 };

size_t assay_trials_advise(double seconds)
{
    return seconds < 1e-3 ? TRIALS_BELOW_1_MS : seconds > 1.0 ? TRIALS_ABOVE_1_S : TRIALS;
}

const char *assay_trials_check(const assay_timing *timing)
{
    size_t advised = assay_trials_advise(timing->mean_seconds);
    /* A timing leaves out disturbed trials. So it may have up to a tenth fewer than advised. */
    if (timing->count == 0 || timing->count >= advised - advised / 10)
        return NULL;
    return advised == TRIALS_BELOW_1_MS  ? "fewer than 100 trials of less than 1 ms each; take 100"
           : advised == TRIALS_ABOVE_1_S ? "fewer than 10 trials; take 10"
                                         : "fewer than 50 trials; take 50 for stable statistics";
}

typedef struct trial {
    const assay_forecast *forecast;
    uint64_t steps;
} trial;

static assay_status run_trial(void *argument)
{
    const trial *self = argument;
    return self->forecast->run(self->forecast->context, self->steps);
}

/* If no number of trials is given, the calls of the warm-up are timed, and the number follows from
 * their minimum. The minimum is used because the first calls are slow. */
static assay_status benchmark(trial *subject, const assay_sampling_options *given,
                              assay_error *error, assay_timing *timing)
{
    assay_sampling_options options;
    assay_status status = assay__runs_take(given, 0, WARMUP_TRIALS, error, &options);
    if (status == ASSAY_OK && options.runs == 0 && options.warmup > 0) {
        assay_sampling_options pilot = options;
        pilot.runs = options.warmup;
        pilot.warmup = options.warmup = 0;
        pilot.no_warmup = options.no_warmup = true;
        pilot.sample = NULL;
        status = assay_benchmark_function(run_trial, subject, &pilot, error, timing);
        options.runs = status == ASSAY_OK ? assay_trials_advise(timing->min_seconds) : 0;
    } else if (options.runs == 0) {
        options.runs = TRIALS;
    }
    return status == ASSAY_OK
               ? assay_benchmark_function(run_trial, subject, &options, error, timing)
               : status;
}

assay_status assay_forecast_benchmark(const assay_forecast *forecast, uint64_t n_steps,
                                      const assay_sampling_options *given, assay_error *error,
                                      assay_timing *single_step, assay_timing *full_trajectory)
{
    trial single = {forecast, 1}, full = {forecast, n_steps > 0 ? n_steps : ASSAY_FORECAST_STEPS};
    assay_status status = benchmark(&single, given, error, single_step);
    return status == ASSAY_OK ? benchmark(&full, given, error, full_trajectory) : status;
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

/* Fill in the training time. A training that was timed as a whole becomes a timing of one call. */
static void take_training(const assay_profile_parts *parts, assay_runtime_profile *built)
{
    built->training = parts->training;
    built->training_seconds = parts->training_seconds;
    if (parts->training.count > 0 && parts->training_seconds.validity != ASSAY_VALID)
        built->training_seconds = assay_reading_of(parts->training.total_seconds);
    double seconds = parts->training_seconds.value;
    if (parts->training.count == 0 && parts->training_seconds.validity == ASSAY_VALID &&
        assay_timing_summarize(&seconds, 1, &built->training) != ASSAY_OK)
        built->training = (assay_timing){0};
}

assay_status assay_build_profile(const assay_profile_parts *given, assay_error *error,
                                 assay_runtime_profile *profile)
{
    assay_profile_parts parts;
    assay_status status =
        assay__struct_take(&parts, sizeof parts, given, "assay_profile_parts", error);
    if (status != ASSAY_OK)
        return status;
    parts.shape.kind = assay__runtime_kind(parts.model_name, &parts.shape);
    if (parts.n_forecast_steps == 0)
        parts.n_forecast_steps = ASSAY_FORECAST_STEPS;
    if (parts.bytes_per_parameter == 0)
        parts.bytes_per_parameter =
            parts.shape.kind == ASSAY_RUNTIME_MVAR ? sizeof(double) : sizeof(float);
    assay_runtime_profile built = {.model_name = parts.model_name,
                                   .inference_single_step = parts.single_step,
                                   .inference_full_trajectory = parts.full_trajectory,
                                   .single_step_covers = parts.single_step_covers,
                                   .full_trajectory_covers = parts.full_trajectory_covers};
    take_training(&parts, &built);
    status = assay_measure_memory(parts.model_params, parts.bytes_per_parameter, &built.memory);
    if (status == ASSAY_OK)
        status = assay_compute_throughput(&built.inference_full_trajectory, parts.n_forecast_steps,
                                          parts.shape.latent_dim, &built.throughput);
    if (status == ASSAY_OK)
        status = assay_analyze_complexity(&parts.shape, parts.model_params, &built.complexity);
    if (status != ASSAY_OK)
        return assay__fail(error, status, "cannot profile '%s': %s",
                           parts.model_name != NULL ? parts.model_name : "",
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
