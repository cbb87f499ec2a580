/* Writes the fields of a CSV file: quotes, doubled quotes, and a guard against formulas. */
#include "report/csv_writer.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/text.h"

/* Whether a spreadsheet would compute the field instead of showing it. A signed number is not a
 * formula. */
static bool is_formula(const char *text)
{
    if (*text == '\0' || strchr("=+-@\t\r", *text) == NULL)
        return false;
    char *end = NULL;
    assay__text_number(text, &end);
    return end == text || *end != '\0';
}

void assay__csv_text(assay__buffer *csv, const char *text)
{
    size_t length = strlen(text);
    bool padded = length > 0 && (text[0] == ' ' || text[length - 1] == ' ');
    const char *guard = is_formula(text) ? "'" : "";
    if (!padded && strpbrk(text, ",\"\r\n") == NULL) {
        assay__buffer_append_text(csv, guard);
        assay__buffer_append(csv, text, length);
        return;
    }
    assay__buffer_append_text(csv, "\"");
    assay__buffer_append_text(csv, guard);
    for (;;) {
        size_t plain = strcspn(text, "\"");
        assay__buffer_append(csv, text, plain);
        text += plain;
        if (*text == '\0')
            break;
        assay__buffer_append_text(csv, "\"\"");
        text++;
    }
    assay__buffer_append_text(csv, "\"");
}

void assay__csv_reading(assay__buffer *csv, assay_reading value)
{
    char number[ASSAY__JSON_NUMBER_BYTES];
    if (value.validity != ASSAY_VALID || !isfinite(value.value))
        return;
    assay__json_format_number(number, value.value);
    assay__buffer_append_text(csv, number);
}
