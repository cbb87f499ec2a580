/* Cells of the tables whose widths programs rely on (docs/seed-map.md). Columns are fixed, whatever
 * the name and however large or small the number. A table is composed in a buffer and written to
 * its stream in one piece. */
#ifndef ASSAY_REPORT_CELL_H
#define ASSAY_REPORT_CELL_H

#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "assay/reading.h"
#include "assay/record.h"
#include "base/buffer.h"

/* The largest size of a table. A record with millions of rows can be exported as CSV instead. */
enum { ASSAY__TABLE_MAX_BYTES = 256 << 20 };

enum { ASSAY__CELL_BYTES = 40 };

/* Write a number as "12.345" with this many decimals, whatever the locale; "n/a" when it is not
 * finite. */
const char *assay__cell_fixed(char text[ASSAY__CELL_BYTES], double value, int decimals);

/* Write a number as "12.345" with `decimals` decimals, or fewer if `width` has no room for them. A
 * number that is not zero but would show as zero, or that is too wide without decimals, is shown as
 * "2.1e-05". One that is not finite is shown as "n/a". */
const char *assay__cell_number(char text[ASSAY__CELL_BYTES], double value, int decimals, int width);
/* The same with a sign: "+76.9". A change that rounds to zero is "+0.0". */
const char *assay__cell_change(char text[ASSAY__CELL_BYTES], double value, int decimals);
/* A missing reading becomes NaN, which the cells show as "n/a". */
static inline double assay__value_or_nan(assay_reading reading)
{
    return reading.validity == ASSAY_VALID ? reading.value : NAN;
}
/* Convert bytes to MB of 2^20 bytes, the unit of memory in tables and JSON. */
static inline assay_reading assay__in_mb(assay_reading bytes)
{
    return (assay_reading){bytes.value / 1048576.0, bytes.validity};
}
const char *assay__cell_reading(char text[ASSAY__CELL_BYTES], assay_reading value, int decimals,
                                int width);

/* Append " 12.34s", right-aligned with its unit in `width` + 1 columns; "n/a" has no unit. */
void assay__cell_seconds(assay__buffer *table, double seconds, int decimals, int width);

/* Write a share as " 35.2%" in six columns; "n/a" when the whole is not above zero. */
const char *assay__cell_percent(char text[ASSAY__CELL_BYTES], double part, double whole);

/* Append a name in `width` columns, indented by two spaces for each level. `suffix` follows the
 * name. If the name and a space after it do not fit, the name gets a line of its own, and the row
 * goes on below it. */
void assay__cell_name(assay__buffer *table, const char *name, const char *suffix, size_t depth,
                      size_t width);

/* A name given by the user, made printable and cut to the size of a label. NULL gives "(unnamed)".
 */
enum { ASSAY__LABEL_BYTES = 256 };
const char *assay__cell_label(char label[ASSAY__LABEL_BYTES], const char *text);

/* What the energy of a record is that of: "processor and GPUs". */
const char *assay__cell_energy_of(char label[ASSAY__LABEL_BYTES], const assay_record *record);

/* Append `length` times `mark`, and a newline. */
void assay__cell_rule(assay__buffer *table, char mark, size_t length);

/* Write the table to the stream, flush it, and release the buffer. A NULL stream prints nothing.
 * Fails with ASSAY_E_FULL, ASSAY_E_IO, … when the stream refused it. */
ASSAY_MUST_USE assay_status assay__table_print(assay__buffer *table, FILE *stream);

/* Replace the file by the table, and release the buffer. */
ASSAY_MUST_USE assay_status assay__table_write(assay__buffer *table, const char *path,
                                               assay_error *error);

#endif
