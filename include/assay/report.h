/* Reports: records shown to people and to other tools.
 *
 * A report reads a record and writes text; it measures nothing. Every printer takes the record, a
 * stream and an optional error; assay_report_write turns whatever is printed into a file that
 * appears complete or not at all.
 *
 * Threads: a report reads its record without locks; one thread at a time.
 */
#ifndef ASSAY_REPORT_H
#define ASSAY_REPORT_H

#include <stdio.h>

#include "assay/record.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Prints `subject` to the stream. Errors of the stream itself need not be reported: whoever owns
 * the stream checks it once at the end. */
typedef assay_status (*assay_report_printer)(const void *subject, FILE *stream, assay_error *error);

/* Replace `path` by what `print` writes ("-": append to stdout). The file is written under a
 * temporary name and renamed when everything succeeded; after a failure `path` is as it was. */
ASSAY_API ASSAY_MUST_USE assay_status assay_report_write(const char *path,
                                                         assay_report_printer print,
                                                         const void *subject, assay_error *error);

#ifdef __cplusplus
}
#endif

#endif
