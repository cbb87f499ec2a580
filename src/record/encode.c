/* Writes a record as JSON. A trace of 16 million events is written directly from the structs,
 * because a tree of jansson values would take gigabytes. Plain fields are written by the tables in
 * fields.c; this file adds everything that is not a plain field. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "assay/record.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json_writer.h"
#include "record/check.h"
#include "record/fact.h"
#include "record/fields.h"

/* Readers (ours among them) hold integers in 64 signed bits, so larger counts are cut to INT64_MAX.
 */
static void write_count(assay__json *json, const char *key, uint64_t value)
{
    assay__json_count(json, key, value < INT64_MAX ? value : INT64_MAX);
}

static void write_index(assay__json *json, const char *key, int32_t index)
{
    if (index < 0)
        assay__json_null(json, key);
    else
        assay__json_integer(json, key, index);
}

static void write_rare(assay__json *json, const char *key, const assay_reading *reading)
{
    bool lost = reading->validity == ASSAY_VALID && !isfinite(reading->value);
    if (reading->validity != ASSAY_NOT_MEASURED && !lost)
        assay__json_reading(json, key, *reading);
}

static void write_field(assay__json *json, const assay__field *field, const void *source)
{
    const void *at = (const char *)source + field->offset;
    switch (field->type) {
    case ASSAY__FIELD_TEXT:
    case ASSAY__FIELD_OPTIONAL_TEXT:
        assay__json_text(json, field->key, *(const char *const *)at);
        break;
    case ASSAY__FIELD_RARE_TEXT:
        if (*(const char *const *)at != NULL)
            assay__json_text(json, field->key, *(const char *const *)at);
        break;
    case ASSAY__FIELD_COUNT:
        write_count(json, field->key, *(const uint64_t *)at);
        break;
    case ASSAY__FIELD_RARE_COUNT:
        if (*(const uint64_t *)at != 0)
            write_count(json, field->key, *(const uint64_t *)at);
        break;
    case ASSAY__FIELD_INTEGER:
        assay__json_integer(json, field->key, *(const int64_t *)at);
        break;
    case ASSAY__FIELD_DEPTH:
    case ASSAY__FIELD_PARENT:
        write_index(json, field->key, *(const int32_t *)at);
        break;
    case ASSAY__FIELD_INDEX:
        assay__json_count(json, field->key, *(const uint32_t *)at);
        break;
    case ASSAY__FIELD_NUMBER:
        assay__json_number(json, field->key, *(const double *)at);
        break;
    case ASSAY__FIELD_READING:
        assay__json_reading(json, field->key, *(const assay_reading *)at);
        break;
    case ASSAY__FIELD_RARE_READING:
        write_rare(json, field->key, at);
        break;
    case ASSAY__FIELD_FLAG:
        assay__json_flag(json, field->key, *(const bool *)at);
        break;
    case ASSAY__FIELD_RARE_FLAG:
        if (*(const bool *)at)
            assay__json_flag(json, field->key, true);
        break;
    case ASSAY__FIELD_LANE_KIND:
        assay__json_text(json, field->key, assay__lane_kind_name(*(const assay_lane_kind *)at));
        break;
    case ASSAY__FIELD_VERDICT:
        assay__json_text(json, field->key, assay_verdict_text(*(const assay_verdict *)at));
        break;
    }
}

static void write_fields(assay__json *json, const assay__field *fields, const void *source)
{
    for (const assay__field *field = fields; field->key != NULL; field++)
        write_field(json, field, source);
}

/* An array of plain structs. */
static void write_items(assay__json *json, const char *key, const assay__field *fields,
                        const void *items, size_t count, size_t size)
{
    assay__json_array(json, key);
    for (size_t i = 0; i < count; i++) {
        assay__json_object(json, NULL);
        write_fields(json, fields, (const char *)items + i * size);
        assay__json_end(json);
    }
    assay__json_end(json);
}

/* A value that `as_number` accepts is written as a number; if `as_number` is NULL, every value is
 * written as text. The reasons for missing facts are written here, because
 * assay__json_unavailable() holds only a limited number of them. */
