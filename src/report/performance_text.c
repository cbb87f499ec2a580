/* Prints the tables of the performance monitor, and their CSV. Programs rely on the width of 90
 * columns (document C of docs/seed-map.md). */
#include <stdlib.h>
#include <string.h>

#include "analyze/operations.h"
#include "assay/record.h"
#include "assay/report.h"
#include "base/error.h"
#include "report/cell.h"
#include "report/csv_writer.h"
#include "report/export.h"
#include "report/performance_rows.h"

enum { WIDTH = 90, NAME_WIDTH = 31 };

static assay_status fail(assay_error *error, assay_status status)
{
    if (status == ASSAY_OK)
        return ASSAY_OK;
    return assay__fail(error, status, "cannot print the summary: %s", assay_status_message(status));
}

static const char *change_mb(char text[ASSAY__CELL_BYTES], assay_reading bytes)
{
    return assay__cell_change(text, assay__value_or_nan(assay__in_mb(bytes)), 1);
}

static void performance_row(assay__buffer *table, const assay__performance_row *row)
{
    char seconds[ASSAY__CELL_BYTES], cpu[ASSAY__CELL_BYTES], gpu[ASSAY__CELL_BYTES];
    char peak[ASSAY__CELL_BYTES], more[40] = "";
    const assay_record_metric *span = &row->span;
    if (row->more > 0)
        snprintf(more, sizeof more, " (%llu more)", (unsigned long long)row->more);
    assay__cell_name(table, span->operation, more, (size_t)span->depth, NAME_WIDTH);
    assay__buffer_printf(
        table, "%10s %14s %14s %11s\n", assay__cell_number(seconds, span->duration_seconds, 3, 10),
        change_mb(cpu, span->cpu_delta_bytes), change_mb(gpu, span->gpu_delta_bytes),
        assay__cell_reading(peak, assay__in_mb(span->gpu_peak_bytes), 1, 11));
}

/* Append a note on the rows whose memory was read in only some of their spans. Its lines are no
 * wider than the table. */
static void memory_note(assay__buffer *table, const assay__performance_row *rows, size_t count)
{
    size_t column = 0;
    for (size_t i = 0; i < count; i++) {
        char label[ASSAY__LABEL_BYTES], text[ASSAY__LABEL_BYTES + 64];
        if (rows[i].read == 0)
            continue;
        int width = snprintf(text, sizeof text, "%s in %llu of %llu spans",
                             assay__cell_label(label, rows[i].span.operation),
                             (unsigned long long)rows[i].read, (unsigned long long)rows[i].spans);
        if (column == 0) {
            assay__buffer_append_text(table, "CPU (MB) sums the spans whose memory was read: ");
            column = 47;
        } else {
            assay__buffer_append_text(table, column + (size_t)width + 2 > WIDTH ? ",\n" : ", ");
            column = column + (size_t)width + 2 > WIDTH ? 0 : column + 2;
        }
        assay__buffer_append_text(table, text);
        column += (size_t)width;
    }
    assay__buffer_append_text(table, column > 0 ? ".\n" : "");
}

assay_status assay__report_performance(const assay_record *record, FILE *stream, assay_error *error)
{
    assay__performance_row *rows = NULL;
    size_t count = 0;
    assay_status status = assay__performance_rows(record, &rows, &count);
    if (status != ASSAY_OK)
        return fail(error, status);
    assay__buffer table;
    assay__buffer_init(&table, ASSAY__TABLE_MAX_BYTES);
    assay__cell_rule(&table, '=', WIDTH);
    assay__buffer_append_text(&table, "PERFORMANCE SUMMARY\n");
    assay__cell_rule(&table, '=', WIDTH);
    assay__buffer_printf(&table, "%-30s %-12s %-15s %-15s %s\n", "Operation", "Time (s)",
                         "CPU (MB)", "GPU (MB)", "GPU Peak");
    assay__cell_rule(&table, '-', WIDTH);
    for (size_t i = 0; i < count; i++)
        performance_row(&table, &rows[i]);
    assay__cell_rule(&table, '-', WIDTH);
    assay__buffer_printf(&table, "%-30s ", "TOTAL");
    assay__cell_seconds(&table, record->total_seconds, 3, 10);
    assay__buffer_append_text(&table, "\n");
    assay__cell_rule(&table, '=', WIDTH);
    memory_note(&table, rows, count);
    free(rows);
    status = assay__table_print(&table, stream);
    if (status == ASSAY_OK)
        assay__print_integrity(&record->integrity, stream);
    return fail(error, status);
}

