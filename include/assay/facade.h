/* Ready-made calls that bring the pieces together: measure, snapshot, analyse, print.
 *
 * What prints says where: a stream, or NULL for silence. Measuring calls never disturb the measured
 * program: what they could not record or print is kept as a status that can be asked for. Memory is
 * resident memory of the process unless said otherwise; GPU figures are unsupported readings, left
 * out of lines and shown as n/a in tables.
 *
 * Threads: an object of this header belongs to one thread at a time, unless said otherwise.
 */
#ifndef ASSAY_FACADE_H
#define ASSAY_FACADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/analyze.h"
#include "assay/clock.h"
#include "assay/monitor.h"
#include "assay/record.h"
#include "assay/report.h"
#include "assay/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Everything a monitor has measured so far, as a record that also describes machine, clock, build
 * and git state. May be called at any time from any thread; spans go on meanwhile. A disabled or
 * NULL monitor gives a record without operations. Caller frees. */
ASSAY_API ASSAY_MUST_USE assay_status assay_monitor_record(assay_monitor *monitor,
                                                           assay_error *error,
                                                           assay_record **record);

/* Add the description of this machine, build and git working directory to a record; also the clock
 * in use and the time now as `created`, where the record does not say them itself. Under a
 * millisecond, once the clock is calibrated. */
ASSAY_API ASSAY_MUST_USE assay_status assay_record_describe(assay_record *record);

/* ---- A monitor's summary ---------------------------------------------------------------------
 */

enum assay_summary_flags {
    ASSAY_SHOW_AGGREGATE = 1,  /* the AGGREGATE STATISTICS table too */
    ASSAY_SHOW_BOTTLENECKS = 2 /* what stands out, and what to do about it */
};

/* The PERFORMANCE SUMMARY of what was measured so far (see assay_report_performance_summary). May
 * be called from any thread while spans go on. Nothing is printed for a NULL or disabled monitor or
 * a NULL stream. */
ASSAY_API assay_status assay_monitor_print_summary(assay_monitor *monitor, FILE *stream,
                                                   unsigned flags);

/* Time of all top-level spans, and of one operation wherever it ran (recursion counted once).
 * Not measured for a NULL or disabled monitor or an operation without spans. Each makes a snapshot:
 * well under a millisecond for a few hundred operations. */
ASSAY_API assay_reading assay_monitor_total_seconds(assay_monitor *monitor);
ASSAY_API assay_reading assay_monitor_operation_seconds(assay_monitor *monitor, const char *name);

/* ---- One-shot measurements ------------------------------------------------------------------- */

/* An open measurement; treat as opaque. */
typedef struct assay_performance {
    const char *name;
    FILE *stream;
    uint64_t start_ns;
    assay_reading rss_bytes;
} assay_performance;

ASSAY_API assay_performance assay_performance_begin(const char *name, FILE *stream);
/* Prints "[Performance] NAME: 1.234s, CPU +250.5MB" (assay_print_performance) and returns the
 * figures; `operation` is the name given to begin. */
ASSAY_API assay_record_metric assay_performance_end(assay_performance *performance);
ASSAY_API void assay__performance_close(assay_performance *performance);

/*     ASSAY_TRACK_PERFORMANCE("critical_operation", stdout) { result = expensive_function(); }
 *
 * measures a block and prints one line after it. return and goto out of it are safe, break and
 * continue leave the block. */
#define ASSAY_TRACK_PERFORMANCE(name, stream)                                                      \
    ASSAY__PERFORMANCE_BLOCK(name, stream, ASSAY__JOIN(assay__performance_, __COUNTER__),          \
                             ASSAY__JOIN(assay__performed_, __COUNTER__))

#define ASSAY__PERFORMANCE_BLOCK(name, stream, open, once)                                         \
    for (assay_performance open                                                                    \
             ASSAY__CLEANUP(assay__performance_close) = assay_performance_begin(name, stream),     \
             *once = &open;                                                                        \
         once != NULL; once = NULL)

/*     ASSAY_MONITOR_PERFORMANCE("data processing", stdout);
 *
 * at the top of a function measures until it returns, and prints. */
#define ASSAY_MONITOR_PERFORMANCE(name, stream)                                                    \
    assay_performance ASSAY__JOIN(assay__performance_, __LINE__)                                   \
        ASSAY__CLEANUP(assay__performance_close) = assay_performance_begin(name, stream);          \
    (void)ASSAY__JOIN(assay__performance_, __LINE__)

/* Calls the function, prints the line, stores the figures (`metric` may be NULL), and returns what
 * the function returned. */
