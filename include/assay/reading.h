/* Readings: a value, or the reason why there is none.
 *
 *     if (memory.rss_bytes.validity == ASSAY_VALID)
 *         printf("%.0f bytes\n", memory.rss_bytes.value);
 *     else
 *         printf("n/a (%s)\n", assay_validity_text(memory.rss_bytes.validity));
 *
 * A figure that is not known is never 0 or -1 in assay. Tables show it as "n/a"; JSON shows null,
 * with the reason in the `unavailable` object beside it.
 */
#ifndef ASSAY_READING_H
#define ASSAY_READING_H

#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether a figure is known, and if not, why: the code, and the text shown in JSON and by `assay
 * doctor`. */
#define ASSAY_VALIDITY_LIST(X)                                                                     \
    X(ASSAY_VALID, "valid")                                                                        \
    X(ASSAY_NOT_MEASURED, "not measured")                                                          \
    X(ASSAY_UNSUPPORTED, "unsupported")                                                            \
    X(ASSAY_NOT_PERMITTED, "not permitted")                                                        \
    X(ASSAY_NOT_ENOUGH_DATA, "not enough data")

#define ASSAY__VALIDITY_ENUM(name, text) name,
typedef enum assay_validity { ASSAY_VALIDITY_LIST(ASSAY__VALIDITY_ENUM) } assay_validity;
#undef ASSAY__VALIDITY_ENUM

typedef struct assay_reading {
    double value; /* meaningful only when validity is ASSAY_VALID */
    assay_validity validity;
} assay_reading;

static inline assay_reading assay_reading_of(double value)
{
    assay_reading reading = {value, ASSAY_VALID};
    return reading;
}

static inline assay_reading assay_reading_missing(assay_validity why)
{
    assay_reading reading = {0.0, why};
    return reading;
}

/* "not enough data"; static storage. */
ASSAY_API const char *assay_validity_text(assay_validity validity);

#ifdef __cplusplus
}
#endif

#endif
