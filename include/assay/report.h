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

#include "assay/analyze.h"
#include "assay/growth.h"
#include "assay/record.h"
#include "assay/runtime.h"
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

/* What a benchmark found: each subject with its interval, spread, cost, how many samples count and
 * why sampling stopped, then the comparisons; 80 columns. */
ASSAY_API ASSAY_MUST_USE assay_status assay_report_bench(const assay_record *record, FILE *stream,
                                                         assay_error *error);

/* The event trace as Chrome JSON, for Perfetto and chrome://tracing: spans strictly nested per
 * thread, counters, names of processes and threads; spans that never ended reach to the end of the
 * trace and carry the argument "open". Without events it is valid and empty. */
ASSAY_API ASSAY_MUST_USE assay_status assay_report_trace(const assay_record *record, FILE *stream,
                                                         assay_error *error);

/* ---- For other tools --------------------------------------------------------------------------
 *
 *     const assay_export_format *format = assay_export_format_find("google-benchmark");
 *     status = assay_export_write(format, records, 1, "results.json", &error);
 *
 * Every format is one document whatever the number of records. Names are unique within it: a
 * subject with the name of an earlier one gets its parameters, its origin or a number behind it.
 * Numbers read back to the same double, whatever the locale; JSON never holds NaN. Samples that
 * are no times (not finite, negative) are left out, and subjects without any time are left out of
 * the JSON formats. */
typedef enum assay_export_contents {
    ASSAY_EXPORT_SUBJECTS = 1, /* benchmark results: the record's subjects */
    ASSAY_EXPORT_SPANS = 2     /* what a monitor measured: the record's operations and metrics */
} assay_export_contents;

struct assay__export_list; /* private */

typedef struct assay_export_format {
    const char *name;        /* "google-benchmark" */
    const char *description; /* some words for a help text */
    assay_export_contents contents;
    assay_status (*print)(const struct assay__export_list *list, FILE *stream,
                          assay_error *error); /* private: call assay_export_print */
} assay_export_format;

/* All formats, in the order to list them; static storage. */
ASSAY_API const assay_export_format *assay_export_formats(size_t *count);
/* NULL when there is none of that name. */
ASSAY_API const assay_export_format *assay_export_format_find(const char *name);

/* ASSAY_E_DATA when none of the records (at least one) holds what the format shows. Memory for a
 * copy of the samples; texts other than JSON are composed first, at most 256 MiB (ASSAY_E_LIMIT).
 * assay_export_write replaces `path` as assay_report_write does. */
ASSAY_API ASSAY_MUST_USE assay_status assay_export_print(const assay_export_format *format,
                                                         const assay_record *const *records,
                                                         size_t count, FILE *stream,
                                                         assay_error *error);
ASSAY_API ASSAY_MUST_USE assay_status assay_export_write(const assay_export_format *format,
                                                         const assay_record *const *records,
                                                         size_t count, const char *path,
                                                         assay_error *error);

/* ---- Comparisons ---------------------------------------------------------------------------- */

/* What besides the code differs, then every comparison of the record with ratio, 95 % interval and
 * verdict, the reason of an inconclusive one below it, the rule, and which benchmarks of the
 * baseline are missing; 80 columns. */
ASSAY_API ASSAY_MUST_USE assay_status assay_report_comparisons(const assay_record *record,
                                                               FILE *stream, assay_error *error);

/* ---- Performance monitoring -----------------------------------------------------------------
 *
 * Tables keep their documents' widths: a name too long for its column stands on a line of its own
 * above its figures; a time that would round to 0.000 is shown as 2.1e-05; what was not measured
 * is "n/a". MB are 2^20 bytes. The table is composed first and written in one piece; the stream is
 * flushed, so that a full disk is an error here (ASSAY_E_FULL) and not later. A NULL stream prints
 * nothing. As with printf, the status of assay_print_* may be ignored: the stream remembers. */

/* PERFORMANCE SUMMARY: time, resident memory gained, GPU memory gained and peak. Individually
 * recorded spans in the order they began, then aggregated operations with their total time; what
 * ran inside another stands indented below it and is not added to TOTAL again. */
ASSAY_API ASSAY_MUST_USE assay_status assay_report_performance_summary(const assay_record *record,
                                                                       FILE *stream,
                                                                       assay_error *error);

/* AGGREGATE STATISTICS: count, total, mean, min and max, one row for each name wherever it ran.
 * Recursion is counted once in the total; mean, min and max are of single spans. */
ASSAY_API ASSAY_MUST_USE assay_status assay_report_aggregate_statistics(const assay_record *record,
                                                                        FILE *stream,
                                                                        assay_error *error);

/* The rows of the performance summary as CSV: operation,time,cpu_mb,gpu_mb; seconds and 2^20
 * bytes, empty where not measured. To a stream, or to a file that appears complete
 * or not at all. */
ASSAY_API ASSAY_MUST_USE assay_status assay_report_metrics_csv(const assay_record *record,
                                                               FILE *stream, assay_error *error);
ASSAY_API ASSAY_MUST_USE assay_status assay_export_metrics_csv(const assay_record *record,
                                                               const char *path,
                                                               assay_error *error);

/* "[Performance] critical_operation: 1.234s, CPU +250.5MB, GPU +512.0MB" and, on a second line,
 * the GPU's peak; a line leaves out what was not measured. */
ASSAY_API assay_status assay_print_performance(const assay_record_metric *metric, FILE *stream);

