/* Draws a row for each benchmark or operation, with a histogram of its durations on one logarithmic
 * axis.
 *
 * The durations of a row are gathered in bins that are equally wide on the axis, and the tallest
 * bin of each row is as high as the row. For operations the record holds the buckets of a sketch,
 * each narrower than a bin of any plot here. For benchmarks it holds every sample. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "plot/kinds.h"
#include "report/cell.h"
#include "report/export.h"
#include "stats/sorted.h"

enum { ROW = 28, BINS = 60 };

typedef struct row {
    char name[ASSAY__CHART_NAME];
    const assay_record_operation *operation; /* for an operation; else NULL */
    const assay_record_subject *subject;
    double order;           /* larger first: total time, or minus the index of a benchmark */
    double p50, p95, p99;   /* NAN if not known */
    double low, mean, high; /* interval of the mean; NAN if not known */
} row;

static int by_order(const void *left, const void *right)
{
    const row *a = left, *b = right;
    return (a->order < b->order) - (a->order > b->order);
}

/* Take a benchmark as a row. Its quantiles are computed only if there are enough samples for them.
 */
static assay_status take_subject(const assay_record *record, size_t index, row *it)
{
    const assay_record_subject *subject = &record->subjects[index];
    char label[ASSAY__SUBJECT_LABEL];
    double *sorted = malloc((subject->sample_count + 1) * sizeof *sorted);
    size_t count = 0;
    if (sorted == NULL)
        return ASSAY_E_MEMORY;
    *it = (row){.subject = subject, .p50 = NAN, .p95 = NAN, .p99 = NAN};
    snprintf(it->name, sizeof it->name, "%.150s",
             assay__subject_label(record, subject->name, label));
    for (size_t i = 0; i < subject->sample_count; i++)
        if (subject->samples_seconds[i] > 0 && isfinite(subject->samples_seconds[i]))
            sorted[count++] = subject->samples_seconds[i];
    assay__stats_sort(sorted, count);
    if (count > 0)
        it->p50 = assay__stats_sorted_quantile(sorted, count, 0.5);
    if (count >= 20)
        it->p95 = assay__stats_sorted_quantile(sorted, count, 0.95);
    if (count >= 100)
        it->p99 = assay__stats_sorted_quantile(sorted, count, 0.99);
    it->low = assay__value_or_nan(subject->low_seconds);
    it->mean = assay__value_or_nan(subject->mean_seconds);
    it->high = assay__value_or_nan(subject->high_seconds);
    it->order = -(double)index;
    free(sorted);
    return ASSAY_OK;
}

static void take_operation(const assay_record_operation *operation, row *it)
{
    *it = (row){.operation = operation,
                .order = operation->total_seconds,
                .p50 = assay__value_or_nan(operation->p50_seconds),
                .p95 = assay__value_or_nan(operation->p95_seconds),
                .p99 = assay__value_or_nan(operation->p99_seconds),
                .low = NAN,
                .mean = NAN,
                .high = NAN};
    snprintf(it->name, sizeof it->name, "%.150s", operation->name);
}

static size_t value_count(const row *it)
{
    return it->subject != NULL ? it->subject->sample_count : it->operation->bucket_count;
}

static double value_at(const row *it, size_t index, double *weight)
{
    *weight = it->subject != NULL ? 1 : (double)it->operation->buckets[index].count;
    return it->subject != NULL ? it->subject->samples_seconds[index]
                               : it->operation->buckets[index].seconds;
}

static void draw_mark(assay__chart *chart, double value, double bottom, double height)
{
    double x = assay__chart_x(chart, value);
    assay__svg_line(&chart->svg, "axis", (assay__svg_point){x, bottom},
                    (assay__svg_point){x, bottom - height});
}

