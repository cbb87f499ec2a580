/* The runtime profile of a forecasting model: training and inference time, memory, throughput and
 * complexity. Several profiles can be compared. Link assay-models.
 *
 *     double seconds = 0;
 *     ASSAY_TIME_OPERATION("training", &seconds) { model = train(data); }      // timers.h
 *     assay_profile_parts parts = ASSAY_PROFILE_PARTS_INIT;
 *     parts.model_name = "MVAR";
 *     parts.training_seconds = assay_reading_of(seconds);
 *     ...
 *     assay_runtime_profile profile;
 *     if (assay_quick_benchmark(&forecast, &parts, NULL, &error, &profile) != ASSAY_OK) ...
 *     if (assay_save_profile(&profile, "runtime_profile.json", &error) != ASSAY_OK) ...
 *
 * Figures are in seconds and bytes. In the JSON, a key that ends in `_mb` is in units of 10^6
 * bytes, and `std_seconds` divides by the number of trials. Ratios are named B_vs_A. The ratios of
 * training time, memory and parameters are B / A. inference_speedup is A / B, so B is faster if it
 * is above 1.
 *
 * Threads: any; nothing is shared between calls.
 */
#ifndef ASSAY_RUNTIME_H
#define ASSAY_RUNTIME_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/reading.h"
#include "assay/sampling.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- measuring ---- */

/* A model that can forecast: `run` computes its next `steps` values from the state in `context`. */
typedef struct assay_forecast {
    assay_status (*run)(void *context, uint64_t steps);
    void *context;
} assay_forecast;

enum { ASSAY_FORECAST_STEPS = 100 }; /* the horizon if none is given */

/* The recommended number of trials for a call that takes `seconds`: 50, or 100 below 1 ms, or 10
 * above 1 s. */
ASSAY_API size_t assay_trials_advise(double seconds);

/* Check whether a timing has the recommended number of trials. If it has fewer, the result is a
 * sentence that says so and what to do; otherwise NULL. A tenth of the trials may be missing,
 * because disturbed ones are left out. Static storage. */
ASSAY_API const char *assay_trials_check(const assay_timing *timing);

/* Time single steps and whole forecasts of `n_steps` (0: ASSAY_FORECAST_STEPS). By default, 5 calls
 * that do not count show how long a call takes, and then as many trials follow as
 * assay_trials_advise() recommends. If the forecast fails, the benchmark ends and returns its
 * status. */
ASSAY_API ASSAY_MUST_USE assay_status assay_forecast_benchmark(
    const assay_forecast *forecast, uint64_t n_steps, const assay_sampling_options *options,
    assay_error *error, assay_timing *single_step, assay_timing *full_trajectory);

typedef struct assay_memory_result {
    assay_reading peak_bytes, current_bytes; /* resident memory of the process */
    uint64_t model_parameters;
    double parameter_bytes;
} assay_memory_result;

/* Measure the resident memory of the process, and compute the size of a model's parameters. Takes
 * about 10 microseconds. */
ASSAY_API ASSAY_MUST_USE assay_status assay_measure_memory(uint64_t model_params,
                                                           size_t bytes_per_parameter,
                                                           assay_memory_result *result);

/* ---- derived figures ---- */

typedef struct assay_throughput {
    double steps_per_second;
    double predictions_per_second; /* steps/s x latent dimension */
    double seconds_per_step;
    double microseconds_per_step;
} assay_throughput;

/* Compute the throughput from the time of a forecast of `n_steps`. ASSAY_E_ARGUMENT if `n_steps` is
 * 0, ASSAY_E_DATA for a time of 0. */
ASSAY_API ASSAY_MUST_USE assay_status assay_compute_throughput(const assay_timing *timing,
                                                               uint64_t n_steps,
                                                               uint64_t latent_dim,
                                                               assay_throughput *throughput);

/* The number of parameters of an MVAR of order `lag` and dimension d: d + lag d^2; and of an LSTM
 * with both biases and a linear head of width `output_dim`. UINT64_MAX if it does not fit. */
ASSAY_API uint64_t assay_compute_mvar_params(uint64_t latent_dim, uint64_t lag);
ASSAY_API uint64_t assay_compute_lstm_params(uint64_t input_dim, uint64_t hidden_size,
                                             uint64_t num_layers, uint64_t output_dim);

typedef enum assay_runtime_kind {
    ASSAY_RUNTIME_OTHER, /* only parameters and latent dimension are known */
    ASSAY_RUNTIME_MVAR,
    ASSAY_RUNTIME_LSTM
} assay_runtime_kind;

/* The sizes from which the complexity is computed. Fields of the other kind are ignored. If no kind
 * is given (ASSAY_RUNTIME_OTHER, which is 0), the sizes determine it: only an MVAR has a lag, and
 * only an LSTM has a hidden size. If both are given, the model's name decides, if there is one. */
typedef struct assay_complexity_shape {
    assay_runtime_kind kind;
    uint64_t latent_dim;
    uint64_t lag;                     /* MVAR */
    uint64_t hidden_size, num_layers; /* LSTM */
} assay_complexity_shape;

