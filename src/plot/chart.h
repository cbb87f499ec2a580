/* The two layouts that all plots share: a plane with two axes and a legend above it, and rows with
 * their names at the left and one axis below them. */
#ifndef ASSAY_PLOT_CHART_H
#define ASSAY_PLOT_CHART_H

#include <stddef.h>

#include "plot/axis.h"
#include "plot/svg.h"

enum { ASSAY__CHART_NAME = 160 };

typedef struct assay__chart {
    assay__svg svg;
    assay__svg_box area; /* inside the axes */
    assay__axis x, y;    /* must be finished before the chart begins; rows have no y */
    double width;
    const char *title;
    const char *note; /* a line below the axis, or NULL */
} assay__chart;

/* Draw everything except the data. `legend` names the series, which have their colours in this
 * order. */
void assay__chart_begin_plane(assay__chart *chart, const char *const *legend, size_t count);

/* The same for `count` rows. `heights` has the height of each row in pixels; with NULL every row
 * has the height `height`. A name that would take more than 38 % of the width is cut. `margin` is
 * the room that is left free at the right of the axis. */
void assay__chart_begin_rows(assay__chart *chart, const char *const *names, const double *heights,
                             double height, size_t count, double margin);
void assay__chart_end(assay__chart *chart);

/* The position of a value in pixels. NAN if the value cannot be shown; points at NAN are not drawn.
 */
double assay__chart_x(const assay__chart *chart, double value);
double assay__chart_y(const assay__chart *chart, double value);
assay__svg_point assay__chart_at(const assay__chart *chart, double x, double y);

#endif
