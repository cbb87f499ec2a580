/* Checks the rules that every record obeys, no matter which program made it. */
#ifndef ASSAY_RECORD_CHECK_H
#define ASSAY_RECORD_CHECK_H

#include "assay/record.h"

/* The rules: names are present, kinds are known, parents stand before their children, the lanes and
 * names of events exist, buckets and rounds ascend, and every array of samples has as many values
 * as its count says. On a violation returns `status` and names the place in `error`, after
 * "`source`: " unless source is NULL. */
ASSAY_MUST_USE assay_status assay__record_check(const assay_record *record, const char *source,
                                                assay_status status, assay_error *error);

#endif