typedef struct assay_complexity {
    assay_runtime_kind kind;
    uint64_t total_parameters;
    uint64_t latent_dimension;
    uint64_t lag_order, parameters_per_lag; /* MVAR */
    uint64_t hidden_size, num_layers;       /* LSTM */
    uint64_t parameters_per_layer;          /* LSTM: of the last layer */
    assay_reading expected_parameters;      /* of a model of this shape; missing for OTHER */
    assay_reading inference_flops_per_step; /* of products only, 2 m k n; for an MVAR 2 p d^2 */
    const char *training_complexity;        /* "O(N_samples * p * d²)"; NULL for OTHER */
    const char *inference_complexity;
} assay_complexity;

/* Compute the complexity of a model. ASSAY_E_ARGUMENT if the shape lacks a size that its kind
 * needs. */
ASSAY_API ASSAY_MUST_USE assay_status assay_analyze_complexity(const assay_complexity_shape *shape,
                                                               uint64_t model_params,
                                                               assay_complexity *complexity);

/* ---- profiles ---- */

typedef struct assay_runtime_profile {
    const char *model_name;
    assay_reading training_seconds;
    assay_timing inference_single_step, inference_full_trajectory;
    assay_memory_result memory;
    assay_throughput throughput;
    assay_complexity complexity;
    const char *single_step_covers, *full_trajectory_covers; /* as in the parts */
    assay_timing training;                                   /* count 0: no training was timed */
    uint64_t reserved[2];                                    /* zero */
} assay_runtime_profile;

typedef struct assay_profile_parts {
    size_t struct_size;
    const char *model_name; /* borrowed by the profile */
    assay_reading training_seconds;
    assay_timing single_step, full_trajectory; /* assay_quick_benchmark fills these */
    uint64_t n_forecast_steps;                 /* default ASSAY_FORECAST_STEPS */
    uint64_t model_params;
    size_t bytes_per_parameter; /* default: 8 for an MVAR, which has doubles, else 4 */
    assay_complexity_shape shape;
    /* What one call includes, in a few words for the JSON; borrowed by the profile. Pass NULL to
     * leave it out. */
    const char *single_step_covers, *full_trajectory_covers;
    /* Timings of parts of the training, such as its epochs. Their total is the training time,
     * unless training_seconds is given. Count 0: the training was timed as a whole. */
    assay_timing training;
} assay_profile_parts;

#define ASSAY_PROFILE_PARTS_INIT ASSAY_INIT(assay_profile_parts)

/* Build a profile. The memory is measured in this call, the throughput is that of the full
 * trajectory, and the complexity is computed from the shape. */
ASSAY_API ASSAY_MUST_USE assay_status assay_build_profile(const assay_profile_parts *parts,
                                                          assay_error *error,
                                                          assay_runtime_profile *profile);

/* Benchmark the forecast, then build the profile. */
ASSAY_API ASSAY_MUST_USE assay_status assay_quick_benchmark(const assay_forecast *forecast,
                                                            const assay_profile_parts *parts,
                                                            const assay_sampling_options *options,
                                                            assay_error *error,
                                                            assay_runtime_profile *profile);

/* ---- comparing profiles ---- */

/* The ratios of one pair of profiles. `a` and `b` are their indices. */
typedef struct assay_runtime_ratio {
    size_t a, b;
    assay_reading training_time;     /* b / a */
    assay_reading inference_speedup; /* a / b, of the time of a step within a whole forecast */
    assay_reading memory;            /* parameter memory, b / a */
    assay_reading parameters;        /* b / a */
} assay_runtime_ratio;

enum { ASSAY_RUNTIME_NONE = -1 };

typedef struct assay_runtime_comparison {
    const assay_runtime_profile *profiles; /* borrowed */
    size_t count;
    assay_runtime_ratio *ratios; /* every pair, a before b */
    size_t ratio_count;
    /* The indices of the winners. Of equal profiles the first one wins. ASSAY_RUNTIME_NONE if no
     * profile has the figure. */
    int fastest_training, fastest_inference, smallest_memory;
} assay_runtime_comparison;

/* Compare two profiles or more. The profiles must outlive the comparison. Release the comparison
 * afterwards. */
ASSAY_API ASSAY_MUST_USE assay_status assay_compare_models(const assay_runtime_profile *profiles,
                                                           size_t count,
                                                           assay_runtime_comparison *comparison);
ASSAY_API void assay_runtime_comparison_release(assay_runtime_comparison *comparison);

/* ---- JSON ------------------------------------------------------------------------------------
 *
 * A profile has the keys "model_name", "training", "inference", "memory", "throughput" and
 * "complexity". A comparison has "models", the four ratios under the keys "B_vs_A", and "winners".
 * "training" contains the mean and the spread of its parts if they were timed. A timing with too
 * few trials has a "warning" (assay_trials_check). A second model of the same name is called "LSTM
 * (2)", so that no key occurs twice. A ratio that is missing is null, and "unavailable" beside it
 * gives the reason. A saved file appears complete or not at all. */
ASSAY_API ASSAY_MUST_USE assay_status
assay_runtime_profile_print(const assay_runtime_profile *profile, FILE *stream, assay_error *error);
ASSAY_API ASSAY_MUST_USE assay_status assay_runtime_comparison_print(
    const assay_runtime_comparison *comparison, FILE *stream, assay_error *error);
ASSAY_API ASSAY_MUST_USE assay_status assay_save_profile(const assay_runtime_profile *profile,
                                                         const char *path, assay_error *error);
ASSAY_API ASSAY_MUST_USE assay_status assay_save_comparison(
    const assay_runtime_comparison *comparison, const char *path, assay_error *error);

#ifdef __cplusplus
}
#endif

#endif
