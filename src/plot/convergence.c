/* Draws series of a record as lines: losses by epoch, errors by step. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "plot/kinds.h"

/* If the largest value is more than this many times the smallest, the axis is logarithmic. */
static const double WIDE = 20;

/* Whether the series goes along epochs or steps. Series along places and sizes are not progress. */
static bool is_progress(const assay_record_series *it)
{
    static const char *const along[] = {"epoch", "step", "iteration", "batch"};
    for (size_t i = 0; it->along != NULL && i < sizeof along / sizeof *along; i++)
        if (strcmp(it->along, along[i]) == 0)
            return true;
    return false;
}

/* The name of the series to show: the losses if there are any, else the first. */
static const char *choose_name(const assay_record *record, const assay_plot_settings *settings)
{
    const char *first = NULL;
    for (size_t i = 0; i < record->series_count; i++) {
        const assay_record_series *it = &record->series[i];
        if (!is_progress(it) || it->count == 0)
            continue;
        if (settings->of != NULL && strcmp(it->name, settings->of) == 0)
            return it->name;
        if (settings->of != NULL && !assay__plot_wants(settings, it->of))
            continue;
        if (strcmp(it->name, "loss") == 0)
            return it->name;
        first = first != NULL ? first : it->name;
    }
    return first;
}

static bool is_chosen(const assay_record_series *it, const char *name,
                      const assay_plot_settings *settings)
{
    return is_progress(it) && it->count > 0 && strcmp(it->name, name) == 0 &&
           (assay__plot_wants(settings, it->of) || strcmp(name, settings->of) == 0);
}

static double place(const assay_record_series *it, size_t index)
{
    return it->places != NULL ? it->places[index] : (double)index + 1;
}

static void choose_scale(assay__chart *chart, const assay_record_series *const *series,
                         size_t count)
{
    assay__axis *y = &chart->y;
    double lowest = INFINITY;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < series[i]->count; k++) {
            assay__axis_include(&chart->x, place(series[i], k));
            assay__axis_include(y, series[i]->values[k]);
            lowest = fmin(lowest, series[i]->values[k]);
        }
    y->logarithmic = lowest > 0 && y->high / y->low > WIDE;
    if (!y->logarithmic && lowest >= 0)
        y->low = 0;
}

static void draw(assay__chart *chart, const assay_record_series *it, size_t index)
{
    char classes[16];
    snprintf(classes, sizeof classes, "line %s", assay__svg_series(index));
    assay__svg_path_begin(&chart->svg, classes);
    for (size_t k = 0; k < it->count; k++)
        assay__svg_path_to(&chart->svg, assay__chart_at(chart, place(it, k), it->values[k]));
    assay__svg_path_end(&chart->svg, false);
}

assay_status assay__plot_convergence(const assay_record *record,
                                     const assay_plot_settings *settings, assay__chart *chart,
                                     assay_error *error)
{
    const assay_record_series *series[ASSAY__PLOT_SERIES];
    const char *legend[ASSAY__PLOT_SERIES], *name = choose_name(record, settings);
    char note[ASSAY__PLOT_NOTE];
    size_t count = 0, all = 0;
    for (size_t i = 0; name != NULL && i < record->series_count; i++)
        if (is_chosen(&record->series[i], name, settings) && all++ < ASSAY__PLOT_SERIES) {
            series[count] = &record->series[i];
            legend[count] = series[count]->of != NULL ? series[count]->of : name;
            count++;
        }
    if (count == 0)
        return assay__plot_nothing(settings, "series by epoch or step",
                                   "`assay study` records them", error);
    chart->x = assay__axis_of(series[0]->along, ASSAY__AXIS_NUMBER, false);
    chart->y = assay__axis_of(name, ASSAY__AXIS_NUMBER, false);
    if (series[0]->unit != NULL && strcmp(series[0]->unit, "s") == 0)
        chart->y.unit = ASSAY__AXIS_SECONDS;
    choose_scale(chart, series, count);
    if (!assay__axis_finish(&chart->x) || !assay__axis_finish(&chart->y))
        return assay__fail(error, ASSAY_E_DATA, "'%s' has no finite values to plot", name);
    if (chart->title == NULL)
        chart->title = name;
    assay__plot_note_rest(chart, note, count, all);
    assay__chart_begin_plane(chart, legend, count);
    for (size_t i = 0; i < count; i++)
        draw(chart, series[i], i);
    return ASSAY_OK;
}
