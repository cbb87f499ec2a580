/* Writes runtime profiles and comparisons as JSON. Programs rely on the keys and their order
 * (document A of docs/seed-map.md). */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
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

/* The deviation divides by the number of values, as NumPy's does by default. */
static double population_deviation(const assay_timing *timing)
{
    double count = (double)timing->count;
    return timing->count > 1 ? timing->std_seconds.value * sqrt((count - 1) / count) : 0.0;
}

static void print_figures(assay__json *json, const assay_timing *timing)
{
    assay__json_number(json, "mean_seconds", timing->mean_seconds);
    assay__json_number(json, "std_seconds", population_deviation(timing));
    assay__json_number(json, "min_seconds", timing->min_seconds);
    assay__json_number(json, "max_seconds", timing->max_seconds);
    assay__json_count(json, "samples", timing->count);
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
    print_figures(json, timing);
    if (covers != NULL)
        assay__json_text(json, "covers", covers);
    if (assay_trials_check(timing) != NULL)
        assay__json_text(json, "warning", assay_trials_check(timing));
    assay__json_end(json);
}

/* MB are 10^6 bytes in this JSON. */
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
    if (profile->training.count > 1)
        print_figures(json, &profile->training);
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

/* ---- Comparisons ---- */

typedef struct labels {
    char **names; /* one for each profile, all different */
    size_t count;
    char *key; /* room for the longest "B_vs_A" */
    size_t key_room;
} labels;

static void labels_release(labels *self)
{
    for (size_t i = 0; self->names != NULL && i < self->count; i++)
        free(self->names[i]);
    free(self->names);
    free(self->key);
}

static const char *name_of(const assay_runtime_comparison *comparison, size_t index)
{
    const char *name = comparison->profiles[index].model_name;
    return name != NULL ? name : "(unnamed)";
}

static bool is_taken(const assay_runtime_comparison *comparison, const labels *known, size_t before,
                     const char *label)
{
    for (size_t i = 0; i < comparison->count; i++)
        if (strcmp(name_of(comparison, i), label) == 0)
            return true;
    for (size_t i = 0; i < before; i++)
        if (strcmp(known->names[i], label) == 0)
            return true;
    return false;
}

/* The label of a profile: its name, with a number if an earlier profile has the same name, such as
 * "LSTM (2)". The caller frees it. Returns NULL if there is no memory. */
static char *label_of(const assay_runtime_comparison *comparison, const labels *known, size_t index)
{
    const char *name = name_of(comparison, index);
    size_t number = 1, room = strlen(name) + 32;
    for (size_t i = 0; i < index; i++)
        number += strcmp(name_of(comparison, i), name) == 0;
    char *label = malloc(room);
    if (label == NULL)
        return NULL;
    snprintf(label, room, "%s", name);
    for (; number > 1; number++) {
        snprintf(label, room, "%s (%zu)", name, number);
        if (!is_taken(comparison, known, index, label))
            break;
    }
    return label;
}

/* Make the labels. They become keys of JSON objects, in which no key may occur twice. */
static assay_status labels_make(labels *self, const assay_runtime_comparison *comparison,
                                assay_error *error)
{
    *self = (labels){.names = calloc(comparison->count + 1, sizeof *self->names),
                     .count = comparison->count};
    bool made = self->names != NULL;
    size_t longest = 0;
    for (size_t i = 0; i < self->count && made; i++) {
        self->names[i] = label_of(comparison, self, i);
        made = self->names[i] != NULL;
        longest = made && strlen(self->names[i]) > longest ? strlen(self->names[i]) : longest;
    }
    self->key_room = 2 * longest + sizeof "_vs_";
    self->key = malloc(self->key_room);
    made = made && self->key != NULL;
    return made ? ASSAY_OK : assay__fail(error, ASSAY_E_MEMORY, "no memory for names of models");
}

