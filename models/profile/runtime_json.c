/* Runtime profiles and their comparison as JSON, with the keys and the order of the seed. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "assay/report.h"
#include "assay/runtime.h"
#include "base/error.h"
#include "models/profile/runtime_json.h"

static assay_status finish(assay__json *json, assay_error *error)
{
    assay_status status = assay__json_finish(json);
    if (status == ASSAY_OK)
        return ASSAY_OK;
    return assay__fail(error, status, "cannot write the profile: %s", assay_status_message(status));
}

/* NumPy's deviation, which the seed takes, divides by the number of values. */
static double population_deviation(const assay_timing *timing)
{
    double count = (double)timing->count;
    return timing->count > 1 ? timing->std_seconds.value * sqrt((count - 1) / count) : 0.0;
}

static void print_timing(assay__json *json, const char *key, const assay_timing *timing,
                         const char *covers)
{
    if (timing->count == 0) {
        assay__json_null(json, key);
        assay__json_unavailable(json, key, ASSAY_NOT_MEASURED);
        return;
    }
    assay__json_object(json, key);
    assay__json_number(json, "mean_seconds", timing->mean_seconds);
    assay__json_number(json, "std_seconds", population_deviation(timing));
    assay__json_number(json, "min_seconds", timing->min_seconds);
    assay__json_number(json, "max_seconds", timing->max_seconds);
    assay__json_count(json, "samples", timing->count);
    if (covers != NULL)
        assay__json_text(json, "covers", covers);
    assay__json_end(json);
}

/* The seed's MB are 10^6 bytes. */
static assay_reading in_mb(assay_reading bytes)
{
    return (assay_reading){bytes.value / 1e6, bytes.validity};
}

static void print_memory(assay__json *json, const assay_memory_result *memory)
{
    assay__json_object(json, "memory");
    assay__json_reading(json, "peak_mb", in_mb(memory->peak_bytes));
    assay__json_reading(json, "current_mb", in_mb(memory->current_bytes));
    assay__json_count(json, "model_parameters", memory->model_parameters);
    assay__json_number(json, "parameter_memory_mb", memory->parameter_bytes / 1e6);
    assay__json_end(json);
}

static void print_throughput(assay__json *json, const assay_throughput *throughput)
{
    assay__json_object(json, "throughput");
    assay__json_number(json, "steps_per_second", throughput->steps_per_second);
    assay__json_number(json, "predictions_per_second", throughput->predictions_per_second);
    assay__json_number(json, "seconds_per_step", throughput->seconds_per_step);
    assay__json_number(json, "microseconds_per_step", throughput->microseconds_per_step);
    assay__json_end(json);
}

static void print_complexity(assay__json *json, const assay_complexity *complexity)
{
    assay__json_object(json, "complexity");
    assay__json_count(json, "total_parameters", complexity->total_parameters);
    assay__json_count(json, "latent_dimension", complexity->latent_dimension);
    if (complexity->kind == ASSAY_RUNTIME_MVAR)
        assay__json_count(json, "lag_order", complexity->lag_order);
    if (complexity->kind == ASSAY_RUNTIME_LSTM) {
        assay__json_count(json, "hidden_size", complexity->hidden_size);
        assay__json_count(json, "num_layers", complexity->num_layers);
    }
    if (complexity->kind != ASSAY_RUNTIME_OTHER)
        assay__json_reading(json, "expected_parameters", complexity->expected_parameters);
    if (complexity->kind == ASSAY_RUNTIME_MVAR)
        assay__json_count(json, "parameters_per_lag", complexity->parameters_per_lag);
    if (complexity->kind == ASSAY_RUNTIME_LSTM)
        assay__json_count(json, "parameters_per_layer", complexity->parameters_per_layer);
    assay__json_reading(json, "inference_flops_per_step", complexity->inference_flops_per_step);
    assay__json_text(json, "training_complexity", complexity->training_complexity);
    assay__json_text(json, "inference_complexity", complexity->inference_complexity);
    assay__json_end(json);
}

void assay__runtime_profile_write(assay__json *json, const char *key,
                                  const assay_runtime_profile *profile)
{
    assay__json_object(json, key);
    assay__json_text(json, "model_name", profile->model_name);
    assay__json_object(json, "training");
    assay__json_reading(json, "total_seconds", profile->training_seconds);
    assay__json_end(json);
    assay__json_object(json, "inference");
    print_timing(json, "single_step", &profile->inference_single_step, profile->single_step_covers);
    print_timing(json, "full_trajectory", &profile->inference_full_trajectory,
                 profile->full_trajectory_covers);
    assay__json_end(json);
    print_memory(json, &profile->memory);
    print_throughput(json, &profile->throughput);
    print_complexity(json, &profile->complexity);
    assay__json_end(json);
}

