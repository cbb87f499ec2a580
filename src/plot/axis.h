/* One axis of a plot: from values to a share of its length, and the ticks along it. */
#ifndef ASSAY_PLOT_AXIS_H
#define ASSAY_PLOT_AXIS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum assay__axis_unit {
    ASSAY__AXIS_NUMBER,
    ASSAY__AXIS_SECONDS,
    ASSAY__AXIS_BYTES
} assay__axis_unit;

typedef struct assay__axis {
    const char *label;
    assay__axis_unit unit;
    bool logarithmic;
    double low, high; /* of what was included */
} assay__axis;

enum { ASSAY__AXIS_MAX_TICKS = 24, ASSAY__AXIS_TEXT = 48 };

/* An axis that holds nothing yet. */
assay__axis assay__axis_of(const char *label, assay__axis_unit unit, bool logarithmic);

/* Widen the axis to hold the value. What has no place on it (not finite; on a logarithmic axis what
 * is not above 0) changes nothing. */
void assay__axis_include(assay__axis *axis, double value);

/* Leave some room at both ends, and make one of no extent wide enough to be drawn. An axis that
 * begins at 0 goes on beginning there. False if nothing was included. */
bool assay__axis_finish(assay__axis *axis);

/* Where the value lies: 0 at the low end, 1 at the high one; NAN for what has no place. */
double assay__axis_share(const assay__axis *axis, double value);

/* Ticks at round values, at most `most`, ascending. */
size_t assay__axis_ticks(const assay__axis *axis, size_t most, double ticks[ASSAY__AXIS_MAX_TICKS]);

/* "20 ms", "64 KiB", "2.5M": a value in at most three digits, with its unit. */
const char *assay__axis_text(assay__axis_unit unit, double value, char text[ASSAY__AXIS_TEXT]);

#endif
