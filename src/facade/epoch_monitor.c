/* Measures the epochs and batches of a training loop as spans of a monitor, and keeps running
 * statistics of constant size. A printed line shows the duration of the span, so that it agrees
 * with the journal. If the journal has no room for the span, the clock times it instead. A call
 * that comes in the wrong order, such as a second start without an end, is repaired and remembered
 * as the status ASSAY_E_STATE. */
#include <math.h>
#include <stdlib.h>

#include "assay/clock.h"
#include "assay/memory.h"
#include "assay/monitor.h"
#include "assay/training.h"
#include "base/struct_size.h"
#include "facade/resident.h"
#include "report/progress_text.h"

enum { DEFAULT_VERBOSE_BATCHES = 5 };

typedef struct open_span {
    bool open;
    assay_span span;
    uint64_t start_ns;
} open_span;

typedef struct totals {
    uint64_t count;
    double sum, low, high, first;
} totals;

struct assay_epoch_monitor {
    assay_monitor *monitor; /* NULL when disabled */
    bool owns_monitor;
    uint64_t verbose_batches;
    FILE *output;
    const assay_clock *clock;
    assay_gpu_memory (*gpu_memory)(void *context);
    void *gpu_context;
    open_span epoch, batch;
    uint64_t batch_index;
    totals epochs, batches, batches_of_epoch;
    assay_status status;
};

static assay_status find_monitor(assay_epoch_monitor *fresh,
                                 const assay_epoch_monitor_options *options)
{
    if (options->disabled)
        return ASSAY_OK;
    if (options->monitor != NULL) {
        fresh->monitor = assay_monitor_enabled(options->monitor) ? options->monitor : NULL;
        return ASSAY_OK;
    }
    assay_monitor_options own = ASSAY_MONITOR_OPTIONS_INIT;
    own.clock = options->clock;
    fresh->owns_monitor = true;
    return assay_monitor_new(&own, &fresh->monitor);
}

assay_status assay_epoch_monitor_new(const assay_epoch_monitor_options *options,
                                     assay_epoch_monitor **monitor)
{
    assay_epoch_monitor_options own;
    *monitor = NULL;
    assay_status status =
        assay__struct_take(&own, sizeof own, options, "assay_epoch_monitor_options", NULL);
    if (status != ASSAY_OK)
        return status;
    options = &own;
    assay_epoch_monitor *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL)
        return ASSAY_E_MEMORY;
    int verbose =
        options->verbose_batches != 0 ? options->verbose_batches : DEFAULT_VERBOSE_BATCHES;
    fresh->verbose_batches = verbose > 0 ? (uint64_t)verbose : 0;
    fresh->output = options->output;
    fresh->gpu_memory = options->gpu_memory;
    fresh->gpu_context = options->gpu_context;
    fresh->clock = options->clock != NULL ? options->clock : assay_clock_default();
    status = find_monitor(fresh, options);
    if (status == ASSAY_OK)
        *monitor = fresh;
    else
        free(fresh);
    return status;
}

static void keep_first(assay_epoch_monitor *monitor, assay_status status)
{
    if (monitor->status == ASSAY_OK)
        monitor->status = status;
}

static void begin(assay_epoch_monitor *monitor, open_span *span, const char *name)
{
    if (span->open) {
        keep_first(monitor, ASSAY_E_STATE);
        assay_span_end(span->span);
    }
    span->open = true;
    span->start_ns = assay_clock_now_ns(monitor->clock);
    span->span = assay_monitor_begin(monitor->monitor, name);
}

/* Ends the span and returns its seconds, or NaN when it was not open. */
static double end(assay_epoch_monitor *monitor, open_span *span)
{
    if (!span->open) {
        keep_first(monitor, ASSAY_E_STATE);
        return NAN;
    }
    uint64_t elapsed_ns = assay_span_end_ns(span->span);
    if (elapsed_ns == 0)
        elapsed_ns = assay_clock_now_ns(monitor->clock) - span->start_ns;
    span->open = false;
    return (double)elapsed_ns * 1e-9;
}

void assay_epoch_monitor_free(assay_epoch_monitor *monitor)
{
    if (monitor == NULL)
        return;
    if (monitor->batch.open)
        assay_span_end(monitor->batch.span);
    if (monitor->epoch.open)
        assay_span_end(monitor->epoch.span);
    if (monitor->owns_monitor)
        assay_monitor_free(monitor->monitor);
    free(monitor);
}

static void add(totals *sum, double seconds)
{
    if (sum->count++ == 0)
        sum->low = sum->high = sum->first = seconds;
    sum->low = fmin(sum->low, seconds);
    sum->high = fmax(sum->high, seconds);
    sum->sum += seconds;
}

static bool is_off(const assay_epoch_monitor *monitor)
{
    return monitor == NULL || monitor->monitor == NULL;
}

