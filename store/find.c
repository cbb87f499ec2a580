/* Finds runs, records and series in the history. The database returns the most recent rows, latest
 * first, and the results are then reversed, so that the earliest comes first. Change points of a
 * series are computed here, with assay_stats_find_steps(). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/stats.h"
#include "base/error.h"
#include "base/grow.h"
#include "record/decode.h"
#include "stats/sorted.h"
#include "store/session.h"

static const size_t ARENA_MAXIMUM = (size_t)1 << 30;
enum { ROWS_MAXIMUM = 1 << 24, CHANGES_MAX = 256 };

static assay_status out_of_memory(assay_error *error)
{
    return assay__fail(error, ASSAY_E_MEMORY, "out of memory");
}

/* Append the conditions of the filter on the run "r". */
static void append_conditions(assay__query *query, const assay__store_filter *filter)
{
    if (filter->run != 0)
        assay__query_integer(query, " AND r.id = ", filter->run);
    if (filter->name != NULL)
        assay__query_text(query, " AND r.name = ", filter->name);
    if (filter->machine != NULL)
        assay__query_text(query, " AND r.machine = ", filter->machine);
    if (filter->branch != NULL)
        assay__query_text(query, " AND r.branch = ", filter->branch);
    if (filter->commit != NULL) {
        assay__query_text(query, " AND SUBSTR(r.commit_id, 1, LENGTH(CAST(", filter->commit);
        assay__query_text(query, " AS TEXT))) = ", filter->commit);
    }
    if (filter->tag != NULL) {
        assay__query_text(
            query,
            " AND EXISTS (SELECT 1 FROM assay_tag t WHERE t.run = r.id AND t.tag = ", filter->tag);
        assay__query_sql(query, ")");
    }
    if (filter->since != 0)
        assay__query_integer(query, " AND r.created >= ", filter->since);
    if (filter->until != 0)
        assay__query_integer(query, " AND r.created < ", filter->until);
}

static int64_t limit_of(const assay__store_filter *filter)
{
    return filter->last > 0 && filter->last < ROWS_MAXIMUM ? (int64_t)filter->last : ROWS_MAXIMUM;
}

/* ---- runs ----------------------------------------------------------------------------------- */

static const char *join_tag(assay__arena *arena, const char *tags, const char *tag)
{
    size_t before = strlen(tags), size = before + strlen(tag) + 3;
    char *joined = assay__arena_allocate(arena, size, 1);
    if (joined != NULL)
        snprintf(joined, size, "%s%s%s", tags, before > 0 ? ", " : "", tag);
    return joined;
}

/* A row function. A run has one row for each of its tags; these rows follow each other. */
static assay_status take_run(void *context, const assay__store_value *cells, size_t count)
{
    assay__store_runs *runs = context;
    const char *tag = count > 7 && cells[7].kind == ASSAY__STORE_TEXT ? cells[7].text : NULL;
    assay__store_run *last = runs->count > 0 ? &runs->items[runs->count - 1] : NULL;
    if (last == NULL || last->id != cells[0].integer) {
        if (!assay__grow(&runs->items, &runs->capacity, runs->count + 1, sizeof *runs->items))
            return ASSAY_E_MEMORY;
        last = &runs->items[runs->count++];
        *last = (assay__store_run){.id = cells[0].integer,
                                   .created = cells[1].integer,
                                   .kind = assay__store_copy(runs->arena, cells[2].text),
                                   .name = assay__store_copy(runs->arena, cells[3].text),
                                   .machine = assay__store_copy(runs->arena, cells[4].text),
                                   .commit = assay__store_copy(runs->arena, cells[5].text),
                                   .branch = assay__store_copy(runs->arena, cells[6].text),
                                   .tags = ""};
    }
    if (tag != NULL)
        last->tags = join_tag(runs->arena, last->tags, tag);
    bool whole = last->kind != NULL && last->name != NULL && last->machine != NULL &&
                 last->commit != NULL && last->branch != NULL && last->tags != NULL;
    return whole ? ASSAY_OK : ASSAY_E_MEMORY;
}

static void reverse_runs(assay__store_runs *runs)
{
    for (size_t i = 0, k = runs->count; i + 1 < k--; i++) {
        assay__store_run swapped = runs->items[i];
        runs->items[i] = runs->items[k];
        runs->items[k] = swapped;
    }
}

