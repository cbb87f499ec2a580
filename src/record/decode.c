/* JSON → record: the one file that reads records somebody else may have written.
 *
 * jansson checks the syntax (and UTF-8, duplicate keys, nesting up to 2048) and builds a tree; here
 * every value is checked for its type and range on its way into the structs, and check.c looks at
 * the references between them. Figures from outside are bounded, not believed: consumers still have
 * to expect odd ones (a negative duration, a share above 100 %), but never one that points nowhere.
 *
 * Rules: unknown keys are ignored. A reading that is absent, or null without a reason, was not
 * measured. null stands for a plain number that was not finite. Other plain fields must be there.
 */
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "assay/record.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "record/check.h"
#include "record/fields.h"

static const size_t FILE_MAXIMUM = (size_t)1 << 30;

enum { MAX_STEPS = 4 };
static const size_t NO_INDEX = SIZE_MAX;

/* One step on the way from the top to a value: `key`, `key[index]` or, without key, `[index]`. */
typedef struct step {
    const char *key;
    size_t index;
} step;

typedef struct decoder {
    assay_record *record;
    const char *source; /* of the bytes, for messages; NULL: unnamed */
    assay_error *error;
    step steps[MAX_STEPS]; /* where we are; turned into text only when something is wrong */
    size_t depth;
} decoder;

static void enter(decoder *d, const char *key, size_t index)
{
    d->steps[d->depth++] = (step){key, index};
}

static void leave(decoder *d)
{
    d->depth--;
}

/* "operations[3].parent" for key "parent" within operation 3. */
static void format_place(const decoder *d, const char *key, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i <= d->depth && used < size; i++) {
        step it = i < d->depth ? d->steps[i] : (step){key, NO_INDEX};
        if (it.key != NULL)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%.64s", used > 0 ? "." : "", it.key);
        if (it.index != NO_INDEX && used < size)
            used += (size_t)snprintf(text + used, size - used, "[%zu]", it.index);
    }
}

/* The end of a long path says more than its beginning, and the place must still fit. */
static const char *shown_source(const decoder *d)
{
    enum { SHOWN = 160 };
    if (d->source == NULL)
        return "record";
    size_t length = strlen(d->source);
    return length > SHOWN ? d->source + length - SHOWN : d->source;
}

ASSAY_PRINTF(3, 4)
static assay_status reject(const decoder *d, const char *key, const char *format, ...)
{
    char place[160], text[160];
    format_place(d, key, place, sizeof place);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return assay__fail(d->error, ASSAY_E_FORMAT, "%s: %s: %s", shown_source(d), place, text);
}

static const char *type_name(const json_t *value)
{
    if (value == NULL)
        return "nothing";
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a number with a fraction";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a truth value";
    case JSON_NULL:
        break;
    }
    return "null";
}

static assay_status reject_type(const decoder *d, const char *key, const char *expected,
                                const json_t *found)
{
    return reject(d, key, "%s is expected, not %s", expected, type_name(found));
}

static assay_status out_of_memory(const decoder *d)
{
    return assay__fail(d->error, ASSAY_E_MEMORY, "%s: out of memory while reading it",
                       shown_source(d));
}

static assay_status read_text(decoder *d, const char *key, const json_t *value, const char **text)
{
    if (!json_is_string(value))
        return reject_type(d, key, "a string", value);
    size_t length = json_string_length(value);
    if (length > ASSAY_RECORD_MAX_TEXT)
        return reject(d, key, "%zu bytes of text, at most %d are accepted", length,
                      ASSAY_RECORD_MAX_TEXT);
    *text = assay_record_text(d->record, json_string_value(value));
    return *text != NULL ? ASSAY_OK : out_of_memory(d);
}

static assay_status read_integer(const decoder *d, const char *key, const json_t *value,
                                 int64_t low, int64_t high, int64_t *integer)
{
    if (!json_is_integer(value))
        return reject_type(d, key, "an integer", value);
    int64_t found = json_integer_value(value);
    if (found < low || found > high)
        return reject(d, key, "%lld is not within %lld … %lld", (long long)found, (long long)low,
                      (long long)high);
    *integer = found;
    return ASSAY_OK;
}

static assay_status read_number(const decoder *d, const char *key, const json_t *value,
                                double *number)
{
    if (!json_is_number(value) && !json_is_null(value))
        return reject_type(d, key, "a number", value);
    *number = json_is_null(value) ? NAN : json_number_value(value);
    return ASSAY_OK;
}

