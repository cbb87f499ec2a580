/* Writes the JSON of a profile: first the keys of document D (docs/seed-map.md) in its order, then
 * further keys. */
#include <stdlib.h>
#include <string.h>

#include "assay/device.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "studies/common/results.h"
#include "studies/profile/complexity.h"
#include "studies/profile/profile.h"
#include "studies/profile/view.h"

/* In this JSON times are in milliseconds, and memory is in MB of 2^20 bytes. */
static assay_reading in_ms(assay_reading seconds)
{
    return (assay_reading){1e3 * seconds.value, seconds.validity};
}

static assay_reading in_mb(assay_reading bytes)
{
    return (assay_reading){bytes.value / ASSAY__BYTES_IN_MB, bytes.validity};
}

void assay__times_write_json(assay__json *json, const char *key, const assay__times *times)
{
    if (times->count == 0) {
        assay__json_null(json, key);
        assay__json_unavailable(json, key, ASSAY_UNSUPPORTED);
        return;
    }
    assay__json_object(json, key);
    assay__json_reading(json, "mean", in_ms(times->mean));
    assay__json_reading(json, "std", in_ms(times->std));
    assay__json_text(json, "unit", "ms");
    assay__json_reading(json, "min", in_ms(times->min));
    assay__json_reading(json, "max", in_ms(times->max));
    assay__json_reading(json, "low", in_ms(times->low));
    assay__json_reading(json, "high", in_ms(times->high));
    assay__json_count(json, "num_runs", times->count);
    assay__json_end(json);
}

static void write_subject(assay__json *json, const char *key, const assay_record_subject *subject)
{
    const assay__times times = assay__times_of(subject);
    assay__times_write_json(json, key, &times);
}

/* Write the first GPU of the machine, whether or not the model uses it. */
static void write_gpu(assay__json *json)
{
    size_t count = 0;
    assay_device device = ASSAY_INIT(assay_device);
    bool found = assay_device_count(NULL, &count) == ASSAY_OK && count > 0 &&
                 assay_device_describe(0, NULL, &device) == ASSAY_OK;
    assay_reading memory = found ? device.memory_bytes : assay_reading_missing(ASSAY_UNSUPPORTED);
    memory.value /= 1 << 30;
    assay__json_flag(json, "cuda_available", found);
    if (found)
        assay__json_text(json, "gpu_name", device.name);
    else
        assay__json_reading(json, "gpu_name", memory);
    assay__json_reading(json, "gpu_memory_gb", memory);
}

static void write_hardware(assay__json *json, const assay_record *record)
{
    static const char *const wanted[] = {"cpu", "cores", "memory_bytes", "kernel", "os"};
    assay__json_object(json, "hardware");
    write_gpu(json);
    for (size_t i = 0; i < record->machine_count; i++)
        for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
            if (strcmp(record->machine[i].key, wanted[k]) == 0) {
                assay__json_text(json, wanted[k], record->machine[i].value);
                if (record->machine[i].value == NULL)
                    assay__json_unavailable(json, wanted[k], record->machine[i].validity);
            }
    assay__json_count(json, "threads", assay__profile_count(record, "threads"));
    assay__json_end(json);
}

/* Write the settings, which are numbers, or words for options with a choice of words. */
static void write_settings(assay__json *json, const assay_record_model *model)
{
    assay__json_object(json, "settings");
    for (size_t i = 0; i < model->setting_count; i++) {
        const char *value = model->settings[i].value;
        char *end = NULL;
        double number = value != NULL ? strtod(value, &end) : 0;
        if (value != NULL && end != value && *end == '\0')
            assay__json_number(json, model->settings[i].key, number);
        else
            assay__json_text(json, model->settings[i].key, value);
    }
    assay__json_end(json);
}

static void write_inputs(assay__json *json, const assay_record *record)
{
    assay__json_object(json, "inputs");
    for (size_t i = 0; i < record->series_count; i++) {
        const assay_record_series *shape = &record->series[i];
        if (strcmp(shape->name, ASSAY__SERIES_SHAPE) != 0 || shape->of == NULL)
            continue;
        assay__json_row(json, shape->of);
        for (size_t axis = 0; axis < shape->count; axis++)
            assay__json_integer(json, NULL, (int64_t)shape->values[axis]);
        assay__json_end(json);
    }
    assay__json_end(json);
}

static void write_model(assay__json *json, const assay_record *record)
{
    const assay_record_model *model = &record->models[0];
    assay__json_object(json, "model_info");
    assay__json_count(json, "total_parameters", (uint64_t)model->parameters.value);
    assay__json_reading(json, "parameter_memory_mb", in_mb(model->parameter_bytes));
    assay__json_text(json, "name", model->name);
    assay__json_text(json, "data", assay__profile_setting(record, "data"));
    assay__json_count(json, "seed", assay__profile_count(record, "seed"));
    write_settings(json, model);
    write_inputs(json, record);
    assay__json_end(json);
}