static void draw_row(assay__chart *chart, const row *it, size_t index)
{
    double bins[BINS] = {0}, tallest = 0, bottom = chart->area.top + ROW * ((double)index + 1) - 4;
    char classes[16];
    for (size_t i = 0; i < value_count(it); i++) {
        double weight, value = value_at(it, i, &weight);
        double share = assay__axis_share(&chart->x, value);
        if (!(share >= 0) || share > 1)
            continue;
        size_t bin = (size_t)fmin(share * BINS, BINS - 1);
        bins[bin] += weight;
        tallest = fmax(tallest, bins[bin]);
    }
    snprintf(classes, sizeof classes, "pale %s", assay__svg_series(0));
    assay__svg_path_begin(&chart->svg, classes);
    double step = (chart->area.right - chart->area.left) / BINS;
    assay__svg_path_to(&chart->svg, (assay__svg_point){chart->area.left, bottom});
    for (size_t i = 0; i < BINS; i++) {
        double y = bottom - (ROW - 8) * bins[i] / tallest, x = chart->area.left + step * (double)i;
        bool flat = bins[i] == 0 && (i == 0 || bins[i - 1] == 0);
        if (!flat) {
            assay__svg_path_to(&chart->svg, (assay__svg_point){x, y});
            assay__svg_path_to(&chart->svg, (assay__svg_point){x + step, y});
            if (i + 1 == BINS || bins[i + 1] == 0)
                assay__svg_path_to(&chart->svg, (assay__svg_point){x + step, bottom});
        } else if (i + 1 < BINS && bins[i + 1] > 0)
            assay__svg_path_to(&chart->svg, (assay__svg_point){x + step, bottom});
    }
    assay__svg_path_to(&chart->svg, (assay__svg_point){chart->area.right, bottom});
    assay__svg_path_end(&chart->svg, true);
    draw_mark(chart, it->p50, bottom, ROW - 8);
    draw_mark(chart, it->p95, bottom, (ROW - 8) * 0.6);
    draw_mark(chart, it->p99, bottom, (ROW - 8) * 0.35);
    assay__svg_line(&chart->svg, "thick s1",
                    (assay__svg_point){assay__chart_x(chart, it->low), bottom + 2},
                    (assay__svg_point){assay__chart_x(chart, it->high), bottom + 2});
}

static assay_status collect(const assay_record *record, const assay_plot_settings *settings,
                            row *rows, size_t *count)
{
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < record->subject_count && status == ASSAY_OK; i++) {
        const assay_record_subject *it = &record->subjects[i];
        if (it->sample_count == 0 || !assay__plot_wants(settings, it->name))
            continue;
        status = take_subject(record, i, &rows[*count]);
        *count += isnan(rows[*count].p50) ? 0 : 1;
    }
    for (size_t i = 0; i < record->operation_count && record->subject_count == 0; i++)
        if (record->operations[i].bucket_count > 0 &&
            assay__plot_wants(settings, record->operations[i].name))
            take_operation(&record->operations[i], &rows[(*count)++]);
    return status;
}

static void draw_rows(assay__chart *chart, row *rows, size_t all)
{
    char note[ASSAY__PLOT_NOTE];
    const char *names[ASSAY__PLOT_ROWS];
    size_t count = all < ASSAY__PLOT_ROWS ? all : ASSAY__PLOT_ROWS;
    bool means = false;
    qsort(rows, all, sizeof *rows, by_order);
    for (size_t i = 0; i < count; i++) {
        names[i] = rows[i].name;
        means = means || isfinite(rows[i].low + rows[i].high);
        for (size_t k = 0; k < value_count(&rows[i]); k++) {
            double weight;
            assay__axis_include(&chart->x, value_at(&rows[i], k, &weight));
        }
    }
    (void)assay__axis_finish(&chart->x);
    if (chart->title == NULL)
        chart->title = "Distribution of durations";
    chart->note = means ? "lines: median, p95, p99; bar below: 95 % interval of the mean"
                        : "lines: median, p95, p99";
    assay__plot_note_rest(chart, note, count, all);
    assay__chart_begin_rows(chart, names, NULL, ROW, count, 0);
    for (size_t i = 0; i < count; i++)
        draw_row(chart, &rows[i], i);
}

assay_status assay__plot_distribution(const assay_record *record,
                                      const assay_plot_settings *settings, assay__chart *chart,
                                      assay_error *error)
{
    size_t count = 0;
    row *rows = calloc(record->subject_count + record->operation_count + 1, sizeof *rows);
    assay_status status = rows != NULL ? collect(record, settings, rows, &count) : ASSAY_E_MEMORY;
    chart->x = assay__axis_of("time", ASSAY__AXIS_SECONDS, true);
    if (status != ASSAY_OK)
        status = assay__fail(error, status, "cannot plot: %s", assay_status_message(status));
    else if (count == 0)
        status = assay__plot_nothing(settings, "durations",
                                     "`assay bench --json FILE` and `assay run --json FILE` of a "
                                     "program with spans record them",
                                     error);
    else
        draw_rows(chart, rows, count);
    free(rows);
    return status;
}
