/* Composes an SVG document in memory. Marks and texts have positions in pixels from the top left
 * corner.
 *
 * Marks take their look from classes: "s0" … "s5" are the colours of series; "good", "bad" and
 * "doubt" are the colours of verdicts; "grid", "axis" and "rule" are lines. The style sheet uses
 * plain properties and no CSS variables, because many viewers do not support them. Numbers have a
 * decimal point whatever the locale of the host program. All text is escaped. Positions that are
 * not finite are not drawn. */
#ifndef ASSAY_PLOT_SVG_H
#define ASSAY_PLOT_SVG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

enum { ASSAY__SVG_COLOURS = 6 };

typedef struct assay__svg {
    assay__buffer text;
    size_t path_points; /* points of the open path */
} assay__svg;

typedef struct assay__svg_point {
    double x, y;
} assay__svg_point;

typedef struct assay__svg_box {
    double left, top, right, bottom;
} assay__svg_box;

/* A screen reader reads the `title`. */
void assay__svg_begin(assay__svg *svg, double width, double height, const char *title);
void assay__svg_end(assay__svg *svg);

/* `anchor` is "start", "middle" or "end"; `classes` may be empty. */
void assay__svg_label(assay__svg *svg, assay__svg_point at, const char *anchor, const char *classes,
                      const char *text);

/* The same, rotated by 90 degrees to the left and centred. */
void assay__svg_label_upwards(assay__svg *svg, assay__svg_point at, const char *text);

void assay__svg_line(assay__svg *svg, const char *classes, assay__svg_point from,
                     assay__svg_point to);
void assay__svg_circle(assay__svg *svg, const char *classes, assay__svg_point at, double radius);

/* `tip` is shown when the pointer rests on the rectangle. Pass NULL for no tip. */
void assay__svg_rect(assay__svg *svg, const char *classes, assay__svg_box box, const char *tip);

/* A path of straight lines through any number of points. `closed` closes it at the end. */
void assay__svg_path_begin(assay__svg *svg, const char *classes);
void assay__svg_path_to(assay__svg *svg, assay__svg_point to);
void assay__svg_path_end(assay__svg *svg, bool closed);

/* "s3": the class of series `index`; colours repeat. */
const char *assay__svg_series(size_t index);

/* The approximate width of a text in pixels, and the text cut to a width of at most `room`. The cut
 * text is written to `shown`, which has `bytes` bytes, and ends in "…". */
double assay__svg_text_width(const char *text);
const char *assay__svg_fit(const char *text, double room, char *shown, size_t bytes);

#endif