/* The reason for `key`'s null in the `unavailable` object of `object`. */
static assay_status read_reason(decoder *d, const json_t *object, const char *key,
                                assay_validity *why)
{
    const json_t *reasons = json_object_get(object, "unavailable");
    *why = ASSAY_NOT_MEASURED;
    if (reasons == NULL)
        return ASSAY_OK;
    if (!json_is_object(reasons))
        return reject_type(d, "unavailable", "an object", reasons);
    const json_t *reason = json_object_get(reasons, key);
    if (reason == NULL)
        return ASSAY_OK;
    const char *text = json_string_value(reason);
    for (int i = ASSAY_NOT_MEASURED; text != NULL && i <= ASSAY_NOT_ENOUGH_DATA; i++)
        if (strcmp(text, assay_validity_text((assay_validity)i)) == 0) {
            *why = (assay_validity)i;
            return ASSAY_OK;
        }
    enter(d, "unavailable", NO_INDEX);
    assay_status status = text == NULL ? reject_type(d, key, "a string", reason)
                                       : reject(d, key, "'%.40s' is no known reason", text);
    leave(d);
    return status;
}

static assay_status read_reading(decoder *d, const json_t *object, const char *key,
                                 assay_reading *reading)
{
    const json_t *value = json_object_get(object, key);
    if (json_is_number(value)) {
        *reading = assay_reading_of(json_number_value(value));
        return ASSAY_OK;
    }
    if (value != NULL && !json_is_null(value))
        return reject_type(d, key, "a number or null", value);
    *reading = assay_reading_missing(ASSAY_NOT_MEASURED);
    return value == NULL ? ASSAY_OK : read_reason(d, object, key, &reading->validity);
}

static assay_status read_small(const decoder *d, const char *key, const json_t *value, int32_t high,
                               int32_t *number)
{
    int64_t integer = 0;
    assay_status status = read_integer(d, key, value, 0, high, &integer);
    *number = (int32_t)integer;
    return status;
}

static assay_status read_lane_kind(const decoder *d, const char *key, const json_t *value,
                                   assay_lane_kind *kind)
{
    if (!json_is_string(value))
        return reject_type(d, key, "a string", value);
    int found = assay__lane_kind_of(json_string_value(value));
    if (found == 0)
        return reject(d, key, "'%.40s' is no kind of lane", json_string_value(value));
    *kind = (assay_lane_kind)found;
    return ASSAY_OK;
}

static assay_status read_field(decoder *d, const json_t *object, const assay__field *field,
                               void *at)
{
    const char *key = field->key;
    const json_t *value = json_object_get(object, key);
    int64_t integer = 0;
    assay_status status = ASSAY_OK;
    switch (field->type) {
    case ASSAY__FIELD_OPTIONAL_TEXT:
        if (value == NULL || json_is_null(value))
            return ASSAY_OK;
        return read_text(d, key, value, at);
    case ASSAY__FIELD_TEXT:
        return read_text(d, key, value, at);
    case ASSAY__FIELD_COUNT:
        status = read_integer(d, key, value, 0, INT64_MAX, &integer);
        *(uint64_t *)at = (uint64_t)integer;
        return status;
    case ASSAY__FIELD_INTEGER:
        return read_integer(d, key, value, INT64_MIN, INT64_MAX, at);
    case ASSAY__FIELD_PARENT:
        *(int32_t *)at = -1;
        return json_is_null(value) ? ASSAY_OK : read_small(d, key, value, INT32_MAX, at);
    case ASSAY__FIELD_DEPTH:
        return read_small(d, key, value, INT32_MAX, at);
    case ASSAY__FIELD_INDEX:
        status = read_integer(d, key, value, 0, UINT32_MAX, &integer);
        *(uint32_t *)at = (uint32_t)integer;
        return status;
    case ASSAY__FIELD_NUMBER:
        return read_number(d, key, value, at);
    case ASSAY__FIELD_READING:
    case ASSAY__FIELD_RARE_READING:
        return read_reading(d, object, key, at);
    case ASSAY__FIELD_FLAG:
        *(bool *)at = json_is_true(value);
        return json_is_boolean(value) ? ASSAY_OK : reject_type(d, key, "true or false", value);
    case ASSAY__FIELD_LANE_KIND:
        return read_lane_kind(d, key, value, at);
    }
    return ASSAY_OK;
}

static assay_status read_fields(decoder *d, const json_t *object, const assay__field *fields,
                                void *target)
{
    assay_status status = ASSAY_OK;
    for (const assay__field *field = fields; field->key != NULL && status == ASSAY_OK; field++)
        status = read_field(d, object, field, (char *)target + field->offset);
    return status;
}

