/* Turns other tools' results into subjects of a record.
 *
 * Each format has a file of its own. The functions `is_…` check only the outline of the JSON, so
 * that a damaged file of a known tool is recognised and reported as damaged. The import checks
 * every value that it takes, and ignores keys that it does not know. Times are converted to seconds
 * of one iteration. */
#ifndef ASSAY_RECORD_IMPORT_H
#define ASSAY_RECORD_IMPORT_H

#include "record/build.h"
#include "record/decode_value.h"

/* {"context": {…}, "benchmarks": […]} */
bool assay__is_google_benchmark(const json_t *top);
ASSAY_MUST_USE assay_status assay__import_google_benchmark(assay__decoder *d, const json_t *top);

/* {"results": […]} */
bool assay__is_hyperfine(const json_t *top);
ASSAY_MUST_USE assay_status assay__import_hyperfine(assay__decoder *d, const json_t *top);

/* {"version": "1.0", "benchmarks": [{"runs": […]}, …]} */
bool assay__is_pyperf(const json_t *top);
ASSAY_MUST_USE assay_status assay__import_pyperf(assay__decoder *d, const json_t *top);

/* Parse JSON in which numbers may be NaN, Infinity or -Infinity, although JSON does not have them.
 * Google Benchmark writes them for a counter that is always 0, and Python for any such number. They
 * become null. */
ASSAY_MUST_USE assay_status assay__import_syntax(const assay__decoder *d, const char *json,
                                                 size_t length, json_t **top);

/* ---- What the formats share ----------------------------------------------------------------- */

/* The member `from` of another tool's object becomes the fact `to`. */
typedef struct assay__import_fact {
    const char *from, *to;
} assay__import_fact;

/* Add the members listed in the table as facts. Texts, numbers and truth values become texts. Other
 * types and absent members are skipped. The table ends with a NULL. */
ASSAY_MUST_USE assay_status assay__import_facts(assay__decoder *d, const json_t *object,
                                                const assay__import_fact *table,
                                                assay__record_adder *add);

/* A scalar as text, or "" for other types. The result is `text` or, for a string, borrowed from
 * `value`. */
enum { ASSAY__IMPORT_SCALAR = 64 };
const char *assay__import_scalar(const json_t *value, char text[ASSAY__IMPORT_SCALAR]);

/* Read a time, which must be finite and not negative. `seconds_per_unit` converts it to seconds. */
ASSAY_MUST_USE assay_status assay__import_time(const assay__decoder *d, const char *key,
                                               const json_t *value, double seconds_per_unit,
                                               double *seconds);

/* Append the subject. Fails with a message if there are too many subjects or memory ran out. */
ASSAY_MUST_USE assay_status assay__import_subject(assay__decoder *d,
                                                  const assay_record_subject *subject);

#endif
