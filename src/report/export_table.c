/* Writes benchmark results as tables: CSV with one row for each subject, CSV with one row for each
 * sample, and Markdown. */
#include <string.h>

#include "base/error.h"
#include "record/fact.h"
#include "report/cell.h"
#include "report/csv_writer.h"
#include "report/export.h"
#include "report/format.h"

static assay_status print_table(assay__buffer *table, FILE *stream, assay_error *error)
{
    assay_status status = assay__table_print(table, stream);
    if (status == ASSAY_OK)
        return ASSAY_OK;
    return assay__fail(error, status, "cannot write the table: %s", assay_status_message(status));
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static const assay_record_fact *parameter(const assay_record_subject *subject, const char *key)
{
    return assay__fact_find(subject->parameters, subject->parameter_count, key);
}

/* Whether no subject before this one has the parameter. */
static bool is_new(const assay__export_list *list, size_t index, const char *key)
{
    for (size_t i = 0; i < index; i++)
        if (parameter(list->items[i].subject, key) != NULL)
            return false;
    return true;
}

/* Append a column for each parameter that any subject has. If `row` is NULL, append the header. */
static void csv_parameters(assay__buffer *csv, const assay__export_list *list,
                           const assay__export_item *row)
{
    char title[ASSAY__LABEL_BYTES + 16], label[ASSAY__LABEL_BYTES];
    for (size_t i = 0; i < list->item_count; i++)
        for (size_t k = 0; k < list->items[i].subject->parameter_count; k++) {
            const char *key = list->items[i].subject->parameters[k].key;
            if (!is_new(list, i, key))
                continue;
            assay__buffer_append_text(csv, ",");
            if (row == NULL) {
                snprintf(title, sizeof title, "parameter_%s", assay__cell_label(label, key));
                assay__csv_text(csv, title);
                continue;
            }
            const assay_record_fact *found = parameter(row->subject, key);
            if (found != NULL && found->value != NULL)
                assay__csv_text(csv, found->value);
        }
}

static void csv_subject(assay__buffer *csv, const assay__export_item *item)
{
    const assay_record_subject *subject = item->subject;
    const assay_reading figures[] = {
        item->mean_seconds,   item->low_seconds,      item->high_seconds, item->median_seconds,
        item->std_seconds,    item->min_seconds,      item->max_seconds,  subject->user_seconds,
        subject->sys_seconds, subject->peak_rss_bytes};
    assay__csv_text(csv, item->name);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        assay__buffer_append_text(csv, ",");
        assay__csv_reading(csv, figures[i]);
    }
    assay__buffer_printf(
        csv, ",%zu,%llu,%llu,%llu,", item->count, (unsigned long long)subject->iterations,
        (unsigned long long)subject->rejected_samples, (unsigned long long)subject->failed_runs);
    assay__csv_text(csv, subject->stopped != NULL ? subject->stopped : "");
}

assay_status assay__export_csv(const assay__export_list *list, FILE *stream, assay_error *error)
{
    assay__buffer csv;
    assay__buffer_init(&csv, ASSAY__TABLE_MAX_BYTES);
    assay__buffer_append_text(&csv, "name,mean_seconds,low_seconds,high_seconds,median_seconds,"
                                    "std_seconds,min_seconds,max_seconds,user_seconds,sys_seconds,"
                                    "peak_rss_bytes,samples,iterations,rejected_samples,"
                                    "failed_runs,stopped");
    csv_parameters(&csv, list, NULL);
    assay__buffer_append_text(&csv, "\n");
    for (size_t i = 0; i < list->item_count; i++) {
        csv_subject(&csv, &list->items[i]);
        csv_parameters(&csv, list, &list->items[i]);
        assay__buffer_append_text(&csv, "\n");
    }
    return print_table(&csv, stream, error);
}

assay_status assay__export_samples_csv(const assay__export_list *list, FILE *stream,
                                       assay_error *error)
{
    assay__buffer csv, parameters; /* parameters are the same for all samples of a subject */
    assay__buffer_init(&csv, ASSAY__TABLE_MAX_BYTES);
    assay__buffer_init(&parameters, ASSAY__TABLE_MAX_BYTES);
    assay__buffer_append_text(&csv, "name,sample,round,seconds");
    csv_parameters(&csv, list, NULL);
    assay__buffer_append_text(&csv, "\n");
    for (size_t i = 0; i < list->item_count; i++) {
        const assay_record_subject *subject = list->items[i].subject;
        parameters.length = 0;
        csv_parameters(&parameters, list, &list->items[i]);
        for (size_t k = 0; k < subject->sample_count; k++) {
            assay__csv_text(&csv, list->items[i].name);
            assay__buffer_printf(&csv, ",%zu,", k);
            if (subject->rounds != NULL)
                assay__buffer_printf(&csv, "%u", (unsigned)subject->rounds[k]);
            assay__buffer_append_text(&csv, ",");
            assay__csv_reading(&csv, assay__export_sample(subject, k));
            assay__buffer_append(&csv, parameters.data, parameters.length);
            assay__buffer_append_text(&csv, "\n");
        }
    }
    if (csv.status == ASSAY_OK)
        csv.status = parameters.status;
    assay__buffer_release(&parameters);
    return print_table(&csv, stream, error);
}

