/* Comma-separated values as RFC 4180 has them, except that lines end in a newline alone, as every
 * tool here reads and writes. */
#ifndef ASSAY_REPORT_CSV_WRITER_H
#define ASSAY_REPORT_CSV_WRITER_H

#include "assay/reading.h"
#include "base/buffer.h"

/* One field, quoted when it holds a comma, a quote, a line break or a space at an end. A field that
 * begins with =, +, -, @ or a tab and is no number gets an apostrophe in front: a spreadsheet would
 * take it for a formula and compute it (https://owasp.org/www-community/attacks/CSV_Injection). */
void assay__csv_text(assay__buffer *csv, const char *text);
/* The fewest digits that read back to the same number; empty when there is none. */
void assay__csv_reading(assay__buffer *csv, assay_reading value);

#endif
