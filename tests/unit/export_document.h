/* Exports records in other tools' formats and reads the documents. Include after cmocka.h. */
#ifndef ASSAY_TESTS_EXPORT_DOCUMENT_H
#define ASSAY_TESTS_EXPORT_DOCUMENT_H

#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "assay/record.h"
#include "assay/report.h"

static inline assay_record *new_record(void)
{
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    return record;
}

/* The document of one record; the caller frees. */
static inline char *exported(const char *name, const assay_record *record)
{
    char *text = NULL;
    size_t length = 0;
    assay_error error = {0};
    FILE *stream = open_memstream(&text, &length);
    if (assay_report_print(record, name, stream, &error) != ASSAY_OK)
        fail_msg("%s: %s", name, error.message);
    fclose(stream);
    return text;
}

static inline json_t *exported_json(const char *name, const assay_record *record)
{
    json_error_t error;
    char *text = exported(name, record);
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (json == NULL)
        fail_msg("%s: %d:%d: %s", name, error.line, error.column, error.text);
    free(text);
    return json;
}

static inline double number_at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

#endif
