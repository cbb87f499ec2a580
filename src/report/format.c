/* Formats times, sizes and counts for people, and prints texts in fields of a given width. Widths
 * count code points, not bytes. */
#include "report/format.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/cell.h"

enum { USUAL_WIDTH = 80, MOST_WIDTH = 160 };

/* The number of decimals that leaves four significant digits, or all digits of a whole number. */
static int decimals_of(double value)
{
    double size = fabs(value);
    return size < 9.9995 ? 3 : size < 99.995 ? 2 : size < 999.95 ? 1 : 0;
}

static void four_digits(double value, const char *unit, char text[ASSAY__FORMAT_SIZE])
{
    char number[ASSAY__CELL_BYTES];
    assay__cell_fixed(number, value, decimals_of(value));
    snprintf(text, ASSAY__FORMAT_SIZE, "%.24s %s", number, unit);
}

const char *assay__format_seconds(double seconds, char text[ASSAY__FORMAT_SIZE])
{
    double size = fabs(seconds);
    if (!isfinite(seconds))
        snprintf(text, ASSAY__FORMAT_SIZE, "n/a");
    else if (size < 99.995e-9 && fabs(seconds * 1e9 - round(seconds * 1e9)) >= 0.5e-3)
        four_digits(seconds * 1e9, "ns", text);
    else if (size < 999.5e-9)
        snprintf(text, ASSAY__FORMAT_SIZE, "%.0f ns", seconds * 1e9);
    else if (size < 999.95e-6)
        four_digits(seconds * 1e6, "µs", text);
    else if (size < 999.95e-3)
        four_digits(seconds * 1e3, "ms", text);
    else
        four_digits(seconds, "s", text);
    return text;
}

const char *assay__format_bytes(double bytes, char text[ASSAY__FORMAT_SIZE])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t unit = 0;
    if (!isfinite(bytes)) {
        snprintf(text, ASSAY__FORMAT_SIZE, "n/a");
        return text;
    }
    while (fabs(bytes) >= 1023.5 && unit + 1 < sizeof units / sizeof *units) {
        bytes /= 1024;
        unit++;
    }
    if (unit == 0)
        snprintf(text, ASSAY__FORMAT_SIZE, "%.0f B", bytes);
    else
        four_digits(bytes, units[unit], text);
    return text;
}

const char *assay__format_count(uint64_t count, char text[ASSAY__FORMAT_SIZE])
{
    static const char units[] = "MGTPE";
    if (count < 10000000) {
        snprintf(text, ASSAY__FORMAT_SIZE, "%llu", (unsigned long long)count);
        return text;
    }
    double value = (double)count / 1e6;
    const char *unit = units;
    for (; value >= 999.95 && unit[1] != '\0'; unit++)
        value /= 1e3;
    snprintf(text, ASSAY__FORMAT_SIZE, "%.*f%c",
             value < 9.9995   ? 3
             : value < 99.995 ? 2
                              : 1,
             value, *unit);
    return text;
}

const char *assay__format_reading_seconds(assay_reading reading, char text[ASSAY__FORMAT_SIZE])
{
    return reading.validity == ASSAY_VALID ? assay__format_seconds(reading.value, text)
                                           : assay_validity_text(reading.validity);
}

const char *assay__format_reading_bytes(assay_reading reading, char text[ASSAY__FORMAT_SIZE])
{
    return reading.validity == ASSAY_VALID ? assay__format_bytes(reading.value, text)
                                           : assay_validity_text(reading.validity);
}

const char *assay__format_reading_count(assay_reading reading, char text[ASSAY__FORMAT_SIZE])
{
    if (reading.validity != ASSAY_VALID)
        return assay_validity_text(reading.validity);
    snprintf(text, ASSAY__FORMAT_SIZE, "%.0f", reading.value);
    return text;
}

/* The columns of the first `bytes` of a text. */
static size_t columns_of(const char *text, size_t bytes)
{
    return assay__text_columns(text) - assay__text_columns(text + bytes);
}

