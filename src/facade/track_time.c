/* The tracking calls of timers. They measure the time of a function or block, and its memory or GPU
 * memory if the caller asks for it.
 *
 * The order of the steps matters: the clock is read last at the start and first at the end, so that
 * bookkeeping and printing are outside the measured time. */
#include <string.h>

#include "assay/clock.h"
#include "assay/memory.h"
#include "assay/timers.h"
#include "facade/resident.h"
#include "facade/timers.h"
#include "instrument/gpu_memory.h"
#include "instrument/heap.h"
#include "report/progress_text.h"

_Static_assert(sizeof(assay__heap_mark) <= sizeof(((assay__timing *)0)->heap_state),
               "a timing has room for the heap instrument's mark");

assay_stopwatch assay_time_operation(const char *name)
{
    return (assay_stopwatch){.name = name, .start_ns = assay_clock_now_ns(assay_clock_default())};
}

double assay_stopwatch_seconds(const assay_stopwatch *stopwatch)
{
    return (double)(assay_clock_now_ns(assay_clock_default()) - stopwatch->start_ns) * 1e-9;
}

static double live_heap_bytes(void)
{
    assay_heap_figures figures = {.struct_size = sizeof figures};
    return assay_heap_read(&figures) == ASSAY_OK ? (double)figures.live_bytes : 0.0;
}

assay_memory_source assay_enable_memory_tracking(assay_timers *timers)
{
    timers->memory_tracked = true;
    if (assay_heap_available()) {
        timers->memory_base_bytes = live_heap_bytes();
        return ASSAY_MEMORY_SOURCE_HEAP;
    }
    return assay__resident_bytes().validity == ASSAY_VALID ? ASSAY_MEMORY_SOURCE_RESIDENT
                                                           : ASSAY_MEMORY_SOURCE_NONE;
}

static double kernel_peak_bytes(void)
{
    assay_memory memory = {.struct_size = sizeof memory};
    bool known =
        assay_memory_read(&memory) == ASSAY_OK && memory.peak_rss_bytes.validity == ASSAY_VALID;
    return known ? memory.peak_rss_bytes.value : 0.0;
}

static void begin_memory(assay__timing *timing)
{
    assay__heap_mark mark;
    if (!timing->timers->memory_tracked)
        (void)assay_enable_memory_tracking(timing->timers);
    if (assay_heap_available()) {
        timing->level_bytes = live_heap_bytes();
    } else {
        timing->level_bytes = assay__resident_bytes().value;
        timing->peak_bytes = kernel_peak_bytes();
    }
    assay__heap_span_begin(&mark);
    memcpy(timing->heap_state, &mark, sizeof mark);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

typedef struct memory_figures {
    assay_reading peak_bytes, current_bytes;
} memory_figures;

/* The kernel keeps one peak for the whole process. If that peak rose during the call, it is the
 * peak of the call. Otherwise the larger of the values at the begin and the end of the call is a
 * lower bound of it. */
static memory_figures resident_figures(const assay__timing *timing)
{
    assay_reading now = assay__resident_bytes();
    if (now.validity != ASSAY_VALID)
        return (memory_figures){now, now};
    double peak = larger(timing->level_bytes, now.value), kernel_peak = kernel_peak_bytes();
    if (kernel_peak > timing->peak_bytes)
        peak = larger(peak, kernel_peak);
    return (memory_figures){assay_reading_of(peak), assay_reading_of(now.value)};
}

static memory_figures end_memory(const assay__timing *timing)
{
    assay__heap_mark mark;
    assay__heap_span span;
    memcpy(&mark, timing->heap_state, sizeof mark);
    if (!assay__heap_span_end(&mark, &span))
        return resident_figures(timing);
    double base = timing->timers->memory_base_bytes;
    double current = live_heap_bytes() - base;
    double peak = larger(current, timing->level_bytes - base + (double)span.peak_growth_bytes);
    return (memory_figures){assay_reading_of(peak), assay_reading_of(current)};
}

assay_gpu_memory assay_get_gpu_memory_usage(void)
{
    const assay__gpu_memory memory = assay__gpu_memory_read();
    return (assay_gpu_memory){memory.allocated_bytes, memory.reserved_bytes, memory.peak_bytes};
}

assay__timing *assay__timing_begin(assay__timing *timing, assay_timers *timers, const char *name,
                                   int kind)
{
    *timing = (assay__timing){.timers = timers, .name = name, .kind = kind, .entry = -1};
    if (timers == NULL)
        return timing;
    assay__timer_mark mark;
    assay__timers_keep_first(timers, assay__timers_begin(timers, name, &mark));
    timing->entry = mark.index;
    timing->enclosing = mark.enclosing;
    if (kind == ASSAY__TIMING_MEMORY)
        begin_memory(timing);
    timing->start_ns = assay_clock_now_ns(assay_clock_default());
    return timing;
}

static void set(assay__timing *timing, const char *key, assay_reading value)
{
    if (timing->entry >= 0)
        assay__timers_keep_first(timing->timers,
                                 assay_timers_set_metric(timing->timers, timing->name, key, value));
}

void assay__timing_end(assay__timing *timing)
{
    assay_timers *timers = timing->timers;
    if (timers == NULL)
        return;
    double seconds = (double)(assay_clock_now_ns(assay_clock_default()) - timing->start_ns) * 1e-9;
    const assay__timer_mark mark = {timing->entry, timing->enclosing};
    assay__timers_end(timers, mark, seconds);
    if (timing->kind == ASSAY__TIMING_MEMORY) {
        memory_figures memory = end_memory(timing);
        set(timing, "peak_memory_bytes", memory.peak_bytes);
        set(timing, "current_memory_bytes", memory.current_bytes);
    } else if (timing->kind == ASSAY__TIMING_GPU) {
        assay_gpu_memory gpu = assay_get_gpu_memory_usage();
        set(timing, "allocated_bytes", gpu.allocated_bytes);
        set(timing, "reserved_bytes", gpu.reserved_bytes);
        set(timing, "max_allocated_bytes", gpu.max_allocated_bytes);
    }
    assay__timers_keep_first(
        timers, timing->entry >= 0
                    ? assay_timers_print_progress(timers, timers->progress, timing->name)
                    : assay__line_time(timers->progress, timing->name, seconds));
}

static void *track(assay_timers *timers, const char *name, int kind, void *(*function)(void *),
                   void *argument)
{
    assay__timing timing;
    assay__timing_begin(&timing, timers, name, kind);
    void *result = function(argument);
    assay__timing_end(&timing);
    return result;
}

void *assay_track_time(assay_timers *timers, const char *name, void *(*function)(void *),
                       void *argument)
{
    return track(timers, name, ASSAY__TIMING_TIME, function, argument);
}

void *assay_track_time_and_memory(assay_timers *timers, const char *name, void *(*function)(void *),
                                  void *argument)
{
    return track(timers, name, ASSAY__TIMING_MEMORY, function, argument);
}

void *assay_track_time_and_gpu(assay_timers *timers, const char *name, void *(*function)(void *),
                               void *argument)
{
    return track(timers, name, ASSAY__TIMING_GPU, function, argument);
}