/* In the aggregate table, every column starts where its title starts, and its decimal points are
 * aligned. */
enum { COUNT, TOTAL, MEAN, MIN, MAX, COLUMNS };

static const struct {
    const char *title;
    size_t width; /* with the space after it */
} columns[COLUMNS] = {
    {"Count", 9}, {"Total (s)", 13}, {"Mean (s)", 13}, {"Min (s)", 13}, {"Max (s)", 13}};

static const char *aggregate_cell(char text[ASSAY__CELL_BYTES], const assay__operation_row *row,
                                  int column)
{
    const int widest = 12;
    switch (column) {
    case COUNT:
        snprintf(text, ASSAY__CELL_BYTES, "%llu", (unsigned long long)row->count);
        return text;
    case TOTAL:
        return assay__cell_number(text, row->total_seconds, 3, widest);
    case MEAN:
        return assay__cell_reading(text, row->mean_seconds, 3, widest);
    case MIN:
        return assay__cell_reading(text, row->min_seconds, 3, widest);
    default:
        return assay__cell_reading(text, row->max_seconds, 3, widest);
    }
}

static void aggregate_row(assay__buffer *table, const assay__operation_row *row,
                          const int widest[COLUMNS])
{
    char text[ASSAY__CELL_BYTES];
    assay__cell_name(table, row->name, "", 0, NAME_WIDTH);
    for (int column = 0; column < COLUMNS; column++) {
        size_t before = table->length;
        assay__buffer_printf(table, "%*s", widest[column], aggregate_cell(text, row, column));
        size_t used = table->length - before;
        if (column + 1 < COLUMNS)
            assay__buffer_printf(
                table, "%*s",
                used < columns[column].width ? (int)(columns[column].width - used) : 1, "");
    }
    assay__buffer_append_text(table, "\n");
}

assay_status assay__report_aggregate(const assay_record *record, FILE *stream, assay_error *error)
{
    assay__operation_row *rows = NULL;
    size_t count = 0;
    assay_status status = assay__operation_rows(record, &rows, &count);
    if (status != ASSAY_OK)
        return fail(error, status);
    char text[ASSAY__CELL_BYTES];
    int widest[COLUMNS] = {0};
    for (size_t i = 0; i < count; i++)
        for (int column = 0; column < COLUMNS; column++) {
            int width = (int)strlen(aggregate_cell(text, &rows[i], column));
            widest[column] = width > widest[column] ? width : widest[column];
        }
    assay__buffer table;
    assay__buffer_init(&table, ASSAY__TABLE_MAX_BYTES);
    assay__cell_rule(&table, '=', WIDTH);
    assay__buffer_append_text(&table, "AGGREGATE STATISTICS (for repeated operations)\n");
    assay__cell_rule(&table, '=', WIDTH);
    assay__buffer_printf(&table, "%-30s ", "Operation");
    for (int column = 0; column < COLUMNS; column++)
        assay__buffer_printf(&table, "%-*s", column + 1 < COLUMNS ? (int)columns[column].width : 0,
                             columns[column].title);
    assay__buffer_append_text(&table, "\n");
    assay__cell_rule(&table, '-', WIDTH);
    for (size_t i = 0; i < count; i++)
        aggregate_row(&table, &rows[i], widest);
    assay__cell_rule(&table, '=', WIDTH);
    free(rows);
    return fail(error, assay__table_print(&table, stream));
}

assay_status assay__performance_csv(const assay_record *record, bool header, FILE *stream,
                                    assay_error *error)
{
    assay__performance_row *rows = NULL;
    size_t count = 0;
    assay_status status = assay__performance_rows(record, &rows, &count);
    if (status != ASSAY_OK)
        return fail(error, status);
    assay__buffer csv;
    assay__buffer_init(&csv, ASSAY__TABLE_MAX_BYTES);
    assay__buffer_append_text(&csv, header ? "operation,time,cpu_mb,gpu_mb\n" : "");
    for (size_t i = 0; i < count; i++) {
        assay__csv_text(&csv, rows[i].span.operation);
        assay__buffer_append_text(&csv, ",");
        assay__csv_reading(&csv, assay_reading_of(rows[i].span.duration_seconds));
        assay__buffer_append_text(&csv, ",");
        assay__csv_reading(&csv, assay__in_mb(rows[i].span.cpu_delta_bytes));
        assay__buffer_append_text(&csv, ",");
        assay__csv_reading(&csv, assay__in_mb(rows[i].span.gpu_delta_bytes));
        assay__buffer_append_text(&csv, "\n");
    }
    free(rows);
    return fail(error, assay__table_print(&csv, stream));
}
