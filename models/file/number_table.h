/* Tables of numbers, plain or compressed by gzip, read row by row.
 *
 * Commas or blanks separate the numbers. There is no header, and empty lines are skipped. Only one
 * row is in memory at a time, however large the file or its unpacked content is. */
#ifndef ASSAY_MODELS_FILE_NUMBER_TABLE_H
#define ASSAY_MODELS_FILE_NUMBER_TABLE_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <zlib.h>

#include "assay/status.h"
#include "base/buffer.h"
#include "base/csv.h"

enum { ASSAY__NUMBER_TABLE_COLUMNS = 65536, ASSAY__NUMBER_TABLE_NAME = 256 };

typedef struct assay__number_table { /* all zero: closed */
    char name[ASSAY__NUMBER_TABLE_NAME];
    size_t line;  /* line of the row that was read last, from 1 */
    double *row;  /* finite numbers */
    size_t count; /* numbers in `row`; 0 at the end of the file */
    /* The members below are private. */
    size_t capacity;
    gzFile stream; /* NULL if the table is over bytes in memory */
    const char *at, *end;
    assay__buffer text; /* a line */
    assay__csv csv;     /* over that line */
    locale_t locale;
    char block[16384];
} assay__number_table;

ASSAY_MUST_USE assay_status assay__number_table_open(assay__number_table *table, const char *path,
                                                     assay_error *error);
/* Opens a table over bytes in memory, which stay the caller's. */
ASSAY_MUST_USE assay_status assay__number_table_open_bytes(assay__number_table *table,
                                                           const char *name, const void *bytes,
                                                           size_t size, assay_error *error);
void assay__number_table_release(assay__number_table *table);

/* Reads the next row into table->row and table->count. ASSAY_E_FORMAT names the file and line.
 * After a failure the table can only be released. */
ASSAY_MUST_USE assay_status assay__number_table_next(assay__number_table *table,
                                                     assay_error *error);

#endif
