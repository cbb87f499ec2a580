/* One pass: each field is unquoted onto itself (it never grows) and terminated where its separator
 * stood. */
#include "models/road/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Unquote the field at table->at in place, terminate it and step behind its separator. `*last` says
 * whether the row ends here. False: a quote is open or followed by text. */
static bool take_field(assay__table *table, bool *last)
{
    char *from = table->at, *to = from;
    if (from < table->end && *from == '"') {
        for (from++; from < table->end; from++) {
            if (*from == '"' && (from + 1 == table->end || from[1] != '"'))
                break;
            from += *from == '"';
            table->next_line += *from == '\n';
            *to++ = *from;
        }
        if (from == table->end)
            return false;
        from++;
    } else {
        while (from < table->end && *from != ',' && *from != '\n' && *from != '\r')
            *to++ = *from++;
    }
    if (from < table->end && *from == '\r')
        from++;
    *last = from == table->end || *from == '\n';
    if (!*last && *from != ',')
        return false;
    table->next_line += from < table->end && *from == '\n';
    table->at = from < table->end ? from + 1 : from;
    *to = '\0';
    return true;
}

static assay_status take_row(assay__table *table, char **fields, size_t *count, assay_error *error)
{
    table->line = table->next_line;
    *count = 0;
    for (bool last = false; !last;) {
        if (*count == ASSAY__TABLE_MAX_COLUMNS) {
            return assay__fail(error, ASSAY_E_LIMIT, "%s:%zu: more than %d columns", table->name,
                               table->line, ASSAY__TABLE_MAX_COLUMNS);
        }
        fields[(*count)++] = table->at;
        if (!take_field(table, &last)) {
            return assay__fail(error, ASSAY_E_FORMAT, "%s:%zu: a quote is not closed or misplaced",
                               table->name, table->line);
        }
    }
    return ASSAY_OK;
}

/* Skip empty lines; false at the end. */
static bool at_row(assay__table *table)
{
    while (table->at < table->end && (*table->at == '\n' || *table->at == '\r'))
        table->next_line += *table->at++ == '\n';
    return table->at < table->end;
}

assay_status assay__table_open(assay__table *table, char *text, size_t length, const char *name,
                               assay_error *error)
{
    *table = (assay__table){.name = name, .at = text, .end = text + length, .next_line = 1};
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        table->at += 3;
    if (!at_row(table)) {
        return assay__fail(error, ASSAY_E_FORMAT, "%s is empty; it should start with column names",
                           name);
    }
    return take_row(table, table->header, &table->columns, error);
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
    *more = at_row(table);
    if (!*more)
        return ASSAY_OK;
    size_t count;
    assay_status status = take_row(table, table->field, &count, error);
    if (status == ASSAY_OK && count != table->columns) {
        status = assay__fail(error, ASSAY_E_FORMAT, "%s:%zu: %zu fields where the header has %zu",
                             table->name, table->line, count, table->columns);
    }
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
