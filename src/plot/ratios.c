/* Draws a row for each comparison: the ratio, its 95 % interval, the margin as a band around 1, and
 * the verdict in words and colour. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "plot/kinds.h"
#include "report/cell.h"
#include "report/export.h"

enum { ROW = 20, VERDICT_ROOM = 108 };

static const char *colour_of(assay_verdict verdict)
{
    return verdict == ASSAY_VERDICT_FASTER   ? "good"
           : verdict == ASSAY_VERDICT_SLOWER ? "bad"
                                             : "doubt";
}

static bool is_time(const assay_record_comparison *it)
{
    return it->metric == NULL || strcmp(it->metric, "wall_seconds") == 0;
}

/* The name of a row: the candidate, which in a comparison of two records is the benchmark. The
 * metric is added unless it is time. */
static void name_row(const assay_record *record, const assay_record_comparison *it,
                     char name[ASSAY__CHART_NAME])
{
    char label[ASSAY__SUBJECT_LABEL];
    snprintf(name, ASSAY__CHART_NAME, "%.100s%s%.40s",
             assay__subject_label(record, it->candidate, label), is_time(it) ? "" : ", ",
             is_time(it) ? "" : assay__metric_name(it->metric));
}

static void draw_row(assay__chart *chart, const assay_record_comparison *it, double y)
{
    char text[64], number[ASSAY__CELL_BYTES], classes[32];
    const char *colour = colour_of(it->verdict);
    snprintf(classes, sizeof classes, "thick %s", colour);
    assay__svg_line(&chart->svg, classes,
                    (assay__svg_point){assay__chart_x(chart, assay__value_or_nan(it->low)), y},
                    (assay__svg_point){assay__chart_x(chart, assay__value_or_nan(it->high)), y});
    assay__svg_circle(&chart->svg, colour,
                      (assay__svg_point){assay__chart_x(chart, assay__value_or_nan(it->ratio)), y},
                      3.5);
    snprintf(text, sizeof text, "%s %s", assay__cell_reading(number, it->ratio, 3, 7),
             assay_verdict_text(it->verdict));
    assay__svg_label(&chart->svg, (assay__svg_point){chart->area.right + 6, y + 4}, "start", colour,
                     text);
}

static void draw_margin(assay__chart *chart, double margin)
{
    double one = assay__chart_x(chart, 1);
    const assay__svg_box *area = &chart->area;
    assay__svg_rect(
        &chart->svg, "band",
        (assay__svg_box){fmax(area->left, assay__chart_x(chart, 1 / (1 + margin))), area->top,
                         fmin(area->right, assay__chart_x(chart, 1 + margin)), area->bottom},
        "the margin");
    assay__svg_line(&chart->svg, "rule", (assay__svg_point){one, area->top},
                    (assay__svg_point){one, area->bottom});
}

assay_status assay__plot_ratios(const assay_record *record, const assay_plot_settings *settings,
                                assay__chart *chart, assay_error *error)
{
    char names[ASSAY__PLOT_ROWS][ASSAY__CHART_NAME], note[ASSAY__PLOT_NOTE];
    const char *shown[ASSAY__PLOT_ROWS];
    const assay_record_comparison *rows[ASSAY__PLOT_ROWS];
    size_t count = 0, all = 0;
    chart->x = assay__axis_of("ratio to the baseline", ASSAY__AXIS_NUMBER, true);
    assay__axis_include(&chart->x, 1);
    for (size_t i = 0; i < record->comparison_count; i++) {
        const assay_record_comparison *it = &record->comparisons[i];
        char name[ASSAY__CHART_NAME];
        name_row(record, it, name);
        if (it->ratio.validity != ASSAY_VALID || !assay__plot_wants(settings, name) ||
            all++ >= ASSAY__PLOT_ROWS)
            continue;
        memcpy(names[count], name, sizeof name);
        shown[count] = names[count];
        rows[count++] = it;
        assay__axis_include(&chart->x, it->ratio.value);
        assay__axis_include(&chart->x, assay__value_or_nan(it->low));
        assay__axis_include(&chart->x, assay__value_or_nan(it->high));
    }
    if (count == 0)
        return assay__plot_nothing(settings, "comparisons",
                                   "`assay bench` of several commands and `assay compare --json "
                                   "FILE` record them",
                                   error);
    assay__axis_include(&chart->x, 1 + rows[0]->margin);
    assay__axis_include(&chart->x, 1 / (1 + rows[0]->margin));
    (void)assay__axis_finish(&chart->x);
    if (chart->title == NULL)
        chart->title = "Ratios with 95 % intervals; below 1 is less";
    assay__plot_note_rest(chart, note, count, all);
    assay__chart_begin_rows(chart, shown, NULL, ROW, count, VERDICT_ROOM);
    draw_margin(chart, rows[0]->margin);
    for (size_t i = 0; i < count; i++)
        draw_row(chart, rows[i], chart->area.top + ROW * ((double)i + 0.5));
    return ASSAY_OK;
}
