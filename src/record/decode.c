/* Reads a record from JSON. Every record that another program may have written comes in this way.
 *
 * jansson checks the syntax (and UTF-8, duplicate keys, nesting up to 2048) and builds a tree.
 * Every value is checked for its type and range on its way into the structs (decode_value.c), and
 * check.c checks the references between them. A figure from outside may still be wrong. Consumers
 * have to expect odd values (a negative duration, a share above 100 %), but never a reference that
 * points nowhere.
 *
 * Rules: unknown keys are ignored. A reading that is absent, or null without a reason, was not
 * measured. null stands for a plain number that was not finite. Other plain fields must be there.
 */
#include <jansson.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "record/build.h"
#include "record/check.h"
#include "record/decode.h"
#include "record/decode_fields.h"
#include "record/decode_value.h"
#include "record/fields.h"
#include "record/import.h"

/* A malicious file of 300 MB took 6.6 GB in memory. This limit is enough for three million samples.
 */
static const size_t USUAL_MAXIMUM = (size_t)64 << 20;

/* Read the object `key` of the top level, if it is there. */
static assay_status read_section(assay__decoder *d, const json_t *top, const char *key,
                                 const assay__field *fields, void *target)
{
    const json_t *section = json_object_get(top, key);
    if (section == NULL)
        return ASSAY_OK;
    if (!json_is_object(section))
        return assay__decoder_reject_type(d, key, "an object", section);
    assay__decoder_enter(d, key, ASSAY__NO_INDEX);
    assay_status status = assay__decode_fields(d, section, fields, target);
    assay__decoder_leave(d);
    return status;
}

typedef assay_status item_reader(assay__decoder *d, const json_t *item, void *target);

/* Read an array of objects. Each is read by its table of fields, then by `rest` unless that is
 * NULL. */
static assay_status read_items(assay__decoder *d, const json_t *top, const char *key,
                               const assay__field *fields, item_reader *rest, size_t size,
                               void **items, size_t *count)
{
    const json_t *list;
    assay_status status = assay__decode_list(d, top, key, size, &list, count, items);
    for (size_t i = 0; i < *count && status == ASSAY_OK; i++) {
        const json_t *item = json_array_get(list, i);
        void *target = (char *)*items + i * size;
        assay__decoder_enter(d, key, i);
        if (json_is_object(item))
            status = assay__decode_fields(d, item, fields, target);
        else
            status = assay__decoder_reject_type(d, NULL, "an object", item);
        if (status == ASSAY_OK && rest != NULL)
            status = rest(d, item, target);
        assay__decoder_leave(d);
    }
    return status;
}

static assay_status read_buckets(assay__decoder *d, const json_t *item,
                                 assay_record_operation *operation)
{
    const json_t *list;
    void *items;
    size_t count;
    assay_status status =
        assay__decode_list(d, item, "buckets", sizeof(assay_record_bucket), &list, &count, &items);
    assay_record_bucket *buckets = items;
    for (size_t i = 0; i < count && status == ASSAY_OK; i++) {
        const json_t *pair = json_array_get(list, i);
        int64_t number = 0;
        assay__decoder_enter(d, "buckets", i);
        if (!json_is_array(pair) || json_array_size(pair) != 2)
            status = assay__decoder_reject(d, NULL, "a pair [seconds, count] is expected");
        if (status == ASSAY_OK && !json_is_number(json_array_get(pair, 0)))
            status =
                assay__decoder_reject_type(d, NULL, "a number of seconds", json_array_get(pair, 0));
        if (status == ASSAY_OK)
            status = assay__decode_integer(d, NULL, json_array_get(pair, 1), 0, INT64_MAX, &number);
        assay__decoder_leave(d);
        buckets[i].seconds = json_number_value(json_array_get(pair, 0));
        buckets[i].count = (uint64_t)number;
    }
    operation->buckets = buckets;
    operation->bucket_count = count;
    return status;
}

static assay_status read_distribution(assay__decoder *d, const json_t *item, void *target)
{
    assay_record_operation *operation = target;
    assay_status status = read_buckets(d, item, operation);
    if (status != ASSAY_OK)
        return status;
    return assay__decode_numbers(d, item, "samples_seconds", &operation->samples_seconds,
                                 &operation->sample_count);
}

