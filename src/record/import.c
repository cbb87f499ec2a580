/* Helpers that the importers of other tools' results share. */
#include "record/import.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/json_writer.h"

/* The number of bytes of NaN or Infinity at the beginning of `text`, or 0 if neither is there. */
static size_t wordless_number(const char *text, size_t available)
{
    static const char *const words[] = {"NaN", "-NaN", "Infinity", "-Infinity"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);
        if (length <= available && memcmp(text, words[i], length) == 0)
            return length;
    }
    return 0;
}

/* The number of bytes of the string at the beginning of `text`, quotes included. All bytes, if it
 * has no end. */
static size_t string_length(const char *text, size_t available)
{
    size_t at = 1;
    while (at < available && text[at] != '"')
        at += text[at] == '\\' ? 2 : 1;
    return at < available ? at + 1 : available;
}

assay_status assay__import_syntax(const assay__decoder *d, const char *json, size_t length,
                                  json_t **top)
{
    assay__buffer text;
    assay__buffer_init(&text, 2 * length + 1);
    size_t done = 0;
    for (size_t at = 0; at < length;) {
        size_t wordless = wordless_number(json + at, length - at);
        if (wordless > 0) {
            assay__buffer_append(&text, json + done, at - done);
            assay__buffer_append_text(&text, "null");
            done = at + wordless;
        }
        at += wordless > 0 ? wordless : json[at] == '"' ? string_length(json + at, length - at) : 1;
    }
    assay__buffer_append(&text, json + done, length - done);
    assay_status status = text.status == ASSAY_OK
                              ? assay__decode_syntax(d, text.data, text.length, top)
                              : assay__decoder_out_of_memory(d);
    assay__buffer_release(&text);
    return status;
}

const char *assay__import_scalar(const json_t *value, char text[ASSAY__IMPORT_SCALAR])
{
    if (json_is_string(value))
        return json_string_value(value);
    if (json_is_integer(value))
        snprintf(text, ASSAY__IMPORT_SCALAR, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        assay__json_format_number(text, json_real_value(value));
    else if (json_is_boolean(value))
        snprintf(text, ASSAY__IMPORT_SCALAR, "%s", json_is_true(value) ? "true" : "false");
    else
        text[0] = '\0';
    return text;
}

assay_status assay__import_facts(assay__decoder *d, const json_t *object,
                                 const assay__import_fact *table, assay__record_adder *add)
{
    char scalar[ASSAY__IMPORT_SCALAR];
    for (; table->from != NULL; table++) {
        const char *text = assay__import_scalar(json_object_get(object, table->from), scalar);
        if (text[0] == '\0')
            continue;
        if (add(d->record, table->to, text, ASSAY_VALID) != ASSAY_OK)
            return assay__decoder_out_of_memory(d);
    }
    return ASSAY_OK;
}

assay_status assay__import_time(const assay__decoder *d, const char *key, const json_t *value,
                                double seconds_per_unit, double *seconds)
{
    if (!json_is_number(value))
        return assay__decoder_reject_type(d, key, "a time", value);
    *seconds = json_number_value(value) * seconds_per_unit;
    if (!isfinite(*seconds) || *seconds < 0)
        return assay__decoder_reject(d, key, "%g is not a time", json_number_value(value));
    return ASSAY_OK;
}

assay_status assay__import_subject(assay__decoder *d, const assay_record_subject *subject)
{
    assay_status status = assay_record_add_subject(d->record, subject);
    if (status == ASSAY_E_LIMIT)
        return assay__decoder_reject(d, NULL, "more than %d benchmarks", ASSAY_RECORD_MAX_ITEMS);
    return status == ASSAY_OK ? ASSAY_OK : assay__decoder_out_of_memory(d);
}
