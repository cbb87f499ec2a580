/* Shows one metric of a benchmark over time, as text, as a plot of characters or as JSON. The store
 * finds the series and their change points; this file prints them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "assay/report.h"
#include "base/json_writer.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/common/message.h"
#include "cli/common/output.h"
#include "cli/history_command.h"
#include "report/format.h"

enum { SERIES_LENGTH = 1000, LAST_SHOWN = 10, PLOT_LINES = 14, PLOT_MARGIN = 12 };

static const char default_metric[] = "wall_seconds";

static const char *format_value(const assay__store_series *series, double value,
                                char text[ASSAY__FORMAT_SIZE])
{
    if (strcmp(series->unit, "s") == 0)
        return assay__format_seconds(value, text);
    if (strcmp(series->unit, "bytes") == 0)
        return assay__format_bytes(value, text);
    snprintf(text, ASSAY__FORMAT_SIZE, "%.4g%s%.16s", value, *series->unit != '\0' ? " " : "",
             series->unit);
    return text;
}

/* "run 132, 2026-11-02 10:00, commit abc12345 of main" */
static void print_run(const assay__store_point *point, FILE *stream)
{
    char when[HISTORY_DATE_BYTES];
    fprintf(stream, "run %lld, %s", (long long)point->run, history_date(point->created, when));
    if (*point->commit != '\0')
        fprintf(stream, ", commit %.12s", point->commit);
    if (*point->branch != '\0')
        fprintf(stream, " of %s", point->branch);
}

/* Print the relative change, such as "+9.1 %", or "n/a" if the level before was 0. */
static void print_change(const assay__store_change *change, FILE *stream)
{
    if (change->before > 0)
        fprintf(stream, "%+.1f %%", 100 * (change->after / change->before - 1));
    else
        fputs("n/a", stream);
}

/* Every metric of the history is a cost, so a rise is bad. */
static assay__shade shade_of(const assay__store_change *change)
{
    return change->after > change->before ? ASSAY__SHADE_BAD : ASSAY__SHADE_GOOD;
}

static void print_changes(const assay__store_series *series, FILE *stream)
{
    char before[ASSAY__FORMAT_SIZE], after[ASSAY__FORMAT_SIZE];
    if (series->change_count == 0)
        fputs("  no change point\n", stream);
    for (size_t i = 0; i < series->change_count; i++) {
        const assay__store_change *it = &series->changes[i];
        fprintf(stream, "  %s -> %s, %s", format_value(series, it->before, before),
                format_value(series, it->after, after),
                assay__terminal_shade(stream, shade_of(it)));
        print_change(it, stream);
        fprintf(stream, "%s\n    since ", assay__terminal_shade(stream, ASSAY__SHADE_PLAIN));
        print_run(&series->points[it->at], stream);
        fputc('\n', stream);
    }
}

static void print_head(const assay__store_series *series, FILE *stream)
{
    char from[HISTORY_DATE_BYTES], to[HISTORY_DATE_BYTES];
    fprintf(stream, "%s, %s on %s\n  %zu run%s", series->benchmark, series->metric, series->machine,
            series->count, series->count == 1 ? "" : "s");
    if (series->count > 0)
        fprintf(stream, ", %s to %s (UTC)", history_date(series->points[0].created, from),
                history_date(series->points[series->count - 1].created, to));
    fputc('\n', stream);
}

static void print_series(const assay__store_series *series, FILE *stream)
{
    char value[ASSAY__FORMAT_SIZE];
    print_head(series, stream);
    print_changes(series, stream);
    size_t first = series->count > LAST_SHOWN ? series->count - LAST_SHOWN : 0;
    for (size_t i = first; i < series->count; i++) {
        assay__format_right(stream, format_value(series, series->points[i].value, value), 14);
        fputs("  ", stream);
        print_run(&series->points[i], stream);
        fputc('\n', stream);
    }
}

/* ---- all benchmarks ------------------------------------------------------------------------- */

