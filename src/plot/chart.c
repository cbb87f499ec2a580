/* Draws the parts that all plots share: title, axes with ticks and grid, legend, names of rows, and
 * a note below. */
#include "plot/chart.h"

#include <math.h>
#include <string.h>

enum { LINE = 14 };
static const double TITLE_BASE = 17, EDGE = 8, TICK_GAP = 48, BELOW = 34;
static const double NAMES_SHARE = 0.38; /* largest share of the width */
static const double FLATNESS = 0.58;    /* height of a plane as a share of its width */

double assay__chart_x(const assay__chart *chart, double value)
{
    const assay__svg_box *area = &chart->area;
    return area->left + (area->right - area->left) * assay__axis_share(&chart->x, value);
}

double assay__chart_y(const assay__chart *chart, double value)
{
    const assay__svg_box *area = &chart->area;
    return area->bottom - (area->bottom - area->top) * assay__axis_share(&chart->y, value);
}

assay__svg_point assay__chart_at(const assay__chart *chart, double x, double y)
{
    return (assay__svg_point){assay__chart_x(chart, x), assay__chart_y(chart, y)};
}

static void draw_title(assay__chart *chart)
{
    char shown[ASSAY__CHART_NAME * 4];
    assay__svg_label(&chart->svg, (assay__svg_point){EDGE, TITLE_BASE}, "start", "title",
                     assay__svg_fit(chart->title, chart->width - 2 * EDGE, shown, sizeof shown));
}

static void draw_x(assay__chart *chart)
{
    const assay__svg_box *area = &chart->area;
    double ticks[ASSAY__AXIS_MAX_TICKS];
    size_t count =
        assay__axis_ticks(&chart->x, (size_t)((area->right - area->left) / TICK_GAP) + 1, ticks);
    for (size_t i = 0; i < count; i++) {
        char text[ASSAY__AXIS_TEXT];
        double x = assay__chart_x(chart, ticks[i]);
        assay__svg_line(&chart->svg, "grid", (assay__svg_point){x, area->top},
                        (assay__svg_point){x, area->bottom});
        assay__svg_label(&chart->svg, (assay__svg_point){x, area->bottom + 12}, "middle", "small",
                         assay__axis_text(chart->x.unit, ticks[i], text));
    }
    assay__svg_line(&chart->svg, "axis", (assay__svg_point){area->left, area->bottom},
                    (assay__svg_point){area->right, area->bottom});
    assay__svg_label(&chart->svg,
                     (assay__svg_point){(area->left + area->right) / 2, area->bottom + 26},
                     "middle", "", chart->x.label);
}

static void draw_y(assay__chart *chart)
{
    const assay__svg_box *area = &chart->area;
    double ticks[ASSAY__AXIS_MAX_TICKS];
    size_t count =
        assay__axis_ticks(&chart->y, (size_t)((area->bottom - area->top) / 34) + 1, ticks);
    for (size_t i = 0; i < count; i++) {
        char text[ASSAY__AXIS_TEXT];
        double y = assay__chart_y(chart, ticks[i]);
        assay__svg_line(&chart->svg, "grid", (assay__svg_point){area->left, y},
                        (assay__svg_point){area->right, y});
        assay__svg_label(&chart->svg, (assay__svg_point){area->left - 4, y + 3}, "end", "small",
                         assay__axis_text(chart->y.unit, ticks[i], text));
    }
    assay__svg_line(&chart->svg, "axis", (assay__svg_point){area->left, area->top},
                    (assay__svg_point){area->left, area->bottom});
    assay__svg_label_upwards(&chart->svg, (assay__svg_point){11, (area->top + area->bottom) / 2},
                             chart->y.label);
}

static void begin(assay__chart *chart)
{
    double height = chart->area.bottom + BELOW + (chart->note != NULL ? LINE : 0);
    assay__svg_begin(&chart->svg, chart->width, height, chart->title);
    draw_title(chart);
    draw_x(chart);
    if (chart->note != NULL) {
        char shown[ASSAY__CHART_NAME * 4];
        assay__svg_label(&chart->svg, (assay__svg_point){EDGE, height - 6}, "start", "small",
                         assay__svg_fit(chart->note, chart->width - EDGE, shown, sizeof shown));
    }
}

static void draw_legend(assay__chart *chart, const char *const *legend, size_t count,
                        size_t columns)
{
    double column = (chart->width - 2 * EDGE) / (double)columns;
    for (size_t i = 0; i < count; i++) {
        char shown[ASSAY__CHART_NAME * 4];
        double x = EDGE + column * (double)(i % columns);
        double y = TITLE_BASE + LINE * (double)(1 + i / columns);
        assay__svg_rect(&chart->svg, assay__svg_series(i), (assay__svg_box){x, y - 8, x + 9, y + 1},
                        NULL);
        assay__svg_label(&chart->svg, (assay__svg_point){x + 13, y}, "start", "",
                         assay__svg_fit(legend[i], column - 16, shown, sizeof shown));
    }
}

void assay__chart_begin_plane(assay__chart *chart, const char *const *legend, size_t count)
{
    double longest = 0;
    for (size_t i = 0; i < count; i++)
        longest = fmax(longest, assay__svg_text_width(legend[i]) + 20);
    size_t columns = (size_t)((chart->width - 2 * EDGE) / fmax(longest, 1));
    columns = columns < 1 ? 1 : columns > 4 ? 4 : columns;
    double rows = ceil((double)count / (double)columns);
    double top = TITLE_BASE + LINE * rows + 10;
    chart->area = (assay__svg_box){60, top, chart->width - EDGE - 6, top + FLATNESS * chart->width};
    begin(chart);
    draw_y(chart);
    draw_legend(chart, legend, count, columns);
}

void assay__chart_begin_rows(assay__chart *chart, const char *const *names, const double *heights,
                             double height, size_t count, double margin)
{
    double names_width = 0, rows = 0;
    for (size_t i = 0; i < count; i++) {
        names_width = fmax(names_width, assay__svg_text_width(names[i]));
        rows += heights != NULL ? heights[i] : height;
    }
    names_width = fmin(names_width, NAMES_SHARE * chart->width);
    double top = TITLE_BASE + 8;
    chart->area = (assay__svg_box){EDGE + names_width + 8, top,
                                   chart->width - fmax(margin, EDGE + 8), top + rows + 4};
    begin(chart);
    for (size_t i = 0; i < count; i++) {
        char shown[ASSAY__CHART_NAME * 4];
        double own = heights != NULL ? heights[i] : height;
        assay__svg_label(&chart->svg, (assay__svg_point){EDGE, top + own / 2 + 4}, "start", "",
                         assay__svg_fit(names[i], names_width, shown, sizeof shown));
        top += own;
    }
}

void assay__chart_end(assay__chart *chart)
{
    assay__svg_end(&chart->svg);
}
