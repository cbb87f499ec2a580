/* Reads single JSON values. The place of a value is kept as pointers and indices, and becomes text
 * only if something is wrong with the value, because reading a million events must not format a
 * million paths. */
#include "record/decode_value.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "assay/record_build.h"
#include "base/error.h"

void assay__decoder_enter(assay__decoder *d, const char *key, size_t index)
{
    d->steps[d->depth++] = (assay__decoder_step){key, index};
}

void assay__decoder_leave(assay__decoder *d)
{
    d->depth--;
}

/* "operations[3].parent" for key "parent" within operation 3. */
static void format_place(const assay__decoder *d, const char *key, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i <= d->depth && used < size; i++) {
        assay__decoder_step it =
            i < d->depth ? d->steps[i] : (assay__decoder_step){key, ASSAY__NO_INDEX};
        if (it.key != NULL)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%.64s", used > 0 ? "." : "", it.key);
        if (it.index != ASSAY__NO_INDEX && used < size)
            used += (size_t)snprintf(text + used, size - used, "[%zu]", it.index);
    }
}

/* The end of a long path says more than its beginning, and the message must still have room for the
 * place. */
const char *assay__decoder_source(const assay__decoder *d)
{
    enum { SHOWN = 160 };
    if (d->source == NULL)
        return "record";
    size_t length = strlen(d->source);
    return length > SHOWN ? d->source + length - SHOWN : d->source;
}

