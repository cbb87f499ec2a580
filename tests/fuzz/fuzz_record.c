/* The record reader survives any bytes. A record that it accepts can be written and read again, and
 * gives the same text. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/record.h"
#include "record/decode.h"

static char *print(const assay_record *record, size_t *length)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, length);
    if (stream == NULL)
        abort();
    assay_error error;
    if (assay_record_print(record, stream, ASSAY_RECORD_EVENTS | ASSAY_RECORD_COMPACT, &error) !=
        ASSAY_OK) {
        fprintf(stderr, "was read but cannot be written: %s\n", error.message);
        abort();
    }
    fclose(stream);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assay_record *record = NULL, *again = NULL;
    assay_error error = {0};
    if (assay__record_parse((const char *)data, size, &error, &record) != ASSAY_OK) {
        if (error.message[0] == '\0' || strchr(error.message, '\n') != NULL || record != NULL)
            abort();
        return 0;
    }
    size_t length = 0, length_again = 0;
    char *text = print(record, &length);
    if (assay__record_parse(text, length, &error, &again) != ASSAY_OK) {
        fprintf(stderr, "was written but cannot be read: %s\n", error.message);
        abort();
    }
    char *text_again = print(again, &length_again);
    if (length != length_again || memcmp(text, text_again, length) != 0)
        abort();
    free(text_again);
    free(text);
    assay_record_free(again);
    assay_record_free(record);
    return 0;
}