/* The object `key` of the top level, if it is there. */
static assay_status read_section(decoder *d, const json_t *top, const char *key,
                                 const assay__field *fields, void *target)
{
    const json_t *section = json_object_get(top, key);
    if (section == NULL)
        return ASSAY_OK;
    if (!json_is_object(section))
        return reject_type(d, key, "an object", section);
    enter(d, key, NO_INDEX);
    assay_status status = read_fields(d, section, fields, target);
    leave(d);
    return status;
}

/* Room for the members of the array `key`, which may be absent: then *list is NULL and *count 0. */
static assay_status open_list(decoder *d, const json_t *object, const char *key, size_t size,
                              const json_t **list, size_t *count, void **items)
{
    *list = json_object_get(object, key);
    *count = 0;
    *items = NULL;
    if (*list == NULL)
        return ASSAY_OK;
    if (!json_is_array(*list))
        return reject_type(d, key, "an array", *list);
    size_t length = json_array_size(*list);
    if (length > ASSAY_RECORD_MAX_ITEMS)
        return reject(d, key, "%zu items, at most %d are accepted", length, ASSAY_RECORD_MAX_ITEMS);
    *items = assay_record_allocate(d->record, length, size);
    *count = length;
    return *items != NULL ? ASSAY_OK : out_of_memory(d);
}

typedef assay_status item_reader(decoder *d, const json_t *item, void *target);

/* An array of objects, each read by its table, then by `rest` if there is more to it. */
static assay_status read_items(decoder *d, const json_t *top, const char *key,
                               const assay__field *fields, item_reader *rest, size_t size,
                               void **items, size_t *count)
{
    const json_t *list;
    assay_status status = open_list(d, top, key, size, &list, count, items);
    for (size_t i = 0; i < *count && status == ASSAY_OK; i++) {
        const json_t *item = json_array_get(list, i);
        void *target = (char *)*items + i * size;
        enter(d, key, i);
        if (json_is_object(item))
            status = read_fields(d, item, fields, target);
        else
            status = reject_type(d, NULL, "an object", item);
        if (status == ASSAY_OK && rest != NULL)
            status = rest(d, item, target);
        leave(d);
    }
    return status;
}

static assay_status read_buckets(decoder *d, const json_t *item, assay_record_operation *operation)
{
    const json_t *list;
    void *items;
    size_t count;
    assay_status status =
        open_list(d, item, "buckets", sizeof(assay_record_bucket), &list, &count, &items);
    assay_record_bucket *buckets = items;
    for (size_t i = 0; i < count && status == ASSAY_OK; i++) {
        const json_t *pair = json_array_get(list, i);
        int64_t number = 0;
        enter(d, "buckets", i);
        if (!json_is_array(pair) || json_array_size(pair) != 2)
            status = reject(d, NULL, "a pair [seconds, count] is expected");
        if (status == ASSAY_OK && !json_is_number(json_array_get(pair, 0)))
            status = reject_type(d, NULL, "a number of seconds", json_array_get(pair, 0));
        if (status == ASSAY_OK)
            status = read_integer(d, NULL, json_array_get(pair, 1), 0, INT64_MAX, &number);
        leave(d);
        buckets[i].seconds = json_number_value(json_array_get(pair, 0));
        buckets[i].count = (uint64_t)number;
    }
    operation->buckets = buckets;
    operation->bucket_count = count;
    return status;
}

static assay_status read_distribution(decoder *d, const json_t *item, void *target)
{
    assay_record_operation *operation = target;
    assay_status status = read_buckets(d, item, operation);
    if (status != ASSAY_OK)
        return status;
    const json_t *list;
    void *items;
    status = open_list(d, item, "samples_seconds", sizeof(double), &list, &operation->sample_count,
                       &items);
    double *samples = items;
    for (size_t i = 0; i < operation->sample_count && status == ASSAY_OK; i++) {
        enter(d, "samples_seconds", i);
        status = read_number(d, NULL, json_array_get(list, i), &samples[i]);
        leave(d);
    }
    operation->samples_seconds = samples;
    return status;
}

