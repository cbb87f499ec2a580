/* A CSV reader with named columns, on top of base/csv.h. It adds the file and the line to error
 * messages. */
#include "models/road/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static assay_status take_row(assay__table *table, char **fields, size_t *count, assay_error *error)
{
    bool good = assay__csv_row(&table->csv, ASSAY__TABLE_MAX_COLUMNS, fields, count);
    table->line = table->csv.line;
    if (!good)
        return assay__fail(error, ASSAY_E_FORMAT, "%s:%zu: a quote is not closed or misplaced",
                           table->name, table->line);
    if (*count > ASSAY__TABLE_MAX_COLUMNS)
        return assay__fail(error, ASSAY_E_LIMIT, "%s:%zu: more than %d columns", table->name,
                           table->line, ASSAY__TABLE_MAX_COLUMNS);
    return ASSAY_OK;
}

assay_status assay__table_open(assay__table *table, char *text, size_t length, const char *name,
                               assay_error *error)
{
    *table = (assay__table){.name = name};
    assay__csv_init(&table->csv, text, length, ',');
    assay_status status = take_row(table, table->header, &table->columns, error);
    if (status == ASSAY_OK && table->columns == 0)
        status = assay__fail(error, ASSAY_E_FORMAT,
                             "%s is empty; it should start with column names", name);
    return status;
}

int assay__table_find(const assay__table *table, const char *column)
{
    for (size_t i = 0; i < table->columns; i++)
        if (strcmp(table->header[i], column) == 0)
            return (int)i;
    return -1;
}

assay_status assay__table_need(const assay__table *table, const char *column, assay_error *error,
                               int *index)
{
    *index = assay__table_find(table, column);
    if (*index < 0)
        return assay__fail(error, ASSAY_E_FORMAT, "%s has no column '%s'", table->name, column);
    return ASSAY_OK;
}

assay_status assay__table_next(assay__table *table, assay_error *error, bool *more)
{
    size_t count;
    assay_status status = take_row(table, table->field, &count, error);
    *more = count > 0;
    if (status == ASSAY_OK && *more && count != table->columns)
        status = assay__fail(error, ASSAY_E_FORMAT, "%s:%zu: %zu fields where the header has %zu",
                             table->name, table->line, count, table->columns);
    return status;
}

assay_status assay__table_integer(const assay__table *table, int column, assay_error *error,
                                  int64_t *value)
{
    const char *text = table->field[column];
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0) {
        return assay__fail(error, ASSAY_E_FORMAT, "%s:%zu: %s is '%.40s', not a whole number",
                           table->name, table->line, table->header[column], text);
    }
    return ASSAY_OK;
}