void assay__format_cut(FILE *stream, const char *text, size_t width)
{
    if (assay__text_columns(text) <= width) {
        fputs(text, stream);
        return;
    }
    fprintf(stream, "%.*s…", (int)assay__text_fitting(text, width - 1), text);
}

void assay__format_ends(FILE *stream, const char *text, size_t width)
{
    size_t columns = assay__text_columns(text);
    if (columns <= width) {
        assay__format_left(stream, text, width);
        return;
    }
    size_t tail = (width - 1) / 2, head = assay__text_fitting(text, width - 1 - tail);
    const char *end = text + assay__text_fitting(text, columns - tail);
    if (assay__text_columns(end) > tail) /* a wide character stands across the place of the cut */
        end += assay__text_fitting(end, 2);
    size_t left = width - 1 - assay__text_columns(end);
    fprintf(stream, "%.*s…%s", (int)head, text, end);
    for (left -= columns_of(text, head); left > 0; left--)
        fputc(' ', stream);
}

void assay__format_left(FILE *stream, const char *text, size_t width)
{
    size_t columns = assay__text_columns(text);
    assay__format_cut(stream, text, width);
    if (columns > width)
        columns = columns_of(text, assay__text_fitting(text, width - 1)) + 1;
    fprintf(stream, "%*s", (int)(width - columns), "");
}

void assay__format_right(FILE *stream, const char *text, size_t width)
{
    size_t columns = assay__text_columns(text);
    fprintf(stream, "%*s%s", columns < width ? (int)(width - columns) : 1, "", text);
}

size_t assay__format_cell(FILE *stream, const char **text, size_t width)
{
    /* The text that a line can need, and one character. Reading all of a long text again for each
     * of its lines would take minutes. */
    char piece[4 * (MOST_WIDTH + 1) + 1];
    const char *rest;
    width = width < MOST_WIDTH ? width : MOST_WIDTH;
    size_t length = strnlen(*text, 4 * (width + 1));
    while (((unsigned char)(*text)[length] & 0xC0) == 0x80) /* keep characters whole */
        length--;
    snprintf(piece, sizeof piece, "%.*s", (int)length, *text);
    size_t bytes = assay__text_line(piece, width, &rest);
    size_t most = assay__text_fitting(piece, width);
    if (most == 0) /* a wide character in a cell of one column */
        most = assay__text_fitting(piece, 2);
    if (bytes > most) {
        bytes = most;
        rest = piece + most;
    }
    *text += rest - piece;
    *text += strspn(*text, " ");
    piece[bytes] = '\0';
    fputs(piece, stream);
    return assay__text_columns(piece);
}

void assay__format_line(FILE *stream, const char *text, size_t indent)
{
    size_t columns = assay__terminal_columns(stream);
    if (columns > indent)
        assay__format_cut(stream, text, columns - indent);
    else
        fputs(text, stream);
}

void assay__format_shaded(FILE *stream, assay__shade shade, const char *text)
{
    if (shade == ASSAY__SHADE_PLAIN)
        fputs(text, stream);
    else
        fprintf(stream, "%s%s%s", assay__terminal_shade(stream, shade), text,
                assay__terminal_shade(stream, ASSAY__SHADE_PLAIN));
}

size_t assay__format_width(FILE *stream)
{
    size_t columns = assay__terminal_columns(stream);
    return columns < USUAL_WIDTH ? USUAL_WIDTH : columns > MOST_WIDTH ? MOST_WIDTH : columns;
}

size_t assay__format_name_width(FILE *stream, size_t usual)
{
    return usual + assay__format_width(stream) - USUAL_WIDTH;
}

void assay__format_wrapped(FILE *stream, const char *text, size_t indent)
{
    for (const char *rest; *text != '\0'; text = rest) {
        size_t bytes = assay__text_line(text, assay__format_width(stream) - indent, &rest);
        fprintf(stream, "%*s%.*s\n", (int)indent, "", (int)bytes, text);
    }
}
