/* The seed's JSON: its keys in its order, then ours. */
#include <math.h>
#include <string.h>

#include "assay/growth.h"
#include "assay/instrument.h"
#include "assay/runtime.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "studies/profile/profile.h"

/* The seed counts times in milliseconds and memory in MB of 2^20 bytes. */
static assay_reading in_ms(assay_reading seconds)
{
    return (assay_reading){1e3 * seconds.value, seconds.validity};
}

static assay_reading in_mb(assay_reading bytes)
{
    return (assay_reading){bytes.value / ASSAY__BYTES_IN_MB, bytes.validity};
}

static void write_timing(assay__json *json, const char *key, const assay_timing *timing)
{
    if (timing->count == 0) {
        assay__json_null(json, key);
        assay__json_unavailable(json, key, ASSAY_UNSUPPORTED);
        return;
    }
    assay__json_object(json, key);
    assay__json_number(json, "mean", 1e3 * timing->mean_seconds);
    assay__json_reading(json, "std", in_ms(timing->std_seconds));
    assay__json_text(json, "unit", "ms");
    assay__json_number(json, "min", 1e3 * timing->min_seconds);
    assay__json_number(json, "max", 1e3 * timing->max_seconds);
    assay__json_reading(json, "low", in_ms(timing->low_seconds));
    assay__json_reading(json, "high", in_ms(timing->high_seconds));
    assay__json_count(json, "num_runs", timing->count);
    assay__json_end(json);
}

static void write_fact(void *context, const char *key, const char *value, assay_validity validity)
{
    static const char *const wanted[] = {"cpu", "cores", "memory_bytes", "kernel", "os"};
    (void)validity;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (strcmp(wanted[i], key) == 0)
            assay__json_text(context, wanted[i], value);
}

static void write_hardware(assay__json *json, const assay__profile *profile)
{
    assay__json_object(json, "hardware");
    assay__json_flag(json, "cuda_available", false);
    assay__json_reading(json, "gpu_name", assay_reading_missing(ASSAY_UNSUPPORTED));
    assay__json_reading(json, "gpu_memory_gb", assay_reading_missing(ASSAY_UNSUPPORTED));
    assay_machine_describe(write_fact, json);
    assay__json_count(json, "threads", profile->plan.threads);
    assay__json_end(json);
}

static void write_settings(assay__json *json, const assay__profile *profile)
{
    const double *settings = assay_model_settings(profile->plan.model);
    assay__json_object(json, "settings");
    for (size_t i = 0; i < profile->class_->option_count; i++) {
        const assay_model_option *option = &profile->class_->options[i];
        if (option->words != NULL)
            assay__json_text(json, option->name, option->words[(size_t)settings[i]]);
        else
            assay__json_number(json, option->name, settings[i]);
    }
    assay__json_end(json);
}

static void write_inputs(assay__json *json, const assay__profile *profile)
{
    assay__json_object(json, "inputs");
    for (size_t i = 0; i < profile->class_->input_count; i++) {
        const assay_tensor *input = &profile->plan.inputs[i];
        if (input->data == NULL)
            continue;
        assay__json_row(json, profile->class_->inputs[i].name);
        for (uint32_t axis = 0; axis < input->rank; axis++)
            assay__json_integer(json, NULL, input->shape[axis]);
        assay__json_end(json);
    }
    assay__json_end(json);
}

static void write_model(assay__json *json, const assay__profile *profile)
{
    assay__json_object(json, "model_info");
    assay__json_count(json, "total_parameters", profile->parameters);
    assay__json_number(json, "parameter_memory_mb", profile->parameter_bytes / ASSAY__BYTES_IN_MB);
    assay__json_text(json, "name", profile->class_->name);
    assay__json_text(json, "data", profile->plan.data);
    assay__json_count(json, "seed", profile->plan.seed);
    write_settings(json, profile);
    write_inputs(json, profile);
    assay__json_end(json);
}

static void write_runtime(assay__json *json, const assay__profile *profile)
{
    assay__json_object(json, "runtime");
    for (int i = 0; i < ASSAY__PASSES; i++)
        write_timing(json, assay__pass_name(i), &profile->passes[i].timing);
    if (profile->has_forecast) {
        assay__json_object(json, "forecast");
        assay__json_integer(json, "n_steps", profile->forecast_steps);
        write_timing(json, "single_step", &profile->forecast.inference_single_step);
        write_timing(json, "full_trajectory", &profile->forecast.inference_full_trajectory);
        assay__json_reading(json, "training_seconds", profile->forecast.training_seconds);
        assay__json_number(json, "steps_per_second", profile->forecast.throughput.steps_per_second);
        assay__json_end(json);
    }
    assay__json_end(json);
}

