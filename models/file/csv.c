#include "models/file/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { MAX_NUMBER = 64, END = -1 };

static assay_status prepare(assay__csv *csv, const char *name, assay_error *error)
{
    *csv = (assay__csv){.newline = true};
    size_t length = strlen(name); /* the end of a long path says more than its beginning */
    snprintf(csv->name, sizeof csv->name, "%s",
             length < sizeof csv->name ? name : name + length - sizeof csv->name + 1);
    csv->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return csv->locale != (locale_t)0
               ? ASSAY_OK
               : assay__fail(error, ASSAY_E_MEMORY, "out of memory while opening '%s'", name);
}

assay_status assay__csv_open(assay__csv *csv, const char *path, assay_error *error)
{
    assay_status status = prepare(csv, path, error);
    if (status != ASSAY_OK)
        return status;
    errno = 0;
    csv->stream = gzopen(path, "rbe"); /* passes plain files through */
    if (csv->stream == NULL) {
        status = errno != 0
                     ? assay__fail_errno(error, "cannot read '%s'", path)
                     : assay__fail(error, ASSAY_E_MEMORY, "out of memory while opening '%s'", path);
        assay__csv_release(csv);
    }
    return status;
}

assay_status assay__csv_open_bytes(assay__csv *csv, const char *name, const void *bytes,
                                   size_t size, assay_error *error)
{
    assay_status status = prepare(csv, name, error);
    csv->at = bytes;
    csv->end = csv->at + size;
    return status;
}

void assay__csv_release(assay__csv *csv)
{
    if (csv->stream != NULL)
        gzclose(csv->stream);
    if (csv->locale != (locale_t)0)
        freelocale(csv->locale);
    free(csv->row);
    csv->stream = NULL;
    csv->locale = (locale_t)0;
    csv->row = NULL;
    csv->count = csv->capacity = 0;
}

static assay_status fail_read(const assay__csv *csv, int code, const char *text, assay_error *error)
{
    if (code == Z_ERRNO)
        return assay__fail_errno(error, "cannot read '%s'", csv->name);
    if (code == Z_MEM_ERROR)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory while reading '%s'", csv->name);
    return assay__fail(error, code == Z_BUF_ERROR ? ASSAY_E_TRUNCATED : ASSAY_E_FORMAT,
                       "'%s' cannot be unpacked: %s", csv->name, text);
}

/* False at the end and after a failure, which is then in csv->status. */
static bool fill(assay__csv *csv, assay_error *error)
{
    if (csv->stream == NULL)
        return false;
    int got = gzread(csv->stream, csv->block, sizeof csv->block);
    if (got <= 0) {
        int code = Z_OK;
        const char *text = gzerror(csv->stream, &code);
        csv->status = code == Z_OK ? ASSAY_OK : fail_read(csv, code, text, error);
        return false;
    }
    csv->at = csv->block;
    csv->end = csv->block + got;
    return true;
}

static int next_byte(assay__csv *csv, assay_error *error)
{
    return csv->at != csv->end || fill(csv, error) ? *csv->at++ : END;
}

static assay_status fail_line(const assay__csv *csv, assay_error *error, const char *what,
                              const char *token)
{
    return assay__fail(error, ASSAY_E_FORMAT, "%s, line %" PRIu64 ": '%s' %s", csv->name, csv->line,
                       token, what);
}

static assay_status append(assay__csv *csv, const char *token, assay_error *error)
{
    char *end;
    double value = strtod_l(token, &end, csv->locale);
    if (end == token || *end != '\0' || !isfinite(value))
        return fail_line(csv, error, "is no finite number", token);
    if (csv->count == csv->capacity) {
        size_t capacity = csv->capacity == 0 ? 16 : 2 * csv->capacity;
        if (capacity > ASSAY__CSV_MAX_COLUMNS)
            return fail_line(csv, error, "stands in column 65537; that is too many", token);
        double *row = reallocarray(csv->row, capacity, sizeof *row);
        if (row == NULL) {
            return assay__fail(error, ASSAY_E_MEMORY, "out of memory while reading '%s'",
                               csv->name);
        }
        csv->row = row;
        csv->capacity = capacity;
    }
    csv->row[csv->count++] = value;
    return ASSAY_OK;
}

static bool separates(int byte)
{
    return byte == ',' || byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n' ||
           byte == END;
}

assay_status assay__csv_next(assay__csv *csv, assay_error *error)
{
    char token[MAX_NUMBER];
    size_t length = 0;
    bool comma = false; /* a number has to follow */
    csv->count = 0;
    for (;;) {
        int byte = next_byte(csv, error);
        csv->line += csv->newline && byte != END;
        csv->newline = byte == '\n';
        token[length] = '\0';
        if (!separates(byte)) {
            if (length == sizeof token - 1)
                return fail_line(csv, error, "is too long to be a number", token);
            token[length++] = (char)byte;
            continue;
        }
        bool cell_ends = byte == ',' || (comma && (byte == '\n' || byte == END));
        if (csv->status == ASSAY_OK && (length > 0 || (cell_ends && (comma || csv->count == 0)))) {
            csv->status = append(csv, token, error);
            comma = false;
            length = 0;
        }
        comma |= byte == ',';
        if (csv->status != ASSAY_OK || byte == END || (byte == '\n' && csv->count > 0))
            return csv->status;
    }
}
