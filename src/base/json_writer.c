/* The JSON writer collects its bytes in a small buffer of its own and passes them to the stream
 * when the buffer is full. The per-character calls of stdio would take the stream's lock every
 * time. */
#include "base/json_writer.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

void assay__json_init(assay__json *json, FILE *stream, unsigned flags)
{
    json->stream = stream;
    json->compact = (flags & ASSAY__JSON_COMPACT) != 0;
    json->first = true;
    json->depth = 0;
    json->row = 0;
    json->arrays = 0;
    json->missing_count = 0;
    json->status = ASSAY_OK;
    json->used = 0;
}

static void fail(assay__json *json, assay_status status)
{
    if (json->status == ASSAY_OK)
        json->status = status;
}

static void flush(assay__json *json)
{
    if (json->used > 0 && fwrite(json->buffer, 1, json->used, json->stream) != json->used)
        fail(json, ASSAY_E_IO);
    json->used = 0;
}

static void put(assay__json *json, const char *bytes, size_t length)
{
    while (length > 0) {
        if (json->used == sizeof json->buffer)
            flush(json);
        size_t room = sizeof json->buffer - json->used;
        size_t step = length < room ? length : room;
        memcpy(json->buffer + json->used, bytes, step);
        json->used += step;
        bytes += step;
        length -= step;
    }
}

static void put_char(assay__json *json, char byte)
{
    if (json->used == sizeof json->buffer)
        flush(json);
    json->buffer[json->used++] = byte;
}

static void put_line(assay__json *json)
{
    put_char(json, '\n');
    for (unsigned i = 0; i < json->depth; i++)
        put(json, "  ", 2);
}

static void put_escape(assay__json *json, unsigned char byte)
{
    static const char digits[] = "0123456789abcdef";
    static const char named[] = "\b\f\n\r\t\"\\", letters[] = "bfnrt\"\\";
    const char *found = byte == '\0' ? NULL : strchr(named, byte);
    put_char(json, '\\');
    if (found != NULL) {
        put_char(json, letters[found - named]);
    } else {
        put(json, "u00", 3);
        put_char(json, digits[byte >> 4]);
        put_char(json, digits[byte & 15]);
    }
}

static void put_string(assay__json *json, const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t length = strlen(text), clean = 0; /* clean: start of the bytes not yet written */
    put_char(json, '"');
    for (size_t i = 0; i < length;) {
        unsigned char byte = bytes[i];
        size_t step = byte < 0x80 ? 1 : assay__text_sequence(text + i, length - i);
        if (step > 0 && byte >= 0x20 && byte != '"' && byte != '\\' && byte != 0x7F) {
            i += step;
            continue;
        }
        put(json, text + clean, i - clean);
        if (step == 0)
            put(json, "\xEF\xBF\xBD", 3);
        else
            put_escape(json, byte);
        clean = ++i;
    }
    put(json, text + clean, length - clean);
    put_char(json, '"');
}

static bool in_array(const assay__json *json)
{
    return json->depth > 0 && (json->arrays >> (json->depth - 1) & 1) != 0;
}

/* Write everything that stands before a value: comma, line break, key. False if a value is not
 * allowed here or if an earlier call failed. */
static bool lead(assay__json *json, const char *key)
{
    bool keyed = json->depth > 0 && !in_array(json);
    if (keyed != (key != NULL) || (json->depth == 0 && !json->first))
        fail(json, ASSAY_E_STATE);
    if (json->status != ASSAY_OK)
        return false;
    bool one_line = json->compact || json->row > 0;
    if (!json->first)
        put(json, ", ", one_line && !json->compact ? 2 : 1);
    if (json->depth > 0 && !one_line)
        put_line(json);
    if (key != NULL) {
        put_string(json, key);
        put(json, ": ", json->compact ? 1 : 2);
    }
    json->first = false;
    return true;
}

static void open_container(assay__json *json, const char *key, bool array)
{
    if (json->depth >= ASSAY__JSON_MAX_DEPTH)
        fail(json, ASSAY_E_LIMIT);
    if (!lead(json, key))
        return;
    put_char(json, array ? '[' : '{');
    uint64_t bit = (uint64_t)1 << json->depth;
    json->arrays = array ? json->arrays | bit : json->arrays & ~bit;
    json->depth++;
    json->first = true;
}

