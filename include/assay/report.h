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

/* ---- One run -------------------------------------------------------------------------------- */

/* What ran, how it ended and what it took, then the call tree if spans were recorded; 80 columns.
 */
ASSAY_API ASSAY_MUST_USE assay_status assay_report_run(const assay_record *record, FILE *stream,
                                                       assay_error *error);

/* The call tree: count, total, self, mean, p50 and p99 of every operation, below the operation it
 * ran in, the most expensive first; then spans still open and what could not be recorded; 80
 * columns. ASSAY_E_MEMORY is its only failure. */
ASSAY_API ASSAY_MUST_USE assay_status assay_report_tree(const assay_record *record, FILE *stream,
                                                        assay_error *error);

/* What a journal holds: threads, call tree, spans recorded one by one, counters; 80 columns. */
ASSAY_API ASSAY_MUST_USE assay_status assay_report_journal(const assay_record *record, FILE *stream,
                                                           assay_error *error);

/* The event trace as Chrome JSON, for Perfetto and chrome://tracing: spans strictly nested per
 * thread, counters, names of processes and threads; spans that never ended reach to the end of the
 * trace and carry the argument "open". Without events it is valid and empty. */
ASSAY_API ASSAY_MUST_USE assay_status assay_report_trace(const assay_record *record, FILE *stream,
                                                         assay_error *error);

#ifdef __cplusplus
}
#endif

#endif