static void print_line(const assay__store_series *series, FILE *stream)
{
    char value[ASSAY__FORMAT_SIZE];
    assay__format_ends(stream, series->benchmark, assay__format_name_width(stream, 26));
    fprintf(stream, "  %-12.12s%6zu  ", series->machine, series->count);
    assay__format_right(stream,
                        format_value(series, series->points[series->count - 1].value, value), 10);
    if (series->change_count > 0) {
        const assay__store_change *last = &series->changes[series->change_count - 1];
        fprintf(stream, "  %s", assay__terminal_shade(stream, shade_of(last)));
        print_change(last, stream);
        fprintf(stream, "%s since run %lld", assay__terminal_shade(stream, ASSAY__SHADE_PLAIN),
                (long long)series->points[last->at].run);
    }
    fputc('\n', stream);
}

static void print_overview(const assay__store_series_list *list, FILE *stream)
{
    assay__format_left(stream, "benchmark", assay__format_name_width(stream, 26));
    fputs("  machine       runs        last  change\n", stream);
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].count > 0)
            print_line(&list->items[i], stream);
}

/* ---- a plot --------------------------------------------------------------------------------- */

/* The plot: its characters by line and column, and the values of its lowest and highest line. */
typedef struct canvas {
    char cells[PLOT_LINES][256];
    size_t columns;
    double low, high;
} canvas;

static size_t column_of(const canvas *c, size_t index, size_t count)
{
    return count <= c->columns ? index : index * c->columns / count;
}

static size_t line_of(const canvas *c, double value)
{
    double share = c->high > c->low ? (value - c->low) / (c->high - c->low) : 0.5;
    return (size_t)lround((1 - share) * (PLOT_LINES - 1));
}

/* Draw a vertical line at each change point, then the points over the lines. */
static void draw(canvas *c, const assay__store_series *series)
{
    memset(c->cells, ' ', sizeof c->cells);
    for (size_t i = 0; i < series->change_count; i++) {
        size_t column = column_of(c, series->changes[i].at, series->count);
        for (size_t line = 0; line < PLOT_LINES; line++)
            c->cells[line][column] = '|';
    }
    for (size_t i = 0; i < series->count; i++)
        c->cells[line_of(c, series->points[i].value)][column_of(c, i, series->count)] = 'o';
}

static void scale(canvas *c, const assay__store_series *series)
{
    c->low = c->high = series->points[0].value;
    for (size_t i = 1; i < series->count; i++) {
        c->low = fmin(c->low, series->points[i].value);
        c->high = fmax(c->high, series->points[i].value);
    }
}

