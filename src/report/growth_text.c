/* Prints a growth fit as a page of text, 80 columns wide. The verdict comes first, then the numbers
 * that it is based on, so that readers can judge it themselves. */
#include <string.h>

#include "assay/growth.h"
#include "base/error.h"
#include "base/text.h"
#include "report/cell.h"
#include "report/growth_plot.h"

enum { LABEL_WIDTH = 12, LINE_WIDTH = 79, TABLE_ROWS = 40 };

static void label(assay__buffer *page, const char *text)
{
    assay__buffer_printf(page, "%-*s", LABEL_WIDTH, text);
}

/* Append a text after a label, wrapped. */
static void paragraph(assay__buffer *page, const char *title, const char *text)
{
    for (const char *rest; *text != '\0'; text = rest, title = "") {
        size_t bytes = assay__text_line(text, LINE_WIDTH - LABEL_WIDTH, &rest);
        label(page, title);
        assay__buffer_printf(page, "%.*s\n", (int)bytes, text);
    }
}

/* "t = 1.200 ms + 3.450 ns * n log n" */
static void append_formula(assay__buffer *page, const assay_growth *growth)
{
    static const struct {
        const char *label, *symbol;
    } words[] = {[ASSAY__GROWTH_SECONDS] = {"time", "t"},
                 [ASSAY__GROWTH_BYTES] = {"memory", "m"},
                 [ASSAY__GROWTH_JOULES] = {"energy", "e"}};
    char text[ASSAY__GROWTH_TEXT];
    assay__growth_unit unit = assay__growth_unit_of(growth);
    label(page, words[unit].label);
    assay__buffer_printf(page, "%s = ", words[unit].symbol);
    if (growth->overhead_seconds.value > 0)
        assay__buffer_printf(page, "%s + ",
                             assay__growth_cost(growth, growth->overhead_seconds.value, text));
    assay__buffer_append_text(page, assay__growth_cost(growth, growth->coefficient.value, text));
    const assay_growth_candidate *chosen = &growth->candidates[growth->growth_class - 1];
    if (growth->growth_class == ASSAY_GROWTH_POWER)
        assay__buffer_printf(page, " * n^%s", assay__cell_fixed(text, chosen->exponent, 3));
    else if (growth->growth_class != ASSAY_GROWTH_CONSTANT)
        assay__buffer_printf(page, " * %s", assay_growth_class_name(growth->growth_class));
    if (growth->growth_class == ASSAY_GROWTH_LOG || growth->growth_class == ASSAY_GROWTH_LINEAR_LOG)
        assay__buffer_append_text(page, "   (natural logarithm)");
    assay__buffer_append_text(page, "\n");
}

static const char *exponent_text(char text[ASSAY__CELL_BYTES], assay_reading exponent)
{
    return assay__cell_fixed(text, assay__value_or_nan(exponent), 3);
}

static void append_exponent(assay__buffer *page, const assay_growth *growth)
{
    char middle[ASSAY__CELL_BYTES], low[ASSAY__CELL_BYTES], high[ASSAY__CELL_BYTES];
    label(page, "exponent");
    assay__buffer_append_text(page, exponent_text(middle, growth->exponent));
    if (growth->low.validity == ASSAY_VALID || growth->high.validity == ASSAY_VALID)
        assay__buffer_printf(page, ", 95 %% interval %s to %s", exponent_text(low, growth->low),
                             exponent_text(high, growth->high));
    if (growth->growth_class == ASSAY_GROWTH_LOG || growth->growth_class == ASSAY_GROWTH_LINEAR_LOG)
        assay__buffer_printf(page, " (%s as a power)",
                             assay_growth_class_name(growth->growth_class));
    assay__buffer_append_text(page, "\n");
}

static void append_data(assay__buffer *page, const assay_growth *growth)
{
    char number[ASSAY__CELL_BYTES], noise[64] = "", outliers[64] = "", fit[64] = "", text[256];
    if (growth->noise.validity == ASSAY_VALID)
        snprintf(noise, sizeof noise, ", noise %s %% each",
                 assay__cell_fixed(number, 100 * growth->noise.value, 1));
    if (growth->outlier_count > 0)
        snprintf(outliers, sizeof outliers, ", %zu outlier%s set aside", growth->outlier_count,
                 growth->outlier_count == 1 ? "" : "s");
    if (growth->r_squared.validity == ASSAY_VALID)
        snprintf(fit, sizeof fit, "; R2 %s", assay__cell_fixed(number, growth->r_squared.value, 4));
    snprintf(text, sizeof text, "%zu value%s at %zu size%s%s%s%s", growth->value_count,
             growth->value_count == 1 ? "" : "s", growth->size_count,
             growth->size_count == 1 ? "" : "s", noise, outliers, fit);
    paragraph(page, "data", text);
}

