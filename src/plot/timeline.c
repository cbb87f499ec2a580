/* Draws a timeline: the spans of each lane, stacked as they nest, or the processes of a run if
 * there are no spans. Spans that nest deeper than MAX_DEPTH are left out, and a note counts them. A
 * bar that ends less than half a pixel after the last one of its row and depth is left out, so the
 * plot of a million spans is no larger than its width requires. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/operations.h"
#include "base/error.h"
#include "plot/kinds.h"

enum { LEVEL = 14, PROCESS_ROW = 16, MAX_DEPTH = 8, COLUMNS_PER_PIXEL = 2 };

typedef struct bars {
    assay__chart *chart;
    double *tops;   /* top of each row */
    double *filled; /* for each row and depth: where the last bar ends */
} bars;

/* The same name has the same colour in every plot. */
static size_t colour_of(const char *name)
{
    size_t hash = 5381;
    for (; *name != '\0'; name++)
        hash = 33 * hash + (unsigned char)*name;
    return hash % (ASSAY__SVG_COLOURS - 1);
}

static void draw_bar(bars *into, size_t row, int32_t depth, const char *name, double from,
                     double to)
{
    assay__chart *chart = into->chart;
    double left = assay__chart_x(chart, from), right = assay__chart_x(chart, to);
    double *filled = &into->filled[row * MAX_DEPTH + (size_t)depth];
    if (!isfinite(left + right) || right < *filled + 1.0 / COLUMNS_PER_PIXEL)
        return;
    char classes[16], shown[ASSAY__CHART_NAME * 4], tip[ASSAY__CHART_NAME + 64];
    char length[ASSAY__AXIS_TEXT], start[ASSAY__AXIS_TEXT];
    double top = into->tops[row] + LEVEL * depth + 1;
    right = fmax(right, left + 1.0 / COLUMNS_PER_PIXEL);
    *filled = right;
    snprintf(classes, sizeof classes, "pale %s", assay__svg_series(colour_of(name)));
    snprintf(tip, sizeof tip, "%.120s: %s from %s", name,
             assay__axis_text(ASSAY__AXIS_SECONDS, to - from, length),
             assay__axis_text(ASSAY__AXIS_SECONDS, from, start));
    bool wide = right - left > 24;
    assay__svg_rect(&chart->svg, classes, (assay__svg_box){left, top, right, top + LEVEL - 2},
                    wide ? tip : NULL);
    if (wide)
        assay__svg_label(&chart->svg, (assay__svg_point){left + 2, top + LEVEL - 5}, "start",
                         "small", assay__svg_fit(name, right - left - 2, shown, sizeof shown));
}

static void name_lane(const assay_record_lane *lane, bool processes, char name[ASSAY__CHART_NAME])
{
    if (processes)
        snprintf(name, ASSAY__CHART_NAME, "%.100s (%lld)", lane->name, (long long)lane->process_id);
    else
        snprintf(name, ASSAY__CHART_NAME, "%.150s", lane->name);
}

/* The level of each operation in its lane: how many of its parents are drawn too; -1 if its spans
 * are not wanted. So a span that is chosen by name is drawn however deeply it nests. Caller frees.
 * NULL when out of memory. */
static int32_t *find_levels(const assay_record *record, const assay_plot_settings *settings)
{
    int32_t *levels = malloc((record->operation_count + 1) * sizeof *levels);
    int32_t *next =
        malloc((record->operation_count + 1) * sizeof *next); /* level of the children */
    for (size_t i = 0; levels != NULL && next != NULL && i < record->operation_count; i++) {
        int32_t parent = assay__operation_parent(record->operations, i);
        int32_t level = parent >= 0 ? next[parent] : 0;
        bool wanted = assay__plot_wants(settings, record->operations[i].name);
        levels[i] = wanted ? level : -1;
        next[i] = level + wanted;
    }
    if (next == NULL) {
        free(levels);
        levels = NULL;
    }
    free(next);
    return levels;
}

