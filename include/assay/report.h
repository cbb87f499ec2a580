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
 *   text         what fits the record: "bench", "run" or "journal"; of a record with subjects and
 *                spans, "bench" and then the spans
 *   run          what ran, how it ended and what it took, then the call tree if there are spans
 *   tree         count, total, self, mean, p50 and p99 of every operation, below the operation it
 *                ran in, the most expensive first; then spans still open and what was lost
 *   journal      threads, call tree, spans recorded one by one, counters
 *   bench        each subject with interval, spread, cost, how many samples count and why sampling
 *                stopped, then the comparisons
 *   comparisons  what besides the code differs, then ratio, interval and verdict of every
 *                comparison, the reason of an inconclusive one, the rule, and what was not compared
 *   scaling      mean, deviation, extremes and number of runs of subjects that differ in one
 *                parameter: one row for each size
 *   performance  PERFORMANCE SUMMARY: time, resident memory gained, GPU memory gained and peak of
 *                spans recorded one by one and of aggregated operations; what ran inside another
 *                stands indented below it and is not added to TOTAL again
 *   aggregate    AGGREGATE STATISTICS: count, total, mean, min and max, one row for each name
 *                wherever it ran; recursion is counted once in the total
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
 * Tables have fixed widths. A name too long for its column stands on a line of its own above its
 * figures; a time that would round to 0.000 is shown as 2.1e-05; a figure that was not measured is
 * "n/a". MB are 2^20 bytes. Names are unique within a document for other tools: a subject with the
 * name of an earlier one gets its parameters, its origin or a number behind it. Numbers read back
 * to the same double, whatever the locale; JSON never holds NaN.
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

/* Several records one below the other, each under its title (`titles` NULL: no titles). The
 * explanation below the verdicts is printed once. A document for other tools holds all records and
 * has no titles. A trace shows one record only (ASSAY_E_ARGUMENT). */
ASSAY_API assay_status assay_reports_print(const assay_record *const *records,
                                           const char *const *titles, size_t count,
                                           const char *format, FILE *stream, assay_error *error);

/* One record into a file, which appears complete or not at all ("-": append to standard output). */
ASSAY_API ASSAY_MUST_USE assay_status assay_report_save(const assay_record *record,
                                                        const char *format, const char *path,
                                                        assay_error *error);

/* Several records into one file, as assay_reports_print() prints them without titles. */
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

/* Replace `path` by what `print` writes ("-": append to standard output). The file is written under
 * a temporary name and renamed when everything succeeded; after a failure `path` is as it was. */
ASSAY_API ASSAY_MUST_USE assay_status assay_file_save(const char *path, assay_file_printer print,
                                                      const void *subject, assay_error *error);

#ifdef __cplusplus
}
#endif

#endif
