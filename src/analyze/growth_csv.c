/* A table of sizes and times as CSV: RFC 4180 without line breaks inside fields, more tolerant
 * about separators, comments and line ends. A row is read in full or refused with its line number;
 * nothing is guessed. The first row is a header if no field of it is a number, so that a mistyped
 * first value is an error and not a title. */
#include "analyze/growth_csv.h"

#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"

enum { FIELD_BYTES = 64, FIELDS_MAX = 1024, FIRST_CAPACITY = 64 };
static const char blanks[] = " \t";

typedef struct reader {
    const char *name;
    const char *at, *end; /* what is left to read */
    size_t line;
    char separator;
    size_t size_index, seconds_index; /* columns, from 0 */
    locale_t c_locale;
    assay_error *error;
    assay_growth_table *table;
    size_t capacity;
} reader;

/* A field, trimmed and unquoted. One that was cut is no number: its exponent may be missing. */
typedef struct field {
    char text[FIELD_BYTES];
    size_t length;
    bool cut;
} field;

/* The next line that is neither empty nor a comment; false at the end. Lines end with LF, CR LF or,
 * as spreadsheets on a Mac save them, CR alone. */
static bool next_line(reader *self, const char **first, const char **last)
{
    while (self->at < self->end) {
        const char *start = self->at;
        const char *stop = start + strcspn(start, "\r\n");
        self->at = stop + (stop < self->end) + (stop[0] == '\r' && stop[1] == '\n');
        self->line++;
        start += strspn(start, blanks);
        if (start < stop && *start != '#') {
            *first = start;
            *last = stop;
            return true;
        }
    }
    return false;
}

static void field_append(field *target, char byte)
{
    if (target->length + 1 < sizeof target->text)
        target->text[target->length++] = byte;
    else
        target->cut = true;
}

static void field_finish(field *target, bool quoted)
{
    while (!quoted && target->length > 0 &&
           strchr(blanks, target->text[target->length - 1]) != NULL)
        target->length--;
    target->text[target->length] = '\0';
}

static bool is_separator(const reader *self, char byte)
{
    return byte == self->separator || (self->separator == ' ' && byte == '\t');
}

/* Read one field from *at; true if another one follows on the line. */
static bool next_field(const reader *self, const char **at, const char *last, field *target)
{
    const char *p = *at;
    bool quoted = false;
    target->length = 0;
    target->cut = false;
    while (p < last && (*p == ' ' || (*p == '\t' && self->separator != '\t')))
        p++;
    if (p < last && *p == '"') {
        quoted = true;
        for (p++; p < last && (*p != '"' || (p + 1 < last && p[1] == '"')); p++) {
            if (*p == '"')
                p++;
            field_append(target, *p);
        }
    }
    for (; p < last && !is_separator(self, *p); p++)
        if (!quoted)
            field_append(target, *p);
    field_finish(target, quoted);
    while (self->separator == ' ' && p < last && is_separator(self, *p) && p + 1 < last &&
           is_separator(self, p[1]))
        p++;
    *at = p < last ? p + 1 : p;
    return p < last;
}

static char find_separator(const char *first, const char *last)
{
    static const char candidates[] = {',', ';', '\t'};
    for (size_t i = 0; i < sizeof candidates; i++)
        if (memchr(first, candidates[i], (size_t)(last - first)) != NULL)
            return candidates[i];
    return ' ';
}

/* A decimal number, a decimal comma included where commas do not separate. NaN: it is none. */
static double parse_number(const reader *self, const field *source)
{
    char text[FIELD_BYTES];
    memcpy(text, source->text, sizeof text);
    if (self->separator != ',' && strchr(text, '.') == NULL)
        for (char *p = strchr(text, ','); p != NULL; p = NULL)
            *p = '.';
    if (source->cut || text[0] == '\0' || text[strspn(text, "0123456789+-.eE")] != '\0')
        return NAN;
    char *end;
    double value = strtod_l(text, &end, self->c_locale);
    return *end == '\0' ? value : NAN;
}