static void append_size(assay__buffer *page, const assay_growth *growth,
                        const assay_growth_size *size)
{
    char text[ASSAY__GROWTH_TEXT];
    assay__growth_right(page, assay__growth_number(size->n, text), 14);
    snprintf(text, sizeof text, "%zu", size->count);
    assay__growth_right(page, text, 9);
    assay__growth_right(page, assay__growth_cost(growth, size->median_seconds, text), 14);
    if (size->fitted_seconds > 0) {
        char change[ASSAY__CELL_BYTES];
        assay__growth_right(page, assay__growth_cost(growth, size->fitted_seconds, text), 14);
        assay__cell_change(change, 100 * (size->median_seconds / size->fitted_seconds - 1), 1);
        assay__growth_right(page, change, 12);
        assay__buffer_append_text(page, " %");
    }
    assay__buffer_append_text(page, "\n");
}

static void append_predictions(assay__buffer *page, const assay_growth *growth)
{
    char text[ASSAY__GROWTH_TEXT];
    double largest = growth->sizes[growth->size_count - 1].n;
    for (double factor = 10; factor <= 100; factor *= 10) {
        assay_reading time = assay_growth_predict(growth, factor * largest);
        if (time.validity != ASSAY_VALID)
            return;
        assay__growth_right(page, assay__growth_number(factor * largest, text), 14);
        assay__growth_right(page, "predicted", 23);
        assay__growth_right(page, assay__growth_cost(growth, time.value, text), 14);
        assay__buffer_append_text(page, "\n");
    }
}

/* Append the table of sizes. The middle of a long table is left out; --json shows all of it. */
static void append_sizes(assay__buffer *page, const assay_growth *growth)
{
    assay__buffer_printf(page, "\n%14s%9s%14s%14s%14s\n", "n", "values", "median", "fitted",
                         "deviation");
    size_t shown = growth->size_count, skip = 0;
    if (shown > TABLE_ROWS)
        skip = shown - TABLE_ROWS;
    for (size_t i = 0; i < growth->size_count; i++) {
        if (skip > 0 && i == TABLE_ROWS / 2) {
            assay__buffer_printf(page, "%14s   (%zu more sizes)\n", "...", skip);
            i += skip;
        }
        append_size(page, growth, &growth->sizes[i]);
    }
    append_predictions(page, growth);
}

static void append_classes(assay__buffer *page, const assay_growth *growth)
{
    char text[ASSAY__CELL_BYTES];
    assay__buffer_printf(page, "\n%-14s%14s%14s%14s\n", "class", "deviation", "p of fit",
                         "probability");
    for (int i = 0; i < ASSAY_GROWTH_CANDIDATES; i++) {
        const assay_growth_candidate *candidate = &growth->candidates[i];
        assay__buffer_printf(page, "%-14s", assay_growth_class_name(candidate->growth_class));
        if (!candidate->possible) {
            assay__buffer_append_text(page, "   needs n >= 1\n");
            continue;
        }
        assay__buffer_printf(page, "%12s %%",
                             assay__cell_fixed(text, 100 * candidate->relative_error, 1));
        assay__buffer_printf(page, "%14s", assay__cell_reading(text, candidate->p_value, 4, 12));
        if (candidate->growth_class != ASSAY_GROWTH_POWER)
            assay__buffer_printf(page, "%14s", assay__cell_fixed(text, candidate->weight, 3));
        else if (candidate->rejected)
            assay__buffer_printf(page, "%14s", "");
        assay__buffer_append_text(page, candidate->rejected ? "   rejected\n" : "\n");
    }
}

static assay_status print(assay__buffer *page, FILE *stream, assay_error *error)
{
    assay_status status = assay__table_print(page, stream);
    if (status != ASSAY_OK)
        return assay__fail(error, status, "cannot print the growth: %s",
                           assay_status_message(status));
    return ASSAY_OK;
}

assay_status assay_growth_print(const assay_growth *growth, FILE *stream, assay_error *error)
{
    assay__buffer page;
    assay__buffer_init(&page, ASSAY__TABLE_MAX_BYTES);
    const char *name = assay_growth_class_name(growth->growth_class);
    if (growth->name[0] != '\0') {
        label(&page, "of");
        assay__buffer_printf(&page, "%s\n", growth->name);
    }
    label(&page, "class");
    assay__buffer_printf(&page, "%s\n", name != NULL ? name : "unknown");
    if (growth->reason[0] != '\0')
        paragraph(&page, "cannot tell", growth->reason);
    if (name != NULL) {
        append_formula(&page, growth);
        append_exponent(&page, growth);
    }
    append_data(&page, growth);
    if (growth->size_count > 0)
        append_sizes(&page, growth);
    if (growth->size_count > 1) {
        assay__buffer_append_text(&page, "\n");
        assay__growth_plot(&page, growth);
    }
    if (name != NULL)
        append_classes(&page, growth);
    return print(&page, stream, error);
}

assay_status assay_growth_print_plot(const assay_growth *growth, FILE *stream, assay_error *error)
{
    assay__buffer page;
    assay__buffer_init(&page, ASSAY__TABLE_MAX_BYTES);
    if (growth->size_count > 1)
        assay__growth_plot(&page, growth);
    return print(&page, stream, error);
}
