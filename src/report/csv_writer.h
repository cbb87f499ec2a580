/* Writes comma-separated values as in RFC 4180, except that lines end with a newline alone. */
#ifndef ASSAY_REPORT_CSV_WRITER_H
#define ASSAY_REPORT_CSV_WRITER_H

#include "assay/reading.h"
#include "base/buffer.h"

/* Append one field, quoted if it contains a comma, a quote, a line break or a space at an end. A
 * field that begins with =, +, -, @ or a tab and is not a number gets an apostrophe in front,
 * because a spreadsheet would take it for a formula and compute it
 * (https://owasp.org/www-community/attacks/CSV_Injection). */
void assay__csv_text(assay__buffer *csv, const char *text);
/* Append the number in the fewest digits that read back to the same number. A missing reading is an
 * empty field. */
void assay__csv_reading(assay__buffer *csv, assay_reading value);

#endif
