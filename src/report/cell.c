/* Formats the cells of fixed-width tables and writes finished tables. Numbers are formatted by
 * snprintf(), and the decimal point of the locale is then replaced by a point. */
#include "report/cell.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "assay/report.h"
#include "base/error.h"
#include "base/text.h"
#include "record/fact.h"

enum { DEEPEST_INDENT = 8 }; /* levels; deeper names are not indented further, to keep room */

static const char *not_available(char text[ASSAY__CELL_BYTES], const char *shown)
{
    snprintf(text, ASSAY__CELL_BYTES, "%s", shown);
    return text;
}

/* Replace the decimal point: the host program may have set a locale in which it is another
 * character or several. */
static const char *with_point(char text[ASSAY__CELL_BYTES])
{
    char *start = text + strspn(text, " +-0123456789");
    char *end = start + strcspn(start, "0123456789e");
    if (start < end) {
        *start = '.';
        memmove(start + 1, end, strlen(end) + 1);
    }
    return text;
}

const char *assay__cell_fixed(char text[ASSAY__CELL_BYTES], double value, int decimals)
{
    if (!isfinite(value))
        return not_available(text, "n/a");
    snprintf(text, ASSAY__CELL_BYTES, fabs(value) < 1e15 ? "%.*f" : "%.*e", decimals, value);
    return with_point(text);
}

const char *assay__cell_number(char text[ASSAY__CELL_BYTES], double value, int decimals, int width)
{
    assay__cell_fixed(text, value, decimals);
    bool vanished = isfinite(value) && value != 0.0 && strpbrk(text, "123456789") == NULL;
    while (!vanished && (int)strlen(text) > width && decimals > 0)
        assay__cell_fixed(text, value, --decimals);
    if (!vanished && (int)strlen(text) <= width)
        return text;
    snprintf(text, ASSAY__CELL_BYTES, "%.1e", value);
    return with_point(text);
}

const char *assay__cell_change(char text[ASSAY__CELL_BYTES], double value, int decimals)
{
    if (!isfinite(value))
        return not_available(text, "n/a");
    snprintf(text, ASSAY__CELL_BYTES, fabs(value) < 1e9 ? "%+.*f" : "%+.*e", decimals, value);
    if (strpbrk(text, "123456789") == NULL)
        text[0] = '+';
    return with_point(text);
}

const char *assay__cell_reading(char text[ASSAY__CELL_BYTES], assay_reading value, int decimals,
                                int width)
{
    return assay__cell_number(text, assay__value_or_nan(value), decimals, width);
}

void assay__cell_seconds(assay__buffer *table, double seconds, int decimals, int width)
{
    char number[ASSAY__CELL_BYTES];
    bool known = isfinite(seconds);
    assay__cell_number(number, seconds, decimals, width);
    assay__buffer_printf(table, "%*s%s", known ? width : width + 1, number, known ? "s" : "");
}

const char *assay__cell_percent(char text[ASSAY__CELL_BYTES], double part, double whole)
{
    double percent = 100.0 * part / whole;
    if (!(whole > 0.0) || !isfinite(percent))
        return not_available(text, "   n/a");
    char number[ASSAY__CELL_BYTES];
    assay__cell_fixed(number, percent, 1);
    snprintf(text, ASSAY__CELL_BYTES, "%5.30s%%", number);
    return text;
}

const char *assay__cell_label(char label[ASSAY__LABEL_BYTES], const char *text)
{
    assay__text_copy_name(label, ASSAY__LABEL_BYTES, text, text == NULL ? 0 : strlen(text));
    return label;
}

const char *assay__cell_energy_of(char label[ASSAY__LABEL_BYTES], const assay_record *record)
{
    const char *known = assay__fact_value(record->machine, record->machine_count, "energy_of");
    return assay__cell_label(label, known != NULL ? known : "whole machine");
}

static void spaces(assay__buffer *table, size_t count)
{
    assay__buffer_printf(table, "%*s", (int)count, "");
}

void assay__cell_name(assay__buffer *table, const char *name, const char *suffix, size_t depth,
                      size_t width)
{
    char label[ASSAY__LABEL_BYTES];
    assay__cell_label(label, name);
    size_t indent = 2 * (depth < DEEPEST_INDENT ? depth : DEEPEST_INDENT);
    size_t columns = indent + assay__text_columns(label) + assay__text_columns(suffix);
    spaces(table, indent);
    assay__buffer_append_text(table, label);
    assay__buffer_append_text(table, suffix);
    if (columns < width) {
        spaces(table, width - columns);
        return;
    }
    assay__buffer_append_text(table, "\n");
    spaces(table, width);
}

void assay__cell_rule(assay__buffer *table, char mark, size_t length)
{
    char line[128];
    length = length < sizeof line ? length : sizeof line - 1;
    memset(line, mark, length);
    line[length] = '\n';
    assay__buffer_append(table, line, length + 1);
}

assay_status assay__table_print(assay__buffer *table, FILE *stream)
{
    assay_status status = table->status;
    if (status == ASSAY_OK && stream != NULL && table->length > 0) {
        errno = 0;
        if (fwrite(table->data, 1, table->length, stream) != table->length || fflush(stream) != 0)
            status = assay__fail_errno(NULL, "cannot write");
    }
    assay__buffer_release(table);
    return status;
}

static assay_status print_table(const void *subject, FILE *stream, assay_error *error)
{
    const assay__buffer *table = subject;
    if (fwrite(table->data, 1, table->length, stream) != table->length)
        return assay__fail_errno(error, "cannot write");
    return ASSAY_OK;
}

assay_status assay__table_write(assay__buffer *table, const char *path, assay_error *error)
{
    assay_status status = table->status;
    if (status != ASSAY_OK)
        status =
            assay__fail(error, status, "cannot write '%s': %s", path, assay_status_message(status));
    else
        status = assay_file_save(path, print_table, table, error);
    assay__buffer_release(table);
    return status;
}