/* One line for each finding, in the seeds' words; with ASSAY_SHOW_REMEDIES what to do about it. */
enum assay_findings_flags { ASSAY_SHOW_REMEDIES = 1 };
ASSAY_API assay_status assay_print_findings(const assay_finding *findings, size_t count,
                                            FILE *stream, unsigned flags);

/* "Optimal batch size: 32 (1.234s)": the fastest of the timers, which are named after the
 * configurations; `what` is "batch size". ASSAY_E_DATA when no timer has a time. */
ASSAY_API assay_status assay_print_best_configuration(const assay_timers *timers, FILE *stream,
                                                      const char *what);

/* ---- Timing utilities -------------------------------------------------------------------------
 *
 * The same rules for widths, small numbers and streams. */

/* TIMING SUMMARY: time and share of the total of every timer; timers measured inside another stand
 * indented below it. The average line appears for more than one dataset. */
ASSAY_API assay_status assay_print_timing_summary(const assay_timers *timers, FILE *stream,
                                                  const char *section_name, size_t num_datasets);

/* SPEEDUP ANALYSIS against `baseline` (NULL: the slowest), fastest first: "1.67x faster",
 * "1.25x slower", "1.00x as fast". Fails as assay_speedup_ratios does. */
ASSAY_API assay_status assay_print_speedup_analysis(const assay_timers *timers, FILE *stream,
                                                    const char *baseline, assay_error *error);

/* "NAME - Detailed Breakdown:", the largest phase first, with shares. */
ASSAY_API assay_status assay_print_phase_breakdown(const assay_timers *timers, FILE *stream,
                                                   const char *name);

ASSAY_API assay_status assay_print_inference_benchmark(const assay_inference_stats *stats,
                                                       FILE *stream, const char *model_name);

ASSAY_API assay_status assay_print_warmup_analysis(const assay_warmup *warmup, FILE *stream,
                                                   const char *model_name);
/* The same table with what was detected below it: from which epoch on the times are steady, at what
 * time, and what the warm-up cost; or that they never settle. */
ASSAY_API assay_status assay_print_warmup_detection(const assay_warmup *warmup,
                                                    const assay_warmup_detection *detection,
                                                    FILE *stream, const char *model_name);

/* "SIREN                :  1.67x faster (1.620x … 1.720x)", as a line of the speed-up analysis with
 * its interval, and the verdict with its reason on the next line. */
ASSAY_API assay_status assay_print_speedup_verdict(const assay_speedup_verdict *verdict,
                                                   FILE *stream, const char *name);

/* How many of the trainings got to the threshold, and after how much time and how many epochs;
 * trainings that never did are said, not guessed. */
ASSAY_API assay_status assay_print_convergence(const assay_convergence_summary *summary,
                                               FILE *stream, const char *model_name);

/* "High variance (6.6x) - investigate outliers!" when slowest and fastest are more than 2x apart,
 * then which batches stand out, or that none does. */
ASSAY_API assay_status assay_print_batch_variance(const assay_batch_variance *variance,
                                                  FILE *stream);

/* Columns Section, Model, Time (s); one row for each timer. */
ASSAY_API ASSAY_MUST_USE assay_status assay_export_timing_csv(const assay_timers *timers,
                                                              const char *path,
                                                              const char *section_name,
                                                              assay_error *error);

/* {"timestamp", "section", "timings": {NAME: seconds, or {"time", metric…, "inside"}}}. */
ASSAY_API ASSAY_MUST_USE assay_status assay_export_timing_json(const assay_timers *timers,
                                                               const char *path,
                                                               const char *section_name,
                                                               assay_error *error);

/* ---- Growth ------------------------------------------------------------------------------------
 */

/* Class, formula, exponent and what speaks against them; the sizes with median, fitted time and
 * deviation; what 10 and 100 times the largest size would take; a plot on logarithmic axes; every
 * class with its lack-of-fit p-value. 80 columns. */
ASSAY_API ASSAY_MUST_USE assay_status assay_report_growth(const assay_growth *growth, FILE *stream,
                                                          assay_error *error);

/* The plot alone: medians ('o') and fitted curve ('.'), 78 columns by 14 lines; nothing below two
 * sizes. */
ASSAY_API ASSAY_MUST_USE assay_status assay_report_growth_plot(const assay_growth *growth,
                                                               FILE *stream, assay_error *error);

/* The whole as one JSON object: `class`, `exponent`, `low`, `high` and the rest of assay_growth. */
ASSAY_API ASSAY_MUST_USE assay_status assay_report_growth_json(const assay_growth *growth,
                                                               FILE *stream, assay_error *error);

/* ---- Runtime profiles (runtime.h) ---------------------------------------------------------------
 * The seed's JSON: "model_name", "training", "inference", "memory", "throughput", "complexity"; and
 * "models", the four ratios by "B_vs_A", "winners". */
ASSAY_API ASSAY_MUST_USE assay_status assay_report_runtime_profile(
    const assay_runtime_profile *profile, FILE *stream, assay_error *error);
ASSAY_API ASSAY_MUST_USE assay_status assay_report_runtime_comparison(
    const assay_runtime_comparison *comparison, FILE *stream, assay_error *error);
/* The same into a file, which appears complete or not at all. */
ASSAY_API ASSAY_MUST_USE assay_status assay_save_profile(const assay_runtime_profile *profile,
                                                         const char *path, assay_error *error);
ASSAY_API ASSAY_MUST_USE assay_status assay_save_comparison(
    const assay_runtime_comparison *comparison, const char *path, assay_error *error);

#ifdef __cplusplus
}
#endif

#endif
