/* Figures of a generation, and their text. One table has the key, the offset and the format of
 * every figure; printing, writing and reading walk through it. */
#include "models/routes/performance.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "assay/stats.h"

/* ---- From searches to figures ---- */

/* The standard deviation as NumPy computes it, which the seed document uses: it divides by the
 * number of values. */
static assay_reading deviation(const assay_summary *summary)
{
    double count = (double)summary->count;
    return assay_reading_of(summary->count > 1 ? summary->std.value * sqrt((count - 1) / count)
                                               : 0.0);
}

static void take_times(assay_generation_performance *performance, const assay_summary *total)
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

/* `values` (3 count) is scratch. */
static assay_status aggregate(const assay_search_performance *searches, size_t count,
                              double *values, assay_generation_performance *performance)
{
    assay_summary total, forward, passes;
    for (size_t i = 0; i < count; i++) {
        values[i] = searches[i].total_time;
        values[count + i] = searches[i].forward_time_total;
        values[2 * count + i] = (double)searches[i].forward_count;
    }
    assay_status status = assay_stats_summarize(values, count, &total);
    if (status == ASSAY_OK)
        status = assay_stats_summarize(values + count, count, &forward);
    if (status == ASSAY_OK)
        status = assay_stats_summarize(values + 2 * count, count, &passes);
    if (status != ASSAY_OK)
        return status;
    take_times(performance, &total);
    performance->forward_time_mean = forward.mean;
    performance->forward_time_std = deviation(&forward);
    performance->forward_count_mean = passes.mean;
    performance->forward_count_std = deviation(&passes);
    performance->forward_time_per_step_mean = quotient(forward.mean, passes.mean);
    return ASSAY_OK;
}

assay_status assay__performance_aggregate(const assay_search_performance *searches, size_t count,
                                          assay_reading trajectories, assay_reading seconds,
                                          bool beam_search, const char *device,
                                          assay_generation_performance *performance)
{
    *performance =
        (assay_generation_performance){.throughput_traj_per_sec = quotient(trajectories, seconds),
                                       .total_generation_time = seconds,
                                       .beam_search_enabled = beam_search};
    if (count == 0)
        return ASSAY_E_DATA;
    performance->beam_width = searches[0].beam_width;
    snprintf(performance->device, sizeof performance->device, "%s", device);
    double *values = calloc(3 * count, sizeof *values);
    if (values == NULL)
        return ASSAY_E_MEMORY;
    assay_status status = aggregate(searches, count, values, performance);
    free(values);
    return status;
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
#name, label, offsetof(assay_generation_performance, name), shown                          \
    }

/* The figures in the order of the printed block, followed by those that are not printed. */
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

static assay_reading read_figure(const assay_generation_performance *performance, size_t index)
{
    assay_reading reading;
    memcpy(&reading, (const char *)performance + figures[index].offset, sizeof reading);
    return reading;
}

/* ---- Text ---- */

/* A time below `limit` seconds is shown in ms, and below a thousandth of the limit in us. */
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

static void print_search(const assay_generation_performance *performance, FILE *stream)
{
    char text[48];
    snprintf(text, sizeof text, "%lld%s", (long long)performance->beam_width,
             performance->beam_search_enabled ? "" : " (greedy)");
    print_line(stream, "Beam width", text);
    print_line(stream, "Device", performance->device);
}

void assay__performance_print(const assay_generation_performance *performance, FILE *stream)
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

void assay__performance_print_slowest(const assay_search_performance *search, FILE *stream)
{
    char time[32], text[128];
    format_time(search->total_time, 1e-2, 3, 3, time, sizeof time);
    snprintf(text, sizeof text, "%s, from road %lld to road %lld, %lld forward passes", time,
             (long long)search->origin_road_id, (long long)search->destination_road_id,
             (long long)search->forward_count);
    print_line(stream, "Slowest search", text);
}

void assay_generation_print(const assay_generation *generation, FILE *stream)
{
    assay__performance_print(&generation->performance, stream);
    if (generation->num_searched > 0)
        assay__performance_print_slowest(&generation->searches[generation->slowest], stream);
}

/* ---- Access by index ---- */

size_t assay__performance_figures(void)
{
    return FIGURES;
}

const char *assay__performance_key(size_t index)
{
    return figures[index].key;
}

assay_reading assay__performance_read(const assay_generation_performance *performance, size_t index)
{
    return read_figure(performance, index);
}

void assay__performance_set(assay_generation_performance *performance, size_t index,
                            assay_reading reading)
{
    memcpy((char *)performance + figures[index].offset, &reading, sizeof reading);
}
