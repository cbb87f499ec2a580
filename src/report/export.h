/* What the writers of benchmark results for other tools share.
 *
 * A writer gets the subjects of one or several records as one list. Each has a unique name, because
 * files of other tools find results by name. Each has its figures, which are computed from the
 * samples if the record does not have them. The writer prints one document. */
#ifndef ASSAY_REPORT_EXPORT_H
#define ASSAY_REPORT_EXPORT_H

#include <stddef.h>
#include <stdio.h>

#include "assay/record.h"
#include "assay/report.h"
#include "base/buffer.h"
#include "base/json_writer.h"
#include "base/name_index.h"

/* The largest text composed of a name, a command or parameters. The record limits each part of it.
 */
enum { ASSAY__EXPORT_MAX_TEXT = 64 << 20 };

typedef struct assay__export_item {
    const assay_record *record;
    const assay_record_subject *subject;
    char *name;      /* unique in the list */
    double *seconds; /* the samples that are valid times: not negative, at most 1e100 */
    size_t count;
    assay_reading mean_seconds, low_seconds, high_seconds;
    assay_reading median_seconds, std_seconds, min_seconds, max_seconds;
    assay_reading processor_seconds; /* user and system time of one iteration */
    uint64_t slow_samples;           /* samples in a slow mode; 0 if there is none */
    assay_reading slow_ratio;
    const char *doubt; /* the reason why the interval of the mean is doubtful, or NULL */
} assay__export_item;

typedef struct assay__export_list {
    const assay_record *const *records;
    size_t record_count;
    assay__export_item *items;
    size_t item_count;
    assay__name_index names; /* of the items */
} assay__export_list;

/* The list borrows from the records. Release it after a failure too. */
ASSAY_MUST_USE assay_status assay__export_list_init(assay__export_list *list,
                                                    const assay_record *const *records,
                                                    size_t count);
void assay__export_list_release(assay__export_list *list);

/* Whether the item has a time to export. A command that always failed has none. */
bool assay__export_has_time(const assay__export_item *item);

bool assay__export_has_spans(const assay_record *record);

/* Append the parameters as "size=4 kind=x". Nothing is appended without parameters. */
void assay__export_parameters(assay__buffer *text, const assay_record_subject *subject);

/* The label that distinguishes the subject called `name` from the others of its record. In a sweep,
 * where every subject has parameters and no two have the same ones, it is the parameters
 * ("n=400000"); otherwise it is the name. The text is composed in `label`. */
enum { ASSAY__SUBJECT_LABEL = 256 };
const char *assay__subject_label(const assay_record *record, const char *name,
                                 char label[ASSAY__SUBJECT_LABEL]);

/* Append the command, with its words quoted for a shell where needed. Nothing is appended if there
 * is no command. */
void assay__export_command(assay__buffer *text, const assay_record_subject *subject);

/* The sample as a reading. A sample that is no valid time (negative, or above 1e100) was not
 * measured. */
assay_reading assay__export_sample(const assay_record_subject *subject, size_t index);

/* End the JSON and report the first failure: of `composing` the texts that went into it, or of
 * writing. */
ASSAY_MUST_USE assay_status assay__export_finish(assay__json *json, assay_status composing,
                                                 assay_error *error);

/* Formats that show one record; report.h describes each. */
typedef assay_status assay__report_view(const assay_record *record, FILE *stream,
                                        assay_error *error);
assay__report_view assay__report_run, assay__report_tree, assay__report_journal,
    assay__report_performance, assay__report_aggregate, assay__report_summary, assay__report_advice,
    assay__report_trace, assay__report_scaling;

/* The same for formats with verdicts. They end with the rule of the verdicts, unless the record
 * `above` was printed before with the same rule. `above` is NULL if there was no such record. */
typedef assay_status assay__verdict_view(const assay_record *record, const assay_record *above,
                                         FILE *stream, assay_error *error);
assay__verdict_view assay__report_text, assay__report_bench, assay__report_comparisons;

/* The foot of a benchmark: the ranking of three or more subjects. Nothing is printed for fewer. */
assay__report_view assay__report_ranking;

/* The flags for assay_findings_print(): remedies are shown, and those for a GPU only if the record
 * has figures of a GPU. */
unsigned assay__findings_flags(const assay_record *record);

/* The programs of a run, ordered by processor time. Nothing is printed for a single program. */
assay__report_view assay__report_processes;

/* The lines and functions of the run's Python programs that cost most, if they were sampled. */
assay__report_view assay__report_python;

/* The activity of the run's GPUs: the kernels that cost most, copies, and idle time by cause. */
assay__report_view assay__report_gpu;

/* The programs that are missing in the heap figures of a run, with the reasons, after a label of
 * `label_width` columns. Nothing is printed if none is missing. */
assay_status assay__report_unseen(const assay_record *record, size_t label_width, FILE *stream,
                                  assay_error *error);

/* The name of a metric for people, such as "peak memory" for "peak_rss_bytes". A metric that we do
 * not know keeps its name. */
const char *assay__metric_name(const char *metric);

/* Print notes on data that the record could not hold, at the foot of a view. Nothing is printed for
 * a clean run. */
void assay__print_integrity(const assay_record_integrity *integrity, FILE *stream);

/* Formats that show all records as one document. */
typedef assay_status assay__export_writer(const assay__export_list *list, FILE *stream,
                                          assay_error *error);
assay__export_writer assay__export_google_benchmark, assay__export_hyperfine, assay__export_pyperf,
    assay__export_bencher, assay__export_github_action, assay__export_csv,
    assay__export_samples_csv, assay__export_markdown, assay__export_sql, assay__export_metrics_csv;

#endif
