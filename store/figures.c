/* Collects the figures of a record that the history follows. A figure belongs to a benchmark, which
 * is named after the study or the run, and after the subject or span. Two benchmarks with the same
 * name are told apart by a number. Only valid, finite figures are taken, and only costs: samples of
 * disturbances and of the yardstick are left out. */
#include "store/figures.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/grow.h"
#include "base/name_index.h"
#include "base/text.h"
#include "record/append.h"
#include "record/metric.h"
#include "store/store.h"

static const size_t ARENA_MAXIMUM = (size_t)1 << 30;
enum { PATH_MAXIMUM = 1 << 20 };

uint64_t assay__store_hash(const char *text, size_t length, uint64_t beginning)
{
    uint64_t hash = beginning;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    return hash;
}

const char *assay__store_name(assay__arena *arena, const char *text)
{
    enum { HASH_BYTES = 18 }; /* "#", 16 digits and the terminating zero */
    size_t length = strlen(text), kept = length;
    if (length > ASSAY__STORE_NAME_MAX) {
        kept = ASSAY__STORE_NAME_MAX - HASH_BYTES;
        while (kept > 0 && ((unsigned char)text[kept] & 0xc0) == 0x80) /* never split a character */
            kept--;
    }
    char *name = assay__arena_allocate(arena, kept + HASH_BYTES, 1);
    if (name == NULL)
        return NULL;
    memcpy(name, text, kept);
    if (kept < length)
        snprintf(name + kept, HASH_BYTES, "#%016" PRIx64,
                 assay__store_hash(text, length, UINT64_C(14695981039346656037)));
    assay__text_make_printable(name);
    return name;
}

/* The state of the collection. */
typedef struct collection {
    const assay_record *record;
    assay__store_figures *figures;
    assay__buffer name;     /* the name under construction */
    size_t prefix;          /* all names begin with the first `prefix` bytes of `name` */
    assay__name_index seen; /* the metrics of each benchmark, by the number of the benchmark */
    assay__name_index benchmarks;
    int32_t benchmark_count;
} collection;

/* ---- names ---------------------------------------------------------------------------------- */

/* Set the name to "prefix/name". */
static void begin_name(collection *c, const char *name)
{
    c->name.length = c->prefix;
    if (c->name.data != NULL)
        c->name.data[c->prefix] = '\0';
    if (c->prefix > 0 && *name != '\0')
        assay__buffer_append_text(&c->name, "/");
    assay__buffer_append_text(&c->name, name);
}

static void append_command(assay__buffer *name, const assay_record_process *process)
{
    for (size_t i = 0; i < process->command_count; i++)
        assay__buffer_printf(name, "%s%s", i > 0 ? " " : "", process->command[i]);
}

/* Choose what all names begin with: the name of the study, then the name of the record. A run
 * without a name is named after its command. */
static void choose_prefix(collection *c)
{
    const assay_record *record = c->record;
    if (record->study != NULL)
        assay__buffer_append_text(&c->name, record->study);
    if (record->name != NULL && *record->name != '\0')
        assay__buffer_printf(&c->name, "%s%s", c->name.length > 0 ? "/" : "", record->name);
    else if (record->has_process)
        append_command(&c->name, &record->process);
    c->prefix = c->name.length;
}

/* The name under construction; NULL when out of memory. */
static const char *whole_name(collection *c)
{
    if (c->name.length == 0)
        assay__buffer_append_text(&c->name, "(unnamed)");
    return c->name.status == ASSAY_OK ? c->name.data : NULL;
}

/* Add a benchmark with the name under construction, and give it a number. If the name is taken
 * already, " #2" or a higher number is appended: two commands that are spelled alike are two
 * benchmarks. NULL when out of memory. */
static const char *benchmark_name(collection *c, int32_t *number)
{
    assay__arena *arena = c->figures->arena;
    const char *whole = whole_name(c);
    const char *name = whole != NULL ? assay__store_name(arena, whole) : NULL;
    size_t length = c->name.length;
    for (int copy = 2; name != NULL && assay__name_index_find(&c->benchmarks, -1, name) >= 0;
         copy++) {
        c->name.length = length;
        assay__buffer_printf(&c->name, " #%d", copy);
        name = assay__store_name(arena, c->name.data);
    }
    *number = c->benchmark_count++;
    if (name == NULL || c->name.status != ASSAY_OK ||
        assay__name_index_add(&c->benchmarks, -1, name, *number) != ASSAY_OK)
        return NULL;
    return name;
}

