/* Reads the fields of a table, with one reader for each type of field. Lists get their memory from
 * the record before they are filled. */
#include "record/decode_fields.h"
#include "assay/record_build.h"
#include "base/json_writer.h"

#include <stdio.h>
#include <string.h>

static assay_status read_lane_kind(const assay__decoder *d, const char *key, const json_t *value,
                                   assay_lane_kind *kind)
{
    if (!json_is_string(value))
        return assay__decoder_reject_type(d, key, "a string", value);
    int found = assay__lane_kind_of(json_string_value(value));
    if (found == 0)
        return assay__decoder_reject(d, key, "'%.40s' is no kind of lane",
                                     json_string_value(value));
    *kind = (assay_lane_kind)found;
    return ASSAY_OK;
}

static assay_status read_verdict(const assay__decoder *d, const char *key, const json_t *value,
                                 assay_verdict *verdict)
{
    if (!json_is_string(value))
        return assay__decoder_reject_type(d, key, "a string", value);
    int found = assay__verdict_of(json_string_value(value));
    if (found < 0)
        return assay__decoder_reject(d, key, "'%.40s' is no verdict", json_string_value(value));
    *verdict = (assay_verdict)found;
    return ASSAY_OK;
}

static assay_status read_flag(const assay__decoder *d, const char *key, const json_t *value,
                              bool *flag)
{
    *flag = json_is_true(value);
    return json_is_boolean(value) ? ASSAY_OK
                                  : assay__decoder_reject_type(d, key, "true or false", value);
}

static assay_status read_field(assay__decoder *d, const json_t *object, const assay__field *field,
                               void *at)
{
    const char *key = field->key;
    const json_t *value = json_object_get(object, key);
    int64_t integer = 0;
    assay_status status = ASSAY_OK;
    switch (field->type) {
    case ASSAY__FIELD_OPTIONAL_TEXT:
    case ASSAY__FIELD_RARE_TEXT:
        if (value == NULL || json_is_null(value))
            return ASSAY_OK;
        return assay__decode_text(d, key, value, at);
    case ASSAY__FIELD_TEXT:
        return assay__decode_text(d, key, value, at);
    case ASSAY__FIELD_RARE_COUNT:
        if (value == NULL)
            return ASSAY_OK;
        /* fall through */
    case ASSAY__FIELD_COUNT:
        status = assay__decode_integer(d, key, value, 0, INT64_MAX, &integer);
        *(uint64_t *)at = (uint64_t)integer;
        return status;
    case ASSAY__FIELD_INTEGER:
        return assay__decode_integer(d, key, value, INT64_MIN, INT64_MAX, at);
    case ASSAY__FIELD_PARENT:
        *(int32_t *)at = -1;
        return json_is_null(value) ? ASSAY_OK : assay__decode_small(d, key, value, INT32_MAX, at);
    case ASSAY__FIELD_DEPTH:
        return assay__decode_small(d, key, value, INT32_MAX, at);
    case ASSAY__FIELD_INDEX:
        status = assay__decode_integer(d, key, value, 0, UINT32_MAX, &integer);
        *(uint32_t *)at = (uint32_t)integer;
        return status;
    case ASSAY__FIELD_NUMBER:
        return assay__decode_number(d, key, value, at);
    case ASSAY__FIELD_READING:
    case ASSAY__FIELD_RARE_READING:
        return assay__decode_reading(d, object, key, at);
    case ASSAY__FIELD_FLAG:
        return read_flag(d, key, value, at);
    case ASSAY__FIELD_RARE_FLAG:
        return value == NULL ? ASSAY_OK : read_flag(d, key, value, at);
    case ASSAY__FIELD_LANE_KIND:
        return read_lane_kind(d, key, value, at);
    case ASSAY__FIELD_VERDICT:
        return read_verdict(d, key, value, at);
    }
    return ASSAY_OK;
}

assay_status assay__decode_fields(assay__decoder *d, const json_t *object,
                                  const assay__field *fields, void *target)
{
    assay_status status = ASSAY_OK;
    for (const assay__field *field = fields; field->key != NULL && status == ASSAY_OK; field++)
        status = read_field(d, object, field, (char *)target + field->offset);
    return status;
}

