/* Figures over time that stay on levels, and the steps between these, as a plot: the history of a
 * benchmark. It is no plot of a record, so it is not in the table of plots. */
#ifndef ASSAY_PLOT_LEVELS_H
#define ASSAY_PLOT_LEVELS_H

#include <stddef.h>
#include <stdio.h>

#include "assay/status.h"
#include "plot/axis.h"

/* From the value `begin` on, until the next level begins. The first one begins at 0. */
typedef struct assay__plot_level {
    size_t begin;
    double value;
} assay__plot_level;

typedef struct assay__plot_levels {
    const char *title, *legend; /* what is shown, and of what */
    const char *along;          /* "runs, 2026-01-01 to 2026-05-08" */
    const char *figure;         /* "wall_seconds" */
    assay__axis_unit unit;
    const double *values; /* the earliest first */
    size_t count;
    const assay__plot_level *levels;
    size_t level_count; /* 1 at least */
    double width;       /* pixels; 0: a column of a paper */
} assay__plot_levels;

/* Print it as SVG. A step upwards is marked as bad: figures over time are costs. ASSAY_E_DATA if no
 * value is finite. */
ASSAY_MUST_USE assay_status assay__plot_levels_print(const assay__plot_levels *what, FILE *stream,
                                                     assay_error *error);

#endif
