/* Prints subjects that differ in one parameter as a table: mean, standard deviation, extremes and
 * number of runs of each. */
#include "base/error.h"
#include "report/cell.h"
#include "report/export.h"

enum { FIRST_COLUMN = 14, COLUMN = 12, WIDTH = 78 };

static const char *label_of(const assay_record_subject *subject)
{
    const char *value = subject->parameter_count > 0 ? subject->parameters[0].value : subject->name;
    return value != NULL ? value : "";
}

static void append_row(assay__buffer *table, const assay_record_subject *subject)
{
    char text[ASSAY__CELL_BYTES];
    const assay_reading figures[] = {subject->mean_seconds, subject->std_seconds,
                                     subject->min_seconds, subject->max_seconds};
    assay__cell_name(table, label_of(subject), "", 0, FIRST_COLUMN);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        assay_reading ms = {1e3 * figures[i].value, figures[i].validity};
        assay__buffer_printf(table, " %*s", COLUMN - 1,
                             assay__cell_reading(text, ms, 3, COLUMN - 1));
    }
    assay__buffer_printf(table, " %*zu\n", COLUMN - 1, subject->sample_count);
}

assay_status assay__report_scaling(const assay_record *record, FILE *stream, assay_error *error)
{
    static const char *const titles[] = {"Mean (ms)", "Std", "Min", "Max", "Runs"};
    const char *parameter = record->subject_count > 0 && record->subjects[0].parameter_count > 0
                                ? record->subjects[0].parameters[0].key
                                : "subject";
    assay__buffer table;
    assay__buffer_init(&table, ASSAY__TABLE_MAX_BYTES);
    assay__cell_rule(&table, '=', WIDTH);
    assay__buffer_printf(&table, "SCALING%s%s\n", record->name != NULL ? ": " : "",
                         record->name != NULL ? record->name : "");
    assay__cell_rule(&table, '=', WIDTH);
    assay__buffer_printf(&table, "%-*.*s", FIRST_COLUMN, FIRST_COLUMN - 1, parameter);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        assay__buffer_printf(&table, "%*s", COLUMN, titles[i]);
    assay__buffer_append_text(&table, "\n");
    assay__cell_rule(&table, '-', WIDTH);
    for (size_t i = 0; i < record->subject_count; i++)
        append_row(&table, &record->subjects[i]);
    assay__cell_rule(&table, '-', WIDTH);
    assay_status status = assay__table_print(&table, stream);
    if (status != ASSAY_OK)
        return assay__fail(error, status, "cannot print the table: %s",
                           assay_status_message(status));
    return ASSAY_OK;
}
