/* Splits delimited text into rows and fields, in place. It follows RFC 4180: fields may be quoted,
 * and quoted fields may contain doubled quotes and line breaks. A line ends with LF, CR LF or, as
 * spreadsheets on a Mac save it, CR alone. Empty lines are skipped. The caller interprets the
 * fields and words the errors.
 *
 *     assay__csv csv;
 *     assay__csv_init(&csv, text, length, ',');
 *     while (assay__csv_row(&csv, 16, fields, &count) && count > 0) ...
 *
 * Nothing is allocated. Fields are terminated strings inside the text, and valid as long as the
 * text is. */
#ifndef ASSAY_BASE_CSV_H
#define ASSAY_BASE_CSV_H

#include <stdbool.h>
#include <stddef.h>

typedef struct assay__csv {
    char separator; /* ' ' stands for a run of blanks and needs `trims` */
    bool trims;     /* blanks around fields and lines of blanks only are ignored */
    bool comments;  /* lines that begin with # are skipped */
    size_t line;    /* line where the current row starts, from 1 */
    /* Private. */
    char *at, *end; /* the text that is left to read */
    size_t next_line;
} assay__csv;

/* `text` is changed while it is read; text[length] must be a terminator. A byte order mark is
 * skipped. */
void assay__csv_init(assay__csv *csv, char *text, size_t length, char separator);

/* Go to the beginning of the next row. Returns false at the end of the text. */
bool assay__csv_seek(assay__csv *csv);

/* Read the next field of the row. *last says whether the row ends after it. Returns false if a
 * quote is not closed or is followed by text. */
bool assay__csv_field(assay__csv *csv, char **field, bool *last);

/* Read the next row. *count receives the number of its fields, 0 at the end of the text, and
 * `fields` receives the first `capacity` of them. Returns false if a quote is wrong, as above. */
bool assay__csv_row(assay__csv *csv, size_t capacity, char **fields, size_t *count);

#endif