static assay_status read_event(decoder *d, const json_t *row, assay_record_event *event)
{
    if (!json_is_array(row) || json_array_size(row) != 5)
        return reject(d, NULL, "[kind, name, lane, start, duration or value] is expected");
    const char *kind = json_string_value(json_array_get(row, 0));
    int found = kind != NULL ? assay__event_kind_of(kind) : 0;
    if (found == 0)
        return reject(d, NULL, "\"span\" or \"counter\" is expected first");
    event->kind = (assay_event_kind)found;
    int64_t name = 0, lane = 0;
    assay_status status = read_integer(d, NULL, json_array_get(row, 1), 0, UINT32_MAX, &name);
    if (status == ASSAY_OK)
        status = read_integer(d, NULL, json_array_get(row, 2), 0, UINT32_MAX, &lane);
    if (status == ASSAY_OK)
        status = read_number(d, NULL, json_array_get(row, 3), &event->start_seconds);
    if (status == ASSAY_OK)
        status = read_number(d, NULL, json_array_get(row, 4),
                             found == ASSAY_EVENT_SPAN ? &event->duration_seconds : &event->value);
    event->name = (uint32_t)name;
    event->lane = (uint32_t)lane;
    return status;
}

static assay_status read_events(decoder *d, const json_t *top)
{
    const json_t *list;
    void *items;
    assay_record *record = d->record;
    assay_status status =
        open_list(d, top, "events", sizeof *record->events, &list, &record->event_count, &items);
    record->events = items;
    for (size_t i = 0; i < record->event_count && status == ASSAY_OK; i++) {
        enter(d, "events", i);
        status = read_event(d, json_array_get(list, i), &record->events[i]);
        leave(d);
    }
    return status;
}

typedef assay_status fact_adder(assay_record *, const char *, const char *, assay_validity);

static assay_status read_fact(decoder *d, json_t *object, const char *key, const json_t *value,
                              fact_adder *add)
{
    const char *text = NULL;
    assay_validity why = ASSAY_VALID;
    assay_status status =
        json_is_null(value) ? read_reason(d, object, key, &why) : read_text(d, key, value, &text);
    if (status != ASSAY_OK)
        return status;
    if (strlen(key) > ASSAY_RECORD_MAX_TEXT)
        return reject(d, key, "the key is too long");
    status = add(d->record, key, text, why);
    if (status == ASSAY_E_LIMIT)
        return reject(d, NULL, "more than %d entries", ASSAY_RECORD_MAX_FACTS);
    return status == ASSAY_E_MEMORY ? out_of_memory(d) : status;
}

static assay_status read_facts(decoder *d, const json_t *top, const char *section, fact_adder *add)
{
    json_t *object = json_object_get(top, section);
    if (object == NULL)
        return ASSAY_OK;
    if (!json_is_object(object))
        return reject_type(d, section, "an object", object);
    assay_status status = ASSAY_OK;
    const char *key;
    json_t *value;
    enter(d, section, NO_INDEX);
    json_object_foreach(object, key, value)
    {
        if (strcmp(key, "unavailable") != 0)
            status = read_fact(d, object, key, value, add);
        if (status != ASSAY_OK)
            break;
    }
    leave(d);
    return status;
}

static assay_status read_command(decoder *d, const json_t *object, assay_record_process *process)
{
    const json_t *list;
    void *items;
    assay_status status = open_list(d, object, "command", sizeof(const char *), &list,
                                    &process->command_count, &items);
    const char **command = items;
    for (size_t i = 0; i < process->command_count && status == ASSAY_OK; i++) {
        enter(d, "command", i);
        status = read_text(d, NULL, json_array_get(list, i), &command[i]);
        leave(d);
    }
    process->command = command;
    return status;
}

static assay_status read_process(decoder *d, const json_t *top)
{
    const json_t *object = json_object_get(top, "process");
    if (object == NULL)
        return ASSAY_OK;
    if (!json_is_object(object))
        return reject_type(d, "process", "an object", object);
    assay_record_process *process = &d->record->process;
    d->record->has_process = true;
    assay_status status = read_fields(d, top, assay__record_summary_fields, process);
    if (status != ASSAY_OK)
        return status;
    enter(d, "process", NO_INDEX);
    status = read_fields(d, object, assay__record_process_fields, process);
    if (status == ASSAY_OK)
        status = read_command(d, object, process);
    const json_t *ended = json_object_get(object, "exit_status");
    if (status == ASSAY_OK && ended != NULL && !json_is_null(ended))
        status = read_small(d, "exit_status", ended, 255, &process->exit_status);
    const json_t *killed = json_object_get(object, "signal");
    if (status == ASSAY_OK && killed != NULL && !json_is_null(killed))
        status = read_small(d, "signal", killed, INT32_MAX, &process->signal);
    leave(d);
    return status;
}