static void write_runtime(assay__json *json, const assay_record *record)
{
    const char *model = record->models[0].name;
    const assay_record_subject *forecast = assay__profile_subject(record, "forecast");
    assay__json_object(json, "runtime");
    for (int i = 0; i < ASSAY__PASSES; i++) {
        const assay__times times = assay__pass_times(record, i);
        assay__times_write_json(json, assay__pass_name(i), &times);
    }
    if (forecast != NULL) {
        assay__json_object(json, "forecast");
        assay__json_count(json, "n_steps", assay__profile_count(record, "forecast_steps"));
        write_subject(json, "single_step", assay__profile_subject(record, "single_step"));
        write_subject(json, "full_trajectory", forecast);
        assay__json_reading(json, "training_seconds",
                            assay__record_figure(record, ASSAY__FIGURE_FIT, model));
        assay__json_reading(json, "steps_per_second",
                            assay__record_figure(record, ASSAY__FIGURE_STEP_RATE, model));
        assay__json_end(json);
    }
    assay__json_end(json);
}

static void write_breakdown(assay__json *json, const assay_record_model *it)
{
    if (it->gradient_bytes.validity != ASSAY_VALID) {
        assay__json_reading(json, "breakdown", it->gradient_bytes);
        return;
    }
    assay__json_object(json, "breakdown");
    assay__json_reading(json, "parameters", in_mb(it->parameter_bytes));
    assay__json_reading(json, "activations", in_mb(it->activation_bytes));
    assay__json_reading(json, "gradients", in_mb(it->gradient_bytes));
    assay__json_reading(json, "optimizer_state", in_mb(it->optimizer_bytes));
    assay__json_reading(json, "workspace", in_mb(it->workspace_bytes));
    assay__json_number(json, "total", assay__profile_model_bytes(it) / ASSAY__BYTES_IN_MB);
    assay__json_end(json);
}

static void write_memory(assay__json *json, const assay_record *record)
{
    assay__json_object(json, "memory");
    assay__json_reading(json, "peak_mb",
                        in_mb(assay__record_figure(record, ASSAY__FIGURE_PROCESS_PEAK, NULL)));
    write_breakdown(json, &record->models[0]);
    assay__json_reading(json, "allocated_mb",
                        in_mb(assay__record_figure(record, ASSAY__FIGURE_PROCESS_NOW, NULL)));
    assay__json_reading(json, "reserved_mb",
                        in_mb(assay__record_figure(record, ASSAY__FIGURE_RESERVED, NULL)));
    assay__json_text(json, "device", assay__profile_setting(record, "device"));
    assay__json_end(json);
}

/* ---- arithmetic ---- */

static void write_flops(assay__json *json, const char *key, const assay_flops *flops)
{
    assay__json_object(json, key);
    assay__json_count(json, "forward", flops->forward);
    assay__json_count(json, "backward", flops->backward);
    assay__json_end(json);
}

static void write_components(assay__json *json, const char *key, const assay__flop_table *table)
{
    assay__json_object(json, key);
    for (size_t i = 0; i < table->count; i++) {
        assay__json_object(json, table->rows[i].name);
        for (int c = 0; c < ASSAY_FLOP_CONVENTIONS; c++)
            write_flops(json, assay_flop_convention_name((assay_flop_convention)c),
                        &table->rows[i].flops[c]);
        assay__json_end(json);
    }
    assay__json_end(json);
}

static void write_conventions(assay__json *json, const assay_record *record,
                              const assay__flop_table *table)
{
    assay__json_object(json, "conventions");
    for (int c = 0; c < ASSAY_FLOP_CONVENTIONS; c++) {
        const char *name = assay_flop_convention_name((assay_flop_convention)c);
        assay_flops total = assay__flop_table_total(table, (assay_flop_convention)c);
        assay__json_object(json, name);
        assay__json_count(json, "forward", total.forward);
        assay__json_count(json, "backward", total.backward);
        assay__json_row(json, "left_out");
        for (size_t i = 0; i < record->figure_count; i++)
            if (assay__figure_leaves_out(&record->figures[i], name))
                assay__json_text(json, NULL, record->figures[i].covers);
        assay__json_end(json);
        assay__json_end(json);
    }
    assay__json_end(json);
}

static assay_reading in_giga(assay_reading reading)
{
    return (assay_reading){reading.value * 1e-9, reading.validity};
}

static assay_reading figure_of(const assay_record *record, const char *name, int pass)
{
    return assay__record_figure(record, name, assay__pass_name(pass));
}