static assay_status read_event(assay__decoder *d, const json_t *row, assay_record_event *event)
{
    if (!json_is_array(row) || json_array_size(row) != 5)
        return assay__decoder_reject(d, NULL,
                                     "[kind, name, lane, start, duration or value] is expected");
    const char *kind = json_string_value(json_array_get(row, 0));
    int found = kind != NULL ? assay__event_kind_of(kind) : 0;
    if (found == 0)
        return assay__decoder_reject(
            d, NULL,
            "\"span\", \"counter\", \"function\", \"kernel\" or \"copy\" is "
            "expected first");
    event->kind = (assay_event_kind)found;
    int64_t name = 0, lane = 0;
    assay_status status =
        assay__decode_integer(d, NULL, json_array_get(row, 1), 0, UINT32_MAX, &name);
    if (status == ASSAY_OK)
        status = assay__decode_integer(d, NULL, json_array_get(row, 2), 0, UINT32_MAX, &lane);
    if (status == ASSAY_OK)
        status = assay__decode_number(d, NULL, json_array_get(row, 3), &event->start_seconds);
    if (status == ASSAY_OK)
        status = assay__decode_number(d, NULL, json_array_get(row, 4),
                                      found == ASSAY_EVENT_COUNTER ? &event->value
                                                                   : &event->duration_seconds);
    event->name = (uint32_t)name;
    event->lane = (uint32_t)lane;
    return status;
}

static assay_status read_events(assay__decoder *d, const json_t *top)
{
    const json_t *list;
    void *items;
    assay_record *record = d->record;
    assay_status status = assay__decode_list(d, top, "events", sizeof *record->events, &list,
                                             &record->event_count, &items);
    record->events = items;
    for (size_t i = 0; i < record->event_count && status == ASSAY_OK; i++) {
        assay__decoder_enter(d, "events", i);
        status = read_event(d, json_array_get(list, i), &record->events[i]);
        assay__decoder_leave(d);
    }
    return status;
}

static assay_status add_parameter(assay_record *record, void *subject, assay_record_fact fact)
{
    return assay_record_add_parameter(record, subject, fact.key, fact.value);
}

static assay_status read_rounds(assay__decoder *d, const json_t *item,
                                assay_record_subject *subject)
{
    const json_t *list;
    void *items;
    size_t count;
    if (json_is_null(json_object_get(item, "rounds")))
        return ASSAY_OK;
    assay_status status =
        assay__decode_list(d, item, "rounds", sizeof(uint32_t), &list, &count, &items);
    uint32_t *rounds = items;
    if (status == ASSAY_OK && list != NULL && count != subject->sample_count)
        return assay__decoder_reject(d, "rounds", "%zu for %zu samples", count,
                                     subject->sample_count);
    for (size_t i = 0; i < count && status == ASSAY_OK; i++) {
        int64_t round = 0;
        assay__decoder_enter(d, "rounds", i);
        status = assay__decode_integer(d, NULL, json_array_get(list, i), 0, UINT32_MAX, &round);
        assay__decoder_leave(d);
        rounds[i] = (uint32_t)round;
    }
    subject->rounds = rounds;
    return status;
}

static assay_status read_measure(assay__decoder *d, const json_t *item, void *target)
{
    assay_record_measure *measure = target;
    return assay__decode_numbers(d, item, "samples", &measure->samples, &measure->sample_count);
}

static assay_status read_looks(assay__decoder *d, const json_t *item, assay_record_subject *subject)
{
    size_t shares = 0;
    assay_status status =
        assay__decode_numbers(d, item, "look_pairs", &subject->look_pairs, &subject->look_count);
    if (status == ASSAY_OK)
        status = assay__decode_numbers(d, item, "look_spent", &subject->look_spent, &shares);
    if (status == ASSAY_OK && shares != subject->look_count)
        return assay__decoder_reject(d, "look_spent", "%zu for %zu looks", shares,
                                     subject->look_count);
    return status;
}

static assay_status read_subject(assay__decoder *d, const json_t *item, void *target)
{
    assay_record_subject *subject = target;
    assay_status status =
        assay__decode_texts(d, item, "command", &subject->command, &subject->command_count);
    if (status == ASSAY_OK)
        status = assay__decode_facts(d, item, "parameters", add_parameter, subject,
                                     ASSAY_RECORD_MAX_PARAMETERS);
    if (status == ASSAY_OK)
        status = assay__decode_numbers(d, item, "samples_seconds", &subject->samples_seconds,
                                       &subject->sample_count);
    if (status == ASSAY_OK)
        status = read_rounds(d, item, subject);
    if (status == ASSAY_OK)
        status = read_looks(d, item, subject);
    void *measures = NULL;
    if (status == ASSAY_OK)
        status = read_items(d, item, "measures", assay__record_measure_fields, read_measure,
                            sizeof *subject->measures, &measures, &subject->measure_count);
    subject->measures = measures;
    return status;
}

