/* CSV (base/csv.h) with a header: columns found by name, every row with as many fields as the
 * header.
 *
 * Fields are terminated strings inside the text, valid until it is freed. */
#ifndef ASSAY_MODELS_ROAD_TABLE_H
#define ASSAY_MODELS_ROAD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"
#include "base/csv.h"

enum { ASSAY__TABLE_MAX_COLUMNS = 64 };

typedef struct assay__table {
    const char *name; /* of the file, for messages */
    size_t line;      /* where the current row starts, from 1 */
    size_t columns;
    char *header[ASSAY__TABLE_MAX_COLUMNS];
    char *field[ASSAY__TABLE_MAX_COLUMNS]; /* of the current row */

    assay__csv csv; /* private */
} assay__table;

/* text[length] is a terminator. Reads the header. */
ASSAY_MUST_USE assay_status assay__table_open(assay__table *table, char *text, size_t length,
                                              const char *name, assay_error *error);

/* The index of a column, -1 if there is none of that name. */
int assay__table_find(const assay__table *table, const char *column);
/* The same; a missing one is ASSAY_E_FORMAT. */
ASSAY_MUST_USE assay_status assay__table_need(const assay__table *table, const char *column,
                                              assay_error *error, int *index);

/* The next row; *more is false at the end. */
ASSAY_MUST_USE assay_status assay__table_next(assay__table *table, assay_error *error, bool *more);

/* A field as an integer: all of it, decimal. The error names file, line and column. */
ASSAY_MUST_USE assay_status assay__table_integer(const assay__table *table, int column,
                                                 assay_error *error, int64_t *value);

#endif
