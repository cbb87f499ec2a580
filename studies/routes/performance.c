/* One table names every figure, where it is kept and how it is shown; printing and writing walk it.
 */
#include "studies/routes/performance.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "assay/record_build.h"
#include "assay/stats.h"
#include "studies/common/results.h"

/* ---- From searches to the record ---- */

static const char forward_seconds[] = "forward_seconds", forward_passes[] = "forward_passes";
static const char generation_seconds[] = "generation_seconds";

static void name_searches(const char *model, char *name, size_t size)
{
    snprintf(name, size, "%s search", model);
}

static assay_status add_subject(assay_record *found, const char *model, const double *seconds,
                                const double *forward, const double *passes, size_t count)
{
    char name[64];
    name_searches(model, name, sizeof name);
    assay_status status =
        assay__found_times(found, name, model,
                           "one search from origin to destination, whether it finds a way or not;"
                           " each sample is another pair",
                           seconds, count);
    if (status == ASSAY_OK)
        status = assay__found_measure(found, forward_seconds, forward);
    return status == ASSAY_OK ? assay__found_measure(found, forward_passes, passes) : status;
}

static assay_status add_settings(assay_record *found, bool beam_search, int64_t beam_width)
{
    char width[32];
    snprintf(width, sizeof width, "%lld", (long long)beam_width);
    assay_status status =
        assay_record_add_setting(found, "search", beam_search ? "beam" : "greedy");
    if (status == ASSAY_OK)
        status = assay_record_add_setting(found, "beam_width", width);
    return status == ASSAY_OK ? assay_record_add_setting(found, "device", "cpu") : status;
}

assay_status assay__found_searches(assay_record *found, const char *model,
                                   const assay__search_performance *searches, size_t count,
                                   bool beam_search)
{
    if (count == 0)
        return ASSAY_E_DATA;
    double *values = calloc(3 * count, sizeof *values);
    if (values == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        values[i] = searches[i].total_time;
        values[count + i] = searches[i].forward_time_total;
        values[2 * count + i] = (double)searches[i].forward_count;
    }
    assay_status status =
        add_subject(found, model, values, values + count, values + 2 * count, count);
    free(values);
    return status == ASSAY_OK ? add_settings(found, beam_search, searches[0].beam_width) : status;
}

assay_status assay__found_generation(assay_record *found, const char *model, size_t trajectories,
                                     double seconds)
{
    assay_status status = assay__found_figure(found, ASSAY__TRAJECTORIES, model,
                                              assay_reading_of((double)trajectories), NULL);
    return status == ASSAY_OK
               ? assay__found_cost(found, generation_seconds, model, assay_reading_of(seconds), "s",
                                   "all searches in a row; roads are dated and the file is written"
                                   " afterwards")
               : status;
}

/* ---- From the record to figures ---- */

/* NumPy's deviation, which the seed takes, divides by the number of values. */
static assay_reading deviation(const assay_summary *summary)
{
    double count = (double)summary->count;
    return assay_reading_of(summary->count > 1 ? summary->std.value * sqrt((count - 1) / count)
                                               : 0.0);
}

static void take_times(assay__generation_performance *performance, const assay_summary *total)
{
    performance->total_time_mean = total->mean;
    performance->total_time_std = deviation(total);
    performance->total_time_min = total->min;
    performance->total_time_max = total->max;
    performance->total_time_median = total->median;
    performance->total_time_p95 = total->p95;
}

static assay_reading quotient(assay_reading a, assay_reading b)
{
    if (a.validity != ASSAY_VALID || b.validity != ASSAY_VALID)
        return a.validity != ASSAY_VALID ? a : b;
    return b.value > 0 ? assay_reading_of(a.value / b.value)
                       : assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
}

static void take_settings(assay__generation_performance *performance, const assay_record *found)
{
    const char *search = assay__record_setting(found, "search");
    const char *width = assay__record_setting(found, "beam_width");
    const char *device = assay__record_setting(found, "device");
    performance->beam_search_enabled = search != NULL && strcmp(search, "beam") == 0;
    performance->beam_width = width != NULL ? strtoll(width, NULL, 10) : 0;
    snprintf(performance->device, sizeof performance->device, "%s", device != NULL ? device : "");
}

