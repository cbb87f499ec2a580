/* Reads single values of a record's JSON and checks them.
 *
 * Every reader takes the value found and its key. The value is NULL if the key is absent. The key
 * is NULL for a member of an array, whose index was entered with assay__decoder_enter(). A failure
 * has a message that names the place: "run.json: operations[3].count: an integer is expected, not a
 * string". */
#ifndef ASSAY_RECORD_DECODE_VALUE_H
#define ASSAY_RECORD_DECODE_VALUE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/record.h"

enum { ASSAY__DECODER_MAX_STEPS = 4 };
#define ASSAY__NO_INDEX SIZE_MAX

/* One step on the way from the top to a value: `key`, `key[index]` or, without key, `[index]`. */
typedef struct assay__decoder_step {
    const char *key;
    size_t index;
} assay__decoder_step;

typedef struct assay__decoder {
    assay_record *record; /* the record being filled; owns the texts */
    const char *source;   /* file name for messages, or NULL */
    assay_error *error;
    assay__decoder_step steps[ASSAY__DECODER_MAX_STEPS];
    size_t depth;
} assay__decoder;

/* Enter `key`, and within it `index` unless that is ASSAY__NO_INDEX; and leave it again. The key is
 * borrowed. */
void assay__decoder_enter(assay__decoder *d, const char *key, size_t index);
void assay__decoder_leave(assay__decoder *d);

/* The source as messages show it. It is never NULL; of a long source only the end is shown. */
const char *assay__decoder_source(const assay__decoder *d);

/* Fail with ASSAY_E_FORMAT at `key` within the place entered last. */
ASSAY_PRINTF(3, 4)
assay_status assay__decoder_reject(const assay__decoder *d, const char *key, const char *format,
                                   ...);
/* The same, with the message "`expected` is expected, not a string". */
assay_status assay__decoder_reject_type(const assay__decoder *d, const char *key,
                                        const char *expected, const json_t *found);
/* Fail with ASSAY_E_MEMORY. */
assay_status assay__decoder_out_of_memory(const assay__decoder *d);

/* Parse the bytes as JSON, whatever the locale. Fails with ASSAY_E_FORMAT or ASSAY_E_TRUNCATED and
 * names line and column. Caller releases `*top` with json_decref. */
ASSAY_MUST_USE assay_status assay__decode_syntax(const assay__decoder *d, const char *json,
                                                 size_t length, json_t **top);

/* A copy of the text in the record's memory. */
ASSAY_MUST_USE assay_status assay__decode_text(assay__decoder *d, const char *key,
                                               const json_t *value, const char **text);

/* An integer within low … high. */
ASSAY_MUST_USE assay_status assay__decode_integer(const assay__decoder *d, const char *key,
                                                  const json_t *value, int64_t low, int64_t high,
                                                  int64_t *integer);
/* An integer within 0 … high. */
ASSAY_MUST_USE assay_status assay__decode_small(const assay__decoder *d, const char *key,
                                                const json_t *value, int32_t high, int32_t *number);

/* A number. null becomes NaN, because it stands for a number that was not finite. */
ASSAY_MUST_USE assay_status assay__decode_number(const assay__decoder *d, const char *key,
                                                 const json_t *value, double *number);

/* The member `key` of `object`: a number, or null with its reason in the `unavailable` object of
 * `object`. If the member is absent or has no reason, the reading is "not measured". */
ASSAY_MUST_USE assay_status assay__decode_reading(assay__decoder *d, const json_t *object,
                                                  const char *key, assay_reading *reading);
ASSAY_MUST_USE assay_status assay__decode_reason(assay__decoder *d, const json_t *object,
                                                 const char *key, assay_validity *why);

#endif