/* The spans to draw, and the first lanes that have any. `row_of` holds the row of each lane, or
 * SIZE_MAX. */
typedef struct lanes {
    const assay_record *record;
    int32_t *levels;
    char names[ASSAY__PLOT_ROWS][ASSAY__CHART_NAME];
    const char *shown[ASSAY__PLOT_ROWS];
    double heights[ASSAY__PLOT_ROWS];
    size_t *row_of, count, all;
    size_t too_deep; /* spans that are wanted but nest too deeply to be drawn */
} lanes;

/* The level of a span, or -1 if the event is no span or is not wanted. */
static int32_t level_of(const lanes *found, const assay_record_event *it)
{
    return it->kind == ASSAY_EVENT_SPAN && it->name < found->record->operation_count &&
                   it->lane < found->record->lane_count
               ? found->levels[it->name]
               : -1;
}

static void find_lanes(assay__chart *chart, lanes *found)
{
    const assay_record *record = found->record;
    bool processes = false;
    for (size_t i = 0; i < record->lane_count; i++) {
        found->row_of[i] = SIZE_MAX;
        processes = processes || record->lanes[i].process_id != record->lanes[0].process_id;
    }
    for (size_t i = 0; i < record->event_count; i++) {
        const assay_record_event *it = &record->events[i];
        int32_t level = level_of(found, it);
        found->too_deep += level >= MAX_DEPTH;
        if (level < 0 || level >= MAX_DEPTH)
            continue;
        size_t *row = &found->row_of[it->lane];
        if (*row == SIZE_MAX && found->all++ < ASSAY__PLOT_ROWS) {
            *row = found->count;
            name_lane(&record->lanes[it->lane], processes, found->names[found->count]);
            found->shown[found->count] = found->names[found->count];
            found->heights[found->count++] = 0;
        }
        if (*row == SIZE_MAX)
            continue;
        found->heights[*row] = fmax(found->heights[*row], LEVEL * (level + 1) + 4);
        assay__axis_include(&chart->x, it->start_seconds);
        assay__axis_include(&chart->x, it->start_seconds + it->duration_seconds);
    }
}

static void note_depth(assay__chart *chart, char note[ASSAY__PLOT_NOTE], size_t too_deep)
{
    size_t used = chart->note != NULL ? strlen(note) : 0;
    if (too_deep == 0)
        return;
    snprintf(note + used, ASSAY__PLOT_NOTE - used,
             "%s%zu spans nest deeper than %d levels; choose them by name", used > 0 ? "; " : "",
             too_deep, MAX_DEPTH);
    chart->note = note;
}

static void draw_lanes(assay__chart *chart, lanes *found)
{
    double tops[ASSAY__PLOT_ROWS], filled[ASSAY__PLOT_ROWS * MAX_DEPTH];
    char note[ASSAY__PLOT_NOTE];
    bars into = {chart, tops, filled};
    (void)assay__axis_finish(&chart->x);
    assay__plot_note_rest(chart, note, found->count, found->all);
    note_depth(chart, note, found->too_deep);
    assay__chart_begin_rows(chart, found->shown, found->heights, 0, found->count, 0);
    for (size_t i = 0; i < found->count; i++)
        tops[i] = i == 0 ? chart->area.top : tops[i - 1] + found->heights[i - 1];
    for (size_t i = 0; i < ASSAY__PLOT_ROWS * MAX_DEPTH; i++)
        filled[i] = -INFINITY;
    for (size_t i = 0; i < found->record->event_count; i++) {
        const assay_record_event *it = &found->record->events[i];
        int32_t level = level_of(found, it);
        if (level >= 0 && level < MAX_DEPTH && found->row_of[it->lane] != SIZE_MAX)
            draw_bar(&into, found->row_of[it->lane], level,
                     found->record->operations[it->name].name, it->start_seconds,
                     it->start_seconds + it->duration_seconds);
    }
}

