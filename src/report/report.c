/* The table of report formats. To add a format, write an assay__report_view (for one record) or an
 * assay__export_writer (for all records as one document) in a file of its own, declare it in
 * export.h, and add a row here. The command, its help and the tests use this table. */
#include <string.h>

#include "assay/report.h"
#include "base/error.h"
#include "base/text.h"
#include "report/export.h"

enum { TITLE_BYTES = 1024 };

typedef enum contents { ANY, SUBJECTS, SPANS, SPANS_OR_GPU } contents;

typedef struct way {
    contents needs;                /* what a record must contain to be shown */
    assay__report_view *view;      /* shows one record; several are shown one below the other */
    assay__export_writer *writer;  /* or: shows all records as one document */
    assay__verdict_view *verdicts; /* or: like `view`, with verdicts */
} way;

/* The names and descriptions are public, so they have a table of their own, in the same order. */
static const assay_report_format names[] = {
    {"text", "what fits the record: bench, run or journal"},
    {"run", "what ran and what it took, then the call tree"},
    {"tree", "the call tree of the spans"},
    {"journal", "threads, call tree, single spans and counters"},
    {"bench", "benchmark results with intervals, then the comparisons"},
    {"comparisons", "the comparisons with verdict, reason and rule"},
    {"scaling", "times of subjects that differ in one parameter"},
    {"performance", "performance summary of spans"},
    {"aggregate", "aggregate statistics of spans"},
    {"summary", "performance summary and aggregate statistics of spans"},
    {"advice", "bottlenecks among the spans and on GPUs, and what to do about them"},
    {"trace", "the events as Chrome JSON, for ui.perfetto.dev"},
    {"google-benchmark", "JSON as Google Benchmark writes it, one row for each sample"},
    {"hyperfine", "JSON as hyperfine writes it"},
    {"pyperf", "JSON as pyperf writes it"},
    {"bencher", "Bencher metric format"},
    {"github-action-benchmark", "its custom format, smaller is better"},
    {"csv", "one row for each subject"},
    {"csv-samples", "one row for each sample"},
    {"csv-spans", "the rows of the summary: operation,time,cpu_mb,gpu_mb"},
    {"markdown", "tables of subjects and comparisons"},
    {"sql", "tables and rows for SQLite and PostgreSQL"},
};
enum { FORMATS = sizeof names / sizeof *names };

static const way formats[FORMATS] = {
    {ANY, NULL, NULL, assay__report_text},
    {ANY, assay__report_run, NULL, NULL},
    {ANY, assay__report_tree, NULL, NULL},
    {ANY, assay__report_journal, NULL, NULL},
    {SUBJECTS, NULL, NULL, assay__report_bench},
    {ANY, NULL, NULL, assay__report_comparisons},
    {SUBJECTS, assay__report_scaling, NULL, NULL},
    {ANY, assay__report_performance, NULL, NULL},
    {ANY, assay__report_aggregate, NULL, NULL},
    {SPANS, assay__report_summary, NULL, NULL},
    {SPANS_OR_GPU, assay__report_advice, NULL, NULL},
    {ANY, assay__report_trace, NULL, NULL},
    {SUBJECTS, NULL, assay__export_google_benchmark, NULL},
    {SUBJECTS, NULL, assay__export_hyperfine, NULL},
    {SUBJECTS, NULL, assay__export_pyperf, NULL},
    {SUBJECTS, NULL, assay__export_bencher, NULL},
    {SUBJECTS, NULL, assay__export_github_action, NULL},
    {SUBJECTS, NULL, assay__export_csv, NULL},
    {SUBJECTS, NULL, assay__export_samples_csv, NULL},
    {SPANS, NULL, assay__export_metrics_csv, NULL},
    {SUBJECTS, NULL, assay__export_markdown, NULL},
    {SUBJECTS, NULL, assay__export_sql, NULL},
};

const assay_report_format *assay_report_formats(size_t *count)
{
    *count = FORMATS;
    return names;
}

static assay_status find(const char *name, assay_error *error, size_t *index)
{
    for (*index = 0; *index < FORMATS; ++*index)
        if (name != NULL && strcmp(names[*index].name, name) == 0)
            return ASSAY_OK;
    return assay__fail(error, ASSAY_E_NOT_FOUND,
                       "there is no report format '%s'; assay_report_formats() lists them",
                       name != NULL ? name : "(null)");
}

