/* Rows of delimited text, cut up in place: RFC 4180 with quotes, doubled quotes and line breaks
 * inside quotes. Lines end with LF, CR LF or, as spreadsheets on a Mac save them, CR alone; empty
 * lines are skipped. The caller interprets the fields and words the errors.
 *
 *     assay__csv csv;
 *     assay__csv_init(&csv, text, length, ',');
 *     while (assay__csv_row(&csv, 16, fields, &count) && count > 0) ...
 *
 * Allocates nothing. Fields are terminated strings inside the text, valid as long as it is. */
#ifndef ASSAY_BASE_CSV_H
#define ASSAY_BASE_CSV_H

#include <stdbool.h>
#include <stddef.h>

typedef struct assay__csv {
    char separator; /* ' ': runs of blanks separate */
    bool trims;     /* blanks around fields, and lines of nothing else, do not count */
    bool comments;  /* lines that begin with # are skipped */
    size_t line;    /* where the current row starts, from 1 */
    /* Private. */
    char *at, *end; /* what is left */
    size_t next_line;
} assay__csv;

/* text[length] is a terminator; a byte order mark is skipped. */
void assay__csv_init(assay__csv *csv, char *text, size_t length, char separator);

/* Go to the beginning of the next row; false at the end of the text. */
bool assay__csv_seek(assay__csv *csv);

/* The next field of the row. *last says whether the row ends behind it. False if a quote is not
 * closed or is followed by text. */
bool assay__csv_field(assay__csv *csv, char **field, bool *last);

/* Read the next row: *count receives the number of its fields, 0 at the end, and `fields` the first
 * `capacity` of them. False if a quote is wrong, as above. */
bool assay__csv_row(assay__csv *csv, size_t capacity, char **fields, size_t *count);

#endif