static assay_status plot_spans(const assay_record *record, const assay_plot_settings *settings,
                               assay__chart *chart)
{
    lanes *found = calloc(1, sizeof *found);
    int32_t *levels = find_levels(record, settings);
    size_t *row_of = calloc(record->lane_count + 1, sizeof *row_of);
    assay_status status = ASSAY_E_MEMORY;
    if (found != NULL && levels != NULL && row_of != NULL) {
        found->record = record;
        found->levels = levels;
        found->row_of = row_of;
        find_lanes(chart, found);
        status = found->count > 0 ? ASSAY_OK : ASSAY_E_DATA;
        if (status == ASSAY_OK)
            draw_lanes(chart, found);
    }
    free(row_of);
    free(levels);
    free(found);
    return status;
}

/* The end of a process. A process that outlived the command ends with it. A process that was seen
 * only once has length 0, and gets a mark of the smallest width. */
static double end_of(const assay_record *record, const assay_record_member *it)
{
    if (it->end_seconds.validity == ASSAY_VALID)
        return it->end_seconds.value;
    return it->running && record->process.wall_seconds.validity == ASSAY_VALID
               ? record->process.wall_seconds.value
               : it->start_seconds.value;
}

static assay_status plot_processes(const assay_record *record, const assay_plot_settings *settings,
                                   assay__chart *chart)
{
    char names[ASSAY__PLOT_ROWS][ASSAY__CHART_NAME], note[ASSAY__PLOT_NOTE];
    const char *shown[ASSAY__PLOT_ROWS];
    const assay_record_member *rows[ASSAY__PLOT_ROWS];
    double tops[ASSAY__PLOT_ROWS], filled[ASSAY__PLOT_ROWS * MAX_DEPTH];
    size_t count = 0, all = 0;
    bars into = {chart, tops, filled};
    for (size_t i = 0; i < record->process_count; i++) {
        const assay_record_member *it = &record->processes[i];
        if (it->start_seconds.validity != ASSAY_VALID || !assay__plot_wants(settings, it->name) ||
            all++ >= ASSAY__PLOT_ROWS)
            continue;
        snprintf(names[count], sizeof names[count], "%.120s (%lld)",
                 it->name != NULL ? it->name : "process", (long long)it->process_id);
        shown[count] = names[count];
        rows[count++] = it;
        assay__axis_include(&chart->x, it->start_seconds.value);
        assay__axis_include(&chart->x, end_of(record, it));
    }
    if (count == 0)
        return ASSAY_E_DATA;
    (void)assay__axis_finish(&chart->x);
    assay__plot_note_rest(chart, note, count, all);
    assay__chart_begin_rows(chart, shown, NULL, PROCESS_ROW, count, 0);
    for (size_t i = 0; i < count; i++) {
        tops[i] = chart->area.top + PROCESS_ROW * (double)i;
        filled[i * MAX_DEPTH] = -INFINITY;
        draw_bar(&into, i, 0, rows[i]->name != NULL ? rows[i]->name : "process",
                 rows[i]->start_seconds.value, end_of(record, rows[i]));
    }
    return ASSAY_OK;
}

assay_status assay__plot_timeline(const assay_record *record, const assay_plot_settings *settings,
                                  assay__chart *chart, assay_error *error)
{
    chart->x = assay__axis_of("time since the start", ASSAY__AXIS_SECONDS, false);
    if (chart->title == NULL)
        chart->title = "Timeline";
    assay_status status = plot_spans(record, settings, chart);
    if (status == ASSAY_E_DATA)
        status = plot_processes(record, settings, chart);
    if (status == ASSAY_E_DATA)
        return assay__plot_nothing(settings, "events",
                                   "`assay run --trace T --json FILE` records them", error);
    return status == ASSAY_OK
               ? status
               : assay__fail(error, status, "cannot plot: %s", assay_status_message(status));
}