assay_status assay__report_text(const assay_record *record, const assay_record *above, FILE *stream,
                                assay_error *error)
{
    if (record->subject_count > 0) {
        assay_status status = assay__report_bench(record, above, stream, error);
        if (status != ASSAY_OK || !assay__export_has_spans(record))
            return status;
        fputc('\n', stream);
    }
    if (strcmp(record->kind != NULL ? record->kind : "", "bench") == 0 && record->lane_count == 0) {
        fputs("no benchmark was completed\n", stream); /* other tools write such files too */
        return ASSAY_OK;
    }
    return record->has_process ? assay__report_run(record, stream, error)
                               : assay__report_journal(record, stream, error);
}

static assay_status nothing_to_show(size_t index, assay_error *error)
{
    return assay__fail(error, ASSAY_E_DATA,
                       formats[index].needs != SUBJECTS
                           ? "no spans to show as %s; `assay run --json FILE` of a program that "
                             "links libassay records them"
                           : "no benchmark results to show as %s; `assay bench --json FILE` "
                             "records them",
                       names[index].name);
}

/* Whether a view of one record has anything to show. */
static bool is_shown(contents needs, const assay_record *record)
{
    switch (needs) {
    case SUBJECTS:
        return record->subject_count > 0 || record->comparison_count > 0;
    case SPANS:
        return assay__export_has_spans(record);
    case SPANS_OR_GPU:
        return assay__export_has_spans(record) || record->has_gpu;
    case ANY:
        break;
    }
    return true;
}

static assay_status print_views(size_t index, const assay_record *const *records,
                                const char *const *titles, size_t count, FILE *stream,
                                assay_error *error)
{
    const way *format = &formats[index];
    const assay_record *told = NULL; /* the last record whose rule was printed */
    assay_status status = ASSAY_OK;
    size_t printed = 0;
    for (size_t i = 0; i < count && status == ASSAY_OK; i++) {
        if (!is_shown(format->needs, records[i]))
            continue;
        if (printed++ > 0)
            fputc('\n', stream);
        if (titles != NULL) {
            char title[TITLE_BYTES];
            assay__text_copy_name(title, sizeof title, titles[i], strlen(titles[i]));
            fprintf(stream, "%s:\n", title);
        }
        status = format->verdicts != NULL ? format->verdicts(records[i], told, stream, error)
                                          : format->view(records[i], stream, error);
        if (records[i]->comparison_count > 0)
            told = records[i];
    }
    return status != ASSAY_OK || printed > 0 ? status : nothing_to_show(index, error);
}

static bool has_contents(size_t index, const assay__export_list *list)
{
    for (size_t i = 0; i < list->item_count; i++)
        if (formats[index].needs == SUBJECTS && assay__export_has_time(&list->items[i]))
            return true;
    for (size_t i = 0; i < list->record_count; i++)
        if (formats[index].needs == SPANS && assay__export_has_spans(list->records[i]))
            return true;
    return false;
}

static assay_status print_document(size_t index, const assay_record *const *records, size_t count,
                                   FILE *stream, assay_error *error)
{
    assay__export_list list = {0};
    assay_status status = assay__export_list_init(&list, records, count);
    if (status != ASSAY_OK)
        status = assay__fail(error, status, "cannot export %s: %s", names[index].name,
                             assay_status_message(status));
    else if (!has_contents(index, &list))
        status = nothing_to_show(index, error);
    else
        status = formats[index].writer(&list, stream, error);
    assay__export_list_release(&list);
    return status;
}

assay_status assay_reports_print(const assay_record *const *records, const char *const *titles,
                                 size_t count, const char *format, FILE *stream, assay_error *error)
{
    size_t index;
    assay_status status = find(format, error, &index);
    if (status != ASSAY_OK || stream == NULL)
        return status;
    if (formats[index].view == assay__report_trace && count != 1)
        return assay__fail(error, ASSAY_E_ARGUMENT, "a trace shows one record, not %zu", count);
    return formats[index].writer != NULL
               ? print_document(index, records, count, stream, error)
               : print_views(index, records, titles, count, stream, error);
}

assay_status assay_report_print(const assay_record *record, const char *format, FILE *stream,
                                assay_error *error)
{
    return assay_reports_print(&record, NULL, 1, format, stream, error);
}

typedef struct job {
    const assay_record *const *records;
    size_t count;
    const char *format;
} job;

static assay_status print_job(const void *subject, FILE *stream, assay_error *error)
{
    const job *it = subject;
    return assay_reports_print(it->records, NULL, it->count, it->format, stream, error);
}

assay_status assay_reports_save(const assay_record *const *records, size_t count,
                                const char *format, const char *path, assay_error *error)
{
    const job it = {records, count, format};
    return assay_file_save(path, print_job, &it, error);
}

assay_status assay_report_save(const assay_record *record, const char *format, const char *path,
                               assay_error *error)
{
    return assay_reports_save(&record, 1, format, path, error);
}