static void write_tables(assay__json *json, const assay_record *record,
                         const assay__flop_table *components, const assay__flop_table *groups)
{
    const assay__complexity *complexity = assay__complexity_of(record->models[0].name);
    assay__json_object(json, "flops");
    assay__json_reading(json, "total_gflops",
                        in_giga(figure_of(record, ASSAY__FIGURE_FLOPS, ASSAY__PASS_FORWARD)));
    assay__json_object(json, "breakdown");
    for (size_t i = 0; i < groups->count; i++)
        assay__json_number(json, groups->rows[i].name,
                           (double)groups->rows[i].flops[ASSAY_FLOPS_ASSAY].forward * 1e-9);
    assay__json_end(json);
    assay__json_reading(json, "backward_gflops",
                        in_giga(figure_of(record, ASSAY__FIGURE_FLOPS, ASSAY__PASS_BACKWARD)));
    write_conventions(json, record, components);
    write_components(json, "groups", groups);
    write_components(json, "components", components);
    assay__json_text(json, "complexity", complexity != NULL ? complexity->forward : NULL);
    assay__json_text(json, "complexity_symbols", complexity != NULL ? complexity->symbols : NULL);
    assay__json_end(json);
}

static assay_status write_arithmetic(assay__json *json, const assay_record *record)
{
    assay__flop_table components, groups = {0};
    assay_reading total = figure_of(record, ASSAY__FIGURE_FLOPS, ASSAY__PASS_FORWARD);
    if (total.validity != ASSAY_VALID) {
        assay__json_reading(json, "flops", total);
        return ASSAY_OK;
    }
    assay_status status = assay__flop_table_make(&record->models[0], false, &components);
    if (status == ASSAY_OK)
        status = assay__flop_table_make(&record->models[0], true, &groups);
    if (status == ASSAY_OK)
        write_tables(json, record, &components, &groups);
    assay__flop_table_release(&components);
    assay__flop_table_release(&groups);
    return status;
}

/* ---- roofline ---- */

static void write_point(assay__json *json, const assay_record *record, int pass)
{
    const char *bound = assay__pass_bound(record, pass);
    assay__json_object(json, assay__pass_name(pass));
    assay__json_reading(json, "gflops", in_giga(figure_of(record, ASSAY__FIGURE_FLOPS, pass)));
    assay__json_reading(json, "gigabytes", in_giga(figure_of(record, ASSAY__FIGURE_BYTES, pass)));
    assay__json_reading(json, "gflops_per_second",
                        in_giga(figure_of(record, ASSAY__FIGURE_RATE, pass)));
    assay__json_reading(json, "intensity", figure_of(record, ASSAY__FIGURE_INTENSITY, pass));
    assay__json_reading(json, "share_of_peak", figure_of(record, ASSAY__FIGURE_SHARE, pass));
    assay__json_reading(json, "roof_gflops_per_second",
                        in_giga(figure_of(record, ASSAY__FIGURE_ROOF, pass)));
    assay__json_text(json, "bound", bound);
    if (bound == NULL)
        assay__json_unavailable(json, "bound", ASSAY_NOT_MEASURED);
    assay__json_end(json);
}

/* Write the times on the processor and on the device, for a model on a device. */
static void write_devices(assay__json *json, const assay_record *record)
{
    assay__json_object(json, "devices");
    assay__json_text(json, "device", assay__profile_setting(record, "model_device"));
    for (int i = 0; i < ASSAY__PASSES; i++) {
        if (assay__pass_times(record, i).count == 0)
            continue;
        assay__json_object(json, assay__pass_name(i));
        assay__json_reading(json, "cpu_seconds", figure_of(record, ASSAY__FIGURE_HOST, i));
        assay__json_reading(json, "device_seconds", assay__pass_times(record, i).mean);
        assay__json_end(json);
    }
    assay__json_end(json);
}

static void write_roofline(assay__json *json, const assay_record *record)
{
    assay_reading flops = assay__record_figure(record, ASSAY__FIGURE_PEAK_FLOPS, NULL);
    assay_reading bytes = assay__record_figure(record, ASSAY__FIGURE_PEAK_BYTES, NULL);
    assay__json_object(json, "roofline");
    if (flops.validity == ASSAY_VALID) {
        assay__json_object(json, "peak");
        assay__json_reading(json, "gflops_per_second", in_giga(flops));
        assay__json_reading(json, "gigabytes_per_second", in_giga(bytes));
        assay__json_number(json, "ridge", flops.value / bytes.value);
        assay__json_text(json, "processor", assay__profile_setting(record, ASSAY__SETTING_PEAK_OF));
        assay__json_text(json, "measured_at",
                         assay__profile_setting(record, ASSAY__SETTING_PEAK_TIME));
        assay__json_end(json);
    } else {
        assay__json_reading(json, "peak", flops);
    }
    for (int i = 0; i < ASSAY__PASSES; i++)
        if (assay__pass_times(record, i).count > 0)
            write_point(json, record, i);
    assay__json_end(json);
}

