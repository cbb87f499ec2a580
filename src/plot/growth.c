/* Draws times against sizes on two logarithmic axes, where a power of n is a straight line. The
 * median of each size is a point, the fitted class is a line. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "assay/growth.h"
#include "base/error.h"
#include "plot/kinds.h"
#include "report/cell.h"

enum { CURVE_POINTS = 48 };

/* Round to hundredths, and give 0 instead of −0. */
static double in_hundredths(double value)
{
    return round(100 * value) / 100 + 0.0;
}

/* Name the series: "sort {n}: n log n, exponent 1.02 … 1.09". */
static void name_series(const assay_growth *growth, char name[ASSAY__CHART_NAME])
{
    char low[ASSAY__CELL_BYTES], high[ASSAY__CELL_BYTES];
    const char *class_name = assay_growth_class_name(growth->growth_class);
    int length = snprintf(name, ASSAY__CHART_NAME, "%.90s: %s", growth->name,
                          class_name != NULL ? class_name : "no class");
    if (growth->low.validity == ASSAY_VALID && growth->high.validity == ASSAY_VALID)
        snprintf(name + length, ASSAY__CHART_NAME - (size_t)length, ", exponent %s … %s",
                 assay__cell_fixed(low, in_hundredths(growth->low.value), 2),
                 assay__cell_fixed(high, in_hundredths(growth->high.value), 2));
}

static void include(assay__chart *chart, const assay_growth *growth)
{
    for (size_t i = 0; i < growth->size_count; i++) {
        assay__axis_include(&chart->x, growth->sizes[i].n);
        assay__axis_include(&chart->y, growth->sizes[i].median_seconds);
        assay__axis_include(&chart->y, growth->sizes[i].fitted_seconds);
    }
}

static void draw(assay__chart *chart, const assay_growth *growth, size_t index)
{
    char classes[16];
    double first = growth->sizes[0].n, last = growth->sizes[growth->size_count - 1].n;
    snprintf(classes, sizeof classes, "line %s", assay__svg_series(index));
    assay__svg_path_begin(&chart->svg, classes);
    for (size_t i = 0; i < CURVE_POINTS; i++) {
        double n = first * pow(last / first, (double)i / (CURVE_POINTS - 1));
        assay__svg_path_to(
            &chart->svg,
            assay__chart_at(chart, n, assay__value_or_nan(assay_growth_predict(growth, n))));
    }
    assay__svg_path_end(&chart->svg, false);
    for (size_t i = 0; i < growth->size_count; i++)
        assay__svg_circle(
            &chart->svg, assay__svg_series(index),
            assay__chart_at(chart, growth->sizes[i].n, growth->sizes[i].median_seconds), 3);
}

static void draw_all(assay__chart *chart, const assay_growth_sweep *fits)
{
    char names[ASSAY__PLOT_SERIES][ASSAY__CHART_NAME], note[ASSAY__PLOT_NOTE];
    const char *legend[ASSAY__PLOT_SERIES];
    size_t count = fits->count < ASSAY__PLOT_SERIES ? fits->count : ASSAY__PLOT_SERIES;
    chart->x = assay__axis_of(fits->parameter, ASSAY__AXIS_NUMBER, true);
    chart->y = assay__axis_of("time", ASSAY__AXIS_SECONDS, true);
    for (size_t i = 0; i < count; i++) {
        name_series(fits->series[i], names[i]);
        legend[i] = names[i];
        include(chart, fits->series[i]);
    }
    (void)assay__axis_finish(&chart->x);
    (void)assay__axis_finish(&chart->y);
    if (chart->title == NULL)
        chart->title = "Growth of the time";
    assay__plot_note_rest(chart, note, count, fits->count);
    assay__chart_begin_plane(chart, legend, count);
    for (size_t i = 0; i < count; i++)
        draw(chart, fits->series[i], i);
}

assay_status assay__plot_growth(const assay_record *record, const assay_plot_settings *settings,
                                assay__chart *chart, assay_error *error)
{
    assay_growth_sweep fits;
    const char *parameter = settings->of;
    if (parameter == NULL && record->scaling_count > 0)
        parameter = record->scalings[0].parameter;
    assay_status status = assay_growth_sweep_fit(record, parameter, NULL, error, &fits);
    if (status == ASSAY_OK)
        draw_all(chart, &fits);
    assay_growth_sweep_release(&fits);
    return status;
}