static void print_plot(const assay__store_series *series, FILE *stream)
{
    canvas c = {.columns = assay__format_width(stream) - PLOT_MARGIN - 2};
    char value[ASSAY__FORMAT_SIZE];
    print_head(series, stream);
    if (series->count == 0)
        return;
    scale(&c, series);
    draw(&c, series);
    for (size_t line = 0; line < PLOT_LINES; line++) {
        bool labelled =
            line == PLOT_LINES / 2 || (c.high > c.low && (line == 0 || line == PLOT_LINES - 1));
        double at = c.high - (c.high - c.low) * (double)line / (PLOT_LINES - 1);
        size_t end = c.columns;
        while (end > 0 && c.cells[line][end - 1] == ' ')
            end--;
        assay__format_right(stream, labelled ? format_value(series, at, value) : "", PLOT_MARGIN);
        fprintf(stream, " |%.*s\n", (int)end, c.cells[line]);
    }
    print_changes(series, stream);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void write_point(assay__json *json, const assay__store_point *point)
{
    char when[ASSAY__UTC_BYTES];
    assay__json_integer(json, "run", point->run);
    assay__json_text(json, "created", assay__text_utc((uint64_t)point->created, when));
    assay__json_text(json, "commit", point->commit);
    assay__json_text(json, "branch", point->branch);
}

static void write_series(assay__json *json, const assay__store_series *series)
{
    assay__json_object(json, NULL);
    assay__json_text(json, "benchmark", series->benchmark);
    assay__json_text(json, "metric", series->metric);
    assay__json_text(json, "unit", series->unit);
    assay__json_text(json, "machine", series->machine);
    assay__json_array(json, "changes");
    for (size_t i = 0; i < series->change_count; i++) {
        assay__json_object(json, NULL);
        write_point(json, &series->points[series->changes[i].at]);
        assay__json_number(json, "before", series->changes[i].before);
        assay__json_number(json, "after", series->changes[i].after);
        assay__json_end(json);
    }
    assay__json_end(json);
    assay__json_array(json, "points");
    for (size_t i = 0; i < series->count; i++) {
        assay__json_object(json, NULL);
        write_point(json, &series->points[i]);
        assay__json_number(json, "value", series->points[i].value);
        assay__json_end(json);
    }
    assay__json_end(json);
    assay__json_end(json);
}

static assay_status print_json(const void *subject, FILE *stream, assay_error *error)
{
    const assay__store_series_list *list = subject;
    assay__json json;
    (void)error;
    assay__json_init(&json, stream, 0);
    assay__json_object(&json, NULL);
    assay__json_array(&json, "series");
    for (size_t i = 0; i < list->count; i++)
        write_series(&json, &list->items[i]);
    assay__json_end(&json);
    assay__json_end(&json);
    return assay__json_finish(&json);
}

/* ---- finding them --------------------------------------------------------------------------- */

/* Find the series of a benchmark and read their points. A benchmark without wall times, such as the
 * error of a study, is shown with all its metrics. */
static assay_status find(const history_call *call, const char *benchmark, assay_error *error,
                         assay__store_series_list *list)
{
    assay__store_filter filter = call->filter;
    const char *asked = call->settings->metric;
    filter.benchmark = benchmark;
    filter.metric = asked != NULL ? asked : default_metric;
    filter.last = filter.last > 0 ? filter.last : SERIES_LENGTH;
    assay_status status = assay__store_find_series(call->store, &filter, error, list);
    if (status == ASSAY_OK && list->count == 0 && asked == NULL) {
        assay__store_series_list_release(list);
        filter.metric = NULL;
        status = assay__store_find_series(call->store, &filter, error, list);
    }
    for (size_t i = 0; i < list->count && status == ASSAY_OK; i++)
        status = assay__store_read_series(call->store, &filter, error, list, i);
    return status;
}

/* Find the series and write them where the settings say: a figure, a page, JSON or text. For text,
 * `print` prints each series; pass NULL for the overview. */
static int show_each(const history_call *call, const char *benchmark,
                     void (*print)(const assay__store_series *, FILE *))
{
    assay__store_series_list list = {0};
    assay_error error = {0};
    assay_status status = find(call, benchmark, &error, &list);
    int code = status == ASSAY_OK ? EX_OK : history_fail(status, &error);
    if (code == EX_OK && list.count == 0 && benchmark != NULL) {
        code = EX_NOINPUT;
    } else if (code == EX_OK && call->settings->output != NULL) {
        code = history_save_figure(call, &list);
    } else if (code == EX_OK && call->settings->html != NULL) {
        code = history_save_page(call, &list);
    } else if (code == EX_OK && call->settings->json != NULL) {
        status = assay_file_save(call->settings->json, print_json, &list, &error);
        code = output_check("history", status, &error) ? EX_OK : message_output_exit(status);
    } else if (code == EX_OK && print == NULL) {
        print_overview(&list, stdout);
    } else if (code == EX_OK) {
        for (size_t i = 0; i < list.count; i++) {
            if (i > 0)
                putchar('\n');
            print(&list.items[i], stdout);
        }
    }
    assay__store_series_list_release(&list);
    return code;
}

int history_refuse_benchmark(const history_call *call, const char *benchmark)
{
    message_error("assay history: no benchmark%s '%.200s'%s; 'assay history show' lists them",
                  call->settings->metric == NULL ? " or run" : "", benchmark,
                  call->settings->metric != NULL ? " with that metric" : "");
    return EX_NOINPUT;
}

int history_show_series(const history_call *call, const char *benchmark)
{
    return show_each(call, benchmark, benchmark != NULL ? print_series : NULL);
}

int history_plot(const history_call *call)
{
    const char *benchmark = call->count > 0 ? call->operands[0] : call->settings->name;
    if (call->count > 1 || benchmark == NULL) {
        message_error("assay history plot: which benchmark? Write: assay history plot NAME; 'assay "
                      "history show' lists them");
        return EX_USAGE;
    }
    int code = show_each(call, benchmark, print_plot);
    return code == EX_NOINPUT ? history_refuse_benchmark(call, benchmark) : code;
}