/* Is this a record, and one that we understand? */
static assay_status read_identity(const decoder *d, const json_t *top)
{
    const char *schema = json_string_value(json_object_get(top, "schema"));
    if (schema == NULL || strcmp(schema, ASSAY__RECORD_SCHEMA) != 0)
        return assay__fail(d->error, ASSAY_E_FORMAT,
                           "%s: not an assay record (\"schema\" is not \"%s\"); "
                           "`assay run --json FILE` writes one",
                           shown_source(d), ASSAY__RECORD_SCHEMA);
    int64_t version = 0;
    assay_status status =
        read_integer(d, "version", json_object_get(top, "version"), 1, INT64_MAX, &version);
    if (status == ASSAY_OK && version > ASSAY__RECORD_VERSION)
        return assay__fail(d->error, ASSAY_E_VERSION,
                           "%s: schema version %lld is newer than %d, the newest this assay reads; "
                           "update assay",
                           shown_source(d), (long long)version, ASSAY__RECORD_VERSION);
    return status;
}

static assay_status read_arrays(decoder *d, const json_t *top)
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
#undef READ_ITEMS
    return status == ASSAY_OK ? read_events(d, top) : status;
}

static assay_status read_record(decoder *d, const json_t *top)
{
    assay_record *record = d->record;
    assay_status status = read_identity(d, top);
    record->assay_version = NULL; /* of the writer, not ours */
    if (status == ASSAY_OK)
        status = read_fields(d, top, assay__record_fields, record);
    if (status == ASSAY_OK)
        status = read_process(d, top);
    if (status == ASSAY_OK)
        status = read_facts(d, top, "machine", assay_record_add_machine);
    if (status == ASSAY_OK)
        status = read_facts(d, top, "build", assay_record_add_build);
    if (status == ASSAY_OK)
        status = read_facts(d, top, "git", assay_record_add_git);
    if (status == ASSAY_OK)
        status = read_section(d, top, "clock", assay__record_clock_fields, &record->clock);
    if (status == ASSAY_OK)
        status =
            read_section(d, top, "integrity", assay__record_integrity_fields, &record->integrity);
    if (status == ASSAY_OK)
        status = read_arrays(d, top);
    return status;
}

/* jansson converts numbers by strtod and knows decimal points of one byte only; some locales have
 * longer ones. The C locale is set for this thread alone, and only here. */
static json_t *load(const char *json, size_t length, json_error_t *error)
{
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t previous = c_locale != (locale_t)0 ? uselocale(c_locale) : (locale_t)0;
    json_t *top = json_loadb(json, length, JSON_REJECT_DUPLICATES, error);
    if (c_locale != (locale_t)0) {
        uselocale(previous);
        freelocale(c_locale);
    }
    return top;
}

static assay_status reject_syntax(const decoder *d, const json_error_t *found)
{
    enum json_error_code code = json_error_code(found);
    if (code == json_error_out_of_memory)
        return out_of_memory(d);
    bool cut = code == json_error_premature_end_of_input;
    return assay__fail(d->error, cut ? ASSAY_E_TRUNCATED : ASSAY_E_FORMAT, "%s:%d:%d: %s%s",
                       shown_source(d), found->line, found->column,
                       cut ? "cut short: " : "not JSON: ", found->text);
}

static assay_status decode(const char *source, const char *json, size_t length, assay_error *error,
                           assay_record **record)
{
    decoder d = {.source = source, .error = error};
    json_error_t syntax;
    *record = NULL;
    if (length == 0)
        return assay__fail(error, ASSAY_E_TRUNCATED, "%s: empty; a run record in JSON is expected",
                           shown_source(&d));
    json_t *top = load(json, length, &syntax);
    if (top == NULL)
        return reject_syntax(&d, &syntax);
    assay_status status = assay_record_new(&d.record);
    if (status != ASSAY_OK) {
        status = out_of_memory(&d);
        goto cleanup;
    }
    status = read_record(&d, top);
    if (status == ASSAY_OK)
        status = assay__record_check(d.record, shown_source(&d), ASSAY_E_FORMAT, error);
    if (status == ASSAY_OK) {
        *record = d.record;
        d.record = NULL;
    }
cleanup:
    assay_record_free(d.record);
    json_decref(top);
    return status;
}

assay_status assay_record_parse(const char *json, size_t length, assay_error *error,
                                assay_record **record)
{
    return decode(NULL, json, length, error, record);
}

assay_status assay_record_read(const char *path, assay_error *error, assay_record **record)
{
    assay__buffer buffer;
    *record = NULL;
    assay__buffer_init(&buffer, FILE_MAXIMUM);
    assay_status status = assay__file_read(path, &buffer, error);
    if (status == ASSAY_OK)
        status = decode(path, buffer.data, buffer.length, error, record);
    assay__buffer_release(&buffer);
    return status;
}
