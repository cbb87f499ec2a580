/* Reads CSV (base/csv.h) with a header row. Columns are found by name, and every row must have as
 * many fields as the header. Fields are terminated strings inside the text; they are valid until
 * the text is freed. */
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
    size_t line;      /* the line where the current row starts, from 1 */
    size_t columns;
    char *header[ASSAY__TABLE_MAX_COLUMNS];
    char *field[ASSAY__TABLE_MAX_COLUMNS]; /* of the current row */

    assay__csv csv; /* private */
} assay__table;

/* Start to read `text`, which is overwritten, and read its header. text[length] must be 0. `name`
 * is borrowed. ASSAY_E_FORMAT if there is no header. */
ASSAY_MUST_USE assay_status assay__table_open(assay__table *table, char *text, size_t length,
                                              const char *name, assay_error *error);

/* The index of the column with this name, or -1 if there is none. */
int assay__table_find(const assay__table *table, const char *column);
/* The same, but a missing column is ASSAY_E_FORMAT. */
ASSAY_MUST_USE assay_status assay__table_need(const assay__table *table, const char *column,
                                              assay_error *error, int *index);

/* Read the next row into `field`. At the end of the text, *more is false. */
ASSAY_MUST_USE assay_status assay__table_next(assay__table *table, assay_error *error, bool *more);

/* Convert a whole field from decimal to an integer. ASSAY_E_FORMAT if that is not possible; the
 * message names file, line and column. */
ASSAY_MUST_USE assay_status assay__table_integer(const assay__table *table, int column,
                                                 assay_error *error, int64_t *value);

#endif