ASSAY_API void *assay_track_performance(const char *name, FILE *stream, void *(*function)(void *),
                                        void *argument, assay_record_metric *metric);

/* ---- Timers ------------------------------------------------------------------------------------
 *
 * Each of these calls the function, enters what it took into the timers, prints one line to their
 * progress stream and returns what the function returned. Calls may nest: an inner one is entered
 * as part of the outer. NULL timers only call. Cost beside the function: bench/timer_cost.c; the
 * bookkeeping is outside the measured time. */

/* "NAME complete: 45.32s total". Entry: time. */
ASSAY_API void *assay_track_time(assay_timers *timers, const char *name, void *(*function)(void *),
                                 void *argument);

/* "NAME complete: 45.32s, peak memory: 234.5 MB". Entry: time, peak_memory_mb, current_memory_mb,
 * counted from the moment of assay_enable_memory_tracking (else from the first such call): exact
 * heap figures of the calling thread when libassay_heap.so is loaded (other threads' allocations
 * show in current, and in peak once they end), otherwise resident memory of the whole process, not
 * counted from anything, whose peak is a lower bound when an earlier peak was higher. */
ASSAY_API void *assay_track_time_and_memory(assay_timers *timers, const char *name,
                                            void *(*function)(void *), void *argument);

typedef enum assay_memory_source {
    ASSAY_MEMORY_SOURCE_NONE = 0,
    ASSAY_MEMORY_SOURCE_RESIDENT = 1,
    ASSAY_MEMORY_SOURCE_HEAP = 2
} assay_memory_source;

/* Count memory from now on, and say what is counted. */
ASSAY_API assay_memory_source assay_enable_memory_tracking(assay_timers *timers);

/* "NAME complete: 12.45s, GPU peak: 1024.3 MB"; without a GPU the time is still taken and the line
 * is "NAME complete: 12.45s, GPU: not available". Entry: time, allocated_mb, reserved_mb,
 * max_allocated_mb. */
ASSAY_API void *assay_track_time_and_gpu(assay_timers *timers, const char *name,
                                         void *(*function)(void *), void *argument);

typedef struct assay_gpu_memory {
    assay_reading allocated_mb, reserved_mb, max_allocated_mb;
} assay_gpu_memory;

/* What the GPU holds now; unsupported readings where there is none to ask. */
ASSAY_API assay_gpu_memory assay_get_gpu_memory_usage(void);

/* The same for a block: ASSAY_TRACK_TIME(timers, "MLP training") { train(&mlp); }
 * return and goto out of it are safe, break and continue leave the block. */
#define ASSAY_TRACK_TIME(timers, name)            ASSAY__TIMING(timers, name, ASSAY__TIMING_TIME)
#define ASSAY_TRACK_TIME_AND_MEMORY(timers, name) ASSAY__TIMING(timers, name, ASSAY__TIMING_MEMORY)
#define ASSAY_TRACK_TIME_AND_GPU(timers, name)    ASSAY__TIMING(timers, name, ASSAY__TIMING_GPU)

enum { ASSAY__TIMING_TIME, ASSAY__TIMING_MEMORY, ASSAY__TIMING_GPU };

typedef struct assay__timing {
    assay_timers *timers;
    const char *name;
    int kind;
    int32_t entry, enclosing;
    uint64_t start_ns;
    double level_bytes;     /* resident memory or live heap at the start */
    double peak_bytes;      /* the kernel's peak then */
    uint64_t heap_state[8]; /* of the instrument */
} assay__timing;

ASSAY_API void assay__timing_begin(assay__timing *timing, assay_timers *timers, const char *name,
                                   int kind);
ASSAY_API void assay__timing_end(assay__timing *timing);

static inline assay__timing assay__timing_of(assay_timers *timers, const char *name, int kind)
{
    assay__timing timing;
    assay__timing_begin(&timing, timers, name, kind);
    return timing;
}

#define ASSAY__TIMING(timers, name, kind)                                                          \
    ASSAY__TIMING_BLOCK(timers, name, kind, ASSAY__JOIN(assay__timing_, __COUNTER__),              \
                        ASSAY__JOIN(assay__timed_, __COUNTER__))

#define ASSAY__TIMING_BLOCK(timers, name, kind, open, once)                                        \
    for (assay__timing open                                                                        \
             ASSAY__CLEANUP(assay__timing_end) = assay__timing_of(timers, name, kind),             \
             *once = &open;                                                                        \
         once != NULL; once = NULL)

/* ---- Phases of one job -------------------------------------------------------------------------
 *
 * Phases follow each other: starting one ends the one before it. A phase that comes again adds to
 * its time. */
typedef struct assay_phase_timer assay_phase_timer;

