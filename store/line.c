/* Reads and writes the lines of line.h. A line with the key "assay_history" is an envelope around a
 * record; every other line is given to the importer of records, which knows other tools too. When a
 * line is written, the document is copied as the store has it, without being parsed. */
#include "store/line.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "record/decode.h"

enum { LINE_VERSION = 1 };

static assay_status read_tags(const json_t *tags, assay_error *error, assay__store_line *line)
{
    size_t index;
    json_t *tag;
    if (tags == NULL)
        return ASSAY_OK;
    if (!json_is_array(tags) || json_array_size(tags) > ASSAY__LINE_TAGS)
        return assay__fail(error, ASSAY_E_FORMAT, "tags: not a list of at most %d texts",
                           ASSAY__LINE_TAGS);
    json_array_foreach(tags, index, tag)
    {
        if (!json_is_string(tag) || json_string_length(tag) == 0 ||
            strpbrk(json_string_value(tag), ",:") != NULL)
            return assay__fail(error, ASSAY_E_FORMAT, "tags[%zu]: not a tag", index);
        line->tags[line->tag_count] = strdup(json_string_value(tag));
        if (line->tags[line->tag_count] == NULL)
            return assay__fail(error, ASSAY_E_MEMORY, "out of memory");
        line->tag_count++;
    }
    return ASSAY_OK;
}

static assay_status read_record(const json_t *record, assay_error *error, assay__store_line *line)
{
    if (!json_is_object(record))
        return assay__fail(error, ASSAY_E_FORMAT, "record: not an object");
    char *text = json_dumps(record, JSON_COMPACT);
    if (text == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory");
    assay_status status = assay__record_import(text, strlen(text), error, &line->record);
    free(text);
    return status;
}

static assay_status read_envelope(const json_t *top, const json_t *version, assay_error *error,
                                  assay__store_line *line)
{
    const json_t *machine = json_object_get(top, "machine");
    if (!json_is_integer(version) || json_integer_value(version) < 1)
        return assay__fail(error, ASSAY_E_FORMAT, "assay_history: not a version");
    if (json_integer_value(version) > LINE_VERSION)
        return assay__fail(error, ASSAY_E_VERSION,
                           "written by a newer assay: version %lld, this one knows up to %d",
                           (long long)json_integer_value(version), LINE_VERSION);
    if (machine != NULL && !json_is_string(machine))
        return assay__fail(error, ASSAY_E_FORMAT, "machine: not a text");
    if (machine != NULL && (line->machine = strdup(json_string_value(machine))) == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory");
    assay_status status = read_tags(json_object_get(top, "tags"), error, line);
    return status == ASSAY_OK ? read_record(json_object_get(top, "record"), error, line) : status;
}

assay_status assay__store_line_read(const char *text, size_t length, assay_error *error,
                                    assay__store_line *line)
{
    *line = (assay__store_line){0};
    json_error_t where;
    json_t *top = json_loadb(text, length, JSON_REJECT_DUPLICATES, &where);
    const json_t *version = json_object_get(top, "assay_history");
    assay_status status = version != NULL
                              ? read_envelope(top, version, error, line)
                              : assay__record_import(text, length, error, &line->record);
    json_decref(top);
    if (status != ASSAY_OK)
        assay__store_line_release(line);
    return status;
}

void assay__store_line_release(assay__store_line *line)
{
    assay_record_free(line->record);
    free(line->machine);
    for (size_t i = 0; i < line->tag_count; i++)
        free(line->tags[i]);
    *line = (assay__store_line){0};
}

/* The tags, which the store gives as "a, b", as a list. No tag contains a comma. */
static json_t *list_tags(const char *tags)
{
    json_t *list = json_array();
    while (*tags != '\0') {
        size_t length = strcspn(tags, ",");
        json_array_append_new(list, json_stringn(tags, length));
        tags += length;
        tags += strspn(tags, ", ");
    }
    return list;
}

assay_status assay__store_line_write(assay__store *store, const assay__store_run *run, FILE *stream,
                                     assay_error *error)
{
    char *document;
    assay_status status = assay__store_read_document(store, run->id, error, &document);
    if (status != ASSAY_OK)
        return status;
    json_t *head = json_pack("{s:i, s:s, s:o}", "assay_history", LINE_VERSION, "machine",
                             run->machine, "tags", list_tags(run->tags));
    char *text = head != NULL ? json_dumps(head, JSON_COMPACT) : NULL;
    if (text != NULL) /* the record is inserted before the last brace */
        fprintf(stream, "%.*s,\"record\":%s}\n", (int)(strlen(text) - 1), text, document);
    else
        status = assay__fail(error, ASSAY_E_MEMORY, "out of memory");
    free(text);
    json_decref(head);
    free(document);
    return status;
}
