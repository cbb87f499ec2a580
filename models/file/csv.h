/* Tables of numbers, plain or compressed by gzip, read row by row.
 *
 * Commas or blanks separate; no header, no quotes; empty lines are skipped. A row costs memory for
 * itself only, however large the file or what it unpacks to. */
#ifndef ASSAY_MODELS_FILE_CSV_H
#define ASSAY_MODELS_FILE_CSV_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include "assay/status.h"

enum { ASSAY__CSV_MAX_COLUMNS = 65536, ASSAY__CSV_NAME = 256 };

typedef struct assay__csv { /* all zero: closed */
    char name[ASSAY__CSV_NAME];
    uint64_t line; /* of the row read last, from 1 */
    double *row;   /* finite numbers */
    size_t count;  /* of them; 0 at the end of the file */
    /* Private. */
    size_t capacity;
    gzFile stream; /* NULL: the bytes are those given */
    const unsigned char *at, *end;
    locale_t locale;
    assay_status status; /* a failure sticks */
    bool newline;        /* the last byte read ended a line */
    unsigned char block[16384];
} assay__csv;

ASSAY_MUST_USE assay_status assay__csv_open(assay__csv *csv, const char *path, assay_error *error);
/* Over bytes in memory, which stay the caller's. */
ASSAY_MUST_USE assay_status assay__csv_open_bytes(assay__csv *csv, const char *name,
                                                  const void *bytes, size_t size,
                                                  assay_error *error);
void assay__csv_release(assay__csv *csv);

/* The next row into csv->row and csv->count. ASSAY_E_FORMAT names file and line. */
ASSAY_MUST_USE assay_status assay__csv_next(assay__csv *csv, assay_error *error);

#endif