/* `clock` NULL: the machine's. Caller frees. */
ASSAY_API ASSAY_MUST_USE assay_status assay_phase_timer_new(const char *name,
                                                            const assay_clock *clock,
                                                            assay_phase_timer **timer);
ASSAY_API void assay_phase_timer_free(assay_phase_timer *timer);

/* ASSAY_E_LIMIT past ASSAY_TIMERS_MAX phases, ASSAY_E_MEMORY. */
ASSAY_API assay_status assay_phase_timer_start_phase(assay_phase_timer *timer, const char *phase);
/* ASSAY_E_STATE when no phase is open. */
ASSAY_API assay_status assay_phase_timer_end_phase(assay_phase_timer *timer);

/* assay_print_phase_breakdown of the phases ended so far. */
ASSAY_API assay_status assay_phase_timer_print_breakdown(const assay_phase_timer *timer,
                                                         FILE *stream);
/* The phases as timers, to export or compare; borrowed. */
ASSAY_API const assay_timers *assay_phase_timer_timers(const assay_phase_timer *timer);

/* ---- Inference ------------------------------------------------------------------------------- */

/* Start from ASSAY_INFERENCE_OPTIONS_INIT; every zero means the default. */
typedef struct assay_inference_options {
    size_t struct_size;
    size_t num_iterations;    /* timed calls; default 100 */
    size_t warmup;            /* calls before them; default 10 */
    bool no_warmup;           /* none at all */
    size_t samples_per_call;  /* for the throughput; default 1 */
    const assay_clock *clock; /* for tests; default: the best clock of the machine */
} assay_inference_options;

#define ASSAY_INFERENCE_OPTIONS_INIT ASSAY_INIT(assay_inference_options)

/* Time single calls of `function(argument)`. ASSAY_E_MEMORY before the first call. */
ASSAY_API ASSAY_MUST_USE assay_status
assay_benchmark_inference(void (*function)(void *), void *argument,
                          const assay_inference_options *options, assay_inference_stats *stats);

/* ---- Runtime profiles of forecasting models ----------------------------------------------------
 *
 *     double seconds = 0;
 *     ASSAY_TIME_OPERATION("training", &seconds) { model = train(data); }
 *     parts.training_seconds = assay_reading_of(seconds);
 *     if (assay_quick_benchmark(&forecast, NULL, &parts, &profile) != ASSAY_OK) ...
 *     if (assay_save_profile(&profile, "runtime_profile.json", &error) != ASSAY_OK) ...
 */

typedef struct assay_operation_timer {
    const char *name;
    uint64_t start_ns;
} assay_operation_timer;

/* Start timing; elapsed() may be asked any number of times. */
ASSAY_API assay_operation_timer assay_time_operation(const char *name);
ASSAY_API double assay_operation_elapsed(const assay_operation_timer *timer);

typedef struct assay__operation_block {
    assay_operation_timer timer;
    double *elapsed;
} assay__operation_block;

ASSAY_API void assay__operation_close(assay__operation_block *block);

/* Time a block into `*elapsed_seconds`; return and goto out of it are safe, break and continue
 * leave the block. */
#define ASSAY_TIME_OPERATION(name, elapsed_seconds)                                                \
    ASSAY__OPERATION_BLOCK(name, elapsed_seconds, ASSAY__JOIN(assay__operation_, __COUNTER__),     \
                           ASSAY__JOIN(assay__operated_, __COUNTER__))

#define ASSAY__OPERATION_BLOCK(name, elapsed_seconds, open, once)                                  \
    for (assay__operation_block open ASSAY__CLEANUP(                                               \
             assay__operation_close) = {assay_time_operation(name), elapsed_seconds},              \
            *once = &open;                                                                         \
         once != NULL; once = NULL)

/* A model asked for its next `steps` values from the state in `context`. */
typedef struct assay_forecast {
    assay_status (*run)(void *context, uint64_t steps);
    void *context;
} assay_forecast;

/* Start from ASSAY_FORECAST_OPTIONS_INIT; every zero means the default. */
typedef struct assay_forecast_options {
    size_t struct_size;
    size_t n_trials;          /* timed; default 50 */
    size_t warmup_trials;     /* before them; default 5 */
    bool no_warmup;           /* none at all */
    const assay_clock *clock; /* for tests; default: the best clock of the machine */
} assay_forecast_options;

#define ASSAY_FORECAST_OPTIONS_INIT ASSAY_INIT(assay_forecast_options)

/* Times of single steps and of whole forecasts of `n_steps` (the seed's benchmark_inference). A
 * failure of the forecast ends it and is returned. */