assay_status assay__decoder_reject(const assay__decoder *d, const char *key, const char *format,
                                   ...)
{
    char place[160], text[160];
    format_place(d, key, place, sizeof place);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return assay__fail(d->error, ASSAY_E_FORMAT, "%s: %s: %s", assay__decoder_source(d), place,
                       text);
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

assay_status assay__decoder_reject_type(const assay__decoder *d, const char *key,
                                        const char *expected, const json_t *found)
{
    return assay__decoder_reject(d, key, "%s is expected, not %s", expected, type_name(found));
}

assay_status assay__decoder_out_of_memory(const assay__decoder *d)
{
    return assay__fail(d->error, ASSAY_E_MEMORY, "%s: out of memory while reading it",
                       assay__decoder_source(d));
}

assay_status assay__decode_text(assay__decoder *d, const char *key, const json_t *value,
                                const char **text)
{
    if (!json_is_string(value))
        return assay__decoder_reject_type(d, key, "a string", value);
    size_t length = json_string_length(value);
    if (length > ASSAY_RECORD_MAX_TEXT)
        return assay__decoder_reject(d, key, "%zu bytes of text, at most %d are accepted", length,
                                     ASSAY_RECORD_MAX_TEXT);
    *text = assay_record_text(d->record, json_string_value(value));
    return *text != NULL ? ASSAY_OK : assay__decoder_out_of_memory(d);
}

/* JSON has one kind of number, so other programs may write the integer 2 as 2.0. Below 2^53 a
 * double holds every integer. */
static bool whole_number(const json_t *value, int64_t *number)
{
    double real = json_real_value(value); /* 0 if it is none */
    bool whole = json_is_real(value) && fabs(real) < 0x1p53 && real == floor(real);
    *number = json_is_integer(value) ? json_integer_value(value) : whole ? (int64_t)real : 0;
    return json_is_integer(value) || whole;
}

assay_status assay__decode_integer(const assay__decoder *d, const char *key, const json_t *value,
                                   int64_t low, int64_t high, int64_t *integer)
{
    int64_t found;
    if (!whole_number(value, &found))
        return assay__decoder_reject_type(d, key, "an integer", value);
    if (found < low || found > high)
        return assay__decoder_reject(d, key, "%lld is not within %lld … %lld", (long long)found,
                                     (long long)low, (long long)high);
    *integer = found;
    return ASSAY_OK;
}

assay_status assay__decode_number(const assay__decoder *d, const char *key, const json_t *value,
                                  double *number)
{
    if (!json_is_number(value) && !json_is_null(value))
        return assay__decoder_reject_type(d, key, "a number", value);
    *number = json_is_null(value) ? NAN : json_number_value(value);
    return ASSAY_OK;
}

/* The reason for `key`'s null in the `unavailable` object of `object`. */
assay_status assay__decode_reason(assay__decoder *d, const json_t *object, const char *key,
                                  assay_validity *why)
{
    const json_t *reasons = json_object_get(object, "unavailable");
    *why = ASSAY_NOT_MEASURED;
    if (reasons == NULL)
        return ASSAY_OK;
    if (!json_is_object(reasons))
        return assay__decoder_reject_type(d, "unavailable", "an object", reasons);
    const json_t *reason = json_object_get(reasons, key);
    if (reason == NULL)
        return ASSAY_OK;
    const char *text = json_string_value(reason);
    for (int i = ASSAY_NOT_MEASURED; text != NULL && i <= ASSAY_NOT_ENOUGH_DATA; i++)
        if (strcmp(text, assay_validity_text((assay_validity)i)) == 0) {
            *why = (assay_validity)i;
            return ASSAY_OK;
        }
    assay__decoder_enter(d, "unavailable", ASSAY__NO_INDEX);
    assay_status status = text == NULL
                              ? assay__decoder_reject_type(d, key, "a string", reason)
                              : assay__decoder_reject(d, key, "'%.40s' is no known reason", text);
    assay__decoder_leave(d);
    return status;
}

assay_status assay__decode_reading(assay__decoder *d, const json_t *object, const char *key,
                                   assay_reading *reading)
{
    const json_t *value = json_object_get(object, key);
    if (json_is_number(value)) {
        *reading = assay_reading_of(json_number_value(value));
        return ASSAY_OK;
    }
    if (value != NULL && !json_is_null(value))
        return assay__decoder_reject_type(d, key, "a number or null", value);
    *reading = assay_reading_missing(ASSAY_NOT_MEASURED);
    return value == NULL ? ASSAY_OK : assay__decode_reason(d, object, key, &reading->validity);
}

assay_status assay__decode_small(const assay__decoder *d, const char *key, const json_t *value,
                                 int32_t high, int32_t *number)
{
    int64_t integer = 0;
    assay_status status = assay__decode_integer(d, key, value, 0, high, &integer);
    *number = (int32_t)integer;
    return status;
}

/* jansson converts numbers by strtod() and supports only decimal points of one byte; some locales
 * have longer ones. The C locale is set for this thread only, and only during this call. */
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

static assay_status reject_syntax(const assay__decoder *d, const json_error_t *found)
{
    enum json_error_code code = json_error_code(found);
    if (code == json_error_out_of_memory)
        return assay__decoder_out_of_memory(d);
    if (code == json_error_end_of_input_expected)
        return assay__fail(d->error, ASSAY_E_FORMAT,
                           "%s:%d:%d: text behind the end of the record; a file holds one record",
                           assay__decoder_source(d), found->line, found->column);
    bool nul = code == json_error_null_character || code == json_error_null_byte_in_key;
    bool cut = code == json_error_premature_end_of_input;
    return assay__fail(
        d->error, cut ? ASSAY_E_TRUNCATED : ASSAY_E_FORMAT, "%s:%d:%d: %s%s",
        assay__decoder_source(d), found->line, found->column,
        cut ? "cut short: " : "not JSON: ", nul ? "\\u0000 within a string" : found->text);
}

assay_status assay__decode_syntax(const assay__decoder *d, const char *json, size_t length,
                                  json_t **top)
{
    json_error_t syntax;
    if (length >= 3 && memcmp(json, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark */
        json += 3;
        length -= 3;
    }
    if (length == 0)
        return assay__fail(d->error, ASSAY_E_TRUNCATED,
                           "%s: empty; a run record in JSON is expected", assay__decoder_source(d));
    if (length >= 2 && memcmp(json, "\x1f\x8b", 2) == 0) /* gzip, as pyperf may write it */
        return assay__fail(d->error, ASSAY_E_FORMAT, "%s: compressed; unpack it with gunzip",
                           assay__decoder_source(d));
    if (length >= 2 && (memcmp(json, "\xff\xfe", 2) == 0 || memcmp(json, "\xfe\xff", 2) == 0))
        return assay__fail(d->error, ASSAY_E_FORMAT, "%s: text in UTF-16; save it as UTF-8",
                           assay__decoder_source(d));
    *top = load(json, length, &syntax);
    return *top != NULL ? ASSAY_OK : reject_syntax(d, &syntax);
}
