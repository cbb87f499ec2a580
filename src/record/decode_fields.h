/* Parts of a record's JSON that are more than one value: the fields of a table, lists, facts. */
#ifndef ASSAY_RECORD_DECODE_FIELDS_H
#define ASSAY_RECORD_DECODE_FIELDS_H

#include "record/decode_value.h"
#include "record/fields.h"

/* Every field of the table, from `object` into the struct at `target`. */
ASSAY_MUST_USE assay_status assay__decode_fields(assay__decoder *d, const json_t *object,
                                                 const assay__field *fields, void *target);

/* Room for the members of the array `key`, which may be absent: then *list is NULL and *count 0. */
ASSAY_MUST_USE assay_status assay__decode_list(assay__decoder *d, const json_t *object,
                                               const char *key, size_t size, const json_t **list,
                                               size_t *count, void **items);

/* The whole array `key`: of numbers (null: NaN), of texts. */
ASSAY_MUST_USE assay_status assay__decode_numbers(assay__decoder *d, const json_t *object,
                                                  const char *key, const double **numbers,
                                                  size_t *count);
ASSAY_MUST_USE assay_status assay__decode_texts(assay__decoder *d, const json_t *object,
                                                const char *key, const char *const **texts,
                                                size_t *count);

/* The object `section`, if it is there: each text, number or null is passed to `add`, which copies
 * it and refuses more than `maximum` of them with ASSAY_E_LIMIT. */
typedef assay_status assay__fact_adder(assay_record *record, void *context, assay_record_fact fact);
ASSAY_MUST_USE assay_status assay__decode_facts(assay__decoder *d, const json_t *top,
                                                const char *section, assay__fact_adder *add,
                                                void *context, size_t maximum);

#endif
