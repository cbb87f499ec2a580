/* Reports: records shown to people and to other tools.
 *
 *     assay_report_print(record, "tree", stdout, NULL);
 *     if (assay_report_save(record, "google-benchmark", "results.json", &error) != ASSAY_OK)
 *         fprintf(stderr, "%s\n", error.message);
 *
 * A report reads a record and writes text; it measures nothing. There is one call to print and one
 * to save, and a list of formats. The JSON of the record itself is assay_record_save() (record.h).
 *
 * For people, 80 columns wide ("performance", "aggregate" and "summary": 90):
 *   text         the format that fits the record: "bench", "run" or "journal"; for a record with
 *                subjects and spans, "bench" and then the spans
 *   run          the command, how it ended and what it used, then the call tree if there are spans
 *   tree         count, total, self, mean, p50 and p99 of every operation, below the operation it
 *                ran in, the most expensive first; then spans that are still open and the number of
 *                spans and events that were lost
 *   journal      threads, call tree, spans recorded one by one, counters
 *   bench        each subject with interval, spread, cost, how many samples count and why sampling
 *                stopped, then the comparisons
 *   comparisons  differences other than the code, then ratio, interval and verdict of every
 *                comparison, the reason of an inconclusive one, the rule, and the subjects that
 *                were not compared
 *   scaling      mean, deviation, extremes and number of runs of subjects that differ in one
 *                parameter: one row for each size
 *   performance  PERFORMANCE SUMMARY: time, growth of resident memory, and growth and peak of GPU
 *                memory, of spans recorded one by one and of aggregated operations; an operation
 *                that ran inside another one is indented below it and not added to TOTAL again
 *   aggregate    AGGREGATE STATISTICS: count, total, mean, min and max, one row for each name, over
 *                all its places in the call tree; recursion is counted once in the total
 *   summary      the last two, one below the other
 *   advice       bottlenecks among the spans, and what to do about them (bottleneck.h)
 *
 * For other tools:
 *   trace        Chrome JSON for Perfetto and chrome://tracing: spans strictly nested per thread,
 *                counters, names of processes and threads; spans that never ended reach to the end
 *                of the trace and carry the argument "open"
 *   google-benchmark, hyperfine, pyperf, bencher, github-action-benchmark, csv, csv-samples,
 *   csv-spans, markdown, sql
 *
 * Tables have fixed widths. A name that is too long for its column is on a line of its own above
 * its figures. A time that would round to 0.000 is shown as 2.1e-05. A figure that was not measured
 * is "n/a". One MB is 2^20 bytes. Names are unique within a document for other tools: if a subject
 * has the name of an earlier one, its parameters, its origin or a number are added to the name.
 * Numbers can be read back to the same double in every locale. JSON never contains NaN.
 *
 * Threads: a report reads its records without locks; one thread at a time.
 */
#ifndef ASSAY_REPORT_H
#define ASSAY_REPORT_H

#include <stddef.h>
#include <stdio.h>

#include "assay/record.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Print a record in one of the formats. ASSAY_E_NOT_FOUND for an unknown format; ASSAY_E_DATA
 * when the record holds nothing that the format shows; ASSAY_E_FULL or ASSAY_E_IO when writing
 * fails. As with printf, you may ignore the status: the stream remembers the error. A NULL stream
 * prints nothing. */
ASSAY_API assay_status assay_report_print(const assay_record *record, const char *format,
                                          FILE *stream, assay_error *error);

/* Print several records one below the other, each under its title. Pass NULL for no titles. The
 * explanation below the verdicts is printed once. A document for other tools contains all records
 * and has no titles. ASSAY_E_ARGUMENT for a trace of several records. */
ASSAY_API assay_status assay_reports_print(const assay_record *const *records,
                                           const char *const *titles, size_t count,
                                           const char *format, FILE *stream, assay_error *error);

/* Save a report of one record to a file. The file appears complete or not at all. The path "-"
 * appends to standard output. */
ASSAY_API ASSAY_MUST_USE assay_status assay_report_save(const assay_record *record,
                                                        const char *format, const char *path,
                                                        assay_error *error);

/* Save a report of several records to one file, as assay_reports_print() prints it without
 * titles. */
ASSAY_API ASSAY_MUST_USE assay_status assay_reports_save(const assay_record *const *records,
                                                         size_t count, const char *format,
                                                         const char *path, assay_error *error);

typedef struct assay_report_format {
    const char *name;        /* "google-benchmark" */
    const char *description; /* some words for a help text */
} assay_report_format;

/* All formats, in the order to list them; static storage. */
ASSAY_API const assay_report_format *assay_report_formats(size_t *count);

/* ---- files of your own ----------------------------------------------------------------------- */

/* Prints `subject` to the stream. It need not report errors of the stream: assay_file_save() checks
 * the stream once at the end. */
typedef assay_status (*assay_file_printer)(const void *subject, FILE *stream, assay_error *error);

/* Replace the file `path` by the output of `print`. The path "-" appends to standard output. The
 * file is written under a temporary name and renamed when everything has succeeded. After a failure
 * `path` is unchanged. */
ASSAY_API ASSAY_MUST_USE assay_status assay_file_save(const char *path, assay_file_printer print,
                                                      const void *subject, assay_error *error);

#ifdef __cplusplus
}
#endif

#endif