/* ---- Markdown -------------------------------------------------------------------------------- */

/* Append a text so that it stays within its cell. */
static void plain(assay__buffer *table, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            assay__buffer_append_text(table, "\\");
        assay__buffer_append(table, text, 1);
    }
}

/* Append a text as a code span, enclosed by more backticks than the text has in a row. */
static void code(assay__buffer *table, const char *text)
{
    size_t longest = 0;
    for (const char *at = strchr(text, '`'); at != NULL; at = strchr(at, '`')) {
        size_t run = strspn(at, "`");
        longest = run > longest ? run : longest;
        at += run;
    }
    for (size_t i = 0; i <= longest; i++)
        assay__buffer_append_text(table, "`");
    assay__buffer_append_text(table, longest > 0 ? " " : "");
    plain(table, text);
    assay__buffer_append_text(table, longest > 0 ? " " : "");
    for (size_t i = 0; i <= longest; i++)
        assay__buffer_append_text(table, "`");
}

/* "1.2 ms … 1.3 ms" */
static void markdown_interval(assay__buffer *table, assay_reading low, assay_reading high)
{
    char from[ASSAY__FORMAT_SIZE], to[ASSAY__FORMAT_SIZE];
    if (low.validity == ASSAY_VALID && high.validity == ASSAY_VALID)
        assay__buffer_printf(table, " | %s … %s", assay__format_seconds(low.value, from),
                             assay__format_seconds(high.value, to));
    else
        assay__buffer_append_text(table, " | n/a");
}

static void markdown_subject(assay__buffer *table, const assay__export_item *item)
{
    const assay_reading figures[] = {item->median_seconds, item->std_seconds, item->min_seconds,
                                     item->max_seconds};
    char text[ASSAY__FORMAT_SIZE];
    assay__buffer_append_text(table, "| ");
    code(table, item->name);
    assay__buffer_printf(table, " | %s",
                         assay__format_seconds(assay__value_or_nan(item->mean_seconds), text));
    markdown_interval(table, item->low_seconds, item->high_seconds);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        assay__buffer_printf(table, " | %s",
                             assay__format_seconds(assay__value_or_nan(figures[i]), text));
    assay__buffer_printf(table, " | %zu |\n", item->count);
}

/* Append a subject of a comparison, with the file that it comes from if that is known. */
static void compared(assay__buffer *table, const char *name, const char *origin)
{
    code(table, name != NULL ? name : "");
    if (origin != NULL) {
        assay__buffer_append_text(table, " in ");
        code(table, origin);
    }
}

static void markdown_comparison(assay__buffer *table, const assay_record_comparison *shown)
{
    char ratio[ASSAY__CELL_BYTES], low[ASSAY__CELL_BYTES], high[ASSAY__CELL_BYTES];
    const char *verdict = assay_verdict_text(shown->verdict);
    assay__buffer_append_text(table, "| ");
    compared(table, shown->candidate, shown->candidate_origin);
    assay__buffer_append_text(table, " | ");
    compared(table, shown->baseline, shown->baseline_origin);
    assay__buffer_printf(
        table, " | %s | %s | %s … %s | %s", shown->metric != NULL ? shown->metric : "wall_seconds",
        assay__cell_reading(ratio, shown->ratio, 4, 12),
        assay__cell_reading(low, shown->low, 4, 12), assay__cell_reading(high, shown->high, 4, 12),
        verdict != NULL ? verdict : "n/a");
    if (shown->reason != NULL) {
        assay__buffer_append_text(table, ": ");
        plain(table, shown->reason);
    }
    assay__buffer_append_text(table, " |\n");
}

assay_status assay__export_markdown(const assay__export_list *list, FILE *stream,
                                    assay_error *error)
{
    assay__buffer table;
    assay__buffer_init(&table, ASSAY__TABLE_MAX_BYTES);
    assay__buffer_append_text(
        &table, "| subject | mean | 95 % interval | median | std | min | max | samples |\n"
                "|:---|---:|---:|---:|---:|---:|---:|---:|\n");
    for (size_t i = 0; i < list->item_count; i++)
        markdown_subject(&table, &list->items[i]);
    for (size_t i = 0; i < list->record_count; i++)
        for (size_t k = 0; k < list->records[i]->comparison_count; k++) {
            if (k == 0)
                assay__buffer_append_text(
                    &table,
                    "\n| candidate | baseline | metric | ratio | 95 % interval | verdict |\n"
                    "|:---|:---|:---|---:|---:|:---|\n");
            markdown_comparison(&table, &list->records[i]->comparisons[k]);
        }
    return print_table(&table, stream, error);
}