assay_status assay__store_find_runs(assay__store *store, const assay__store_filter *filter,
                                    assay_error *error, assay__store_runs *runs)
{
    assay__query query;
    *runs = (assay__store_runs){.arena = assay__arena_new(ARENA_MAXIMUM)};
    if (runs->arena == NULL)
        return out_of_memory(error);
    assay__query_init(&query,
                      "SELECT c.id, c.created, c.kind, c.name, c.machine, c.commit_id, c.branch,"
                      " t.tag FROM (SELECT * FROM assay_run r WHERE 1 = 1");
    append_conditions(&query, filter);
    if (filter->benchmark != NULL) {
        assay__query_sql(&query, " AND r.id IN (SELECT f.run FROM assay_figure f"
                                 " JOIN assay_series s ON s.id = f.series WHERE 1 = 1");
        assay__query_match(&query, runs->arena, "s.benchmark", filter->benchmark);
        assay__query_sql(&query, ")");
    }
    assay__query_integer(&query, " ORDER BY r.created DESC, r.id DESC LIMIT ", limit_of(filter));
    assay__query_sql(&query, ") c LEFT JOIN assay_tag t ON t.run = c.id"
                             " ORDER BY c.created DESC, c.id DESC, t.tag");
    assay_status status = assay__query_run(store, &query, take_run, runs, error);
    assay__query_release(&query);
    reverse_runs(runs);
    return status;
}

void assay__store_runs_release(assay__store_runs *runs)
{
    free(runs->items);
    assay__arena_free(runs->arena);
    *runs = (assay__store_runs){0};
}

/* ---- records -------------------------------------------------------------------------------- */

static assay_status take_document(void *context, const assay__store_value *cells, size_t count)
{
    char **document = context;
    if (count == 0 || cells[0].kind != ASSAY__STORE_TEXT || *document != NULL)
        return ASSAY_OK;
    *document = strdup(cells[0].text);
    return *document != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
}

assay_status assay__store_read_document(assay__store *store, int64_t run, assay_error *error,
                                        char **document)
{
    assay__query query;
    *document = NULL;
    assay__query_init(&query, "SELECT document FROM assay_document WHERE run = ");
    assay__query_integer(&query, "", run);
    assay_status status = assay__query_run(store, &query, take_document, document, error);
    assay__query_release(&query);
    if (status == ASSAY_OK && *document == NULL)
        status = assay__fail(error, ASSAY_E_NOT_FOUND,
                             "the history has no run %lld; 'assay history list' shows them",
                             (long long)run);
    return status;
}

assay_status assay__store_read_record(assay__store *store, int64_t run, assay_error *error,
                                      assay_record **record)
{
    char *document;
    *record = NULL;
    assay_status status = assay__store_read_document(store, run, error, &document);
    if (status == ASSAY_OK)
        status = assay__record_parse(document, strlen(document), error, record);
    free(document);
    return status;
}

/* ---- series --------------------------------------------------------------------------------- */

static assay_status take_series(void *context, const assay__store_value *cells, size_t count)
{
    assay__store_series_list *list = context;
    (void)count;
    if (!assay__grow(&list->items, &list->capacity, list->count + 1, sizeof *list->items))
        return ASSAY_E_MEMORY;
    assay__store_series *it = &list->items[list->count++];
    *it = (assay__store_series){.id = cells[0].integer,
                                .benchmark = assay__store_copy(list->arena, cells[1].text),
                                .metric = assay__store_copy(list->arena, cells[2].text),
                                .unit = assay__store_copy(list->arena, cells[3].text),
                                .machine = assay__store_copy(list->arena, cells[4].text)};
    bool whole =
        it->benchmark != NULL && it->metric != NULL && it->unit != NULL && it->machine != NULL;
    return whole ? ASSAY_OK : ASSAY_E_MEMORY;
}

assay_status assay__store_find_series(assay__store *store, const assay__store_filter *filter,
                                      assay_error *error, assay__store_series_list *list)
{
    assay__query query;
    *list = (assay__store_series_list){.arena = assay__arena_new(ARENA_MAXIMUM)};
    if (list->arena == NULL)
        return out_of_memory(error);
    assay__query_init(&query, "SELECT s.id, s.benchmark, s.metric, s.unit, s.machine"
                              " FROM assay_series s WHERE 1 = 1");
    assay__query_match(&query, list->arena, "s.benchmark", filter->benchmark);
    assay__query_match(&query, list->arena, "s.metric", filter->metric);
    assay__query_match(&query, list->arena, "s.machine", filter->machine);
    assay__query_integer(&query, " ORDER BY s.benchmark, s.metric, s.machine LIMIT ", ROWS_MAXIMUM);
    assay_status status = assay__query_run(store, &query, take_series, list, error);
    assay__query_release(&query);
    return status;
}

/* A series that is being read. */
typedef struct reading {
    assay__store_series *series;
    assay__arena *arena;
} reading;

