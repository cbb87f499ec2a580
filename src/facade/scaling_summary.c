/* A scaling run as a table: the seed's RuntimeStats of every size, then what they say. */
#include <string.h>

#include "assay/scaling.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "report/cell.h"

enum { FIRST_COLUMN = 14, COLUMN = 12, WIDTH = 78 };

static const char *parameter_of(const assay_scaling *scaling)
{
    return scaling->count > 0 && scaling->record->subjects[0].parameter_count > 0
               ? scaling->record->subjects[0].parameters[0].key
               : "n";
}

static void append_row(assay__buffer *table, double size, const assay_runtime_stats *stats)
{
    char number[ASSAY__JSON_NUMBER_BYTES], text[ASSAY__CELL_BYTES];
    const double figures[] = {stats->mean, stats->std, stats->min, stats->max};
    assay__json_format_number(number, size);
    assay__buffer_printf(table, "%-*s", FIRST_COLUMN, number);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        assay__buffer_printf(table, " %*s", COLUMN - 1,
                             assay__cell_number(text, figures[i], 3, COLUMN - 1));
    assay__buffer_printf(table, " %*zu\n", COLUMN - 1, stats->num_runs);
}

static void append_growth(assay__buffer *table, const assay_growth *growth)
{
    char middle[ASSAY__CELL_BYTES], low[ASSAY__CELL_BYTES], high[ASSAY__CELL_BYTES];
    const char *name = assay_growth_class_name(growth->growth_class);
    assay__buffer_printf(table, "Growth: %s", name != NULL ? name : "unknown");
    if (growth->exponent.validity == ASSAY_VALID)
        assay__buffer_printf(table, ", exponent %s",
                             assay__cell_fixed(middle, growth->exponent.value, 3));
    if (growth->low.validity == ASSAY_VALID && growth->high.validity == ASSAY_VALID)
        assay__buffer_printf(table, " (95 %% interval %s to %s)",
                             assay__cell_fixed(low, growth->low.value, 3),
                             assay__cell_fixed(high, growth->high.value, 3));
    assay__buffer_append_text(table, "\n");
    const char *label = "Cannot tell: ", *text = growth->reason;
    int indent = (int)strlen(label);
    for (const char *rest; *text != '\0'; text = rest, label = "") {
        size_t bytes = assay__text_line(text, WIDTH - (size_t)indent, &rest);
        assay__buffer_printf(table, "%-*s%.*s\n", indent, label, (int)bytes, text);
    }
}

assay_status assay_scaling_print_summary(const assay_scaling *scaling, FILE *stream)
{
    assay__buffer table;
    assay__buffer_init(&table, ASSAY__TABLE_MAX_BYTES);
    assay__cell_rule(&table, '=', WIDTH);
    assay__buffer_printf(&table, "SCALING: %s\n",
                         scaling->record->name != NULL ? scaling->record->name : "");
    assay__cell_rule(&table, '=', WIDTH);
    assay__buffer_printf(&table, "%-*.*s", FIRST_COLUMN, FIRST_COLUMN - 1, parameter_of(scaling));
    static const char *const titles[] = {"Mean (ms)", "Std", "Min", "Max", "Runs"};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        assay__buffer_printf(&table, "%*s", COLUMN, titles[i]);
    assay__buffer_append_text(&table, "\n");
    assay__cell_rule(&table, '-', WIDTH);
    for (size_t i = 0; i < scaling->count; i++)
        append_row(&table, scaling->parameter_values[i], &scaling->runtime_stats[i]);
    assay__cell_rule(&table, '-', WIDTH);
    append_growth(&table, scaling->growth);
    return assay__table_print(&table, stream);
}
