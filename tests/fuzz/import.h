/* Shared by the fuzz targets of the importers: an import survives any JSON, and says in one line
 * what it refuses. A file that it accepts gives a record that can be written and read again. */
#ifndef ASSAY_TESTS_FUZZ_IMPORT_H
#define ASSAY_TESTS_FUZZ_IMPORT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/decode.h"
#include "record/import.h"

typedef assay_status fuzz_importer(assay__decoder *d, const json_t *top);

static inline void fuzz_written(const assay_record *record)
{
    char *text = NULL;
    size_t length = 0;
    assay_error error;
    assay_record *again = NULL;
    FILE *stream = open_memstream(&text, &length);
    if (stream == NULL || assay_record_print(record, stream, 0, &error) != ASSAY_OK)
        abort();
    fclose(stream);
    if (assay__record_parse(text, length, &error, &again) != ASSAY_OK ||
        again->subject_count != record->subject_count)
        abort();
    assay_record_free(again);
    free(text);
}

static inline int fuzz_import(const uint8_t *data, size_t size, fuzz_importer *import)
{
    assay_error error = {0};
    assay__decoder d = {.error = &error};
    json_t *top = NULL;
    if (assay__decode_syntax(&d, (const char *)data, size, &top) != ASSAY_OK)
        return 0;
    if (assay_record_new(&d.record) != ASSAY_OK)
        abort();
    if (import(&d, top) == ASSAY_OK)
        fuzz_written(d.record);
    else if (error.message[0] == '\0' || strchr(error.message, '\n') != NULL)
        abort();
    assay_record_free(d.record);
    json_decref(top);
    return 0;
}

#endif
