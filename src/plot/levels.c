/* Draws the history of a benchmark: its values as points, its levels as lines, and a mark with the
 * change in percent at each step. */
#include "plot/levels.h"

#include <math.h>

#include "base/error.h"
#include "plot/kinds.h"
#include "report/cell.h"

enum { DEFAULT_WIDTH = 360 };

/* Draw the mark of a step, with a text such as "+10.1 %", where a level begins. */
static void mark_step(assay__chart *chart, const assay__plot_level *before,
                      const assay__plot_level *after)
{
    char share[ASSAY__CELL_BYTES], text[ASSAY__CELL_BYTES + 8];
    double x = assay__chart_x(chart, (double)after->begin + 0.5);
    const char *look = after->value > before->value ? "bad" : "good";
    assay__svg_line(&chart->svg, "rule", (assay__svg_point){x, chart->area.top},
                    (assay__svg_point){x, chart->area.bottom});
    if (!(before->value > 0))
        return;
    double change = 100 * (after->value / before->value - 1);
    snprintf(text, sizeof text, "%s%s %%", change > 0 ? "+" : "",
             assay__cell_fixed(share, change, 1));
    bool late = x > (chart->area.left + chart->area.right) / 2;
    assay__svg_label(&chart->svg, (assay__svg_point){x + (late ? -3 : 3), chart->area.top + 9},
                     late ? "end" : "start", look, text);
}

static void draw(assay__chart *chart, const assay__plot_levels *what)
{
    for (size_t i = 1; i < what->level_count; i++)
        mark_step(chart, &what->levels[i - 1], &what->levels[i]);
    for (size_t i = 0; i < what->count; i++)
        assay__svg_circle(&chart->svg, assay__svg_series(0),
                          assay__chart_at(chart, (double)i + 1, what->values[i]), 1.6);
    for (size_t i = 0; i < what->level_count; i++) {
        size_t end = i + 1 < what->level_count ? what->levels[i + 1].begin : what->count;
        double level = what->levels[i].value;
        assay__svg_path_begin(&chart->svg, "line s1");
        assay__svg_path_to(&chart->svg,
                           assay__chart_at(chart, (double)what->levels[i].begin + 0.5, level));
        assay__svg_path_to(&chart->svg, assay__chart_at(chart, (double)end + 0.5, level));
        assay__svg_path_end(&chart->svg, false);
    }
}

assay_status assay__plot_levels_print(const assay__plot_levels *what, FILE *stream,
                                      assay_error *error)
{
    assay__chart chart = {.width = what->width > 0 ? what->width : DEFAULT_WIDTH,
                          .title = what->title};
    const char *legend[] = {what->legend, "level (median)"};
    chart.x = assay__axis_of(what->along, ASSAY__AXIS_NUMBER, false);
    chart.y = assay__axis_of(what->figure, what->unit, false);
    assay__axis_include(&chart.x, 0.5);
    assay__axis_include(&chart.x, (double)what->count + 0.5);
    for (size_t i = 0; i < what->count; i++)
        assay__axis_include(&chart.y, what->values[i]);
    if (what->count == 0 || !assay__axis_finish(&chart.x) || !assay__axis_finish(&chart.y))
        return assay__fail(error, ASSAY_E_DATA, "no figures to plot");
    assay__chart_begin_plane(&chart, legend, 2);
    draw(&chart, what);
    assay__chart_end(&chart);
    assay_status status = assay__table_print(&chart.svg.text, stream);
    return status == ASSAY_OK ? status
                              : assay__fail(error, status, "cannot print the plot: %s",
                                            assay_status_message(status));
}