static void end_forgotten_batch(assay_epoch_monitor *monitor)
{
    if (!monitor->batch.open)
        return;
    keep_first(monitor, ASSAY_E_STATE);
    (void)end(monitor, &monitor->batch);
}

void assay_epoch_monitor_on_epoch_start(assay_epoch_monitor *monitor)
{
    if (is_off(monitor))
        return;
    end_forgotten_batch(monitor);
    monitor->batches_of_epoch = (totals){0};
    begin(monitor, &monitor->epoch, "epoch");
}

void assay_epoch_monitor_on_batch_start(assay_epoch_monitor *monitor, uint64_t index)
{
    if (is_off(monitor))
        return;
    monitor->batch_index = index;
    begin(monitor, &monitor->batch, "batch");
}

static assay_gpu_memory gpu_memory_of(const assay_epoch_monitor *monitor)
{
    return monitor->gpu_memory != NULL ? monitor->gpu_memory(monitor->gpu_context)
                                       : assay_get_gpu_memory_usage();
}

static void print_batch(assay_epoch_monitor *monitor, double seconds, double loss)
{
    const assay__batch_line line = {.index = monitor->batch_index,
                                    .seconds = seconds,
                                    .gpu_bytes = gpu_memory_of(monitor).allocated_bytes,
                                    .cpu_bytes = assay__resident_bytes(),
                                    .loss = loss};
    keep_first(monitor, assay__line_batch(monitor->output, &line));
}

void assay_epoch_monitor_on_batch_end(assay_epoch_monitor *monitor, uint64_t index, double loss)
{
    if (is_off(monitor))
        return;
    double seconds = end(monitor, &monitor->batch);
    if (isnan(seconds))
        return;
    if (index != monitor->batch_index)
        keep_first(monitor, ASSAY_E_STATE);
    add(&monitor->batches, seconds);
    add(&monitor->batches_of_epoch, seconds);
    if (!isnan(loss))
        assay_monitor_count(monitor->monitor, "loss", loss);
    if (monitor->output != NULL && monitor->batch_index < monitor->verbose_batches)
        print_batch(monitor, seconds, loss);
}

static assay_reading if_any(const totals *sum, double value)
{
    return sum->count > 0 ? assay_reading_of(value) : assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
}

static assay_reading average(const totals *sum)
{
    return if_any(sum, sum->sum / (double)sum->count);
}

static void print_epoch(assay_epoch_monitor *monitor, double seconds)
{
    const assay_gpu_memory gpu = gpu_memory_of(monitor);
    const totals *batches = &monitor->batches_of_epoch;
    assay_memory memory = {.struct_size = sizeof memory};
    if (assay_memory_read(&memory) != ASSAY_OK)
        memory.rss_bytes = memory.peak_rss_bytes = assay_reading_missing(ASSAY_UNSUPPORTED);
    const assay__epoch_line line = {.seconds = seconds,
                                    .gpu_bytes = gpu.allocated_bytes,
                                    .gpu_reserved_bytes = gpu.reserved_bytes,
                                    .gpu_peak_bytes = gpu.max_allocated_bytes,
                                    .cpu_bytes = memory.rss_bytes,
                                    .cpu_peak_bytes = memory.peak_rss_bytes,
                                    .batch_avg_seconds = average(batches),
                                    .batch_min_seconds = if_any(batches, batches->low),
                                    .batch_max_seconds = if_any(batches, batches->high)};
    keep_first(monitor, assay__line_epoch(monitor->output, &line));
}

void assay_epoch_monitor_on_epoch_end(assay_epoch_monitor *monitor)
{
    if (is_off(monitor))
        return;
    end_forgotten_batch(monitor);
    double seconds = end(monitor, &monitor->epoch);
    if (isnan(seconds))
        return;
    add(&monitor->epochs, seconds);
    if (monitor->output != NULL)
        print_epoch(monitor, seconds);
}

assay_epoch_statistics assay_epoch_monitor_get_statistics(const assay_epoch_monitor *monitor)
{
    const totals none = {0};
    const totals *epochs = monitor != NULL ? &monitor->epochs : &none;
    const totals *batches = monitor != NULL ? &monitor->batches : &none;
    return (assay_epoch_statistics){.total_epoch_time = epochs->sum,
                                    .avg_epoch_time = average(epochs),
                                    .total_batch_time = batches->sum,
                                    .avg_batch_time = average(batches),
                                    .min_batch_time = if_any(batches, batches->low),
                                    .max_batch_time = if_any(batches, batches->high),
                                    .num_batches = batches->count,
                                    .num_epochs = epochs->count,
                                    .first_batch_time = if_any(batches, batches->first)};
}

assay_status assay_epoch_monitor_status(const assay_epoch_monitor *monitor)
{
    return monitor != NULL ? monitor->status : ASSAY_OK;
}

assay_monitor *assay_epoch_monitor_spans(const assay_epoch_monitor *monitor)
{
    return monitor != NULL ? monitor->monitor : NULL;
}
