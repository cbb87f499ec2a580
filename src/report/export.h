/* Benchmark results for other tools: what their writers share.
 *
 * A writer gets the subjects of one or several records as one list, each with a name no other has
 * (files of other tools find results by name) and with its figures, computed from the samples where
 * the record has none. It prints one document. */
#ifndef ASSAY_REPORT_EXPORT_H
#define ASSAY_REPORT_EXPORT_H

#include <stddef.h>
#include <stdio.h>

#include "assay/record.h"
#include "assay/report.h"
#include "base/buffer.h"
#include "base/json_writer.h"

/* Names, commands and parameters put together: each is bounded by the record. */
enum { ASSAY__EXPORT_MAX_TEXT = 64 << 20 };

typedef struct assay__export_item {
    const assay_record *record;
    const assay_record_subject *subject;
    char *name;      /* unique in the list */
    double *seconds; /* the samples that are times: finite and not negative */
    size_t count;
    assay_reading mean_seconds, low_seconds, high_seconds;
    assay_reading median_seconds, std_seconds, min_seconds, max_seconds;
    assay_reading processor_seconds; /* user and system time of one iteration */
    uint64_t slow_samples;           /* of a slow mode; 0: none */
    assay_reading slow_ratio;
    const char *doubt; /* why the interval of the mean cannot be trusted, or NULL */
} assay__export_item;

typedef struct assay__export_list {
    const assay_record *const *records;
    size_t record_count;
    assay__export_item *items;
    size_t item_count;
} assay__export_list;

/* Borrows from the records. Release also after a failure. Names are compared pairwise: quadratic in
 * the number of subjects, of which a record has hundreds at most. */
ASSAY_MUST_USE assay_status assay__export_list_init(assay__export_list *list,
                                                    const assay_record *const *records,
                                                    size_t count);
void assay__export_list_release(assay__export_list *list);

/* Whether there is a time to export at all; a command that always failed has none. */
bool assay__export_has_time(const assay__export_item *item);

bool assay__export_has_spans(const assay_record *record);

/* "size=4 kind=x"; nothing without parameters. */
void assay__export_parameters(assay__buffer *text, const assay_record_subject *subject);

/* What tells the subject called `name` from the others of its record: "n=400000" in a sweep, where
 * every subject has parameters and no two the same ones; else its name. The text is composed in
 * `label`. */
enum { ASSAY__SUBJECT_LABEL = 256 };
const char *assay__subject_label(const assay_record *record, const char *name,
                                 char label[ASSAY__SUBJECT_LABEL]);

/* The command as a shell would take it, words quoted where needed; nothing when it is none. */
void assay__export_command(assay__buffer *text, const assay_record_subject *subject);

/* The sample as a reading; one that is no time (not finite, negative) was not measured. */
assay_reading assay__export_sample(const assay_record_subject *subject, size_t index);

/* End the JSON and report the first failure: `composing` of texts that went into it, or writing. */
ASSAY_MUST_USE assay_status assay__export_finish(assay__json *json, assay_status composing,
                                                 assay_error *error);

/* Formats that show one record; report.h says what each is. */
typedef assay_status assay__report_view(const assay_record *record, FILE *stream,
                                        assay_error *error);
assay__report_view assay__report_run, assay__report_tree, assay__report_journal,
    assay__report_performance, assay__report_aggregate, assay__report_summary, assay__report_advice,
    assay__report_trace, assay__report_scaling;

/* The same for formats with verdicts, which end with the rule of the verdicts unless it stands
 * below the record `above` already (NULL: there is none). */
typedef assay_status assay__verdict_view(const assay_record *record, const assay_record *above,
                                         FILE *stream, assay_error *error);
assay__verdict_view assay__report_text, assay__report_bench, assay__report_comparisons;

/* The foot of a benchmark: three or more subjects in their order. Nothing for fewer. */
assay__report_view assay__report_ranking;

/* For assay_findings_print(): remedies, those for a GPU only if the record has figures of one. */
unsigned assay__findings_flags(const assay_record *record);

/* The programs of a run by processor time, where there are several; nothing otherwise. */
assay__report_view assay__report_processes;

/* The lines and functions of its Python programs that cost most, where they were sampled. */
assay__report_view assay__report_python;

/* What its GPUs did: the kernels that cost most, copies, idle time by cause. */
assay__report_view assay__report_gpu;

/* The programs that are missing in the heap figures of a run, and why, behind a label of
 * `label_width` columns; nothing where none is missing. */
assay_status assay__report_unseen(const assay_record *record, size_t label_width, FILE *stream,
                                  assay_error *error);

/* "peak memory" for "peak_rss_bytes"; a metric that we do not know is its own name. */
const char *assay__metric_name(const char *metric);

/* What the record could not record, for the foot of a view; nothing for a clean run. */
void assay__print_integrity(const assay_record_integrity *integrity, FILE *stream);

/* Formats that show all records as one document. */
typedef assay_status assay__export_writer(const assay__export_list *list, FILE *stream,
                                          assay_error *error);
assay__export_writer assay__export_google_benchmark, assay__export_hyperfine, assay__export_pyperf,
    assay__export_bencher, assay__export_github_action, assay__export_csv,
    assay__export_samples_csv, assay__export_markdown, assay__export_sql, assay__export_metrics_csv;

#endif