ASSAY_API ASSAY_MUST_USE assay_status assay_benchmark_forecast(
    const assay_forecast *forecast, uint64_t n_steps, const assay_forecast_options *options,
    assay_timing_result *single_step, assay_timing_result *full_trajectory);

/* Resident memory of the process and the size of a model's parameters; about 10 microseconds. */
ASSAY_API ASSAY_MUST_USE assay_status assay_measure_memory(uint64_t model_params,
                                                           size_t bytes_per_parameter,
                                                           assay_memory_result *result);

typedef struct assay_profile_parts {
    size_t struct_size;
    const char *model_name; /* borrowed by the profile */
    assay_reading training_seconds;
    assay_timing_result single_step, full_trajectory; /* quick_benchmark fills these */
    uint64_t n_forecast_steps;
    uint64_t model_params;
    size_t bytes_per_parameter; /* default 4 */
    assay_complexity_shape shape;
} assay_profile_parts;

#define ASSAY_PROFILE_PARTS_INIT ASSAY_INIT(assay_profile_parts)

/* Memory measured now, throughput of the full trajectory, complexity from the shape. */
ASSAY_API ASSAY_MUST_USE assay_status assay_build_profile(const assay_profile_parts *parts,
                                                          assay_runtime_profile *profile);

/* Benchmark, then build. */
ASSAY_API ASSAY_MUST_USE assay_status assay_quick_benchmark(const assay_forecast *forecast,
                                                            const assay_forecast_options *options,
                                                            const assay_profile_parts *parts,
                                                            assay_runtime_profile *profile);

/* ---- Training loops ----------------------------------------------------------------------------
 *
 *     for (int epoch = 0; epoch < epochs; epoch++) {
 *         assay_epoch_monitor_on_epoch_start(monitor);
 *         for (uint64_t i = 0; i < batches; i++) {
 *             assay_epoch_monitor_on_batch_start(monitor, i);
 *             double loss = train(model, i);
 *             assay_epoch_monitor_on_batch_end(monitor, i, loss);
 *         }
 *         assay_epoch_monitor_on_epoch_end(monitor);
 *     }
 *
 * Epochs and batches are spans "epoch" and "batch" of a monitor, the loss its counter "loss", so
 * they stand in its journal too, and spans begun inside a batch nest below it. */
typedef struct assay_epoch_monitor assay_epoch_monitor;

/* Start from ASSAY_EPOCH_MONITOR_OPTIONS_INIT; every zero means the default. */
typedef struct assay_epoch_monitor_options {
    size_t struct_size;
    bool disabled;       /* every call is a branch */
    int verbose_batches; /* lines for the first batches of each epoch; default 5, negative: none */
    FILE *output;        /* of batch and epoch lines; default: nothing is printed */
    assay_monitor *monitor;   /* to write spans into, borrowed; default: one of its own */
    const assay_clock *clock; /* for tests; default: the best clock of the machine */
} assay_epoch_monitor_options;

#define ASSAY_EPOCH_MONITOR_OPTIONS_INIT ASSAY_INIT(assay_epoch_monitor_options)

/* NULL options are the defaults. Caller frees. */
ASSAY_API ASSAY_MUST_USE assay_status
assay_epoch_monitor_new(const assay_epoch_monitor_options *options, assay_epoch_monitor **monitor);
ASSAY_API void assay_epoch_monitor_free(assay_epoch_monitor *monitor);

/* A NULL monitor makes each of these a no-op. Calls out of order (an end without its start, a start
 * before the previous end) leave that epoch or batch out and set the status. */
ASSAY_API void assay_epoch_monitor_on_epoch_start(assay_epoch_monitor *monitor);
ASSAY_API void assay_epoch_monitor_on_batch_start(assay_epoch_monitor *monitor, uint64_t index);
/* `loss` NAN: none to show. */
ASSAY_API void assay_epoch_monitor_on_batch_end(assay_epoch_monitor *monitor, uint64_t index,
                                                double loss);
ASSAY_API void assay_epoch_monitor_on_epoch_end(assay_epoch_monitor *monitor);

ASSAY_API assay_epoch_statistics
assay_epoch_monitor_get_statistics(const assay_epoch_monitor *monitor);

/* The first failure so far: ASSAY_E_STATE for calls out of order, or why a line was not printed. */
ASSAY_API assay_status assay_epoch_monitor_status(const assay_epoch_monitor *monitor);

/* The monitor its spans go to, for spans of your own inside a batch; NULL when disabled. */
ASSAY_API assay_monitor *assay_epoch_monitor_spans(const assay_epoch_monitor *monitor);

#ifdef __cplusplus
}
#endif

#endif
