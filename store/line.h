/* Reads and writes a run as one line of JSON, the form in which histories are exchanged:
 *     {"assay_history": 1, "machine": "build7", "tags": ["v1.0"], "record": {…}}
 * A line may also hold a record alone, or the result of another tool. */
#ifndef ASSAY_STORE_LINE_H
#define ASSAY_STORE_LINE_H

#include <stdio.h>

#include "store/store.h"

enum { ASSAY__LINE_TAGS = 64 };

typedef struct assay__store_line {
    assay_record *record;
    char *machine; /* NULL if the line does not name it */
    char *tags[ASSAY__LINE_TAGS];
    size_t tag_count;
} assay__store_line;

/* Read a line, which the caller releases. ASSAY_E_FORMAT if it is not a run, ASSAY_E_VERSION if a
 * newer assay wrote it. */
ASSAY_MUST_USE assay_status assay__store_line_read(const char *text, size_t length,
                                                   assay_error *error, assay__store_line *line);
void assay__store_line_release(assay__store_line *line);

/* Write a run of the store as one line, with its newline. */
ASSAY_MUST_USE assay_status assay__store_line_write(assay__store *store,
                                                    const assay__store_run *run, FILE *stream,
                                                    assay_error *error);

#endif
