/* Cells of the tables whose widths programs rely on (docs/seed-map.md): fixed columns, whatever the
 * name and however large or small the number. A table is composed in a buffer and handed to its
 * stream in one piece. */
#ifndef ASSAY_REPORT_CELL_H
#define ASSAY_REPORT_CELL_H

#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "assay/reading.h"
#include "base/buffer.h"

/* The most bytes of a table; a record of millions of rows is exported as CSV. */
enum { ASSAY__TABLE_MAX_BYTES = 256 << 20 };

enum { ASSAY__CELL_BYTES = 40 };

/* "12.345", whatever the number and the locale; "n/a" when it is not finite. */
const char *assay__cell_fixed(char text[ASSAY__CELL_BYTES], double value, int decimals);

/* "12.345" with `decimals`, or with as many of them as `width` has room for.
 * A number that would show as zero and is not, or that is too wide without any, is shown as
 * "2.1e-05"; one that is not finite as "n/a". */
const char *assay__cell_number(char text[ASSAY__CELL_BYTES], double value, int decimals, int width);
/* The same with a sign: "+76.9". A change that rounds to nothing is "+0.0". */
const char *assay__cell_change(char text[ASSAY__CELL_BYTES], double value, int decimals);
/* A missing reading is "n/a", as everything that is not finite. */
static inline double assay__value_or_nan(assay_reading reading)
{
    return reading.validity == ASSAY_VALID ? reading.value : NAN;
}
/* MB of 2^20 bytes, as tables and JSON show memory. */
static inline assay_reading assay__in_mb(assay_reading bytes)
{
    return (assay_reading){bytes.value / 1048576.0, bytes.validity};
}
const char *assay__cell_reading(char text[ASSAY__CELL_BYTES], assay_reading value, int decimals,
                                int width);

/* Append "   12.34s", right-aligned with its unit in `width` + 1 columns; "n/a" has no unit. */
void assay__cell_seconds(assay__buffer *table, double seconds, int decimals, int width);

/* " 35.2%" in six columns; "n/a" when the whole is not above zero. */
const char *assay__cell_percent(char text[ASSAY__CELL_BYTES], double part, double whole);

/* A name, indented by two spaces a level, in `width` columns; one that does not fit, a space after
 * it included, gets a line of its own, and the row goes on below it. `suffix` follows the name. */
void assay__cell_name(assay__buffer *table, const char *name, const char *suffix, size_t depth,
                      size_t width);

/* A name given by the user (NULL: none), made printable and kept to a reasonable length. */
enum { ASSAY__LABEL_BYTES = 256 };
const char *assay__cell_label(char label[ASSAY__LABEL_BYTES], const char *text);

/* `length` times `mark`, and a newline. */
void assay__cell_rule(assay__buffer *table, char mark, size_t length);

/* Write the table to the stream (NULL: nowhere) and flush it; releases the buffer. ASSAY_E_FULL,
 * ASSAY_E_IO, … when the stream refused it. */
ASSAY_MUST_USE assay_status assay__table_print(assay__buffer *table, FILE *stream);

/* Replace the file by the table; releases the buffer. */
ASSAY_MUST_USE assay_status assay__table_write(assay__buffer *table, const char *path,
                                               assay_error *error);

#endif