static void write_facts(assay__json *json, const char *key, const assay_record_fact *facts,
                        size_t count,
                        bool (*as_number)(const assay_record_fact *fact, double *number))
{
    size_t missing = 0;
    assay__json_object(json, key);
    for (size_t i = 0; i < count; i++) {
        double number;
        if (as_number != NULL && as_number(&facts[i], &number))
            assay__json_number(json, facts[i].key, number);
        else
            assay__json_text(json, facts[i].key, facts[i].value);
        missing += facts[i].value == NULL;
    }
    if (missing > 0) {
        assay__json_object(json, "unavailable");
        for (size_t i = 0; i < count; i++)
            if (facts[i].value == NULL)
                assay__json_text(json, facts[i].key, assay_validity_text(facts[i].validity));
        assay__json_end(json);
    }
    assay__json_end(json);
}

static void write_command(assay__json *json, const char *const *command, size_t count)
{
    assay__json_row(json, "command");
    for (size_t i = 0; i < count; i++)
        assay__json_text(json, NULL, command[i] != NULL ? command[i] : "");
    assay__json_end(json);
}

static void write_numbers(assay__json *json, const char *key, const double *numbers, size_t count)
{
    assay__json_row(json, key);
    for (size_t i = 0; i < count; i++)
        assay__json_number(json, NULL, numbers[i]);
    assay__json_end(json);
}

static void write_process(assay__json *json, const assay_record_process *process)
{
    write_fields(json, assay__record_summary_fields, process);
    assay__json_object(json, "process");
    write_command(json, process->command, process->command_count);
    bool killed = process->signal != 0;
    if (process->finished && !killed)
        assay__json_integer(json, "exit_status", process->exit_status);
    else
        assay__json_null(json, "exit_status");
    if (killed)
        assay__json_integer(json, "signal", process->signal);
    else
        assay__json_null(json, "signal");
    write_fields(json, assay__record_process_fields, process);
    assay__json_end(json);
}

static void write_python(assay__json *json, const assay_record_python *python)
{
    assay__json_object(json, "python");
    write_fields(json, assay__record_python_fields, python);
    write_items(json, "functions", assay__record_code_fields, python->functions,
                python->function_count, sizeof *python->functions);
    write_items(json, "lines", assay__record_code_fields, python->lines, python->line_count,
                sizeof *python->lines);
    write_items(json, "allocations", assay__record_allocation_fields, python->allocations,
                python->allocation_count, sizeof *python->allocations);
    assay__json_end(json);
}

static void write_gpu(assay__json *json, const assay_record_gpu *gpu)
{
    assay__json_object(json, "gpu");
    write_fields(json, assay__record_gpu_fields, gpu);
    write_items(json, "kernels", assay__record_kernel_fields, gpu->kernels, gpu->kernel_count,
                sizeof *gpu->kernels);
    write_items(json, "copies", assay__record_copy_fields, gpu->copies, gpu->copy_count,
                sizeof *gpu->copies);
    write_items(json, "idle", assay__record_idle_fields, gpu->idle, gpu->idle_count,
                sizeof *gpu->idle);
    assay__json_end(json);
}

static void write_operations(assay__json *json, const assay_record *record)
{
    assay__json_array(json, "operations");
    for (size_t i = 0; i < record->operation_count; i++) {
        const assay_record_operation *it = &record->operations[i];
        assay__json_object(json, NULL);
        write_fields(json, assay__record_operation_fields, it);
        assay__json_row(json, "buckets");
        for (size_t k = 0; k < it->bucket_count; k++) {
            assay__json_row(json, NULL);
            assay__json_number(json, NULL, it->buckets[k].seconds);
            write_count(json, NULL, it->buckets[k].count);
            assay__json_end(json);
        }
        assay__json_end(json);
        write_numbers(json, "samples_seconds", it->samples_seconds, it->sample_count);
        assay__json_end(json);
    }
    assay__json_end(json);
}

