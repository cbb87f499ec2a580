/* Reads a table of sizes and times as CSV (base/csv.h), tolerant about separators and comments. A
 * row is read in full or refused with its line number; nothing is guessed. The first row is a
 * header only if no field of it is a number, so that a mistyped first value is an error and not a
 * title. */
#include "analyze/growth_csv.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/csv.h"
#include "base/error.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/text.h"

enum { NUMBER_BYTES = 64, COLUMNS_MAX = 1024 };

typedef struct reader {
    const char *name;
    assay__csv csv;
    size_t columns;                   /* in the current row */
    char *fields[COLUMNS_MAX];        /* the first COLUMNS_MAX of them */
    size_t size_index, seconds_index; /* columns, from 0 */
    char grouped[NUMBER_BYTES];       /* the first size that may have a separator of thousands */
    size_t grouped_line;              /* 0: there is none */
    bool has_decimals, has_comma; /* a size has decimals for certain; a decimal comma was read */
    assay_error *error;
    assay_growth_table *table;
    size_t capacity;
} reader;

/* Read the next row. It has no columns at the end of the text. */
static assay_status next_row(reader *self)
{
    if (!assay__csv_row(&self->csv, COLUMNS_MAX, self->fields, &self->columns))
        return assay__fail(self->error, ASSAY_E_FORMAT,
                           "'%s' line %zu: a quote is not closed or misplaced", self->name,
                           self->csv.line);
    self->columns = self->columns < COLUMNS_MAX ? self->columns : COLUMNS_MAX;
    return ASSAY_OK;
}

/* Find the separator of the fields in the line at `text`. */
static char find_separator(const char *text)
{
    static const char candidates[] = {',', ';', '\t'};
    text += strspn(text, " \t");
    for (size_t i = 0; i < sizeof candidates; i++)
        if (memchr(text, candidates[i], strcspn(text, "\r\n")) != NULL)
            return candidates[i];
    return ' ';
}

/* Read a decimal number. A decimal comma is accepted where commas do not separate fields. NaN if it
 * is none. */
static double parse_number(const reader *self, const char *source)
{
    char text[NUMBER_BYTES], *end;
    size_t length = strlen(source);
    if (length == 0 || length >= sizeof text)
        return NAN;
    memcpy(text, source, length + 1);
    char *comma = strchr(text, ',');
    if (self->csv.separator != ',' && comma != NULL && strchr(text, '.') == NULL)
        *comma = '.';
    if (text[strspn(text, "0123456789+-.eE")] != '\0')
        return NAN;
    double value = assay__text_number(text, &end);
    return *end == '\0' ? value : NAN;
}

/* Whether the text is a number, or a word that programs write in place of a number. */
static bool looks_numeric(const reader *self, const char *source)
{
    static const char *const words[] = {"nan", "-nan", "inf", "-inf", "infinity", "null", "na"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(source, words[i]) == 0)
            return true;
    return !isnan(parse_number(self, source));
}

typedef struct header {
    bool present;
    size_t size_index, seconds_index; /* SIZE_MAX if there is no such name */
} header;

static size_t find_name(const reader *self, const char *name)
{
    for (size_t i = 0; i < self->columns; i++)
        if (strcasecmp(self->fields[i], name) == 0)
            return i;
    return SIZE_MAX;
}

static header read_header(const reader *self, const char *size_column, const char *seconds_column)
{
    header found = {.present = true,
                    .size_index = find_name(self, size_column != NULL ? size_column : "n"),
                    .seconds_index =
                        find_name(self, seconds_column != NULL ? seconds_column : "seconds")};
    for (size_t i = 0; i < self->columns; i++)
        found.present = found.present && !looks_numeric(self, self->fields[i]);
    return found;
}

/* Find the column that the caller asked for, by name or by number from 1. Without a request it is
 * the column with the standard name, or the usual column. */
