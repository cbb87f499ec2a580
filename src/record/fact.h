/* Finds facts of a record by their key. */
#ifndef ASSAY_RECORD_FACT_H
#define ASSAY_RECORD_FACT_H

#include "assay/record.h"

/* The fact with this key, or NULL if there is none. */
const assay_record_fact *assay__fact_find(const assay_record_fact *facts, size_t count,
                                          const char *key);

/* The value of the fact with this key. NULL if there is no such fact or its value is not known. */
const char *assay__fact_value(const assay_record_fact *facts, size_t count, const char *key);

/* Whether the value is a number in the shortest form that JSON has for it: "16" and "0.5", but not
 * "016", "1e3" or "6.10". If so, *number receives it. */
bool assay__fact_number(const assay_record_fact *fact, double *number);

/* The same for facts of the machine, of which only some are numbers: a kernel "6.1" is not. */
bool assay__machine_number(const assay_record_fact *fact, double *number);

#endif
