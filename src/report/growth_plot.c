/* A log-log plot in plain ASCII. On such axes a power of n is a straight line whose slope is the
 * exponent, and an overhead is a bend at the left. */
#include "report/growth_plot.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "report/cell.h"
#include "report/format.h"

enum { LABEL = 11, COLUMNS = 66, ROWS = 12 };

typedef struct axes {
    double left, right, bottom, top; /* logarithms */
} axes;

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

assay__growth_unit assay__growth_unit_of(const assay_growth *growth)
{
    return ends_in(growth->metric, "_bytes")    ? ASSAY__GROWTH_BYTES
           : ends_in(growth->metric, "_joules") ? ASSAY__GROWTH_JOULES
                                                : ASSAY__GROWTH_SECONDS;
}

static const char *format_time(double seconds, char text[ASSAY__GROWTH_TEXT])
{
    char number[ASSAY__CELL_BYTES];
    if (!(fabs(seconds) < 999.5e-9) || seconds == 0)
        return assay__format_seconds(seconds, text);
    double ns = seconds * 1e9;
    int decimals = fabs(ns) < 9.9995 ? 3 : fabs(ns) < 99.995 ? 2 : 1;
    snprintf(text, ASSAY__GROWTH_TEXT, "%s ns", assay__cell_number(number, ns, decimals, 8));
    return text;
}

const char *assay__growth_cost(const assay_growth *growth, double value,
                               char text[ASSAY__GROWTH_TEXT])
{
    char number[ASSAY__GROWTH_TEXT];
    assay__growth_unit unit = assay__growth_unit_of(growth);
    if (unit == ASSAY__GROWTH_SECONDS)
        return format_time(value, text);
    if (unit == ASSAY__GROWTH_BYTES && fabs(value) >= 100)
        return assay__format_bytes(value, text);
    assay__growth_number(value, number);
    snprintf(text, ASSAY__GROWTH_TEXT, "%.40s %s", number, unit == ASSAY__GROWTH_BYTES ? "B" : "J");
    return text;
}

const char *assay__growth_number(double value, char text[ASSAY__GROWTH_TEXT])
{
    char number[ASSAY__CELL_BYTES];
    if (fabs(value) >= 1e-3 && fabs(value) < 1e15 && value == floor(value)) {
        snprintf(text, ASSAY__GROWTH_TEXT, "%s", assay__cell_fixed(number, value, 0));
        return text;
    }
    snprintf(text, ASSAY__GROWTH_TEXT, "%.4g", value);
    char *point = text + strspn(text, "+-0123456789");
    if (*point != '\0' && *point != 'e' && point[1] != '\0') /* the locale's decimal point */
        *point = '.';
    return text;
}

static axes axes_of(const assay_growth *growth)
{
    const assay_growth_size *sizes = growth->sizes;
    axes range = {log(sizes[0].n), log(sizes[growth->size_count - 1].n), INFINITY, -INFINITY};
    for (size_t i = 0; i < growth->size_count; i++) {
        double median = log(sizes[i].median_seconds);
        range.bottom = fmin(range.bottom, median);
        range.top = fmax(range.top, median);
        if (sizes[i].fitted_seconds > 0) {
            range.bottom = fmin(range.bottom, log(sizes[i].fitted_seconds));
            range.top = fmax(range.top, log(sizes[i].fitted_seconds));
        }
    }
    /* The vertical axis covers at least a factor of four, so that the noise of a constant does not
     * fill the page. */
    double missing = log(4) - (range.top - range.bottom);
    if (missing > 0) {
        range.bottom -= missing / 2;
        range.top += missing / 2;
    }
    return range;
}

static int cell_of(double value, double from, double to, int cells)
{
    long cell = lround((value - from) / (to - from) * (cells - 1));
    return cell < 0 ? 0 : cell >= cells ? cells - 1 : (int)cell;
}

static void draw(const assay_growth *growth, const axes *range, char grid[ROWS][COLUMNS + 1])
{
    for (int row = 0; row < ROWS; row++) {
        memset(grid[row], ' ', COLUMNS);
        grid[row][COLUMNS] = '\0';
    }
    for (int column = 0; column < COLUMNS; column++) {
        double n = exp(range->left + (range->right - range->left) * column / (COLUMNS - 1));
        assay_reading time = assay_growth_predict(growth, n);
        if (time.validity == ASSAY_VALID && time.value > 0)
            grid[cell_of(log(time.value), range->bottom, range->top, ROWS)][column] = '.';
    }
    for (size_t i = 0; i < growth->size_count; i++) {
        const assay_growth_size *size = &growth->sizes[i];
        int column = cell_of(log(size->n), range->left, range->right, COLUMNS);
        grid[cell_of(log(size->median_seconds), range->bottom, range->top, ROWS)][column] = 'o';
    }
}

void assay__growth_right(assay__buffer *page, const char *text, size_t width)
{
    size_t columns = assay__text_columns(text);
    bool begins = page->length == 0 || page->data[page->length - 1] == '\n';
    int blanks = columns < width ? (int)(width - columns) : !begins;
    assay__buffer_printf(page, "%*s%s", blanks, "", text);
}

void assay__growth_plot(assay__buffer *page, const assay_growth *growth)
{
    char grid[ROWS][COLUMNS + 1];
    char text[ASSAY__GROWTH_TEXT];
    axes range = axes_of(growth);
    draw(growth, &range, grid);
    for (int row = ROWS - 1; row >= 0; row--) {
        double value = range.bottom + (range.top - range.bottom) * row / (ROWS - 1);
        bool labelled = row == 0 || row == ROWS - 1;
        assay__growth_right(page, labelled ? assay__growth_cost(growth, exp(value), text) : "",
                            LABEL);
        size_t length = COLUMNS;
        while (length > 0 && grid[row][length - 1] == ' ')
            length--;
        grid[row][length] = '\0';
        assay__buffer_printf(page, " |%s\n", grid[row]);
    }
    assay__buffer_printf(page, "%*s +", LABEL, "");
    assay__cell_rule(page, '-', COLUMNS);
    assay__buffer_printf(page, "%*s  n = %s", LABEL, "",
                         assay__growth_number(growth->sizes[0].n, text));
    int used = 4 + (int)strlen(text);
    assay__growth_number(growth->sizes[growth->size_count - 1].n, text);
    assay__buffer_printf(page, "%*s\n", COLUMNS - used, text);
}
