/* Reads one line at a time, through zlib or from memory, splits it with base/csv.h, and parses each
 * number in the C locale. */
#include "models/file/number_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"

enum { MAX_NUMBER = 63, MAX_LINE = ASSAY__NUMBER_TABLE_COLUMNS * (MAX_NUMBER + 1) };

static assay_status prepare(assay__number_table *table, const char *name, assay_error *error)
{
    *table = (assay__number_table){.csv = {.separator = ',', .trims = true, .next_line = 1}};
    size_t length = strlen(name); /* the end of a long path says more than its beginning */
    snprintf(table->name, sizeof table->name, "%s",
             length < sizeof table->name ? name : name + length - sizeof table->name + 1);
    assay__buffer_init(&table->text, MAX_LINE);
    table->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return table->locale != (locale_t)0
               ? ASSAY_OK
               : assay__fail(error, ASSAY_E_MEMORY, "out of memory while opening '%s'", name);
}

assay_status assay__number_table_open(assay__number_table *table, const char *path,
                                      assay_error *error)
{
    assay_status status = prepare(table, path, error);
    if (status != ASSAY_OK)
        return status;
    errno = 0;
    table->stream = gzopen(path, "rbe"); /* passes plain files through */
    if (table->stream == NULL) {
        status = errno != 0
                     ? assay__fail_errno(error, "cannot read '%s'", path)
                     : assay__fail(error, ASSAY_E_MEMORY, "out of memory while opening '%s'", path);
        assay__number_table_release(table);
    }
    return status;
}

assay_status assay__number_table_open_bytes(assay__number_table *table, const char *name,
                                            const void *bytes, size_t size, assay_error *error)
{
    assay_status status = prepare(table, name, error);
    table->at = bytes;
    table->end = table->at + size;
    return status;
}

void assay__number_table_release(assay__number_table *table)
{
    if (table->stream != NULL)
        gzclose(table->stream);
    if (table->locale != (locale_t)0)
        freelocale(table->locale);
    assay__buffer_release(&table->text);
    free(table->row);
    table->stream = NULL;
    table->locale = (locale_t)0;
    table->row = NULL;
    table->count = table->capacity = 0;
}

static assay_status fail_memory(const assay__number_table *table, assay_error *error)
{
    return assay__fail(error, ASSAY_E_MEMORY, "out of memory while reading '%s'", table->name);
}

/* If no bytes are left between `at` and `end`, reads more. At the end of the file there are
 * none. */
static assay_status fill(assay__number_table *table, assay_error *error)
{
    if (table->at != table->end || table->stream == NULL)
        return ASSAY_OK;
    int got = gzread(table->stream, table->block, sizeof table->block), code = Z_OK;
    const char *text = got <= 0 ? gzerror(table->stream, &code) : "";
    table->at = table->block;
    table->end = table->block + (got > 0 ? got : 0);
    if (code == Z_OK)
        return ASSAY_OK;
    if (code == Z_ERRNO)
        return assay__fail_errno(error, "cannot read '%s'", table->name);
    if (code == Z_MEM_ERROR)
        return fail_memory(table, error);
    return assay__fail(error, code == Z_BUF_ERROR ? ASSAY_E_TRUNCATED : ASSAY_E_FORMAT,
                       "'%s' cannot be unpacked: %s", table->name, text);
}

/* Gives the next line, with its end, to table->csv. At the end of the file it gives nothing. */
static assay_status take_line(assay__number_table *table, assay_error *error)
{
    bool whole = false;
    table->text.length = 0;
    while (!whole) {
        assay_status status = fill(table, error);
        if (status != ASSAY_OK)
            return status;
        size_t left = (size_t)(table->end - table->at);
        if (left == 0)
            break;
        const char *newline = memchr(table->at, '\n', left);
        size_t length = newline != NULL ? (size_t)(newline + 1 - table->at) : left;
        status = assay__buffer_append(&table->text, table->at, length);
        if (status == ASSAY_E_LIMIT)
            return assay__fail(error, ASSAY_E_FORMAT, "%s, line %zu: longer than %d bytes",
                               table->name, table->csv.next_line, MAX_LINE);
        if (status != ASSAY_OK)
            return fail_memory(table, error);
        table->at += length;
        whole = newline != NULL;
    }
    if (table->text.length > 0) {
        table->csv.at = table->text.data;
        table->csv.end = table->text.data + table->text.length;
    }
    return ASSAY_OK;
}

static assay_status fail_field(const assay__number_table *table, assay_error *error,
                               const char *what, const char *field)
{
    return assay__fail(error, ASSAY_E_FORMAT, "%s, line %zu: '%.*s' %s", table->name, table->line,
                       MAX_NUMBER, field, what);
}

static assay_status append(assay__number_table *table, const char *field, assay_error *error)
{
    char *end;
    if (strlen(field) > MAX_NUMBER)
        return fail_field(table, error, "is too long to be a number", field);
    double value = strtod_l(field, &end, table->locale);
    if (end == field || *end != '\0' || !isfinite(value))
        return fail_field(table, error, "is no finite number", field);
    if (table->count == ASSAY__NUMBER_TABLE_COLUMNS)
        return fail_field(table, error, "stands in column 65537; that is too many", field);
    if (!assay__grow(&table->row, &table->capacity, table->count + 1, sizeof *table->row))
        return fail_memory(table, error);
    table->row[table->count++] = value;
    return ASSAY_OK;
}

/* Appends the numbers of a field, which blanks may separate too. */
static assay_status append_all(assay__number_table *table, char *field, assay_error *error)
{
    assay_status status;
    do {
        char *end = field + strcspn(field, " \t"), *next = end + strspn(end, " \t");
        *end = '\0';
        status = append(table, field, error);
        field = next;
    } while (status == ASSAY_OK && *field != '\0');
    return status;
}

assay_status assay__number_table_next(assay__number_table *table, assay_error *error)
{
    assay__csv *csv = &table->csv;
    assay_status status = ASSAY_OK;
    table->count = 0;
    while (!assay__csv_seek(csv)) {
        status = take_line(table, error);
        if (status != ASSAY_OK || csv->at == csv->end)
            return status;
    }
    table->line = csv->line;
    for (bool last = false; status == ASSAY_OK && !last;) {
        char *field;
        if (!assay__csv_field(csv, &field, &last))
            return assay__fail(error, ASSAY_E_FORMAT,
                               "%s, line %zu: a quote is not closed or misplaced", table->name,
                               table->line);
        status = append_all(table, field, error);
    }
    return status;
}