static void write_measures(assay__json *json, const assay_record_subject *subject)
{
    if (subject->measure_count == 0)
        return;
    assay__json_array(json, "measures");
    for (size_t i = 0; i < subject->measure_count; i++) {
        const assay_record_measure *it = &subject->measures[i];
        assay__json_object(json, NULL);
        write_fields(json, assay__record_measure_fields, it);
        write_numbers(json, "samples", it->samples, it->sample_count);
        assay__json_end(json);
    }
    assay__json_end(json);
}

static void write_subject(assay__json *json, const assay_record_subject *it)
{
    assay__json_object(json, NULL);
    write_fields(json, assay__record_subject_fields, it);
    write_command(json, it->command, it->command_count);
    write_facts(json, "parameters", it->parameters, it->parameter_count, NULL);
    write_numbers(json, "samples_seconds", it->samples_seconds, it->sample_count);
    write_measures(json, it);
    if (it->look_count > 0) {
        write_numbers(json, "look_pairs", it->look_pairs, it->look_count);
        write_numbers(json, "look_spent", it->look_spent, it->look_count);
    }
    if (it->rounds == NULL) {
        assay__json_null(json, "rounds");
    } else {
        assay__json_row(json, "rounds");
        for (size_t i = 0; i < it->sample_count; i++)
            assay__json_count(json, NULL, it->rounds[i]);
        assay__json_end(json);
    }
    assay__json_end(json);
}

/* Only records of benchmarks have these parts. Such a record has the array of comparisons even if
 * it is empty. */
static void write_benchmarks(assay__json *json, const assay_record *record)
{
    if (record->subject_count + record->comparison_count + record->difference_count == 0)
        return;
    assay__json_array(json, "subjects");
    for (size_t i = 0; i < record->subject_count; i++)
        write_subject(json, &record->subjects[i]);
    assay__json_end(json);
    write_items(json, "differences", assay__record_difference_fields, record->differences,
                record->difference_count, sizeof *record->differences);
    write_items(json, "comparisons", assay__record_comparison_fields, record->comparisons,
                record->comparison_count, sizeof *record->comparisons);
}

static void write_model(assay__json *json, const assay_record_model *it)
{
    assay__json_object(json, NULL);
    write_fields(json, assay__record_model_fields, it);
    write_facts(json, "settings", it->settings, it->setting_count, assay__fact_number);
    write_items(json, "flops", assay__record_flops_fields, it->flops, it->flop_count,
                sizeof *it->flops);
    assay__json_end(json);
}

static void write_series(assay__json *json, const assay_record_series *it)
{
    assay__json_object(json, NULL);
    write_fields(json, assay__record_series_fields, it);
    if (it->places != NULL)
        write_numbers(json, "places", it->places, it->count);
    write_numbers(json, "values", it->values, it->count);
    assay__json_end(json);
}

/* The results of studies and profiles. A part without items is left out. */
static void write_findings(assay__json *json, const assay_record *record)
{
    if (record->setting_count > 0)
        write_facts(json, "settings", record->settings, record->setting_count, assay__fact_number);
    if (record->model_count > 0) {
        assay__json_array(json, "models");
        for (size_t i = 0; i < record->model_count; i++)
            write_model(json, &record->models[i]);
        assay__json_end(json);
    }
    if (record->figure_count > 0)
        write_items(json, "figures", assay__record_figure_fields, record->figures,
                    record->figure_count, sizeof *record->figures);
    if (record->series_count > 0) {
        assay__json_array(json, "series");
        for (size_t i = 0; i < record->series_count; i++)
            write_series(json, &record->series[i]);
        assay__json_end(json);
    }
    if (record->scaling_count > 0)
        write_items(json, "scalings", assay__record_scaling_fields, record->scalings,
                    record->scaling_count, sizeof *record->scalings);
}

/* Events are written as rows and not as objects, because a million objects would take 100 MB on
 * disk and seven times as much in the tree of a reader. */
