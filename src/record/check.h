/* The rules that every record obeys, whoever made it. */
#ifndef ASSAY_RECORD_CHECK_H
#define ASSAY_RECORD_CHECK_H

#include "assay/record.h"

/* Names are there, kinds are known, parents stand before their children, lanes and names of events
 * exist, buckets and rounds ascend, samples are where their count says. On a violation returns
 * `status` and names the place in `error`, after
 * "`source`: " unless source is NULL. */
ASSAY_MUST_USE assay_status assay__record_check(const assay_record *record, const char *source,
                                                assay_status status, assay_error *error);

#endif
