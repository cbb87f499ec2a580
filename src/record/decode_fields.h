/* Reads the parts of a record's JSON that are more than one value: the fields of a table, lists,
 * facts. */
#ifndef ASSAY_RECORD_DECODE_FIELDS_H
#define ASSAY_RECORD_DECODE_FIELDS_H

#include "record/decode_value.h"
#include "record/fields.h"

/* Read every field of the table from `object` into the struct at `target`. */
ASSAY_MUST_USE assay_status assay__decode_fields(assay__decoder *d, const json_t *object,
                                                 const assay__field *fields, void *target);

/* Make room for the members of the array `key`, in the memory of the record. If the array is
 * absent, *list is NULL and *count is 0. */
ASSAY_MUST_USE assay_status assay__decode_list(assay__decoder *d, const json_t *object,
                                               const char *key, size_t size, const json_t **list,
                                               size_t *count, void **items);

/* Read the whole array `key`, of numbers (null becomes NaN) or of texts. */
ASSAY_MUST_USE assay_status assay__decode_numbers(assay__decoder *d, const json_t *object,
                                                  const char *key, const double **numbers,
                                                  size_t *count);
ASSAY_MUST_USE assay_status assay__decode_texts(assay__decoder *d, const json_t *object,
                                                const char *key, const char *const **texts,
                                                size_t *count);

/* Pass each text, number or null of the object `section` to `add`, if the object is there. `add`
 * copies the fact and returns ASSAY_E_LIMIT beyond `maximum` facts. */
typedef assay_status assay__fact_adder(assay_record *record, void *context, assay_record_fact fact);
ASSAY_MUST_USE assay_status assay__decode_facts(assay__decoder *d, const json_t *top,
                                                const char *section, assay__fact_adder *add,
                                                void *context, size_t maximum);

#endif
