/* The text is read in one pass. Each field is unquoted in place, which never makes it longer, and
 * terminated where its separator stood. */
#include "base/csv.h"

#include <string.h>

void assay__csv_init(assay__csv *csv, char *text, size_t length, char separator)
{
    bool marked = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
    *csv = (assay__csv){.separator = separator,
                        .at = text + (marked ? 3 : 0),
                        .end = text + length,
                        .next_line = 1};
}

static bool at_line_end(const assay__csv *csv, const char *at)
{
    return at == csv->end || *at == '\n' || *at == '\r';
}

/* Go to the position after the line that ends at `at`. */
static void leave_line(assay__csv *csv, char *at)
{
    bool two = at + 1 < csv->end && at[0] == '\r' && at[1] == '\n';
    csv->next_line += at < csv->end;
    csv->at = at < csv->end ? at + 1 + two : at;
}

static bool separates(const assay__csv *csv, char byte)
{
    return byte == csv->separator || (byte == '\t' && csv->separator == ' ');
}

static bool is_blank(const assay__csv *csv, char byte)
{
    return byte == ' ' || (byte == '\t' && csv->separator != '\t');
}

static char *skip_blanks(const assay__csv *csv, char *at)
{
    while (csv->trims && at < csv->end && is_blank(csv, *at))
        at++;
    return at;
}

bool assay__csv_seek(assay__csv *csv)
{
    while (csv->at < csv->end) {
        char *at = csv->at;
        while (csv->trims && at < csv->end && (*at == ' ' || *at == '\t'))
            at++;
        if (!at_line_end(csv, at) && !(csv->comments && *at == '#')) {
            csv->line = csv->next_line;
            return true;
        }
        while (!at_line_end(csv, at))
            at++;
        leave_line(csv, at);
    }
    return false;
}

/* Unquote the text at `from` in place. Returns the position after its closing quote, or NULL if it
 * has none. */
static char *unquote(assay__csv *csv, char *from, char **to)
{
    for (from++; from < csv->end; from++) {
        if (*from == '"' && (from + 1 == csv->end || from[1] != '"'))
            return from + 1;
        from += *from == '"';
        csv->next_line += *from == '\n';
        *(*to)++ = *from;
    }
    return NULL;
}

bool assay__csv_field(assay__csv *csv, char **field, bool *last)
{
    char *from = skip_blanks(csv, csv->at), *to = from;
    *field = from;
    if (from < csv->end && *from == '"') {
        from = unquote(csv, from, &to);
        if (from == NULL || !(at_line_end(csv, from) || separates(csv, *from) ||
                              (csv->trims && is_blank(csv, *from))))
            return false;
    } else {
        while (!at_line_end(csv, from) && !separates(csv, *from))
            from++;
        to = from;
        while (csv->trims && to > *field && is_blank(csv, to[-1]))
            to--;
    }
    from = skip_blanks(csv, from);
    *last = at_line_end(csv, from);
    if (*last)
        leave_line(csv, from);
    else if (csv->separator == ' ')
        csv->at = from;
    else if (separates(csv, *from))
        csv->at = from + 1;
    else
        return false;
    *to = '\0';
    return true;
}

bool assay__csv_row(assay__csv *csv, size_t capacity, char **fields, size_t *count)
{
    *count = 0;
    for (bool last = !assay__csv_seek(csv); !last; (*count)++) {
        char *field;
        if (!assay__csv_field(csv, &field, &last))
            return false;
        if (*count < capacity)
            fields[*count] = field;
    }
    return true;
}