/* Copy a text into the arena, unless it is the same as in the point before. Runs of one commit
 * often follow each other, and so share one copy. */
static const char *keep(const reading *r, const char *text, const char *before)
{
    if (*text == '\0')
        return "";
    return before != NULL && strcmp(before, text) == 0 ? before : assay__store_copy(r->arena, text);
}

static assay_status take_point(void *context, const assay__store_value *cells, size_t count)
{
    const reading *r = context;
    assay__store_series *series = r->series;
    (void)count;
    if (!assay__grow(&series->points, &series->capacity, series->count + 1, sizeof *series->points))
        return ASSAY_E_MEMORY;
    const assay__store_point *before =
        series->count > 0 ? &series->points[series->count - 1] : NULL;
    assay__store_point *it = &series->points[series->count];
    *it = (assay__store_point){
        .run = cells[0].integer, .created = cells[1].integer, .value = cells[2].real};
    it->commit = keep(r, cells[3].text, before != NULL ? before->commit : NULL);
    it->branch = keep(r, cells[4].text, before != NULL ? before->branch : NULL);
    series->count++;
    return it->commit != NULL && it->branch != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
}

static void reverse_points(assay__store_series *series)
{
    for (size_t i = 0, k = series->count; i + 1 < k--; i++) {
        assay__store_point swapped = series->points[i];
        series->points[i] = series->points[k];
        series->points[k] = swapped;
    }
}

/* The median of some points. `room` is a buffer for `count` values. */
static double level_of(const assay__store_point *points, size_t count, double *room)
{
    for (size_t i = 0; i < count; i++)
        room[i] = points[i].value;
    assay__stats_sort(room, count);
    return assay__stats_sorted_median(room, count);
}

/* A value as statistics accept it. The loss of a training that diverged may be larger. */
static double bounded(double value)
{
    const double most = 1e100;
    return fmin(fmax(value, -most), most);
}

/* Find the change points. The noise of a figure is proportional to its size, so steps are searched
 * in the logarithms. If a value is 0 or negative, the values themselves are used. */
static assay_status find_changes(assay__store_series *series, assay__arena *arena)
{
    size_t count = series->count, points[CHANGES_MAX], found = 0;
    double *values = malloc((count + 1) * sizeof *values);
    if (values == NULL)
        return ASSAY_E_MEMORY;
    bool positive = true;
    for (size_t i = 0; i < count; i++)
        positive = positive && series->points[i].value > 0;
    for (size_t i = 0; i < count; i++)
        values[i] = positive ? log(series->points[i].value) : bounded(series->points[i].value);
    assay_status status = assay_stats_find_steps(values, count, points, CHANGES_MAX, &found);
    found = found < CHANGES_MAX ? found : CHANGES_MAX;
    if (status == ASSAY_OK && found > 0) {
        series->changes = assay__arena_allocate(arena, found, sizeof *series->changes);
        series->change_count = series->changes != NULL ? found : 0;
        status = series->changes != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
    }
    if (count > 0)
        series->level = level_of(series->points, found > 0 ? points[0] : count, values);
    for (size_t i = 0; i < series->change_count; i++) {
        size_t from = i > 0 ? points[i - 1] : 0, to = i + 1 < found ? points[i + 1] : count;
        series->changes[i] = (assay__store_change){
            .at = points[i],
            .before = level_of(series->points + from, points[i] - from, values),
            .after = level_of(series->points + points[i], to - points[i], values)};
    }
    free(values);
    return status;
}

assay_status assay__store_read_series(assay__store *store, const assay__store_filter *filter,
                                      assay_error *error, assay__store_series_list *list,
                                      size_t index)
{
    assay__query query;
    reading r = {&list->items[index], list->arena};
    assay__query_init(&query, "SELECT f.run, f.created, f.value, r.commit_id, r.branch"
                              " FROM assay_figure f JOIN assay_run r ON r.id = f.run"
                              " WHERE f.series = ");
    assay__query_integer(&query, "", r.series->id);
    append_conditions(&query, filter);
    assay__query_integer(&query, " ORDER BY f.created DESC, f.run DESC LIMIT ", limit_of(filter));
    r.series->count = r.series->change_count = 0;
    assay_status status = assay__query_run(store, &query, take_point, &r, error);
    assay__query_release(&query);
    if (status != ASSAY_OK)
        return status;
    reverse_points(r.series);
    return find_changes(r.series, list->arena) == ASSAY_OK ? ASSAY_OK : out_of_memory(error);
}

void assay__store_series_list_release(assay__store_series_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].points);
    free(list->items);
    assay__arena_free(list->arena);
    *list = (assay__store_series_list){0};
}