/* ---- figures -------------------------------------------------------------------------------- */

static const char *unit_of(const char *metric)
{
    size_t length = strlen(metric);
    static const struct {
        const char *ending, *unit;
    } units[] = {{"_seconds", "s"}, {"_bytes", "bytes"}, {"_joules", "J"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t ending = strlen(units[i].ending);
        if (length > ending && strcmp(metric + length - ending, units[i].ending) == 0)
            return units[i].unit;
    }
    return "";
}

/* The benchmark to which figures are being added. */
typedef struct holder {
    collection *c;
    const char *benchmark;
    int32_t number;
} holder;

/* Add a figure to a benchmark. `unit` NULL means that the ending of the metric's name tells it. */
static assay_status put(const holder *of, const char *metric, const char *unit,
                        assay_reading reading)
{
    assay__store_figures *figures = of->c->figures;
    if (reading.validity != ASSAY_VALID || !isfinite(reading.value))
        return ASSAY_OK;
    const char *name = assay__store_name(figures->arena, metric);
    const char *written = assay__store_name(figures->arena, unit != NULL ? unit : unit_of(metric));
    if (name == NULL || written == NULL)
        return ASSAY_E_MEMORY;
    if (assay__name_index_find(&of->c->seen, of->number, name) >= 0)
        return ASSAY_OK; /* if a metric comes twice, the first value counts */
    if (!assay__grow(&figures->items, &figures->capacity, figures->count + 1,
                     sizeof *figures->items))
        return ASSAY_E_MEMORY;
    figures->items[figures->count++] =
        (assay__store_figure){of->benchmark, name, written, reading.value};
    return assay__name_index_add(&of->c->seen, of->number, name, 0);
}

static assay_reading sum(assay_reading a, assay_reading b)
{
    if (a.validity != ASSAY_VALID || b.validity != ASSAY_VALID)
        return assay_reading_missing(ASSAY_NOT_MEASURED);
    return assay_reading_of(a.value + b.value);
}

static assay_reading mean_of(const double *samples, size_t count)
{
    double total = 0;
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(samples[i])) {
            total += samples[i];
            known++;
        }
    return known > 0 ? assay_reading_of(total / (double)known)
                     : assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
}

static assay_status begin(collection *c, holder *of)
{
    *of = (holder){.c = c};
    of->benchmark = benchmark_name(c, &of->number);
    return of->benchmark != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
}

static bool is_cost(const char *metric)
{
    return strcmp(metric, ASSAY__METRIC_WAITED) != 0 &&
           strcmp(metric, ASSAY__METRIC_DISTURBED) != 0 &&
           strcmp(metric, ASSAY__METRIC_YARDSTICK) != 0;
}

static assay_status take_subject(collection *c, const assay_record_subject *it)
{
    holder of;
    begin_name(c, it->model != NULL && strncmp(it->name, it->model, strlen(it->model)) != 0
                      ? it->model
                      : "");
    if (c->name.length > 0)
        assay__buffer_append_text(&c->name, "/");
    assay__buffer_append_text(&c->name, it->name);
    for (size_t i = 0; i < it->parameter_count; i++)
        assay__buffer_printf(&c->name, " %s=%s", it->parameters[i].key,
                             it->parameters[i].value != NULL ? it->parameters[i].value : "");
    assay_status status = begin(c, &of);
    assay_reading mean = it->mean_seconds.validity == ASSAY_VALID
                             ? it->mean_seconds
                             : mean_of(it->samples_seconds, it->sample_count);
    if (status == ASSAY_OK)
        status = put(&of, ASSAY__METRIC_WALL, NULL, mean);
    if (status == ASSAY_OK)
        status = put(&of, "median_seconds", NULL, it->median_seconds);
    for (size_t i = 0; i < it->measure_count && status == ASSAY_OK; i++)
        if (is_cost(it->measures[i].metric))
            status = put(&of, it->measures[i].metric, NULL,
                         mean_of(it->measures[i].samples, it->measures[i].sample_count));
    if (status == ASSAY_OK)
        status = put(&of, ASSAY__METRIC_CPU, NULL, sum(it->user_seconds, it->sys_seconds));
    return status == ASSAY_OK ? put(&of, ASSAY__METRIC_PEAK_RSS, NULL, it->peak_rss_bytes) : status;
}