assay_status assay__generation_performance_of(const assay_record *found, const char *model,
                                              assay__generation_performance *performance)
{
    char name[64];
    assay_summary total, forward, passes;
    name_searches(model, name, sizeof name);
    const assay_record_subject *subject = assay__record_find_subject(found, name);
    if (subject == NULL || subject->sample_count == 0)
        return ASSAY_E_DATA;
    const double *in_forward = assay__record_measure_samples(subject, forward_seconds);
    const double *counts = assay__record_measure_samples(subject, forward_passes);
    if (in_forward == NULL || counts == NULL)
        return ASSAY_E_DATA;
    assay_status status =
        assay_stats_summarize(subject->samples_seconds, subject->sample_count, &total);
    if (status == ASSAY_OK)
        status = assay_stats_summarize(in_forward, subject->sample_count, &forward);
    if (status == ASSAY_OK)
        status = assay_stats_summarize(counts, subject->sample_count, &passes);
    if (status != ASSAY_OK)
        return status;
    assay_reading seconds = assay__record_figure(found, generation_seconds, model);
    *performance = (assay__generation_performance){
        .forward_time_mean = forward.mean,
        .forward_time_std = deviation(&forward),
        .forward_count_mean = passes.mean,
        .forward_count_std = deviation(&passes),
        .throughput_traj_per_sec =
            quotient(assay__record_figure(found, ASSAY__TRAJECTORIES, model), seconds),
        .total_generation_time = seconds,
        .forward_time_per_step_mean = quotient(forward.mean, passes.mean)};
    take_times(performance, &total);
    take_settings(performance, found);
    return ASSAY_OK;
}

/* ---- The table of figures ---- */

typedef enum shown { NOT, RATE, TIME, COUNT, STEP, LONG_TIME } shown;

typedef struct figure {
    const char *key, *label;
    size_t offset;
    shown shown;
} figure;

#define ROW(name, label, shown)                                                                    \
    {                                                                                              \
#name, label, offsetof(assay__generation_performance, name), shown                         \
    }

/* In the order of the block; what the block leaves out follows. */
static const figure figures[] = {
    ROW(throughput_traj_per_sec, "Throughput", RATE),
    ROW(total_time_mean, "Mean time/trajectory", TIME),
    ROW(total_time_min, "Min time", TIME),
    ROW(total_time_max, "Max time", TIME),
    ROW(total_time_std, "Std dev", TIME),
    ROW(total_time_median, "Median time", TIME),
    ROW(total_time_p95, "95th percentile", TIME),
    ROW(forward_count_mean, "Forward passes/traj", COUNT),
    ROW(forward_time_per_step_mean, "Forward time/step", STEP),
    ROW(total_generation_time, "Total generation time", LONG_TIME),
    ROW(forward_time_mean, NULL, NOT),
    ROW(forward_time_std, NULL, NOT),
    ROW(forward_count_std, NULL, NOT),
};
enum { FIGURES = sizeof figures / sizeof *figures };

static assay_reading read_figure(const assay__generation_performance *performance, size_t index)
{
    assay_reading reading;
    memcpy(&reading, (const char *)performance + figures[index].offset, sizeof reading);
    return reading;
}

/* ---- Text ---- */

/* Below `limit` seconds a time is shown in ms, below a thousandth of that in us. */
static void format_time(double seconds, double limit, int decimals, int part_decimals, char *text,
                        size_t size)
{
    if (seconds >= limit || seconds == 0)
        snprintf(text, size, "%.*fs", decimals, seconds);
    else if (seconds >= limit * 1e-3)
        snprintf(text, size, "%.*fms", part_decimals, seconds * 1e3);
    else
        snprintf(text, size, "%.*fus", part_decimals, seconds * 1e6);
}

static void format_figure(assay_reading reading, shown how, char *text, size_t size)
{
    if (reading.validity != ASSAY_VALID)
        snprintf(text, size, "n/a (%s)", assay_validity_text(reading.validity));
    else if (how == RATE)
        snprintf(text, size, "%.2f traj/s", reading.value);
    else if (how == COUNT)
        snprintf(text, size, "%.1f", reading.value);
    else if (how == TIME)
        format_time(reading.value, 1e-2, 3, 3, text, size);
    else if (how == STEP)
        format_time(reading.value, 1e-1, 1, 1, text, size);
    else
        format_time(reading.value, 1, 1, 1, text, size);
}

static void print_line(FILE *stream, const char *label, const char *text)
{
    fprintf(stream, "%-26s%s\n", label, text);
}

static void print_search(const assay__generation_performance *performance, FILE *stream)
{
    char text[48];
    snprintf(text, sizeof text, "%lld%s", (long long)performance->beam_width,
             performance->beam_search_enabled ? "" : " (greedy)");
    print_line(stream, "Beam width", text);
    print_line(stream, "Device", performance->device);
}

void assay__generation_performance_print(const assay__generation_performance *performance,
                                         FILE *stream)
{
    fputs("--- Generation Performance ---\n", stream);
    for (size_t i = 0; i < FIGURES; i++) {
        char text[64];
        if (figures[i].shown == NOT)
            continue;
        if (figures[i].shown == LONG_TIME)
            print_search(performance, stream);
        format_figure(read_figure(performance, i), figures[i].shown, text, sizeof text);
        print_line(stream, figures[i].label, text);
    }
}

/* ---- JSON ---- */

json_t *assay__generation_performance_json(const assay__generation_performance *performance)
{
    json_t *object =
        json_pack("{sb, sI, ss}", "beam_search_enabled", (int)performance->beam_search_enabled,
                  "beam_width", (json_int_t)performance->beam_width, "device", performance->device);
    for (size_t i = 0; i < FIGURES; i++) {
        if (assay__json_set_reading(object, figures[i].key, read_figure(performance, i)) != 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}