static assay_status find_column(const reader *self, const header *found, size_t by_name,
                                const char *wanted, const char *standard, size_t usual,
                                size_t *column)
{
    char *end = NULL;
    unsigned long number = wanted != NULL ? strtoul(wanted, &end, 10) : 0;
    if (found->present && by_name != SIZE_MAX)
        *column = by_name;
    else if (wanted != NULL && *end == '\0' && number >= 1 && number <= self->columns)
        *column = number - 1;
    else if (wanted == NULL && usual < self->columns && (!found->present || self->columns == 2))
        *column = usual;
    else if (found->present || wanted != NULL)
        return assay__fail(self->error, ASSAY_E_FORMAT,
                           "'%s' line %zu: no column '%s'; name the column in the first line, or "
                           "choose one by name or number",
                           self->name, self->csv.line, wanted != NULL ? wanted : standard);
    else
        return assay__fail(self->error, ASSAY_E_FORMAT,
                           "'%s' line %zu: %zu column; two are needed, n and seconds", self->name,
                           self->csv.line, self->columns);
    return ASSAY_OK;
}

static assay_status find_columns(reader *self, const header *found, const char *size_column,
                                 const char *seconds_column)
{
    assay_status status =
        find_column(self, found, found->size_index, size_column, "n", 0, &self->size_index);
    if (status == ASSAY_OK)
        status = find_column(self, found, found->seconds_index, seconds_column, "seconds", 1,
                             &self->seconds_index);
    if (status == ASSAY_OK && self->size_index == self->seconds_index)
        status = assay__fail(self->error, ASSAY_E_FORMAT,
                             "'%s' line %zu: sizes and times are the same column; choose two by "
                             "name or number",
                             self->name, self->csv.line);
    return status;
}

static assay_status check_number(const reader *self, size_t column, const char *what, double *value)
{
    const char *text = column < self->columns ? self->fields[column] : "";
    *value = parse_number(self, text);
    if (*value > 0 && isfinite(*value))
        return ASSAY_OK;
    if (text[0] == '\0')
        return assay__fail(self->error, ASSAY_E_FORMAT, "'%s' line %zu: %s is missing", self->name,
                           self->csv.line, what);
    return assay__fail(self->error, ASSAY_E_FORMAT, "'%s' line %zu: %s '%.*s' is not a %s",
                       self->name, self->csv.line, what, NUMBER_BYTES - 1, text,
                       looks_numeric(self, text) ? "finite number above 0" : "number");
}

static assay_status append(reader *self, double size, double seconds)
{
    assay_growth_table *table = self->table;
    size_t needed = table->count + 1, capacity = self->capacity;
    if (!assay__grow(&table->sizes, &capacity, needed, sizeof size) ||
        !assay__grow(&table->seconds, &self->capacity, needed, sizeof seconds))
        return assay__fail(self->error, ASSAY_E_MEMORY, "out of memory for %zu rows", needed);
    table->sizes[table->count] = size;
    table->seconds[table->count++] = seconds;
    return ASSAY_OK;
}

/* The separator in a number of the form 1,600: one to three digits, the separator, three digits. 0
 * if the number has another form. */
static char separator_of_thousands(const char *text)
{
    size_t before = strspn(text, "0123456789");
    const char *after = text + before + 1;
    if (before < 1 || before > 3 || text[0] == '0' || (text[before] != ',' && text[before] != '.'))
        return '\0';
    return strspn(after, "0123456789") == 3 && after[3] == '\0' ? text[before] : '\0';
}

/* Note in which way the sizes are written. A spreadsheet may write 1600 as 1,600 or 1.600, which
 * are also decimal numbers. */
static void look_at_separators(reader *self)
{
    const char *size = self->fields[self->size_index];
    self->has_comma = self->has_comma || strchr(size, ',') != NULL ||
                      strchr(self->fields[self->seconds_index], ',') != NULL;
    if (separator_of_thousands(size) == '\0') {
        self->has_decimals = self->has_decimals || strpbrk(size, ",.") != NULL;
    } else if (self->grouped_line == 0) {
        snprintf(self->grouped, sizeof self->grouped, "%s", size);
        self->grouped_line = self->csv.line;
    }
}