void assay__json_object(assay__json *json, const char *key)
{
    open_container(json, key, false);
}

void assay__json_array(assay__json *json, const char *key)
{
    open_container(json, key, true);
}

void assay__json_row(assay__json *json, const char *key)
{
    open_container(json, key, true);
    if (json->status == ASSAY_OK && json->row == 0)
        json->row = json->depth;
}

/* The reasons noted for the innermost object are the newest entries of the list, because the
 * entries of inner objects were removed when those objects closed. */
static void write_unavailable(assay__json *json)
{
    unsigned first = json->missing_count;
    while (first > 0 && json->missing[first - 1].depth == json->depth)
        first--;
    if (first == json->missing_count)
        return;
    unsigned last = json->missing_count;
    json->missing_count = first;
    assay__json_object(json, "unavailable");
    for (unsigned i = first; i < last; i++)
        assay__json_text(json, json->missing[i].key, assay_validity_text(json->missing[i].why));
    assay__json_end(json);
}

void assay__json_end(assay__json *json)
{
    if (json->depth == 0)
        fail(json, ASSAY_E_STATE);
    if (json->status != ASSAY_OK)
        return;
    bool array = in_array(json);
    if (!array)
        write_unavailable(json);
    if (json->status != ASSAY_OK)
        return;
    bool one_line = json->compact || json->row > 0;
    if (json->row == json->depth)
        json->row = 0;
    json->depth--;
    if (!json->first && !one_line)
        put_line(json);
    put_char(json, array ? ']' : '}');
    json->first = false;
}

void assay__json_text(assay__json *json, const char *key, const char *text)
{
    if (!lead(json, key))
        return;
    if (text == NULL)
        put(json, "null", 4);
    else
        put_string(json, text);
}

void assay__json_integer(assay__json *json, const char *key, int64_t value)
{
    if (!lead(json, key))
        return;
    char text[ASSAY__JSON_NUMBER_BYTES];
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    put(json, text, assay__json_format_integer(text, value < 0, magnitude));
}

void assay__json_count(assay__json *json, const char *key, uint64_t value)
{
    if (!lead(json, key))
        return;
    char text[ASSAY__JSON_NUMBER_BYTES];
    put(json, text, assay__json_format_integer(text, false, value));
}

void assay__json_number(assay__json *json, const char *key, double value)
{
    if (!lead(json, key))
        return;
    char text[ASSAY__JSON_NUMBER_BYTES];
    put(json, text, assay__json_format_number(text, value));
}

void assay__json_flag(assay__json *json, const char *key, bool value)
{
    if (lead(json, key))
        put(json, value ? "true" : "false", value ? 4 : 5);
}

void assay__json_null(assay__json *json, const char *key)
{
    if (lead(json, key))
        put(json, "null", 4);
}

void assay__json_unavailable(assay__json *json, const char *key, assay_validity why)
{
    if (json->depth == 0 || in_array(json) || key == NULL)
        fail(json, ASSAY_E_STATE);
    else if (json->missing_count == ASSAY__JSON_MAX_MISSING)
        fail(json, ASSAY_E_LIMIT);
    if (json->status == ASSAY_OK)
        json->missing[json->missing_count++] = (assay__json_missing){key, why, json->depth};
}

void assay__json_reading(assay__json *json, const char *key, assay_reading reading)
{
    bool valid = reading.validity == ASSAY_VALID;
    if (valid && isfinite(reading.value)) {
        assay__json_number(json, key, reading.value);
        return;
    }
    assay__json_null(json, key);
    assay__json_unavailable(json, key, valid ? ASSAY_NOT_MEASURED : reading.validity);
}

assay_status assay__json_finish(assay__json *json)
{
    if (json->depth > 0 || json->first)
        fail(json, ASSAY_E_STATE);
    if (json->status == ASSAY_OK)
        put_char(json, '\n');
    flush(json);
    return json->status;
}