/* ---- scaling ---- */

static void write_sizes(assay__json *json, const assay_record *record, const assay__axis_view *axis)
{
    const assay_record_subject *subject;
    assay__json_text(json, "parameter", axis->parameter);
    assay__json_row(json, "parameter_values");
    for (size_t at = 0; (subject = assay__axis_next(record, axis, &at)) != NULL;)
        assay__json_number(json, NULL, strtod(assay__parameter_of(subject, axis->parameter), NULL));
    assay__json_end(json);
    assay__json_array(json, "runtime_stats");
    for (size_t at = 0; (subject = assay__axis_next(record, axis, &at)) != NULL;)
        write_subject(json, NULL, subject);
    assay__json_end(json);
}

static void write_growth(assay__json *json, const assay_record *record,
                         const assay__axis_view *axis)
{
    const assay_record_scaling *scaling = axis->scaling;
    const assay__complexity *complexity = assay__complexity_of(axis->model);
    assay_growth *growth = NULL;
    bool fitted = assay__axis_growth(record, axis, &growth) == ASSAY_OK;
    assay__json_text(json, "class", scaling->growth_class);
    assay__json_reading(json, "exponent", scaling->exponent);
    assay__json_reading(json, "low", scaling->low);
    assay__json_reading(json, "high", scaling->high);
    assay__json_flag(json, "conclusive", scaling->conclusive);
    assay__json_text(json, "reason", fitted && growth->reason[0] != '\0' ? growth->reason : NULL);
    assay__json_text(json, "complexity", complexity != NULL ? complexity->forward : NULL);
    assay_growth_free(growth);
}

static void write_encodings(assay__json *json, const assay_record *record,
                            const assay__axis_view *axis)
{
    const assay_record_subject *subject;
    for (size_t at = 0; (subject = assay__axis_next(record, axis, &at)) != NULL;) {
        const char *name = assay__parameter_of(subject, axis->parameter);
        const char *dim = assay__parameter_of(subject, "dim");
        const assay_record_subject *computing = assay__encoding_computing(record, name);
        assay__json_object(json, name);
        assay__json_integer(json, "dim", dim != NULL ? strtoll(dim, NULL, 10) : 0);
        write_subject(json, "forward", subject);
        if (computing != NULL)
            write_subject(json, "computation", computing);
        assay__json_reading(json, "storage_mb", in_mb(assay__encoding_storage(record, name)));
        assay__json_end(json);
    }
}

static void write_scaling(assay__json *json, const assay_record *record)
{
    assay__axis_view axes[ASSAY__AXES_MAX];
    size_t count = assay__axes_view(record, axes, ASSAY__AXES_MAX);
    if (count == 0)
        return;
    assay__json_object(json, "scaling");
    for (size_t i = 0; i < count; i++) {
        assay__json_object(json, axes[i].name);
        if (axes[i].scaling != NULL) {
            write_sizes(json, record, &axes[i]);
            write_growth(json, record, &axes[i]);
        } else {
            write_encodings(json, record, &axes[i]);
        }
        assay__json_end(json);
    }
    assay__json_end(json);
}

/* ---- all ---- */

assay_status assay__profile_write_json(assay__json *json, const assay_record *record)
{
    unsigned parts = assay__profile_parts(record);
    assay_status status = ASSAY_OK;
    assay__json_text(json, "timestamp", record->created);
    write_hardware(json, record);
    write_model(json, record);
    if ((parts & ASSAY__PROFILE_RUNTIME) != 0)
        write_runtime(json, record);
    if ((parts & ASSAY__PROFILE_MEMORY) != 0)
        write_memory(json, record);
    if ((parts & ASSAY__PROFILE_FLOPS) != 0)
        status = write_arithmetic(json, record);
    if ((parts & ASSAY__PROFILE_RUNTIME) != 0 && record->models[0].flop_count > 0)
        write_roofline(json, record);
    if (assay__profile_setting(record, "model_device") != NULL)
        write_devices(json, record);
    write_scaling(json, record);
    return status;
}

assay_status assay__profile_print_json(const void *subject, FILE *stream, assay_error *error)
{
    assay__json json;
    assay__json_init(&json, stream, 0);
    assay__json_object(&json, NULL);
    assay_status status = assay__profile_write_json(&json, subject);
    assay__json_end(&json);
    assay_status written = assay__json_finish(&json);
    status = status == ASSAY_OK ? written : status;
    return status == ASSAY_OK ? ASSAY_OK
                              : assay__fail(error, status, "cannot write the profile: %s",
                                            assay_status_message(status));
}