assay_status assay__decode_list(assay__decoder *d, const json_t *object, const char *key,
                                size_t size, const json_t **list, size_t *count, void **items)
{
    *list = json_object_get(object, key);
    *count = 0;
    *items = NULL;
    if (*list == NULL)
        return ASSAY_OK;
    if (!json_is_array(*list))
        return assay__decoder_reject_type(d, key, "an array", *list);
    size_t length = json_array_size(*list);
    if (length > ASSAY_RECORD_MAX_ITEMS)
        return assay__decoder_reject(d, key, "%zu items, at most %d are accepted", length,
                                     ASSAY_RECORD_MAX_ITEMS);
    *items = assay_record_allocate(d->record, length, size);
    *count = length;
    return *items != NULL ? ASSAY_OK : assay__decoder_out_of_memory(d);
}

assay_status assay__decode_numbers(assay__decoder *d, const json_t *object, const char *key,
                                   const double **numbers, size_t *count)
{
    const json_t *list;
    void *items;
    assay_status status = assay__decode_list(d, object, key, sizeof(double), &list, count, &items);
    double *read = items;
    for (size_t i = 0; i < *count && status == ASSAY_OK; i++) {
        assay__decoder_enter(d, key, i);
        status = assay__decode_number(d, NULL, json_array_get(list, i), &read[i]);
        assay__decoder_leave(d);
    }
    *numbers = read;
    return status;
}

assay_status assay__decode_texts(assay__decoder *d, const json_t *object, const char *key,
                                 const char *const **texts, size_t *count)
{
    const json_t *list;
    void *items;
    assay_status status =
        assay__decode_list(d, object, key, sizeof(const char *), &list, count, &items);
    const char **read = items;
    for (size_t i = 0; i < *count && status == ASSAY_OK; i++) {
        assay__decoder_enter(d, key, i);
        status = assay__decode_text(d, NULL, json_array_get(list, i), &read[i]);
        assay__decoder_leave(d);
    }
    *texts = read;
    return status;
}

static assay_status read_fact(assay__decoder *d, json_t *object, const char *key,
                              const json_t *value, assay__fact_adder *add, void *context,
                              size_t maximum)
{
    const char *text = NULL;
    char number[ASSAY__JSON_NUMBER_BYTES];
    assay_validity why = ASSAY_VALID;
    assay_status status = ASSAY_OK;
    if (json_is_null(value))
        status = assay__decode_reason(d, object, key, &why);
    else if (json_is_number(value))
        text = number;
    else
        status = assay__decode_text(d, key, value, &text);
    if (status != ASSAY_OK)
        return status;
    if (json_is_integer(value))
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        assay__json_format_number(number, json_real_value(value));
    if (strlen(key) > ASSAY_RECORD_MAX_TEXT)
        return assay__decoder_reject(d, key, "the key is too long");
    status = add(d->record, context, (assay_record_fact){key, text, why});
    if (status == ASSAY_E_LIMIT)
        return assay__decoder_reject(d, NULL, "more than %zu entries", maximum);
    return status == ASSAY_E_MEMORY ? assay__decoder_out_of_memory(d) : status;
}

assay_status assay__decode_facts(assay__decoder *d, const json_t *top, const char *section,
                                 assay__fact_adder *add, void *context, size_t maximum)
{
    json_t *object = json_object_get(top, section);
    if (object == NULL)
        return ASSAY_OK;
    if (!json_is_object(object))
        return assay__decoder_reject_type(d, section, "an object", object);
    assay_status status = ASSAY_OK;
    const char *key;
    json_t *value;
    assay__decoder_enter(d, section, ASSAY__NO_INDEX);
    json_object_foreach(object, key, value)
    {
        if (strcmp(key, "unavailable") != 0)
            status = read_fact(d, object, key, value, add, context, maximum);
        if (status != ASSAY_OK)
            break;
    }
    assay__decoder_leave(d);
    return status;
}
