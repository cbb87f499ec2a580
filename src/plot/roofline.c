/* Draws the passes of a profiled model below the roof given by the machine's measured peaks
 * (Williams, Waterman and Patterson, CACM 52(4), 2009): FLOPs per second over FLOPs per byte. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "plot/kinds.h"
#include "report/cell.h"

static const double GIGA = 1e9;

static double figure(const assay_record *record, const char *name, const char *of)
{
    for (size_t i = 0; i < record->figure_count; i++) {
        const assay_record_figure *it = &record->figures[i];
        bool same = of == NULL || it->of == NULL ? of == it->of : strcmp(of, it->of) == 0;
        if (same && strcmp(it->name, name) == 0)
            return assay__value_or_nan(it->value);
    }
    return (double)NAN;
}

static void draw_roof(assay__chart *chart, double rate, double bandwidth)
{
    double ridge = rate / bandwidth;
    assay__svg_path_begin(&chart->svg, "line s5");
    assay__svg_path_to(&chart->svg,
                       assay__chart_at(chart, chart->x.low, chart->x.low * bandwidth / GIGA));
    assay__svg_path_to(&chart->svg, assay__chart_at(chart, ridge, rate / GIGA));
    assay__svg_path_to(&chart->svg, assay__chart_at(chart, chart->x.high, rate / GIGA));
    assay__svg_path_end(&chart->svg, false);
}

typedef struct point {
    const char *pass;
    double intensity, rate;
} point;

static size_t collect(const assay_record *record, const assay_plot_settings *settings,
                      point points[ASSAY__PLOT_SERIES])
{
    size_t count = 0;
    for (size_t i = 0; i < record->figure_count && count < ASSAY__PLOT_SERIES; i++) {
        const assay_record_figure *it = &record->figures[i];
        if (strcmp(it->name, "flops_per_second") != 0 || it->of == NULL ||
            !assay__plot_wants(settings, it->of))
            continue;
        point found = {it->of, figure(record, "flops_per_byte", it->of),
                       assay__value_or_nan(it->value)};
        if (found.intensity > 0 && found.rate > 0)
            points[count++] = found;
    }
    return count;
}

assay_status assay__plot_roofline(const assay_record *record, const assay_plot_settings *settings,
                                  assay__chart *chart, assay_error *error)
{
    point points[ASSAY__PLOT_SERIES];
    const char *legend[ASSAY__PLOT_SERIES];
    size_t count = collect(record, settings, points);
    double rate = figure(record, "peak_flops_per_second", NULL);
    double bandwidth = figure(record, "peak_bytes_per_second", NULL);
    bool roofed = rate > 0 && bandwidth > 0;
    if (count == 0)
        return assay__plot_nothing(settings, "rates of passes",
                                   "`assay profile --model NAME --record FILE` records them",
                                   error);
    chart->x = assay__axis_of("FLOPs a byte", ASSAY__AXIS_NUMBER, true);
    chart->y = assay__axis_of("GFLOP/s", ASSAY__AXIS_NUMBER, true);
    for (size_t i = 0; i < count; i++) {
        legend[i] = points[i].pass;
        assay__axis_include(&chart->x, points[i].intensity);
        assay__axis_include(&chart->y, points[i].rate / GIGA);
    }
    if (roofed) {
        assay__axis_include(&chart->x, rate / bandwidth / 4);
        assay__axis_include(&chart->x, rate / bandwidth * 4);
        assay__axis_include(&chart->y, rate / GIGA);
        assay__axis_include(&chart->y, rate / GIGA / 4);
    }
    (void)assay__axis_finish(&chart->x);
    if (roofed)
        assay__axis_include(&chart->y, chart->x.low * bandwidth / GIGA);
    (void)assay__axis_finish(&chart->y);
    if (chart->title == NULL)
        chart->title = "Roofline";
    chart->note = roofed ? "line: the machine's measured peak"
                         : "the machine's peak was not measured: assay doctor --measure";
    assay__chart_begin_plane(chart, legend, count);
    if (roofed)
        draw_roof(chart, rate, bandwidth);
    for (size_t i = 0; i < count; i++)
        assay__svg_circle(&chart->svg, assay__svg_series(i),
                          assay__chart_at(chart, points[i].intensity, points[i].rate / GIGA), 4);
    return ASSAY_OK;
}
