/* Formats figures for people, in at most 10 columns each, for tables of 80 columns. */
#ifndef ASSAY_REPORT_FORMAT_H
#define ASSAY_REPORT_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/reading.h"
#include "base/terminal.h"

/* Room for any figure below, with its terminator and UTF-8. */
enum { ASSAY__FORMAT_SIZE = 40 };

/* "950 ns", "12.35 µs", "1.234 ms", "12.35 s", "4321 s": four digits in a suitable unit. Fractions
 * of a nanosecond are shown where they matter ("0.312 ns", "23.40 ns"). */
const char *assay__format_seconds(double seconds, char text[ASSAY__FORMAT_SIZE]);

/* "512 B", "1.500 KiB", "234.5 MiB": binary units, four digits. */
const char *assay__format_bytes(double bytes, char text[ASSAY__FORMAT_SIZE]);

/* "9999999", "12.35M", "1.234G": a whole number as long as it fits into seven columns. */
const char *assay__format_count(uint64_t count, char text[ASSAY__FORMAT_SIZE]);

/* The same for readings. A missing reading gives its reason ("not permitted"). */
const char *assay__format_reading_seconds(assay_reading reading, char text[ASSAY__FORMAT_SIZE]);
const char *assay__format_reading_bytes(assay_reading reading, char text[ASSAY__FORMAT_SIZE]);
const char *assay__format_reading_count(assay_reading reading, char text[ASSAY__FORMAT_SIZE]);

/* Print `text` in a field of `width` columns, counting code points. _left cuts a text that is too
 * long and ends it in "…". _cut does the same without padding, for the end of a line. _ends cuts
 * the middle, for texts that often differ only at their end. _right is for figures and never cuts:
 * a long figure makes the line longer, with at least one blank before it. */
void assay__format_left(FILE *stream, const char *text, size_t width);
void assay__format_ends(FILE *stream, const char *text, size_t width);
void assay__format_cut(FILE *stream, const char *text, size_t width);
void assay__format_right(FILE *stream, const char *text, size_t width);

/* Print the first line of `*text` in at most `width` columns, for a cell of several lines, and move
 * `*text` to the rest. The line is broken between words, and within a word that is longer than the
 * cell. Returns the number of columns printed. */
size_t assay__format_cell(FILE *stream, const char **text, size_t width);

/* The columns of a table: those of the terminal, at least 80 and at most 160, because longer lines
 * are hard to read. 80 if there is no terminal. */
size_t assay__format_width(FILE *stream);

/* The width of a column of names that takes `usual` of 80 columns; on a wider terminal it gets all
 * the additional columns. */
size_t assay__format_name_width(FILE *stream, size_t usual);

/* Print `text` in a shade, where there is colour. */
void assay__format_shaded(FILE *stream, assay__shade shade, const char *text);

/* Print `text` in lines of the width of a table, broken between words, each after `indent` blanks.
 */
void assay__format_wrapped(FILE *stream, const char *text, size_t indent);

/* Print `text`, which begins after `indent` columns and ends its line. On a terminal that is too
 * narrow, it is cut and ends in "…". */
void assay__format_line(FILE *stream, const char *text, size_t indent);

#endif
