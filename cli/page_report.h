/* The page of run records: `assay report RECORD... --html FILE`. */
#ifndef ASSAY_CLI_PAGE_REPORT_H
#define ASSAY_CLI_PAGE_REPORT_H

#include <stddef.h>

#include "assay/record.h"
#include "assay/status.h"

enum { PAGE_MAX_RECORDS = 64 };

/* Write the page of `count` records to `path`, which appears complete or not at all. `origins` are
 * the names of the records, such as their files. The page also gets the growth of sweeps and the
 * comparison of each other record with the first. Returns ASSAY_E_LIMIT for more than
 * PAGE_MAX_RECORDS records, and ASSAY_E_DATA if no record holds anything to show; otherwise it
 * fails as page_save(). */
ASSAY_MUST_USE assay_status page_report_save(const char *path, const assay_record *const *records,
                                             const char *const *origins, size_t count,
                                             assay_error *error);

#endif