static assay_status add_model_setting(assay_record *record, void *model, assay_record_fact fact)
{
    return assay_record_add_model_setting(record, model, fact.key, fact.value);
}

static assay_status read_model(assay__decoder *d, const json_t *item, void *target)
{
    assay_record_model *model = target;
    void *flops = NULL;
    assay_status status = assay__decode_facts(d, item, "settings", add_model_setting, model,
                                              ASSAY_RECORD_MAX_PARAMETERS);
    if (status == ASSAY_OK)
        status = read_items(d, item, "flops", assay__record_flops_fields, NULL,
                            sizeof *model->flops, &flops, &model->flop_count);
    model->flops = flops;
    return status;
}

static assay_status read_series(assay__decoder *d, const json_t *item, void *target)
{
    assay_record_series *series = target;
    size_t places = 0;
    assay_status status = assay__decode_numbers(d, item, "values", &series->values, &series->count);
    if (status == ASSAY_OK)
        status = assay__decode_numbers(d, item, "places", &series->places, &places);
    if (status == ASSAY_OK && series->places != NULL && places != series->count)
        return assay__decoder_reject(d, "places", "%zu for %zu values", places, series->count);
    return status;
}

static assay_status read_process(assay__decoder *d, const json_t *top)
{
    const json_t *object = json_object_get(top, "process");
    if (object == NULL)
        return ASSAY_OK;
    if (!json_is_object(object))
        return assay__decoder_reject_type(d, "process", "an object", object);
    assay_record_process *process = &d->record->process;
    d->record->has_process = true;
    assay_status status = assay__decode_fields(d, top, assay__record_summary_fields, process);
    if (status != ASSAY_OK)
        return status;
    assay__decoder_enter(d, "process", ASSAY__NO_INDEX);
    status = assay__decode_fields(d, object, assay__record_process_fields, process);
    if (status == ASSAY_OK)
        status =
            assay__decode_texts(d, object, "command", &process->command, &process->command_count);
    const json_t *ended = json_object_get(object, "exit_status");
    if (status == ASSAY_OK && ended != NULL && !json_is_null(ended))
        status = assay__decode_small(d, "exit_status", ended, 255, &process->exit_status);
    const json_t *killed = json_object_get(object, "signal");
    if (status == ASSAY_OK && killed != NULL && !json_is_null(killed))
        status = assay__decode_small(d, "signal", killed, INT32_MAX, &process->signal);
    assay__decoder_leave(d);
    return status;
}

static assay_status read_python(assay__decoder *d, const json_t *top)
{
    const json_t *object = json_object_get(top, "python");
    assay_record_python *python = &d->record->python;
    void *functions = NULL, *lines = NULL, *allocations = NULL;
    assay_status status = read_section(d, top, "python", assay__record_python_fields, python);
    if (status != ASSAY_OK || object == NULL)
        return status;
    d->record->has_python = true;
    assay__decoder_enter(d, "python", ASSAY__NO_INDEX);
    status = read_items(d, object, "functions", assay__record_code_fields, NULL,
                        sizeof *python->functions, &functions, &python->function_count);
    if (status == ASSAY_OK)
        status = read_items(d, object, "lines", assay__record_code_fields, NULL,
                            sizeof *python->lines, &lines, &python->line_count);
    if (status == ASSAY_OK)
        status = read_items(d, object, "allocations", assay__record_allocation_fields, NULL,
                            sizeof *python->allocations, &allocations, &python->allocation_count);
    assay__decoder_leave(d);
    python->functions = functions;
    python->lines = lines;
    python->allocations = allocations;
    return status;
}

static assay_status read_gpu(assay__decoder *d, const json_t *top)
{
    const json_t *object = json_object_get(top, "gpu");
    assay_record_gpu *gpu = &d->record->gpu;
    void *kernels = NULL, *copies = NULL, *idle = NULL;
    assay_status status = read_section(d, top, "gpu", assay__record_gpu_fields, gpu);
    if (status != ASSAY_OK || object == NULL)
        return status;
    d->record->has_gpu = true;
    assay__decoder_enter(d, "gpu", ASSAY__NO_INDEX);
    status = read_items(d, object, "kernels", assay__record_kernel_fields, NULL,
                        sizeof *gpu->kernels, &kernels, &gpu->kernel_count);
    if (status == ASSAY_OK)
        status = read_items(d, object, "copies", assay__record_copy_fields, NULL,
                            sizeof *gpu->copies, &copies, &gpu->copy_count);
    if (status == ASSAY_OK)
        status = read_items(d, object, "idle", assay__record_idle_fields, NULL, sizeof *gpu->idle,
                            &idle, &gpu->idle_count);
    assay__decoder_leave(d);
    gpu->kernels = kernels;
    gpu->copies = copies;
    gpu->idle = idle;
    return status;
}