static void write_memory(assay__json *json, const assay__profile *profile)
{
    assay__json_object(json, "memory");
    assay__json_reading(json, "peak_mb", in_mb(profile->process.peak_bytes));
    if (profile->has_breakdown) {
        assay__json_object(json, "breakdown");
        const assay_model_memory *it = &profile->breakdown;
        assay__json_number(json, "parameters", (double)it->parameters / ASSAY__BYTES_IN_MB);
        assay__json_number(json, "activations", (double)it->activations / ASSAY__BYTES_IN_MB);
        assay__json_number(json, "gradients", (double)it->gradients / ASSAY__BYTES_IN_MB);
        assay__json_number(json, "optimizer_state", (double)it->optimizer / ASSAY__BYTES_IN_MB);
        assay__json_number(json, "workspace", (double)it->workspace / ASSAY__BYTES_IN_MB);
        assay__json_number(json, "total",
                           (double)assay__profile_model_bytes(it) / ASSAY__BYTES_IN_MB);
        assay__json_end(json);
    } else {
        assay__json_reading(json, "breakdown", assay_reading_missing(ASSAY_UNSUPPORTED));
    }
    assay__json_reading(json, "allocated_mb", in_mb(profile->process.allocated_bytes));
    assay__json_reading(json, "reserved_mb", in_mb(profile->process.reserved_bytes));
    assay__json_text(json, "device", profile->process.device);
    assay__json_end(json);
}

static void write_flops(assay__json *json, const char *key, const assay_flops *flops)
{
    assay__json_object(json, key);
    assay__json_count(json, "forward", flops->forward);
    assay__json_count(json, "backward", flops->backward);
    assay__json_end(json);
}

static void write_components(assay__json *json, const char *key, const assay_flop_account *account)
{
    size_t count;
    const assay_flop_component *list = assay_flop_account_components(account, &count);
    assay__json_object(json, key);
    for (size_t i = 0; i < count; i++) {
        assay__json_object(json, list[i].name);
        for (int c = 0; c < ASSAY_FLOP_CONVENTIONS; c++)
            write_flops(json, assay_flop_convention_name((assay_flop_convention)c),
                        &list[i].flops[c]);
        assay__json_end(json);
    }
    assay__json_end(json);
}

static void write_conventions(assay__json *json, const assay_flop_account *account)
{
    assay__json_object(json, "conventions");
    for (int c = 0; c < ASSAY_FLOP_CONVENTIONS; c++) {
        assay_flop_convention convention = (assay_flop_convention)c;
        assay_flops total;
        if (assay_flop_account_total(account, convention, &total) != ASSAY_OK)
            continue;
        assay__json_object(json, assay_flop_convention_name(convention));
        assay__json_count(json, "forward", total.forward);
        assay__json_count(json, "backward", total.backward);
        uint32_t left_out = assay_flop_account_left_out(account, convention);
        assay__json_row(json, "left_out");
        for (int kind = 0; kind < ASSAY_TERM_KINDS; kind++)
            if ((left_out & UINT32_C(1) << kind) != 0)
                assay__json_text(json, NULL, assay_term_kind_name((assay_term_kind)kind));
        assay__json_end(json);
        assay__json_end(json);
    }
    assay__json_end(json);
}

static void write_arithmetic(assay__json *json, const assay__profile *profile)
{
    if (profile->groups == NULL) {
        assay__json_reading(json, "flops", assay_reading_missing(ASSAY_UNSUPPORTED));
        return;
    }
    size_t count;
    const assay_flop_component *groups = assay_flop_account_components(profile->groups, &count);
    assay__json_object(json, "flops");
    assay__json_number(json, "total_gflops", profile->work[ASSAY__PASS_FORWARD].flops * 1e-9);
    assay__json_object(json, "breakdown");
    for (size_t i = 0; i < count; i++)
        assay__json_number(json, groups[i].name,
                           (double)groups[i].flops[ASSAY_FLOPS_ASSAY].forward * 1e-9);
    assay__json_end(json);
    assay__json_number(json, "backward_gflops", profile->work[ASSAY__PASS_BACKWARD].flops * 1e-9);
    write_conventions(json, profile->components);
    write_components(json, "groups", profile->groups);
    write_components(json, "components", profile->components);
    assay__json_text(json, "complexity",
                     profile->complexity != NULL ? profile->complexity->forward : NULL);
    assay__json_text(json, "complexity_symbols",
                     profile->complexity != NULL ? profile->complexity->symbols : NULL);
    assay__json_end(json);
}

static void write_point(assay__json *json, const assay__profile *profile, int pass)
{
    const assay__work *work = &profile->work[pass];
    const assay__peak *peak = profile->has_peak ? &profile->peak : NULL;
    assay__roofline_point point =
        assay__roofline(*work, profile->passes[pass].timing.mean_seconds, peak);
    assay__json_object(json, assay__pass_name(pass));
    assay__json_number(json, "gflops", work->flops * 1e-9);
    assay__json_number(json, "gigabytes", work->bytes * 1e-9);
    assay__json_number(json, "gflops_per_second", point.gflops_per_second);
    assay__json_number(json, "intensity", point.intensity);
    assay__json_number(json, "share_of_peak", point.share_of_peak);
    assay__json_number(json, "roof_gflops_per_second", point.roof);
    assay__json_text(json, "bound",
                     peak == NULL          ? NULL
                     : point.compute_bound ? "compute"
                                           : "memory");
    assay__json_end(json);
}