assay_status assay_runtime_profile_print(const assay_runtime_profile *profile, FILE *stream,
                                         assay_error *error)
{
    assay__json json;
    assay__json_init(&json, stream, 0);
    assay__runtime_profile_write(&json, NULL, profile);
    return finish(&json, error);
}

/* The reading at `offset` of a ratio, and the ratio's key: "LSTM_vs_MVAR". */
enum { PAIR_BYTES = 600 };
static assay_reading ratio_at(const assay_runtime_comparison *comparison, size_t index,
                              size_t offset, char name[PAIR_BYTES])
{
    const assay_runtime_ratio *ratio = &comparison->ratios[index];
    assay_reading reading;
    snprintf(name, PAIR_BYTES, "%.255s_vs_%.255s", comparison->profiles[ratio->b].model_name,
             comparison->profiles[ratio->a].model_name);
    memcpy(&reading, (const char *)ratio + offset, sizeof reading);
    return reading;
}

/* {"LSTM_vs_MVAR": 3.45, ...}. The keys do not outlive the loop, as the writer would need for its
 * own "unavailable", so the reasons are written here. */
static void print_ratios(assay__json *json, const char *key,
                         const assay_runtime_comparison *comparison, size_t offset)
{
    char name[PAIR_BYTES];
    size_t missing = 0;
    assay__json_object(json, key);
    for (size_t i = 0; i < comparison->ratio_count; i++) {
        assay_reading reading = ratio_at(comparison, i, offset, name);
        missing += reading.validity != ASSAY_VALID;
        if (reading.validity == ASSAY_VALID)
            assay__json_number(json, name, reading.value);
        else
            assay__json_null(json, name);
    }
    if (missing > 0)
        assay__json_object(json, "unavailable");
    for (size_t i = 0; i < comparison->ratio_count && missing > 0; i++) {
        assay_reading reading = ratio_at(comparison, i, offset, name);
        if (reading.validity != ASSAY_VALID)
            assay__json_text(json, name, assay_validity_text(reading.validity));
    }
    if (missing > 0)
        assay__json_end(json);
    assay__json_end(json);
}

static void print_winner(assay__json *json, const char *key,
                         const assay_runtime_comparison *comparison, int winner)
{
    assay__json_text(json, key,
                     winner == ASSAY_RUNTIME_NONE ? NULL : comparison->profiles[winner].model_name);
}

void assay__runtime_comparison_write(assay__json *json, const char *key,
                                     const assay_runtime_comparison *comparison)
{
    assay__json_object(json, key);
    assay__json_row(json, "models");
    for (size_t i = 0; i < comparison->count; i++)
        assay__json_text(json, NULL, comparison->profiles[i].model_name);
    assay__json_end(json);
    print_ratios(json, "training_time_ratio", comparison,
                 offsetof(assay_runtime_ratio, training_time));
    print_ratios(json, "inference_speedup", comparison,
                 offsetof(assay_runtime_ratio, inference_speedup));
    print_ratios(json, "memory_ratio", comparison, offsetof(assay_runtime_ratio, memory));
    print_ratios(json, "parameter_ratio", comparison, offsetof(assay_runtime_ratio, parameters));
    assay__json_object(json, "winners");
    print_winner(json, "fastest_training", comparison, comparison->fastest_training);
    print_winner(json, "fastest_inference", comparison, comparison->fastest_inference);
    print_winner(json, "smallest_memory", comparison, comparison->smallest_memory);
    assay__json_end(json);
    assay__json_end(json);
}

assay_status assay_runtime_comparison_print(const assay_runtime_comparison *comparison,
                                            FILE *stream, assay_error *error)
{
    assay__json json;
    assay__json_init(&json, stream, 0);
    assay__runtime_comparison_write(&json, NULL, comparison);
    return finish(&json, error);
}

static assay_status print_profile(const void *subject, FILE *stream, assay_error *error)
{
    return assay_runtime_profile_print(subject, stream, error);
}

static assay_status print_comparison(const void *subject, FILE *stream, assay_error *error)
{
    return assay_runtime_comparison_print(subject, stream, error);
}

assay_status assay_save_profile(const assay_runtime_profile *profile, const char *path,
                                assay_error *error)
{
    return assay_file_save(path, print_profile, profile, error);
}

assay_status assay_save_comparison(const assay_runtime_comparison *comparison, const char *path,
                                   assay_error *error)
{
    return assay_file_save(path, print_comparison, comparison, error);
}