static void write_events(assay__json *json, const assay_record *record)
{
    assay__json_array(json, "events");
    for (size_t i = 0; i < record->event_count; i++) {
        const assay_record_event *it = &record->events[i];
        bool timed = it->kind != ASSAY_EVENT_COUNTER;
        assay__json_row(json, NULL);
        assay__json_text(json, NULL, assay__event_kind_name(it->kind));
        assay__json_count(json, NULL, it->name);
        assay__json_count(json, NULL, it->lane);
        assay__json_number(json, NULL, it->start_seconds);
        assay__json_number(json, NULL, timed ? it->duration_seconds : it->value);
        assay__json_end(json);
    }
    assay__json_end(json);
}

static void write_record(assay__json *json, const assay_record *record, unsigned flags)
{
    assay__json_object(json, NULL);
    assay__json_text(json, "schema", ASSAY__RECORD_SCHEMA);
    assay__json_integer(json, "version", ASSAY__RECORD_VERSION);
    write_fields(json, assay__record_fields, record);
    if (record->has_process)
        write_process(json, &record->process);
    if (record->operation_count + record->metric_count > 0)
        assay__json_number(json, "total_seconds", record->total_seconds);
    write_facts(json, "machine", record->machine, record->machine_count, assay__machine_number);
    write_facts(json, "build", record->build, record->build_count, NULL);
    write_facts(json, "git", record->git, record->git_count, NULL);
    assay__json_object(json, "clock");
    write_fields(json, assay__record_clock_fields, &record->clock);
    assay__json_end(json);
    if (record->process_count > 0)
        write_items(json, "processes", assay__record_member_fields, record->processes,
                    record->process_count, sizeof *record->processes);
    if (record->has_python)
        write_python(json, &record->python);
    if (record->has_gpu)
        write_gpu(json, &record->gpu);
    if (record->device_count > 0)
        write_items(json, "devices", assay__record_device_fields, record->devices,
                    record->device_count, sizeof *record->devices);
    write_operations(json, record);
    write_items(json, "metrics", assay__record_metric_fields, record->metrics, record->metric_count,
                sizeof *record->metrics);
    write_items(json, "counters", assay__record_counter_fields, record->counters,
                record->counter_count, sizeof *record->counters);
    write_items(json, "lanes", assay__record_lane_fields, record->lanes, record->lane_count,
                sizeof *record->lanes);
    if (flags & ASSAY_RECORD_EVENTS)
        write_events(json, record);
    write_items(json, "open_spans", assay__record_open_span_fields, record->open_spans,
                record->open_span_count, sizeof *record->open_spans);
    write_findings(json, record);
    write_benchmarks(json, record);
    assay__json_object(json, "integrity");
    write_fields(json, assay__record_integrity_fields, &record->integrity);
    assay__json_end(json);
    assay__json_end(json);
}

assay_status assay_record_print(const assay_record *record, FILE *stream, unsigned flags,
                                assay_error *error)
{
    assay_status status = assay__record_check(record, NULL, ASSAY_E_ARGUMENT, error);
    if (status != ASSAY_OK)
        return status;
    assay__json json;
    assay__json_init(&json, stream, flags & ASSAY_RECORD_COMPACT ? ASSAY__JSON_COMPACT : 0);
    write_record(&json, record, flags);
    status = assay__json_finish(&json);
    if (status == ASSAY_E_IO || fflush(stream) != 0)
        return assay__fail_errno(error, "cannot write the record");
    if (status != ASSAY_OK)
        return assay__fail(error, status, "cannot write the record: %s",
                           assay_status_message(status));
    return ASSAY_OK;
}

assay_status assay_record_save(const assay_record *record, const char *path, unsigned flags,
                               assay_error *error)
{
    if (strcmp(path, "-") == 0)
        return assay_record_print(record, stdout, flags, error);
    assay__output output;
    assay_status status = assay__output_begin(&output, path, error);
    if (status != ASSAY_OK)
        return status;
    status = assay_record_print(record, output.stream, flags, error);
    if (status == ASSAY_OK)
        return assay__output_commit(&output, error);
    if (ferror(output.stream)) /* the commit fails too, and its message names the file */
        status = assay__output_commit(&output, error);
    else
        assay__output_abort(&output);
    return status;
}
