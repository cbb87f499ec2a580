/* Text from outside, made safe to store and to print.
 *
 * Names of operations, threads, commands and files reach terminals, JSON and CSV. They are kept as
 * valid UTF-8 without control characters and are never longer than their field. Characters that
 * change the direction of writing (U+202E) and invisible characters count as control characters
 * too. */
#ifndef ASSAY_BASE_TEXT_H
#define ASSAY_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest operation name that is kept, in bytes without the terminator. */
enum { ASSAY__NAME_MAX = 255 };

/* Copy `source` (`length` bytes, need not be terminated) into `target` of `capacity` bytes. Control
 * characters and invalid UTF-8 become '?'. Text that does not fit is cut at a character boundary
 * and ends in "...". The target is always terminated; the length written is returned. An empty
 * source gives "(unnamed)". */
size_t assay__text_copy_name(char *target, size_t capacity, const char *source, size_t length);

/* The length of the UTF-8 sequence at `text` (RFC 3629: no overlong forms, no surrogates), or 0 if
 * there is no valid one within `available` bytes. `available` must be at least 1. */
size_t assay__text_sequence(const char *text, size_t available);

/* Replace control characters and invalid UTF-8 in a terminated string by '?', in place. */
void assay__text_make_printable(char *text);

/* Whether two texts are equal; NULL equals only NULL. */
bool assay__text_same(const char *one, const char *other);

/* Whether `typed` (`length` bytes, need not be terminated) is the name of an option. In names of
 * options "-" and "_" are alike. */
bool assay__text_same_option(const char *name, const char *typed, size_t length);

/* Whether the text is a whole number in digits alone, which an int64_t can hold. */
bool assay__text_is_number(const char *text);

/* The number of columns that the text takes on a terminal: one for each character, two for those of
 * East Asia and for emoji, none for marks that combine with the character before them. */
size_t assay__text_columns(const char *text);

/* The number of bytes of the characters at the beginning of the text that fit into `columns`. */
size_t assay__text_fitting(const char *text, size_t columns);

/* How a character outside ASCII is written where only ASCII can be shown: "us" for microseconds,
 * "+-" for plus or minus. `length` is that of its UTF-8 sequence. NULL if there is no such way. */
const char *assay__text_in_ascii(const char *character, size_t length);

/* Take the words of `text` that fit into `columns`, at least one. A figure such as "1 ± 5 %" stays
 * together. The line fits in ASCII as well, where some characters take several columns. Returns the
 * number of the words' bytes. *rest receives the beginning of the next line, or the terminator at
 * the end of the text. To wrap a text:
 *
 *     for (const char *rest; *text != '\0'; text = rest)
 *         printf("%.*s\n", (int)assay__text_line(text, 80, &rest), text); */
size_t assay__text_line(const char *text, size_t columns, const char **rest);

/* Read a size as people type it: "65536", "512K", "64M", "2G", in units of 2^10, with "iB" or "B"
 * allowed behind it. Returns false for anything else, for 0 and for a number that a size_t cannot
 * hold. */
bool assay__text_bytes(const char *text, size_t *bytes);

/* Like strtod() in the C locale: the decimal point is a point whatever the locale of the host
 * program is, so that a file reads the same everywhere. */
double assay__text_number(const char *text, char **end);

/* Write a time, given in seconds since 1970, in ISO 8601 and UTC: "2026-11-15T04:11:49Z". Returns
 * `text`, which is empty for a year that the calendar of the C library does not reach. */
enum { ASSAY__UTC_BYTES = 32 };
const char *assay__text_utc(uint64_t seconds, char text[ASSAY__UTC_BYTES]);

#endif