/* Check that this is a record, and of a version that we understand. */
static assay_status read_identity(const assay__decoder *d, const json_t *top)
{
    const char *schema = json_string_value(json_object_get(top, "schema"));
    if (schema == NULL || strcmp(schema, ASSAY__RECORD_SCHEMA) != 0)
        return assay__fail(d->error, ASSAY_E_FORMAT,
                           "%s: not an assay record (\"schema\" is not \"%s\"); "
                           "`assay run --json FILE` writes one",
                           assay__decoder_source(d), ASSAY__RECORD_SCHEMA);
    int64_t version = 0;
    assay_status status = assay__decode_integer(d, "version", json_object_get(top, "version"), 1,
                                                INT64_MAX, &version);
    if (status == ASSAY_OK && version > ASSAY__RECORD_VERSION)
        return assay__fail(d->error, ASSAY_E_VERSION,
                           "%s: schema version %lld is newer than %d, the newest this assay reads; "
                           "update assay",
                           assay__decoder_source(d), (long long)version, ASSAY__RECORD_VERSION);
    return status;
}

static assay_status read_arrays(assay__decoder *d, const json_t *top)
{
    assay_record *record = d->record;
    assay_status status = ASSAY_OK;
#define READ_ITEMS(array, fields, rest, count)                                                     \
    do {                                                                                           \
        void *items = NULL;                                                                        \
        if (status == ASSAY_OK)                                                                    \
            status = read_items(d, top, #array, fields, rest, sizeof *record->array, &items,       \
                                &record->count);                                                   \
        record->array = items;                                                                     \
    } while (0)
    READ_ITEMS(operations, assay__record_operation_fields, read_distribution, operation_count);
    READ_ITEMS(metrics, assay__record_metric_fields, NULL, metric_count);
    READ_ITEMS(counters, assay__record_counter_fields, NULL, counter_count);
    READ_ITEMS(lanes, assay__record_lane_fields, NULL, lane_count);
    READ_ITEMS(open_spans, assay__record_open_span_fields, NULL, open_span_count);
    READ_ITEMS(subjects, assay__record_subject_fields, read_subject, subject_count);
    READ_ITEMS(processes, assay__record_member_fields, NULL, process_count);
    READ_ITEMS(devices, assay__record_device_fields, NULL, device_count);
    READ_ITEMS(models, assay__record_model_fields, read_model, model_count);
    READ_ITEMS(figures, assay__record_figure_fields, NULL, figure_count);
    READ_ITEMS(series, assay__record_series_fields, read_series, series_count);
    READ_ITEMS(scalings, assay__record_scaling_fields, NULL, scaling_count);
    READ_ITEMS(comparisons, assay__record_comparison_fields, NULL, comparison_count);
    READ_ITEMS(differences, assay__record_difference_fields, NULL, difference_count);
#undef READ_ITEMS
    return status == ASSAY_OK ? read_events(d, top) : status;
}

static assay_status add_fact(assay_record *record, void *context, assay_record_fact fact)
{
    assay__record_adder *const *add = context;
    return (*add)(record, fact.key, fact.value, fact.validity);
}

static assay_status add_setting(assay_record *record, const char *key, const char *value,
                                assay_validity validity)
{
    (void)validity;
    return assay_record_add_setting(record, key, value);
}

static assay_status read_facts(assay__decoder *d, const json_t *top)
{
    struct {
        const char *key;
        assay__record_adder *add;
    } sections[] = {{"machine", assay_record_add_machine},
                    {"build", assay__record_add_build},
                    {"git", assay__record_add_git},
                    {"settings", add_setting}};
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < sizeof sections / sizeof *sections && status == ASSAY_OK; i++)
        status = assay__decode_facts(d, top, sections[i].key, add_fact, &sections[i].add,
                                     ASSAY_RECORD_MAX_FACTS);
    return status;
}

