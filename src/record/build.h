/* The calls that fill records and that only the library needs. The public ones are in
 * record_build.h. */
#ifndef ASSAY_RECORD_BUILD_INTERNAL_H
#define ASSAY_RECORD_BUILD_INTERNAL_H

#include "assay/record_build.h"

void assay__record_comparison_init(assay_record_comparison *item); /* verdict: inconclusive */

ASSAY_MUST_USE assay_status assay__record_add_open_span(assay_record *record,
                                                        const assay_record_open_span *item);
ASSAY_MUST_USE assay_status assay__record_add_comparison(assay_record *record,
                                                         const assay_record_comparison *item);
ASSAY_MUST_USE assay_status assay__record_add_difference(assay_record *record,
                                                         const assay_record_difference *item);

/* A function that adds a fact of one kind: assay_record_add_machine() and the two below. */
typedef assay_status assay__record_adder(assay_record *record, const char *key, const char *value,
                                         assay_validity validity);
ASSAY_MUST_USE assay__record_adder assay__record_add_build, assay__record_add_git;

#endif
