/* Writes runtime profiles and comparisons as part of a larger JSON text. */
#ifndef ASSAY_MODELS_PROFILE_RUNTIME_JSON_H
#define ASSAY_MODELS_PROFILE_RUNTIME_JSON_H

#include "assay/runtime.h"
#include "base/json_writer.h"

/* Write the object that assay_runtime_profile_print() or assay_runtime_comparison_print() writes.
 * `key` is NULL at the top level and in arrays. The only failure is ASSAY_E_MEMORY. */
void assay__runtime_profile_write(assay__json *json, const char *key,
                                  const assay_runtime_profile *profile);
ASSAY_MUST_USE assay_status
assay__runtime_comparison_write(assay__json *json, const char *key,
                                const assay_runtime_comparison *comparison, assay_error *error);

#endif
