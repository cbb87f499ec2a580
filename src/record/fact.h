/* Facts of a record, found by their key. */
#ifndef ASSAY_RECORD_FACT_H
#define ASSAY_RECORD_FACT_H

#include "assay/record.h"

/* NULL if there is none. */
const assay_record_fact *assay__fact_find(const assay_record_fact *facts, size_t count,
                                          const char *key);

/* NULL also if the value is not known. */
const char *assay__fact_value(const assay_record_fact *facts, size_t count, const char *key);

#endif
