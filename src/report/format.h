/* Figures as people read them, in at most 10 columns, for tables of 80 columns. */
#ifndef ASSAY_REPORT_FORMAT_H
#define ASSAY_REPORT_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/reading.h"
#include "base/terminal.h"

/* Room for any figure below, terminator and UTF-8 included. */
enum { ASSAY__FORMAT_SIZE = 40 };

/* "950 ns", "12.35 µs", "1.234 ms", "12.35 s", "4321 s": four digits, unit adapted; less than a
 * nanosecond is shown where it matters ("0.312 ns", "23.40 ns"). */
const char *assay__format_seconds(double seconds, char text[ASSAY__FORMAT_SIZE]);

/* "512 B", "1.500 KiB", "234.5 MiB": binary units, four digits. */
const char *assay__format_bytes(double bytes, char text[ASSAY__FORMAT_SIZE]);

/* "9999999", "12.35M", "1.234G": whole as long as it fits in seven columns. */
const char *assay__format_count(uint64_t count, char text[ASSAY__FORMAT_SIZE]);

/* The same for readings; a missing one gives its reason ("not permitted"). */
const char *assay__format_reading_seconds(assay_reading reading, char text[ASSAY__FORMAT_SIZE]);
const char *assay__format_reading_bytes(assay_reading reading, char text[ASSAY__FORMAT_SIZE]);
const char *assay__format_reading_count(assay_reading reading, char text[ASSAY__FORMAT_SIZE]);

/* Print `text` in a field of `width` columns, counting code points. A text that is too long is cut
 * and ends in "…". Figures, which are aligned right, are never cut: they make the line longer, with
 * at least one blank before them. _cut is _left without the padding, for the end of a line. _ends
 * is _left for texts that often differ only at their end, and cuts the middle. */
void assay__format_left(FILE *stream, const char *text, size_t width);
void assay__format_ends(FILE *stream, const char *text, size_t width);
void assay__format_cut(FILE *stream, const char *text, size_t width);
void assay__format_right(FILE *stream, const char *text, size_t width);

/* Columns for a table: those of the terminal, at least 80 and at most 160, since the eye loses
 * longer lines; 80 if there is no terminal. */
size_t assay__format_width(FILE *stream);

/* The width of a column of names that takes `usual` of 80 columns; on a wider terminal it gets all
 * the additional columns. */
size_t assay__format_name_width(FILE *stream, size_t usual);

/* Print `text` in a shade, where there is colour. */
void assay__format_shaded(FILE *stream, assay__shade shade, const char *text);

/* Print `text`, which begins behind `indent` columns and is the last of its line: in full, or on a
 * terminal that is too narrow for it cut, ending in "…". */
void assay__format_line(FILE *stream, const char *text, size_t indent);

#endif
