/* The one table of export formats. To add one: write an assay__export_writer in a file of its own,
 * declare it in export.h, add a row here; command, help and tests follow. */
#include "report/export.h"

#include <string.h>

#include "base/error.h"

static const assay_export_format formats[] = {
    {"google-benchmark", "JSON as Google Benchmark writes it, one row for each sample",
     ASSAY_EXPORT_SUBJECTS, assay__export_google_benchmark},
    {"hyperfine", "JSON as hyperfine writes it", ASSAY_EXPORT_SUBJECTS, assay__export_hyperfine},
    {"pyperf", "JSON as pyperf writes it", ASSAY_EXPORT_SUBJECTS, assay__export_pyperf},
    {"bencher", "Bencher metric format", ASSAY_EXPORT_SUBJECTS, assay__export_bencher},
    {"github-action-benchmark", "its custom format, smaller is better", ASSAY_EXPORT_SUBJECTS,
     assay__export_github_action},
    {"csv", "one row for each subject", ASSAY_EXPORT_SUBJECTS, assay__export_csv},
    {"csv-samples", "one row for each sample", ASSAY_EXPORT_SUBJECTS, assay__export_samples_csv},
    {"markdown", "tables of subjects and comparisons", ASSAY_EXPORT_SUBJECTS,
     assay__export_markdown},
    {"sql", "tables and rows for SQLite and PostgreSQL", ASSAY_EXPORT_SUBJECTS, assay__export_sql},
    {"summary", "performance summary and aggregate statistics of spans", ASSAY_EXPORT_SPANS,
     assay__export_summary},
    {"csv-spans", "the rows of the summary: operation,time,cpu_mb,gpu_mb", ASSAY_EXPORT_SPANS,
     assay__export_metrics_csv},
    {"advice", "bottlenecks among the spans, and what to do about them", ASSAY_EXPORT_SPANS,
     assay__export_advice},
};

const assay_export_format *assay_export_formats(size_t *count)
{
    *count = sizeof formats / sizeof *formats;
    return formats;
}

const assay_export_format *assay_export_format_find(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

/* Whether any of the records holds what the format shows. */
static bool has_contents(const assay_export_format *format, const assay__export_list *list)
{
    for (size_t i = 0; i < list->item_count; i++)
        if (format->contents == ASSAY_EXPORT_SUBJECTS && assay__export_has_time(&list->items[i]))
            return true;
    for (size_t i = 0; i < list->record_count; i++)
        if (format->contents == ASSAY_EXPORT_SPANS && assay__export_has_spans(list->records[i]))
            return true;
    return false;
}

assay_status assay_export_print(const assay_export_format *format,
                                const assay_record *const *records, size_t count, FILE *stream,
                                assay_error *error)
{
    assay__export_list list = {0};
    assay_status status = assay__export_list_init(&list, records, count);
    if (status == ASSAY_OK && !has_contents(format, &list))
        status = assay__fail(error, ASSAY_E_DATA,
                             format->contents == ASSAY_EXPORT_SPANS
                                 ? "no spans to show as %s; `assay run --json FILE` of a program "
                                   "that links libassay records them"
                                 : "no benchmark results to show as %s; `assay bench --json FILE` "
                                   "records them",
                             format->name);
    else if (status == ASSAY_OK)
        status = format->print(&list, stream, error);
    else
        status = assay__fail(error, status, "cannot export %s: %s", format->name,
                             assay_status_message(status));
    assay__export_list_release(&list);
    return status;
}

typedef struct export_job {
    const assay_export_format *format;
    const assay_record *const *records;
    size_t count;
} export_job;

static assay_status print_job(const void *subject, FILE *stream, assay_error *error)
{
    const export_job *job = subject;
    return assay_export_print(job->format, job->records, job->count, stream, error);
}

assay_status assay_export_write(const assay_export_format *format,
                                const assay_record *const *records, size_t count, const char *path,
                                assay_error *error)
{
    const export_job job = {format, records, count};
    return assay_report_write(path, print_job, &job, error);
}
