/* One table names every figure, where it is kept and how it is shown; printing, writing and reading
 * walk it. */
#include "studies/routes/performance.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "assay/stats.h"
#include "base/error.h"

/* ---- From searches to figures ---- */

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

static assay_reading quotient(double a, double b)
{
    return b > 0 ? assay_reading_of(a / b) : assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
}

assay_status assay__generation_performance_of(const assay__search_performance *searches,
                                              size_t count, size_t trajectories,
                                              double total_generation_time, bool beam_search,
                                              assay__generation_performance *performance)
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
    assay_summary total, forward, passes;
    assay_status status = assay_stats_summarize(values, count, &total);
    if (status == ASSAY_OK)
        status = assay_stats_summarize(values + count, count, &forward);
    if (status == ASSAY_OK)
        status = assay_stats_summarize(values + 2 * count, count, &passes);
    free(values);
    if (status != ASSAY_OK)
        return status;
    *performance = (assay__generation_performance){
        .forward_time_mean = forward.mean,
        .forward_time_std = deviation(&forward),
        .forward_count_mean = passes.mean,
        .forward_count_std = deviation(&passes),
        .throughput_traj_per_sec = quotient((double)trajectories, total_generation_time),
        .total_generation_time = assay_reading_of(total_generation_time),
        .forward_time_per_step_mean = quotient(forward.mean.value, passes.mean.value),
        .beam_search_enabled = beam_search,
        .beam_width = searches[0].beam_width,
        .device = "cpu"};
    take_times(performance, &total);
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
    json_t *unavailable = json_object();
    int failed = 0;
    for (size_t i = 0; i < FIGURES; i++) {
        assay_reading reading = read_figure(performance, i);
        bool valid = reading.validity == ASSAY_VALID;
        failed |= json_object_set_new(object, figures[i].key,
                                      valid ? json_real(reading.value) : json_null());
        if (!valid)
            failed |= json_object_set_new(unavailable, figures[i].key,
                                          json_string(assay_validity_text(reading.validity)));
    }
    if (json_object_size(unavailable) > 0)
        failed |= json_object_set(object, "unavailable", unavailable);
    json_decref(unavailable);
    if (failed != 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static assay_validity why_missing(const json_t *object, const char *key)
{
    const char *why =
        json_string_value(json_object_get(json_object_get(object, "unavailable"), key));
    for (int i = ASSAY_VALID + 1; i <= ASSAY_NOT_ENOUGH_DATA && why != NULL; i++)
        if (strcmp(why, assay_validity_text((assay_validity)i)) == 0)
            return (assay_validity)i;
    return ASSAY_NOT_MEASURED;
}

assay_status assay__generation_performance_read(const json_t *object, assay_error *error,
                                                assay__generation_performance *performance)
{
    assay__generation_performance result = {0};
    const json_t *width = json_object_get(object, "beam_width");
    const char *device = json_string_value(json_object_get(object, "device"));
    if (!json_is_integer(width) || device == NULL)
        return assay__fail(error, ASSAY_E_FORMAT, "no beam_width or device among the figures");
    result.beam_search_enabled = json_is_true(json_object_get(object, "beam_search_enabled"));
    result.beam_width = json_integer_value(width);
    snprintf(result.device, sizeof result.device, "%s", device);
    for (size_t i = 0; i < FIGURES; i++) {
        const json_t *value = json_object_get(object, figures[i].key);
        assay_reading reading = json_is_number(value)
                                    ? assay_reading_of(json_number_value(value))
                                    : assay_reading_missing(why_missing(object, figures[i].key));
        memcpy((char *)&result + figures[i].offset, &reading, sizeof reading);
    }
    *performance = result;
    return ASSAY_OK;
}