/* A number, or a word that programs write where one should be. */
static bool looks_numeric(const reader *self, const field *source)
{
    static const char *const words[] = {"nan", "-nan", "inf", "-inf", "infinity", "null", "na"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(source->text, words[i]) == 0)
            return true;
    return !isnan(parse_number(self, source));
}

typedef struct header {
    bool present;
    size_t columns;
    size_t size_index, seconds_index; /* SIZE_MAX: no such name */
} header;

static bool names(const field *source, const char *wanted, const char *standard)
{
    return strcasecmp(source->text, wanted != NULL ? wanted : standard) == 0;
}

static header read_header(const reader *self, const char *first, const char *last,
                          const char *size_column, const char *seconds_column)
{
    header found = {.present = true, .size_index = SIZE_MAX, .seconds_index = SIZE_MAX};
    field text;
    for (bool more = true; more && found.columns < FIELDS_MAX; found.columns++) {
        more = next_field(self, &first, last, &text);
        found.present = found.present && !looks_numeric(self, &text);
        if (found.size_index == SIZE_MAX && names(&text, size_column, "n"))
            found.size_index = found.columns;
        if (found.seconds_index == SIZE_MAX && names(&text, seconds_column, "seconds"))
            found.seconds_index = found.columns;
    }
    return found;
}

/* The column asked for: by name, by number from 1, or (nothing asked) in its usual place. */
static assay_status find_column(const reader *self, const header *found, size_t by_name,
                                const char *wanted, const char *standard, size_t usual,
                                size_t *column)
{
    char *end = NULL;
    unsigned long number = wanted != NULL ? strtoul(wanted, &end, 10) : 0;
    if (found->present && by_name != SIZE_MAX)
        *column = by_name;
    else if (wanted != NULL && *end == '\0' && number >= 1 && number <= found->columns)
        *column = number - 1;
    else if (wanted == NULL && usual < found->columns && (!found->present || found->columns == 2))
        *column = usual;
    else if (found->present || wanted != NULL)
        return assay__fail(self->error, ASSAY_E_FORMAT,
                           "'%s' line %zu: no column '%s'; name the column in the first line, or "
                           "choose one by name or number",
                           self->name, self->line, wanted != NULL ? wanted : standard);
    else
        return assay__fail(self->error, ASSAY_E_FORMAT,
                           "'%s' line %zu: %zu column; two are needed, n and seconds", self->name,
                           self->line, found->columns);
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
                             self->name, self->line);
    return status;
}

static assay_status check_number(const reader *self, const field *source, const char *what,
                                 double *value)
{
    *value = parse_number(self, source);
    if (*value > 0 && isfinite(*value))
        return ASSAY_OK;
    if (source->text[0] == '\0')
        return assay__fail(self->error, ASSAY_E_FORMAT, "'%s' line %zu: %s is missing", self->name,
                           self->line, what);
    if (!looks_numeric(self, source))
        return assay__fail(self->error, ASSAY_E_FORMAT, "'%s' line %zu: %s '%s' is not a number",
                           self->name, self->line, what, source->text);
    return assay__fail(self->error, ASSAY_E_FORMAT,
                       "'%s' line %zu: %s '%s' is not a finite number above 0", self->name,
                       self->line, what, source->text);
}

static assay_status append(reader *self, double size, double seconds)
{
    assay_growth_table *table = self->table;
    if (table->count == self->capacity) {
        size_t capacity = self->capacity == 0 ? FIRST_CAPACITY : 2 * self->capacity;
        double *sizes = realloc(table->sizes, capacity * sizeof *sizes);
        if (sizes != NULL)
            table->sizes = sizes;
        double *times = realloc(table->seconds, capacity * sizeof *times);
        if (times != NULL)
            table->seconds = times;
        if (sizes == NULL || times == NULL)
            return assay__fail(self->error, ASSAY_E_MEMORY, "out of memory for %zu rows", capacity);
        self->capacity = capacity;
    }
    table->sizes[table->count] = size;
    table->seconds[table->count++] = seconds;
    return ASSAY_OK;
}