static assay_reading reading_at(const assay_runtime_ratio *ratio, size_t offset)
{
    assay_reading reading;
    memcpy(&reading, (const char *)ratio + offset, sizeof reading);
    return reading;
}

/* Write the members of {"LSTM_vs_MVAR": 3.45, ...} for the reading at `offset` of each ratio. With
 * `reasons`, write instead why readings are missing, for those that are. */
static void print_pairs(assay__json *json, const assay_runtime_comparison *comparison,
                        const labels *known, size_t offset, bool reasons)
{
    for (size_t i = 0; i < comparison->ratio_count; i++) {
        const assay_runtime_ratio *ratio = &comparison->ratios[i];
        assay_reading reading = reading_at(ratio, offset);
        const char *key = known->key;
        snprintf(known->key, known->key_room, "%s_vs_%s", known->names[ratio->b],
                 known->names[ratio->a]);
        if (reasons && reading.validity != ASSAY_VALID)
            assay__json_text(json, key, assay_validity_text(reading.validity));
        if (!reasons && reading.validity == ASSAY_VALID)
            assay__json_number(json, key, reading.value);
        if (!reasons && reading.validity != ASSAY_VALID)
            assay__json_null(json, key);
    }
}

/* The JSON writer can keep only a few reasons for missing readings, and there may be many pairs. So
 * this function writes the reasons itself. */
static void print_ratios(assay__json *json, const char *key,
                         const assay_runtime_comparison *comparison, const labels *known,
                         size_t offset)
{
    bool complete = true;
    for (size_t i = 0; i < comparison->ratio_count; i++)
        complete &= reading_at(&comparison->ratios[i], offset).validity == ASSAY_VALID;
    assay__json_object(json, key);
    print_pairs(json, comparison, known, offset, false);
    if (!complete) {
        assay__json_object(json, "unavailable");
        print_pairs(json, comparison, known, offset, true);
        assay__json_end(json);
    }
    assay__json_end(json);
}

static void print_winner(assay__json *json, const char *key, const labels *known, int winner)
{
    assay__json_text(json, key, winner == ASSAY_RUNTIME_NONE ? NULL : known->names[winner]);
}

static void print_comparison_members(assay__json *json, const assay_runtime_comparison *comparison,
                                     const labels *known)
{
    assay__json_row(json, "models");
    for (size_t i = 0; i < comparison->count; i++)
        assay__json_text(json, NULL, known->names[i]);
    assay__json_end(json);
    print_ratios(json, "training_time_ratio", comparison, known,
                 offsetof(assay_runtime_ratio, training_time));
    print_ratios(json, "inference_speedup", comparison, known,
                 offsetof(assay_runtime_ratio, inference_speedup));
    print_ratios(json, "memory_ratio", comparison, known, offsetof(assay_runtime_ratio, memory));
    print_ratios(json, "parameter_ratio", comparison, known,
                 offsetof(assay_runtime_ratio, parameters));
    assay__json_object(json, "winners");
    print_winner(json, "fastest_training", known, comparison->fastest_training);
    print_winner(json, "fastest_inference", known, comparison->fastest_inference);
    print_winner(json, "smallest_memory", known, comparison->smallest_memory);
    assay__json_end(json);
}

assay_status assay__runtime_comparison_write(assay__json *json, const char *key,
                                             const assay_runtime_comparison *comparison,
                                             assay_error *error)
{
    labels known;
    assay_status status = labels_make(&known, comparison, error);
    if (status == ASSAY_OK) {
        assay__json_object(json, key);
        print_comparison_members(json, comparison, &known);
        assay__json_end(json);
    }
    labels_release(&known);
    return status;
}

assay_status assay_runtime_comparison_print(const assay_runtime_comparison *comparison,
                                            FILE *stream, assay_error *error)
{
    assay__json json;
    assay__json_init(&json, stream, 0);
    assay_status status = assay__runtime_comparison_write(&json, NULL, comparison, error);
    return status == ASSAY_OK ? finish(&json, error) : status;
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
