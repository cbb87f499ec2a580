/* Plots times against sizes in characters, and formats the numbers beside the plot. */
#ifndef ASSAY_REPORT_GROWTH_PLOT_H
#define ASSAY_REPORT_GROWTH_PLOT_H

#include "assay/growth.h"
#include "base/buffer.h"

/* Append a plot of the medians ('o') and the fitted curve ('.') on two logarithmic axes, 78 columns
 * by 14 lines. It needs two different sizes. */
void assay__growth_plot(assay__buffer *page, const assay_growth *growth);

/* What the figures of a fit measure. */
typedef enum assay__growth_unit {
    ASSAY__GROWTH_SECONDS,
    ASSAY__GROWTH_BYTES,
    ASSAY__GROWTH_JOULES
} assay__growth_unit;

assay__growth_unit assay__growth_unit_of(const assay_growth *growth);

/* A figure in the unit of the fit: "12.3 ns", "1.234 ms", "1.500 MiB", "0.25 B", "2.5 J". Times are
 * like those of assay__format_seconds, but with decimals below a microsecond too. */
enum { ASSAY__GROWTH_TEXT = 48 };
const char *assay__growth_cost(const assay_growth *growth, double value,
                               char text[ASSAY__GROWTH_TEXT]);

/* A whole number in full, such as "1000"; any other number with four digits, such as "0.25". */
const char *assay__growth_number(double value, char text[ASSAY__GROWTH_TEXT]);

/* Append `text`, aligned right in `width` columns. A text that is longer follows after a blank. */
void assay__growth_right(assay__buffer *page, const char *text, size_t width);

#endif
