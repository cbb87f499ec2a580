/* A run as one line of JSON, the form in which histories are exchanged:
 *     {"assay_history": 1, "machine": "build7", "tags": ["v1.0"], "record": {…}}
 * A record that stands alone on its line is taken as well, also one of another tool. */
#ifndef ASSAY_STORE_LINE_H
#define ASSAY_STORE_LINE_H

#include <stdio.h>

#include "store/store.h"

enum { ASSAY__LINE_TAGS = 64 };

typedef struct assay__store_line {
    assay_record *record;
    char *machine; /* NULL: the line does not say */
    char *tags[ASSAY__LINE_TAGS];
    size_t tag_count;
} assay__store_line;

/* Read a line. ASSAY_E_FORMAT if it is no run, ASSAY_E_VERSION if a newer assay wrote it. */
ASSAY_MUST_USE assay_status assay__store_line_read(const char *text, size_t length,
                                                   assay_error *error, assay__store_line *line);
void assay__store_line_release(assay__store_line *line);

/* Write a run of the store with its newline. */
ASSAY_MUST_USE assay_status assay__store_line_write(assay__store *store,
                                                    const assay__store_run *run, FILE *stream,
                                                    assay_error *error);

#endif