static assay_status read_row(reader *self, const char *first, const char *last)
{
    field text, size = {.length = 0}, seconds = {.length = 0};
    bool more = true;
    for (size_t column = 0; more && column < FIELDS_MAX; column++) {
        more = next_field(self, &first, last, &text);
        if (column == self->size_index)
            size = text;
        if (column == self->seconds_index)
            seconds = text;
    }
    double n = 0, t = 0;
    assay_status status = check_number(self, &size, "n", &n);
    if (status == ASSAY_OK)
        status = check_number(self, &seconds, "seconds", &t);
    return status == ASSAY_OK ? append(self, n, t) : status;
}

static assay_status read_table(reader *self, const char *size_column, const char *seconds_column)
{
    const char *first, *last;
    if (!next_line(self, &first, &last))
        return ASSAY_OK;
    self->separator = find_separator(first, last);
    header found = read_header(self, first, last, size_column, seconds_column);
    assay_status status = find_columns(self, &found, size_column, seconds_column);
    if (status == ASSAY_OK && !found.present)
        status = read_row(self, first, last);
    while (status == ASSAY_OK && next_line(self, &first, &last))
        status = read_row(self, first, last);
    return status;
}

assay_status assay__growth_csv_parse(const char *text, size_t length, const char *name,
                                     const char *size_column, const char *seconds_column,
                                     assay_error *error, assay_growth_table *table)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    reader self = {.name = name, .at = text, .end = text + length, .error = error, .table = table};
    *table = (assay_growth_table){0};
    if (length > 0 && memchr(text, '\0', length) != NULL)
        return assay__fail(error, ASSAY_E_FORMAT, "'%s' is no text: it contains zero bytes", name);
    if (length >= 3 && memcmp(text, byte_order_mark, 3) == 0)
        self.at += 3;
    self.c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (self.c_locale == (locale_t)0)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory to read '%s'", name);
    assay_status status = read_table(&self, size_column, seconds_column);
    freelocale(self.c_locale);
    if (status != ASSAY_OK)
        assay_growth_table_release(table);
    return status;
}

static assay_status read_input(const char *path, assay__buffer *buffer, assay_error *error)
{
    char block[65536];
    size_t got;
    if (strcmp(path, "-") != 0)
        return assay__file_read(path, buffer, error);
    while ((got = fread(block, 1, sizeof block, stdin)) > 0)
        if (assay__buffer_append(buffer, block, got) != ASSAY_OK)
            return assay__fail(error, buffer->status, "cannot hold standard input: %s",
                               assay_status_message(buffer->status));
    return ferror(stdin) ? assay__fail_errno(error, "cannot read standard input") : ASSAY_OK;
}

assay_status assay_growth_table_read(const char *path, const char *size_column,
                                     const char *seconds_column, assay_error *error,
                                     assay_growth_table *table)
{
    if (path == NULL || table == NULL)
        return assay__fail(error, ASSAY_E_ARGUMENT, "path and table must not be NULL");
    *table = (assay_growth_table){0};
    assay__buffer buffer;
    assay__buffer_init(&buffer, ASSAY_GROWTH_TABLE_MAX_BYTES);
    assay_status status = read_input(path, &buffer, error);
    if (status == ASSAY_OK)
        status = assay__growth_csv_parse(buffer.data != NULL ? buffer.data : "", buffer.length,
                                         strcmp(path, "-") == 0 ? "standard input" : path,
                                         size_column, seconds_column, error, table);
    assay__buffer_release(&buffer);
    return status;
}

void assay_growth_table_release(assay_growth_table *table)
{
    free(table->sizes);
    free(table->seconds);
    *table = (assay_growth_table){0};
}
