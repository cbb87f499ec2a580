/* A scaling run as a table: the time of every size, then the class of the growth. */
#include <string.h>

#include "assay/scaling.h"
#include "base/text.h"
#include "report/cell.h"
#include "report/export.h"

enum { WIDTH = 78 };

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
    if (stream == NULL)
        return ASSAY_OK;
    assay_status status = assay__report_scaling(scaling->record, stream, NULL);
    if (status != ASSAY_OK)
        return status;
    assay__buffer table;
    assay__buffer_init(&table, ASSAY__TABLE_MAX_BYTES);
    append_growth(&table, scaling->growth);
    return assay__table_print(&table, stream);
}