static void write_roofline(assay__json *json, const assay__profile *profile)
{
    assay__json_object(json, "roofline");
    if (profile->has_peak) {
        assay__json_object(json, "peak");
        assay__json_number(json, "gflops_per_second", profile->peak.gflops);
        assay__json_number(json, "gigabytes_per_second", profile->peak.gigabytes_per_second);
        assay__json_number(json, "ridge", assay__roofline_ridge(&profile->peak));
        assay__json_text(json, "processor", profile->peak.processor);
        assay__json_text(json, "measured_at", profile->peak.measured_at);
        assay__json_end(json);
    } else {
        assay__json_reading(json, "peak", assay_reading_missing(ASSAY_NOT_MEASURED));
    }
    for (int i = 0; i < ASSAY__PASSES; i++)
        if (profile->passes[i].timing.count > 0)
            write_point(json, profile, i);
    assay__json_end(json);
}

static void write_growth(assay__json *json, const assay_growth *growth)
{
    assay__json_text(json, "class", assay_growth_class_name(growth->growth_class));
    assay__json_reading(json, "exponent", growth->exponent);
    assay__json_reading(json, "low", growth->low);
    assay__json_reading(json, "high", growth->high);
    assay__json_flag(json, "conclusive", growth->conclusive);
    assay__json_text(json, "reason", growth->reason[0] != '\0' ? growth->reason : NULL);
}

static void write_axis(assay__json *json, const assay_scaling *scaling,
                       const assay__complexity *complexity)
{
    assay__json_text(json, "parameter", scaling->record->subjects[0].parameters[0].key);
    assay__json_row(json, "parameter_values");
    for (size_t i = 0; i < scaling->count; i++)
        assay__json_number(json, NULL, scaling->parameter_values[i]);
    assay__json_end(json);
    assay__json_array(json, "runtime_stats");
    for (size_t i = 0; i < scaling->count; i++)
        write_timing(json, NULL, &scaling->runtime_stats[i]);
    assay__json_end(json);
    write_growth(json, scaling->growth);
    assay__json_text(json, "complexity", complexity != NULL ? complexity->forward : NULL);
}

static void write_encodings(assay__json *json, const assay__axis_result *axis)
{
    for (size_t i = 0; i < axis->cost_count; i++) {
        const assay__encoding_cost *cost = &axis->costs[i];
        assay__json_object(json, cost->config.name);
        assay__json_integer(json, "dim", cost->config.dim);
        write_timing(json, "forward", &cost->forward);
        if (cost->computing.count > 0)
            write_timing(json, "computation", &cost->computing);
        assay__json_number(json, "storage_mb", cost->storage_bytes / ASSAY__BYTES_IN_MB);
        assay__json_end(json);
    }
}

static void write_scaling(assay__json *json, const assay__profile *profile)
{
    assay__json_object(json, "scaling");
    for (size_t i = 0; i < profile->axis_count; i++) {
        const assay__axis_result *axis = &profile->axes[i];
        assay__json_object(json, axis->name);
        if (axis->scaling != NULL)
            write_axis(json, axis->scaling, profile->complexity);
        else
            write_encodings(json, axis);
        assay__json_end(json);
    }
    assay__json_end(json);
}

assay_status assay__profile_print_json(const void *subject, FILE *stream, assay_error *error)
{
    const assay__profile *profile = subject;
    unsigned parts = profile->plan.parts;
    assay__json json;
    assay__json_init(&json, stream, 0);
    assay__json_object(&json, NULL);
    assay__json_text(&json, "timestamp", profile->timestamp);
    write_hardware(&json, profile);
    write_model(&json, profile);
    if ((parts & ASSAY__PROFILE_RUNTIME) != 0)
        write_runtime(&json, profile);
    if ((parts & ASSAY__PROFILE_MEMORY) != 0)
        write_memory(&json, profile);
    if ((parts & ASSAY__PROFILE_FLOPS) != 0)
        write_arithmetic(&json, profile);
    if ((parts & ASSAY__PROFILE_RUNTIME) != 0 && profile->groups != NULL)
        write_roofline(&json, profile);
    if ((parts & ASSAY__PROFILE_SCALING) != 0)
        write_scaling(&json, profile);
    assay__json_end(&json);
    assay_status status = assay__json_finish(&json);
    return status == ASSAY_OK ? ASSAY_OK
                              : assay__fail(error, status, "cannot write the profile: %s",
                                            assay_status_message(status));
}
