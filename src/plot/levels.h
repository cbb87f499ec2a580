/* Plots figures that stay on levels over time, and the steps between the levels: the history of a
 * benchmark. It is no plot of a record, so it is not in the table of plots. */
#ifndef ASSAY_PLOT_LEVELS_H
#define ASSAY_PLOT_LEVELS_H

#include <stddef.h>
#include <stdio.h>

#include "assay/status.h"
#include "plot/axis.h"

/* A level from the value with index `begin` on, until the next level begins. The first level begins
 * at 0. */
typedef struct assay__plot_level {
    size_t begin;
    double value;
} assay__plot_level;

typedef struct assay__plot_levels {
    const char *title, *legend; /* title of the plot; name of the points */
    const char *along;          /* "runs, 2026-01-01 to 2026-05-08" */
    const char *figure;         /* "wall_seconds" */
    assay__axis_unit unit;
    const double *values; /* the earliest first */
    size_t count;
    const assay__plot_level *levels;
    size_t level_count; /* at least 1 */
    double width;       /* in pixels; 0 is a column of a paper */
} assay__plot_levels;

/* Print the plot as SVG. A step upwards is marked as bad, because figures over time are costs.
 * Fails with ASSAY_E_DATA if no value is finite. */
ASSAY_MUST_USE assay_status assay__plot_levels_print(const assay__plot_levels *what, FILE *stream,
                                                     assay_error *error);

#endif