static assay_status take_process(collection *c)
{
    const assay_record_process *it = &c->record->process;
    holder of;
    if (!c->record->has_process)
        return ASSAY_OK;
    begin_name(c, "");
    assay_status status = begin(c, &of);
    const struct {
        const char *metric;
        assay_reading value;
    } costs[] = {{ASSAY__METRIC_WALL, it->wall_seconds},
                 {ASSAY__METRIC_CPU, sum(it->user_seconds, it->sys_seconds)},
                 {ASSAY__METRIC_PEAK_RSS, it->peak_rss_bytes},
                 {"tree_peak_rss_bytes", it->tree_peak_rss_bytes},
                 {ASSAY__METRIC_HEAP_PEAK, it->heap_peak_bytes},
                 {ASSAY__METRIC_HEAP_ALLOCATIONS, it->heap_allocations}};
    for (size_t i = 0; i < sizeof costs / sizeof *costs && status == ASSAY_OK; i++)
        status = put(&of, costs[i].metric, NULL, costs[i].value);
    return status;
}

static void append_path(collection *c, int32_t index)
{
    const assay_record_operation *it = &c->record->operations[index];
    if (it->parent >= 0) {
        append_path(c, it->parent);
        assay__buffer_append_text(&c->name, "/");
    }
    assay__buffer_append_text(&c->name, it->name);
}

static assay_status take_operation(collection *c, size_t index)
{
    const assay_record_operation *it = &c->record->operations[index];
    holder of;
    begin_name(c, "");
    if (c->prefix > 0)
        assay__buffer_append_text(&c->name, "/");
    append_path(c, (int32_t)index);
    assay_status status = begin(c, &of);
    if (status == ASSAY_OK)
        status = put(&of, ASSAY__METRIC_WALL, NULL, it->mean_seconds);
    if (status == ASSAY_OK)
        status = put(&of, "gpu_seconds", NULL, it->gpu_seconds);
    return status == ASSAY_OK ? put(&of, ASSAY__METRIC_HEAP_PEAK, NULL, it->heap_peak_bytes)
                              : status;
}

/* Add the figures of a study. Figures of the same thing belong to one benchmark: a name that exists
 * already is used again. */
static assay_status take_figures(collection *c)
{
    const assay_record *record = c->record;
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < record->figure_count && status == ASSAY_OK; i++) {
        const assay_record_figure *it = &record->figures[i];
        begin_name(c, it->of != NULL ? it->of : "");
        holder of = {.c = c};
        const char *whole = whole_name(c);
        const char *name = whole != NULL ? assay__store_name(c->figures->arena, whole) : NULL;
        of.number = name != NULL ? assay__name_index_find(&c->benchmarks, -1, name) : -1;
        if (name == NULL)
            return ASSAY_E_MEMORY;
        of.benchmark = name;
        if (of.number < 0) {
            of.number = c->benchmark_count++;
            status = assay__name_index_add(&c->benchmarks, -1, name, of.number);
        }
        if (status == ASSAY_OK)
            status = put(&of, it->name, it->unit, it->value);
    }
    return status;
}

assay_status assay__store_figures_of(const assay_record *record, assay__store_figures *figures)
{
    *figures = (assay__store_figures){.arena = assay__arena_new(ARENA_MAXIMUM)};
    if (figures->arena == NULL)
        return ASSAY_E_MEMORY;
    collection c = {.record = record, .figures = figures};
    assay__buffer_init(&c.name, PATH_MAXIMUM);
    choose_prefix(&c);
    assay_status status = c.name.status;
    for (size_t i = 0; i < record->subject_count && status == ASSAY_OK; i++)
        status = take_subject(&c, &record->subjects[i]);
    if (status == ASSAY_OK)
        status = take_process(&c);
    for (size_t i = 0; i < record->operation_count && status == ASSAY_OK; i++)
        status = take_operation(&c, i);
    if (status == ASSAY_OK)
        status = take_figures(&c);
    assay__buffer_release(&c.name);
    assay__name_index_release(&c.seen);
    assay__name_index_release(&c.benchmarks);
    return status;
}

void assay__store_figures_release(assay__store_figures *figures)
{
    free(figures->items);
    assay__arena_free(figures->arena);
    *figures = (assay__store_figures){0};
}
