/* Writes benchmark results as SQL that both SQLite and PostgreSQL accept. Tables are created if
 * they are missing; then follows one row for each subject, sample and comparison, all in one
 * transaction. Texts are quoted as in the SQL standard: quotes are doubled and backslashes are
 * plain (PostgreSQL's default since 9.1; MySQL differs). */
#include "assay/record.h"
#include "base/error.h"
#include "record/fact.h"
#include "report/cell.h"
#include "report/csv_writer.h"
#include "report/export.h"

static const char schema[] =
    "BEGIN;\n"
    "CREATE TABLE IF NOT EXISTS assay_subjects (\n"
    "  created TEXT, hostname TEXT, run TEXT, name TEXT NOT NULL, command TEXT, parameters TEXT,\n"
    "  mean_seconds DOUBLE PRECISION, low_seconds DOUBLE PRECISION,\n"
    "  high_seconds DOUBLE PRECISION, median_seconds DOUBLE PRECISION,\n"
    "  std_seconds DOUBLE PRECISION, min_seconds DOUBLE PRECISION,\n"
    "  max_seconds DOUBLE PRECISION, user_seconds DOUBLE PRECISION,\n"
    "  sys_seconds DOUBLE PRECISION, peak_rss_bytes DOUBLE PRECISION,\n"
    "  samples BIGINT, iterations BIGINT, rejected_samples BIGINT, failed_runs BIGINT,\n"
    "  stopped TEXT\n"
    ");\n"
    "CREATE TABLE IF NOT EXISTS assay_samples (\n"
    "  created TEXT, hostname TEXT, name TEXT NOT NULL, sample BIGINT NOT NULL, round BIGINT,\n"
    "  seconds DOUBLE PRECISION\n"
    ");\n"
    "CREATE TABLE IF NOT EXISTS assay_comparisons (\n"
    "  created TEXT, hostname TEXT, baseline TEXT, baseline_origin TEXT, candidate TEXT,\n"
    "  candidate_origin TEXT, metric TEXT, ratio DOUBLE PRECISION, low DOUBLE PRECISION,\n"
    "  high DOUBLE PRECISION, verdict TEXT, reason TEXT\n"
    ");\n";

static void quote(assay__buffer *sql, const char *text)
{
    if (text == NULL) {
        assay__buffer_append_text(sql, "NULL");
        return;
    }
    assay__buffer_append_text(sql, "'");
    for (; *text != '\0'; text++)
        assay__buffer_append(sql, *text == '\'' ? "''" : text, *text == '\'' ? 2 : 1);
    assay__buffer_append_text(sql, "'");
}

static void number(assay__buffer *sql, assay_reading value)
{
    size_t before = sql->length;
    assay__buffer_append_text(sql, ", ");
    assay__csv_reading(sql, value);
    if (sql->length == before + 2)
        assay__buffer_append_text(sql, "NULL");
}

/* Begin a row: INSERT INTO table VALUES ('2026-…', 'host' */
static void begin_row(assay__buffer *sql, const char *table, const assay_record *record)
{
    assay__buffer_printf(sql, "INSERT INTO %s VALUES (", table);
    quote(sql, record->created);
    assay__buffer_append_text(sql, ", ");
    quote(sql, assay__fact_value(record->machine, record->machine_count, "hostname"));
}

static void text(assay__buffer *sql, const char *value)
{
    assay__buffer_append_text(sql, ", ");
    quote(sql, value);
}

/* Append a text that was composed in a buffer; NULL if it is empty. */
static void composed(assay__buffer *sql, const assay__buffer *part)
{
    text(sql, part->length > 0 ? part->data : NULL);
    if (part->status != ASSAY_OK && sql->status == ASSAY_OK)
        sql->status = part->status;
}

static void subject_row(assay__buffer *sql, const assay__export_item *item)
{
    const assay_record_subject *subject = item->subject;
    const assay_reading figures[] = {
        item->mean_seconds,   item->low_seconds,      item->high_seconds, item->median_seconds,
        item->std_seconds,    item->min_seconds,      item->max_seconds,  subject->user_seconds,
        subject->sys_seconds, subject->peak_rss_bytes};
    assay__buffer command, parameters;
    assay__buffer_init(&command, ASSAY__EXPORT_MAX_TEXT);
    assay__buffer_init(&parameters, ASSAY__EXPORT_MAX_TEXT);
    assay__export_command(&command, subject);
    assay__export_parameters(&parameters, subject);
    begin_row(sql, "assay_subjects", item->record);
    text(sql, item->record->name);
    text(sql, item->name);
    composed(sql, &command);
    composed(sql, &parameters);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        number(sql, figures[i]);
    assay__buffer_printf(
        sql, ", %zu, %llu, %llu, %llu", item->count, (unsigned long long)subject->iterations,
        (unsigned long long)subject->rejected_samples, (unsigned long long)subject->failed_runs);
    text(sql, subject->stopped);
    assay__buffer_append_text(sql, ");\n");
    assay__buffer_release(&command);
    assay__buffer_release(&parameters);
}

static void sample_rows(assay__buffer *sql, const assay__export_item *item)
{
    const assay_record_subject *subject = item->subject;
    for (size_t i = 0; i < subject->sample_count; i++) {
        begin_row(sql, "assay_samples", item->record);
        text(sql, item->name);
        assay__buffer_printf(sql, ", %zu, ", i);
        if (subject->rounds != NULL)
            assay__buffer_printf(sql, "%u", (unsigned)subject->rounds[i]);
        else
            assay__buffer_append_text(sql, "NULL");
        number(sql, assay__export_sample(subject, i));
        assay__buffer_append_text(sql, ");\n");
    }
}

static void comparison_rows(assay__buffer *sql, const assay_record *record)
{
    for (size_t i = 0; i < record->comparison_count; i++) {
        const assay_record_comparison *shown = &record->comparisons[i];
        begin_row(sql, "assay_comparisons", record);
        text(sql, shown->baseline);
        text(sql, shown->baseline_origin);
        text(sql, shown->candidate);
        text(sql, shown->candidate_origin);
        text(sql, shown->metric != NULL ? shown->metric : "wall_seconds");
        number(sql, shown->ratio);
        number(sql, shown->low);
        number(sql, shown->high);
        text(sql, assay_verdict_text(shown->verdict));
        text(sql, shown->reason);
        assay__buffer_append_text(sql, ");\n");
    }
}

assay_status assay__export_sql(const assay__export_list *list, FILE *stream, assay_error *error)
{
    assay__buffer sql;
    assay__buffer_init(&sql, ASSAY__TABLE_MAX_BYTES);
    assay__buffer_append_text(&sql, schema);
    for (size_t i = 0; i < list->item_count; i++) {
        subject_row(&sql, &list->items[i]);
        sample_rows(&sql, &list->items[i]);
    }
    for (size_t i = 0; i < list->record_count; i++)
        comparison_rows(&sql, list->records[i]);
    assay__buffer_append_text(&sql, "COMMIT;\n");
    assay_status status = assay__table_print(&sql, stream);
    if (status == ASSAY_OK)
        return ASSAY_OK;
    return assay__fail(error, status, "cannot write SQL: %s", assay_status_message(status));
}
