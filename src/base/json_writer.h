/* Writes JSON to a stream as it is produced, without building a tree.
 *
 *     assay__json json;
 *     assay__json_init(&json, stream, 0);
 *     assay__json_object(&json, NULL);                   // NULL: no key, at the top and in arrays
 *     assay__json_text(&json, "name", "forward");
 *     assay__json_reading(&json, "peak_bytes", peak);    // null + "unavailable" when missing
 *     assay__json_row(&json, "samples");                 // an array kept on one line
 *     assay__json_number(&json, NULL, 0.25);
 *     assay__json_end(&json);
 *     assay__json_end(&json);
 *     status = assay__json_finish(&json);
 *
 * Invariants: the output is valid JSON in UTF-8, whatever the locale and the input. Bytes that are
 * not valid UTF-8 become U+FFFD; NaN and infinities become null. Numbers are written in the fewest
 * digits that read back to the same double.
 *
 * The first failure sticks: later calls write nothing, and assay__json_finish reports it. So a
 * caller writes freely and checks once.
 *
 * Limitations: at most 64 levels; at most 64 missing readings in the objects open at one time. The
 * key of a missing reading must stay valid until its object ends. Duplicate keys are not detected.
 * A writer belongs to one thread at a time. Nothing is allocated. */
#ifndef ASSAY_BASE_JSON_WRITER_H
#define ASSAY_BASE_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/reading.h"
#include "assay/status.h"

enum { ASSAY__JSON_COMPACT = 1 }; /* everything on one line, no spaces */

enum { ASSAY__JSON_MAX_DEPTH = 64, ASSAY__JSON_MAX_MISSING = 64, ASSAY__JSON_BUFFER_BYTES = 4096 };

/* The size of the longest text that assay__json_format_number writes, with its terminator. */
enum { ASSAY__JSON_NUMBER_BYTES = 32 };

typedef struct assay__json_missing {
    const char *key;
    assay_validity why;
    unsigned depth; /* depth of the object that it belongs to */
} assay__json_missing;

/* The fields are private to json_writer.c. The struct is declared here so that a writer can live on
 * the stack. */
typedef struct assay__json {
    FILE *stream;
    bool compact;
    bool first;      /* no value yet in the innermost container */
    unsigned depth;  /* number of open containers */
    unsigned row;    /* depth of the outermost open row; 0: none */
    uint64_t arrays; /* bit d: the container at depth d + 1 is an array */
    unsigned missing_count;
    assay__json_missing missing[ASSAY__JSON_MAX_MISSING];
    assay_status status;
    size_t used;
    char buffer[ASSAY__JSON_BUFFER_BYTES];
} assay__json;

/* `flags` is 0 (indented by two spaces) or ASSAY__JSON_COMPACT. The caller keeps the stream and
 * closes it. */
void assay__json_init(assay__json *json, FILE *stream, unsigned flags);

/* Open a container; `key` is NULL at the top and inside arrays, required inside objects. */
void assay__json_object(assay__json *json, const char *key);
void assay__json_array(assay__json *json, const char *key);
/* An array that stays on one line, with everything in it. */
void assay__json_row(assay__json *json, const char *key);

/* Close the innermost container. An object in which readings were missing first gets its
 * `unavailable` object. */
void assay__json_end(assay__json *json);

/* NULL text is written as null. */
void assay__json_text(assay__json *json, const char *key, const char *text);
void assay__json_integer(assay__json *json, const char *key, int64_t value);
void assay__json_count(assay__json *json, const char *key, uint64_t value);
void assay__json_number(assay__json *json, const char *key, double value);
void assay__json_flag(assay__json *json, const char *key, bool value);
void assay__json_null(assay__json *json, const char *key);

/* Write the value or, if it is missing, null; the reason then goes into the `unavailable` object at
 * the end of the enclosing object. A valid reading that is not finite is shown as not measured. */
void assay__json_reading(assay__json *json, const char *key, assay_reading reading);

/* Enter the reason for a missing value into `unavailable`, if the caller itself wrote null under
 * this key. */
void assay__json_unavailable(assay__json *json, const char *key, assay_validity why);

/* End the last line, pass everything to the stream (not flushed) and report the first failure:
 * ASSAY_E_IO when the stream refused bytes, ASSAY_E_STATE when containers and keys did not match
 * up, ASSAY_E_LIMIT past a maximum. */
ASSAY_MUST_USE assay_status assay__json_finish(assay__json *json);

/* Write the number as JSON, or "null" if it is not finite. Returns the length of the text. Writers
 * of other formats (CSV, traces) use this call too, because they need the same exactness. */
size_t assay__json_format_number(char text[ASSAY__JSON_NUMBER_BYTES], double value);
/* Write an integer; it takes at most 21 bytes with the terminator. Returns the length of the text.
 */
size_t assay__json_format_integer(char *text, bool negative, uint64_t magnitude);

#endif
