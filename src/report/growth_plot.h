/* Times against sizes as characters, and the cells that go with them. */
#ifndef ASSAY_REPORT_GROWTH_PLOT_H
#define ASSAY_REPORT_GROWTH_PLOT_H

#include "assay/growth.h"
#include "base/buffer.h"

/* Append medians ('o') and fitted curve ('.') on two logarithmic axes, 78 columns by 14 lines.
 * Needs two different sizes. */
void assay__growth_plot(assay__buffer *page, const assay_growth *growth);

/* "12.3 ns", "1.234 ms": as assay__format_seconds, but with digits below a microsecond too. */
enum { ASSAY__GROWTH_TEXT = 48 };
const char *assay__growth_seconds(double seconds, char text[ASSAY__GROWTH_TEXT]);

/* "1000", "2.5e6": six digits. */
const char *assay__growth_number(double value, char text[ASSAY__GROWTH_TEXT]);

/* Aligned right in `width` columns. */
void assay__growth_right(assay__buffer *page, const char *text, size_t width);

#endif
