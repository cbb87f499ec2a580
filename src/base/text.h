/* Text that came from outside, made safe to store and to print.
 *
 * Names of operations, threads, commands and files reach terminals, JSON and CSV. They are kept as
 * valid UTF-8 without control characters and never longer than their field. Characters that change
 * the direction of writing (U+202E) and invisible characters count as control characters too. */
#ifndef ASSAY_BASE_TEXT_H
#define ASSAY_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest operation name kept, in bytes without the terminator. */
enum { ASSAY__NAME_MAX = 255 };

/* Copy `source` (`length` bytes, need not be terminated) into `target` of `capacity` bytes: control
 * characters and invalid UTF-8 become '?', text that does not fit is cut at a character boundary
 * and ends in "...". Always terminates; returns the length written. An empty source gives
 * "(unnamed)". */
size_t assay__text_copy_name(char *target, size_t capacity, const char *source, size_t length);

/* Length of the UTF-8 sequence at `text` (RFC 3629: no overlong forms, no surrogates), 0 if there
 * is no valid one within `available` bytes (at least 1). */
size_t assay__text_sequence(const char *text, size_t available);

/* Replace control characters and invalid UTF-8 in a terminated string by '?', in place. */
void assay__text_make_printable(char *text);

/* Columns the text takes on a terminal, counting code points (no East-Asian width). */
size_t assay__text_columns(const char *text);

/* The words of `text` that fit into `columns`, at least one: returns their bytes, and in `rest`
 * where the next line begins, which at the end is the terminator. For wrapping:
 *     for (const char *rest; *text != '\0'; text = rest)
 *         printf("%.*s\n", (int)assay__text_line(text, 80, &rest), text); */
size_t assay__text_line(const char *text, size_t columns, const char **rest);

/* A size as people type it: "65536", "512K", "64M", "2G", in units of 2^10, "iB" or "B" behind it
 * allowed. False for anything else, for 0 and for what a size_t cannot hold. */
bool assay__text_bytes(const char *text, size_t *bytes);

/* strtod as the C locale has it: the decimal point is a point whatever the host program's locale
 * says, so that a file reads the same everywhere. */
double assay__text_number(const char *text, char **end);

/* A moment given in seconds since 1970 in ISO 8601, UTC: "2026-11-15T04:11:49Z". Returns `text`,
 * which is empty for a year that the calendar of the C library does not reach. */
enum { ASSAY__UTC_BYTES = 32 };
const char *assay__text_utc(uint64_t seconds, char text[ASSAY__UTC_BYTES]);

#endif
