/* The runtime profile of a model: training and inference time, memory, throughput, complexity; and
 * profiles compared.
 *
 *     assay_runtime_profile profile = {.model_name = "MVAR", .training_seconds = ...};
 *     ...                                                  filled by assay_build_profile
 *     assay_compare_models(profiles, 2, &comparison);
 *
 * Plain numbers in and out; facade.h measures, report.h writes the JSON. Keys are the seed's: `_mb`
 * is 10^6 bytes here. Ratios are named B_vs_A: training time, memory and parameters are B / A,
 * inference_speedup is A / B, so that above 1 B is the faster one.
 *
 * Threads: any; nothing is shared between calls.
 */
#ifndef ASSAY_RUNTIME_H
#define ASSAY_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#include "assay/reading.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct assay_timing_result {
    double total_seconds, mean_seconds, std_seconds, min_seconds, max_seconds;
    uint64_t samples;
} assay_timing_result;

/* Of the durations of single trials. std_seconds divides by samples, as the seed's NumPy does.
 * ASSAY_E_DATA without any, ASSAY_E_ARGUMENT for one that is negative or not finite. */
ASSAY_API ASSAY_MUST_USE assay_status assay_timing_summarize(const double *seconds, size_t count,
                                                             assay_timing_result *result);

typedef struct assay_memory_result {
    assay_reading peak_mb, current_mb; /* resident memory of the process */
    uint64_t model_parameters;
    double parameter_memory_mb;
} assay_memory_result;

typedef struct assay_throughput {
    double steps_per_second;
    double predictions_per_second; /* steps/s x latent dimension */
    double seconds_per_step;
    double microseconds_per_step;
} assay_throughput;

/* From the time of a forecast of `n_steps`. ASSAY_E_ARGUMENT without steps, ASSAY_E_DATA for a time
 * of 0. */
ASSAY_API ASSAY_MUST_USE assay_status assay_compute_throughput(const assay_timing_result *timing,
                                                               uint64_t n_steps,
                                                               uint64_t latent_dim,
                                                               assay_throughput *throughput);

/* Parameters of an MVAR of order `lag`: d + lag d^2; of an LSTM with both biases and a linear head
 * of width `output_dim`. UINT64_MAX when it does not fit. */
ASSAY_API uint64_t assay_compute_mvar_params(uint64_t latent_dim, uint64_t lag);
ASSAY_API uint64_t assay_compute_lstm_params(uint64_t input_dim, uint64_t hidden_size,
                                             uint64_t num_layers, uint64_t output_dim);

typedef enum assay_runtime_kind {
    ASSAY_RUNTIME_OTHER, /* only parameters and latent dimension are known */
    ASSAY_RUNTIME_MVAR,
    ASSAY_RUNTIME_LSTM
} assay_runtime_kind;

/* What the complexity is computed from; fields of the other kind are ignored. */
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
    assay_reading expected_parameters;      /* what the shape has; missing for OTHER */
    assay_reading inference_flops_per_step; /* products only, 2 m k n: MVAR 2 p d^2 */
    const char *training_complexity;        /* "O(N_samples * p * d²)"; NULL for OTHER */
    const char *inference_complexity;
} assay_complexity;

/* ASSAY_E_ARGUMENT for a shape with a 0 its kind needs. */
ASSAY_API ASSAY_MUST_USE assay_status assay_analyze_complexity(const assay_complexity_shape *shape,
                                                               uint64_t model_params,
                                                               assay_complexity *complexity);

typedef struct assay_runtime_profile {
    const char *model_name;
    assay_reading training_seconds;
    assay_timing_result inference_single_step, inference_full_trajectory;
    assay_memory_result memory;
    assay_throughput throughput;
    assay_complexity complexity;
} assay_runtime_profile;

/* One pair, b against a (indices into the profiles given). */
typedef struct assay_runtime_ratio {
    size_t a, b;
    assay_reading training_time;     /* b / a */
    assay_reading inference_speedup; /* a / b, of a single step */
    assay_reading memory;            /* parameter memory, b / a */
    assay_reading parameters;        /* b / a */
} assay_runtime_ratio;

enum { ASSAY_RUNTIME_NONE = -1 };

typedef struct assay_runtime_comparison {
    const assay_runtime_profile *profiles; /* borrowed */
    size_t count;
    assay_runtime_ratio *ratios; /* every pair a before b */
    size_t ratio_count;
    /* Index of the winner; the first of equals; ASSAY_RUNTIME_NONE when no profile has the figure.
     */
    int fastest_training, fastest_inference, smallest_memory;
} assay_runtime_comparison;

/* Of two profiles or more. The profiles must outlive the comparison; release it afterwards. */
ASSAY_API ASSAY_MUST_USE assay_status assay_compare_models(const assay_runtime_profile *profiles,
                                                           size_t count,
                                                           assay_runtime_comparison *comparison);
ASSAY_API void assay_runtime_comparison_release(assay_runtime_comparison *comparison);

#ifdef __cplusplus
}
#endif

#endif