static assay_status read_record(assay__decoder *d, const json_t *top)
{
    assay_record *record = d->record;
    assay_status status = read_identity(d, top);
    record->assay_version = NULL; /* the writer's version, not ours */
    if (status == ASSAY_OK)
        status = assay__decode_fields(d, top, assay__record_fields, record);
    const json_t *total = json_object_get(top, "total_seconds"); /* absent without spans */
    if (status == ASSAY_OK && total != NULL)
        status = assay__decode_number(d, "total_seconds", total, &record->total_seconds);
    if (status == ASSAY_OK)
        status = read_process(d, top);
    if (status == ASSAY_OK)
        status = read_python(d, top);
    if (status == ASSAY_OK)
        status = read_gpu(d, top);
    if (status == ASSAY_OK)
        status = read_facts(d, top);
    if (status == ASSAY_OK)
        status = read_section(d, top, "clock", assay__record_clock_fields, &record->clock);
    if (status == ASSAY_OK)
        status =
            read_section(d, top, "integrity", assay__record_integrity_fields, &record->integrity);
    if (status == ASSAY_OK)
        status = read_arrays(d, top);
    return status;
}

static assay_status read_any(assay__decoder *d, const json_t *top)
{
    static const struct {
        bool (*recognise)(const json_t *top);
        assay_status (*import)(assay__decoder *d, const json_t *top);
    } formats[] = {
        {assay__is_google_benchmark, assay__import_google_benchmark},
        {assay__is_hyperfine, assay__import_hyperfine},
        {assay__is_pyperf, assay__import_pyperf},
    };
    if (json_object_get(top, "schema") != NULL)
        return read_record(d, top);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].recognise(top))
            return formats[i].import(d, top);
    return assay__fail(d->error, ASSAY_E_FORMAT,
                       "%s: neither an assay record nor JSON of Google Benchmark, hyperfine or "
                       "pyperf",
                       assay__decoder_source(d));
}

typedef assay_status top_reader(assay__decoder *d, const json_t *top);

static assay_status decode(const char *source, const char *json, size_t length, top_reader *read,
                           assay_error *error, assay_record **record)
{
    assay__decoder d = {.source = source, .error = error};
    json_t *top = NULL;
    *record = NULL;
    assay_status status = assay__decode_syntax(&d, json, length, &top);
    if (status == ASSAY_E_FORMAT && read == read_any)
        status = assay__import_syntax(&d, json, length, &top);
    if (status != ASSAY_OK)
        return status;
    if (error != NULL) /* clear the first attempt; an importer may set it again */
        error->status = ASSAY_OK;
    status = assay_record_new(&d.record);
    if (status != ASSAY_OK) {
        status = assay__decoder_out_of_memory(&d);
        goto cleanup;
    }
    status = read(&d, top);
    if (status == ASSAY_OK)
        status = assay__record_check(d.record, assay__decoder_source(&d), ASSAY_E_FORMAT, error);
    if (status == ASSAY_OK) {
        *record = d.record;
        d.record = NULL;
    }
cleanup:
    assay_record_free(d.record);
    json_decref(top);
    return status;
}

static assay_status decode_file(const char *path, top_reader *read, assay_error *error,
                                assay_record **record)
{
    assay__buffer buffer;
    const char *name;
    *record = NULL;
    assay__buffer_init(&buffer, assay__file_maximum(USUAL_MAXIMUM));
    assay_status status = assay__file_read_input(path, &buffer, error, &name);
    if (status == ASSAY_E_LIMIT)
        status = assay__fail(error, status,
                             "'%s' is larger than the %zu bytes that are read; allow more with "
                             "--max-input or ASSAY_MAX_INPUT (2G)",
                             name, buffer.maximum);
    if (status == ASSAY_OK)
        status = decode(name, buffer.data, buffer.length, read, error, record);
    assay__buffer_release(&buffer);
    return status;
}

assay_status assay__record_parse(const char *json, size_t length, assay_error *error,
                                 assay_record **record)
{
    return decode(NULL, json, length, read_record, error, record);
}

assay_status assay_record_read(const char *path, assay_error *error, assay_record **record)
{
    return decode_file(path, read_record, error, record);
}

assay_status assay_record_load(const char *path, assay_error *error, assay_record **record)
{
    return decode_file(path, read_any, error, record);
}

assay_status assay__record_import(const char *json, size_t length, assay_error *error,
                                  assay_record **record)
{
    return decode(NULL, json, length, read_any, error, record);
}