/* Refuse sizes that can be read in two ways. A point is a decimal point unless the numbers of the
 * table have decimal commas. A size with other decimals shows what the separator means. */
static assay_status check_separators(const reader *self)
{
    char whole[NUMBER_BYTES];
    if (self->grouped_line == 0 || self->has_decimals || !self->has_comma)
        return ASSAY_OK;
    size_t before = strcspn(self->grouped, ",.");
    snprintf(whole, sizeof whole, "%.*s%s", (int)before, self->grouped, self->grouped + before + 1);
    return assay__fail(self->error, ASSAY_E_FORMAT,
                       "'%s' line %zu: n '%s' may mean %s or a decimal number; write sizes without "
                       "separators of thousands",
                       self->name, self->grouped_line, self->grouped, whole);
}

static assay_status take_row(reader *self)
{
    double n = 0, t = 0;
    assay_status status = check_number(self, self->size_index, "n", &n);
    if (status == ASSAY_OK)
        status = check_number(self, self->seconds_index, "seconds", &t);
    if (status == ASSAY_OK)
        look_at_separators(self);
    return status == ASSAY_OK ? append(self, n, t) : status;
}

static assay_status read_table(reader *self, const char *size_column, const char *seconds_column)
{
    if (!assay__csv_seek(&self->csv))
        return ASSAY_OK;
    self->csv.separator = find_separator(self->csv.at);
    assay_status status = next_row(self);
    if (status != ASSAY_OK)
        return status;
    header found = read_header(self, size_column, seconds_column);
    status = find_columns(self, &found, size_column, seconds_column);
    if (status == ASSAY_OK && found.present)
        status = next_row(self);
    while (status == ASSAY_OK && self->columns > 0) {
        status = take_row(self);
        if (status == ASSAY_OK)
            status = next_row(self);
    }
    return status == ASSAY_OK ? check_separators(self) : status;
}

assay_status assay__growth_csv_parse(char *text, size_t length, const char *name,
                                     const char *size_column, const char *seconds_column,
                                     assay_error *error, assay_growth_table *table)
{
    reader self = {.name = name, .error = error, .table = table};
    *table = (assay_growth_table){0};
    if (length > 0 && memchr(text, '\0', length) != NULL)
        return assay__fail(error, ASSAY_E_FORMAT, "'%s' is no text: it contains zero bytes", name);
    assay__csv_init(&self.csv, text, length, ',');
    self.csv.trims = self.csv.comments = true;
    assay_status status = read_table(&self, size_column, seconds_column);
    if (status != ASSAY_OK)
        assay_growth_table_release(table);
    return status;
}

assay_status assay_growth_table_read(const char *path, const char *size_column,
                                     const char *seconds_column, assay_error *error,
                                     assay_growth_table *table)
{
    if (path == NULL || table == NULL)
        return assay__fail(error, ASSAY_E_ARGUMENT, "path and table must not be NULL");
    *table = (assay_growth_table){0};
    assay__buffer buffer;
    char nothing[1] = "";
    const char *name;
    assay__buffer_init(&buffer, assay__file_maximum(ASSAY_GROWTH_TABLE_MAX_BYTES));
    assay_status status = assay__file_read_input(path, &buffer, error, &name);
    if (status == ASSAY_OK)
        status = assay__growth_csv_parse(buffer.data != NULL ? buffer.data : nothing, buffer.length,
                                         name, size_column, seconds_column, error, table);
    assay__buffer_release(&buffer);
    return status;
}

void assay_growth_table_release(assay_growth_table *table)
{
    free(table->sizes);
    free(table->seconds);
    *table = (assay_growth_table){0};
}
