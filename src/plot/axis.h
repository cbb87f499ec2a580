/* One axis of a plot. It maps values to a share of its length, and has ticks along it. */
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
    double low, high; /* of the values included */
} assay__axis;

enum { ASSAY__AXIS_MAX_TICKS = 24, ASSAY__AXIS_TEXT = 48 };

/* An axis that holds nothing yet. */
assay__axis assay__axis_of(const char *label, assay__axis_unit unit, bool logarithmic);

/* Widen the axis to hold the value. A value that cannot be shown (not finite, or not above 0 on a
 * logarithmic axis) changes nothing. */
void assay__axis_include(assay__axis *axis, double value);

/* Leave some room at both ends, and give an axis of length 0 some length. An axis that begins at 0
 * still begins there. Returns false if no value was included. */
bool assay__axis_finish(assay__axis *axis);

/* The position of the value: 0 at the low end, 1 at the high end, NAN if it cannot be shown. */
double assay__axis_share(const assay__axis *axis, double value);

/* Find ticks at round values, at most `most`, in ascending order. Returns their number. */
size_t assay__axis_ticks(const assay__axis *axis, size_t most, double ticks[ASSAY__AXIS_MAX_TICKS]);

/* Write a value in at most three digits, with its unit: "20 ms", "64 KiB", "2.5M". */
const char *assay__axis_text(assay__axis_unit unit, double value, char text[ASSAY__AXIS_TEXT]);

#endif
