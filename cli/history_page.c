/* Writes series of the history as a figure (SVG) and as a page.
 *
 * The page gets {"series": [{"benchmark": …, "changes": [{"at": 70, "before": …, "after": …}],
 * "runs": […], "created": […], "commits": […], "branches": […], "values": […]}], "left_out": 0}
 * (web/src/history.ts). The points are written as columns, because a history has many points, and
 * the keys of single objects would take most of the file. */
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "assay/report.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "cli/common/message.h"
#include "cli/common/output.h"
#include "cli/history_command.h"
#include "cli/page.h"
#include "plot/levels.h"

/* A page shows at most this many series, which is more than anybody reads. Each has at most 1000
 * points unless --last says otherwise. */
enum { PAGE_SERIES_MAX = 400, FIGURE_TEXT = 256 };

/* ---- a figure ------------------------------------------------------------------------------- */

/* List the levels of a series. The first level begins with the series, and each change begins
 * another. */
static void find_levels(const assay__store_series *series, assay__plot_level *levels)
{
    levels[0] = (assay__plot_level){0, series->level};
    for (size_t i = 0; i < series->change_count; i++)
        levels[i + 1] = (assay__plot_level){series->changes[i].at, series->changes[i].after};
}

static assay__axis_unit unit_of(const assay__store_series *series)
{
    return strcmp(series->unit, "s") == 0       ? ASSAY__AXIS_SECONDS
           : strcmp(series->unit, "bytes") == 0 ? ASSAY__AXIS_BYTES
                                                : ASSAY__AXIS_NUMBER;
}

static assay_status print_figure(const void *subject, FILE *stream, assay_error *error)
{
    const assay__store_series *series = subject;
    char along[FIGURE_TEXT], from[HISTORY_DATE_BYTES], to[HISTORY_DATE_BYTES];
    double *values = calloc(series->count + 1, sizeof *values);
    assay__plot_level *levels = calloc(series->change_count + 1, sizeof *levels);
    assay_status status = ASSAY_E_MEMORY;
    if (values != NULL && levels != NULL && series->count > 0) {
        for (size_t i = 0; i < series->count; i++)
            values[i] = series->points[i].value;
        find_levels(series, levels);
        snprintf(along, sizeof along, "runs, %.10s to %.10s",
                 history_date(series->points[0].created, from),
                 history_date(series->points[series->count - 1].created, to));
        const assay__plot_levels what = {.title = series->benchmark,
                                         .legend = series->machine,
                                         .along = along,
                                         .figure = series->metric,
                                         .unit = unit_of(series),
                                         .values = values,
                                         .count = series->count,
                                         .levels = levels,
                                         .level_count = series->change_count + 1};
        status = assay__plot_levels_print(&what, stream, error);
    } else {
        *error = (assay_error){status, "out of memory"};
    }
    free(levels);
    free(values);
    return status;
}

int history_save_figure(const history_call *call, const assay__store_series_list *list)
{
    assay_error error = {0};
    if (list->count > 1) {
        message_error("assay history plot: %zu series, and a figure shows one; choose by --machine "
                      "and --metric, first '%.100s' and '%.100s'",
                      list->count, list->items[0].machine, list->items[0].metric);
        return EX_USAGE;
    }
    if (list->count == 0 || list->items[0].count == 0) {
        message_error("assay history plot: no runs to plot");
        return EX_NOINPUT;
    }
    assay_status status =
        assay_file_save(call->settings->output, print_figure, &list->items[0], &error);
    return output_check("history", status, &error) ? EX_OK : message_output_exit(status);
}

/* ---- a page --------------------------------------------------------------------------------- */

typedef struct column {
    const char *key;
    enum { RUN, CREATED, COMMIT, BRANCH, VALUE } of;
} column;

static void write_cell(assay__json *json, const assay__store_point *point, const column *which)
{
    char when[ASSAY__UTC_BYTES];
    switch (which->of) {
    case RUN:
        assay__json_integer(json, NULL, point->run);
        break;
    case CREATED:
        assay__json_text(json, NULL, assay__text_utc((uint64_t)point->created, when));
        break;
    case COMMIT:
        assay__json_text(json, NULL, point->commit);
        break;
    case BRANCH:
        assay__json_text(json, NULL, point->branch);
        break;
    case VALUE:
        assay__json_number(json, NULL, point->value);
        break;
    }
}

static void write_series(assay__json *json, const assay__store_series *series)
{
    static const column columns[] = {{"runs", RUN},
                                     {"created", CREATED},
                                     {"commits", COMMIT},
                                     {"branches", BRANCH},
                                     {"values", VALUE}};
    assay__json_object(json, NULL);
    assay__json_text(json, "benchmark", series->benchmark);
    assay__json_text(json, "metric", series->metric);
    assay__json_text(json, "unit", series->unit);
    assay__json_text(json, "machine", series->machine);
    assay__json_array(json, "changes");
    for (size_t i = 0; i < series->change_count; i++) {
        assay__json_object(json, NULL);
        assay__json_count(json, "at", series->changes[i].at);
        assay__json_number(json, "before", series->changes[i].before);
        assay__json_number(json, "after", series->changes[i].after);
        assay__json_end(json);
    }
    assay__json_end(json);
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        assay__json_row(json, columns[k].key);
        for (size_t i = 0; i < series->count; i++)
            write_cell(json, &series->points[i], &columns[k]);
        assay__json_end(json);
    }
    assay__json_end(json);
}

static assay_status print_history(const void *subject, FILE *stream, assay_error *error)
{
    const assay__store_series_list *list = subject;
    size_t shown = list->count < PAGE_SERIES_MAX ? list->count : PAGE_SERIES_MAX;
    assay__json json;
    (void)error;
    assay__json_init(&json, stream, ASSAY__JSON_COMPACT);
    assay__json_object(&json, NULL);
    assay__json_array(&json, "series");
    for (size_t i = 0; i < shown; i++)
        if (list->items[i].count > 0)
            write_series(&json, &list->items[i]);
    assay__json_end(&json);
    assay__json_count(&json, "left_out", list->count - shown);
    assay__json_end(&json);
    return assay__json_finish(&json);
}

int history_save_page(const history_call *call, const assay__store_series_list *list)
{
    assay_error error = {0};
    const page_block block = {"history", "application/json", print_history, list};
    size_t points = 0;
    for (size_t i = 0; i < list->count; i++)
        points += list->items[i].count;
    if (points == 0) {
        message_error("assay history show: no runs to show");
        return EX_NOINPUT;
    }
    assay_status status = page_save(call->settings->html, &block, 1, &error);
    return output_check("history", status, &error) ? EX_OK : message_output_exit(status);
}
