/* Timers: a list of named times, which can be summarised, compared and exported.
 *
 *     assay_timers *timers = NULL;
 *     if (assay_timers_new(stdout, &timers) != ASSAY_OK)
 *         return 1;
 *     assay_track_time(timers, "SIREN training", train, &siren);    // prints what it took
 *     ASSAY_TRACK_TIME(timers, "MLP training") { train(&mlp); }
 *     assay_print_timing_summary(timers, stdout, "Section 1.1", 9);
 *     assay_timers_free(timers);
 *
 * An entry is flat (a time) or nested (a time and further metrics). Every function accepts both.
 * Setting a name again replaces its figures and keeps its place, as in a dictionary. An entry that
 * is measured while another one is being measured becomes a child of the other. Tables show it
 * below its parent, and the total does not count it again. Names are made printable and cut to 255
 * bytes.
 *
 * Tables have fixed widths. A name that is too long for its column is on a line of its own above
 * its figures. A time that would round to 0.00 is shown as 2.1e-05. A figure that was not measured
 * is "n/a". A table is composed first and written in one piece. The stream is then flushed, so that
 * a full disk is an error here (ASSAY_E_FULL) and not later. A NULL stream prints nothing. As with
 * printf, you may ignore the status of a print: the stream remembers the error.
 *
 * Threads: timers belong to one thread at a time.
 */
#ifndef ASSAY_TIMERS_H
#define ASSAY_TIMERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/clock.h"
#include "assay/reading.h"
#include "assay/record.h"
#include "assay/span.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct assay_timers assay_timers;

enum {
    ASSAY_TIMERS_MAX = 4096,  /* entries */
    ASSAY_TIMER_METRICS = 16, /* metrics of one entry, beside its time */
    ASSAY_TIMER_KEY_MAX = 31  /* bytes of a metric's key */
};

typedef struct assay_timer_metric {
    char key[ASSAY_TIMER_KEY_MAX + 1]; /* "peak_memory_bytes", ... */
    assay_reading value;
} assay_timer_metric;

typedef struct assay_timer {
    const char *name;
    int32_t parent;     /* index of the entry it was measured in, -1 at the top */
    assay_reading time; /* seconds; ASSAY_NOT_MEASURED while it still runs */
    size_t metric_count;
    const assay_timer_metric *metrics;
    uint64_t reserved[4]; /* zero */
} assay_timer;

/* ---- measuring -------------------------------------------------------------------------------
 *
 * Each tracking call calls the function, enters its time into the timers, prints one line to their
 * progress stream and returns the result of the function. Calls may nest: an inner one becomes a
 * child of the outer one. With NULL timers the function is only called. The measured time does not
 * include the bookkeeping; bench/timer_cost.c measures its cost. */

/* Make timers. The tracking calls print their lines to `progress`; NULL prints nothing. The stream
 * belongs to the caller and must outlive the timers. Caller frees. */
ASSAY_API ASSAY_MUST_USE assay_status assay_timers_new(FILE *progress, assay_timers **timers);
ASSAY_API void assay_timers_free(assay_timers *timers);

/* The first failure of a tracking call on these timers (no room, no memory, progress not writable);
 * ASSAY_OK if there was none. The tracking calls cannot return it, because they return the result
 * of the tracked function. */
ASSAY_API assay_status assay_timers_status(const assay_timers *timers);

/* Time a call. Prints "NAME complete: 45.32s total". The entry has the metric time. */
ASSAY_API void *assay_track_time(assay_timers *timers, const char *name, void *(*function)(void *),
                                 void *argument);

/* Time a call and measure its memory. Prints "NAME complete: 45.32s, peak memory: 234.5 MB" (2^20
 * bytes). The entry has the metrics time, peak_memory_bytes and current_memory_bytes.
 *
 * With libassay_heap.so loaded, these are exact heap figures of the calling thread, counted from
 * the call of assay_enable_memory_tracking or, without it, from the first such tracking call.
 * The current figure includes allocations of other threads at once. The peak includes them only
 * after those threads have ended. Without libassay_heap.so, the figures are the whole resident
 * memory of the process. The peak is then a lower bound if an earlier peak was higher. */
ASSAY_API void *assay_track_time_and_memory(assay_timers *timers, const char *name,
                                            void *(*function)(void *), void *argument);

typedef enum assay_memory_source {
    ASSAY_MEMORY_SOURCE_NONE = 0,
    ASSAY_MEMORY_SOURCE_RESIDENT = 1,
    ASSAY_MEMORY_SOURCE_HEAP = 2
} assay_memory_source;

/* Count memory from now on. Returns which memory is counted. */
ASSAY_API assay_memory_source assay_enable_memory_tracking(assay_timers *timers);

/* Time a call and read its GPU memory. Prints "NAME complete: 12.45s, GPU peak: 1024.3 MB". Without
 * a GPU the time is still measured, and the line is "NAME complete: 12.45s, GPU: not available".
 * The entry has the metrics time, allocated_bytes, reserved_bytes and max_allocated_bytes. */
ASSAY_API void *assay_track_time_and_gpu(assay_timers *timers, const char *name,
                                         void *(*function)(void *), void *argument);

typedef struct assay_gpu_memory {
    assay_reading allocated_bytes, reserved_bytes, max_allocated_bytes;
} assay_gpu_memory;

/* Read the memory of this process on the device of its current CUDA context. If the device's
 * default memory pool (cudaMallocAsync) is in use, these are the figures of the pool. Otherwise
 * `allocated_bytes` is the figure that the driver reports for this process, including its context,
 * and the other two are ASSAY_UNSUPPORTED. Most containers do not permit to read the driver's
 * figure. All are ASSAY_UNSUPPORTED if the process does not use CUDA. The call does not wait for
 * the device. */
ASSAY_API assay_gpu_memory assay_get_gpu_memory_usage(void);

/* The same calls for a block: ASSAY_TRACK_TIME(timers, "MLP training") { train(&mlp); } */
#define ASSAY_TRACK_TIME(timers, name)                                                             \
    ASSAY__BLOCK(assay__timing, assay__timing_end, assay__timing_begin, timers, name,              \
                 ASSAY__TIMING_TIME)
#define ASSAY_TRACK_TIME_AND_MEMORY(timers, name)                                                  \
    ASSAY__BLOCK(assay__timing, assay__timing_end, assay__timing_begin, timers, name,              \
                 ASSAY__TIMING_MEMORY)
#define ASSAY_TRACK_TIME_AND_GPU(timers, name)                                                     \
    ASSAY__BLOCK(assay__timing, assay__timing_end, assay__timing_begin, timers, name,              \
                 ASSAY__TIMING_GPU)

/* ---- a stopwatch ------------------------------------------------------------------------------
 *
 *     double seconds = 0;
 *     ASSAY_TIME_OPERATION("training", &seconds) { model = train(data); }
 */
typedef struct assay_stopwatch {
    const char *name;
    uint64_t start_ns;
} assay_stopwatch;

/* Start a stopwatch. The time since its start may be read any number of times. */
ASSAY_API assay_stopwatch assay_time_operation(const char *name);
ASSAY_API double assay_stopwatch_seconds(const assay_stopwatch *stopwatch);

/* Time the block behind the macro and store its time in `*elapsed_seconds`. */
#define ASSAY_TIME_OPERATION(name, elapsed_seconds)                                                \
    ASSAY__BLOCK(assay__timed, assay__timed_close, assay__timed_open, name, elapsed_seconds)

/* ---- entries --------------------------------------------------------------------------------- */

/* Set the time of an entry, which is made if it is missing. The entry becomes flat and moves to the
 * top. ASSAY_E_ARGUMENT for a time that is negative or not finite, ASSAY_E_LIMIT for more than
 * ASSAY_TIMERS_MAX entries. */
ASSAY_API ASSAY_MUST_USE assay_status assay_timers_set(assay_timers *timers, const char *name,
                                                       double seconds);

/* Add or replace one metric of an entry, which is made if it is missing. The key "time" sets the
 * time. ASSAY_E_LIMIT for a key longer than ASSAY_TIMER_KEY_MAX, or for more than
 * ASSAY_TIMER_METRICS metrics. */
ASSAY_API ASSAY_MUST_USE assay_status assay_timers_set_metric(assay_timers *timers,
                                                              const char *name, const char *key,
                                                              assay_reading value);

/* Make the entry `name` a child of the entry `parent`, or move it to the top if `parent` is NULL.
 * The tracking calls do this by themselves; use this call for figures that were measured elsewhere.
 * ASSAY_E_NOT_FOUND if an entry does not exist, ASSAY_E_ARGUMENT if an entry would be inside
 * itself. */
ASSAY_API ASSAY_MUST_USE assay_status assay_timers_set_parent(assay_timers *timers,
                                                              const char *name, const char *parent);

/* One figure of an entry; the key "time" gives its time. ASSAY_NOT_MEASURED if there is no such
 * entry or metric. */
ASSAY_API assay_reading assay_timers_get(const assay_timers *timers, const char *name,
                                         const char *key);

/* The entries, in the order of their first appearance. An entry belongs to the timers and is valid
 * until they change. `index` must be below the count. */
ASSAY_API size_t assay_timers_count(const assay_timers *timers);
ASSAY_API assay_timer assay_timers_at(const assay_timers *timers, size_t index);

/* The sum over the entries at the top, in seconds. The times of children are part of their
 * parents. */
ASSAY_API double assay_timers_total(const assay_timers *timers);

/* ---- tables and files ------------------------------------------------------------------------ */

/* Print the line that the tracking call of an entry prints. The metrics of the entry decide which
 * line it is: that of the GPU with "max_allocated_bytes", that of the memory with
 * "peak_memory_bytes", and otherwise that of the time. ASSAY_E_NOT_FOUND if there is no such entry,
 * ASSAY_E_DATA if it has no time. */
ASSAY_API assay_status assay_timers_print_progress(const assay_timers *timers, FILE *stream,
                                                   const char *name);

/* Print the TIMING SUMMARY: time and share of the total of every timer. Children are indented below
 * their parents. With more than one dataset there is also a line with the average. */
ASSAY_API assay_status assay_print_timing_summary(const assay_timers *timers, FILE *stream,
                                                  const char *section_name, size_t num_datasets);

/* Save a CSV file with the columns Section, Model, Time (s) and one row for each timer. The file
 * appears complete or not at all. */
ASSAY_API ASSAY_MUST_USE assay_status assay_export_timing_csv(const assay_timers *timers,
                                                              const char *path,
                                                              const char *section_name,
                                                              assay_error *error);

/* Save a JSON file: {"timestamp", "section", "timings": {NAME: seconds, or {"time", metric…,
 * "inside"}}}. A metric whose key ends in _bytes is written with a key that ends in _mb, in units
 * of 2^20 bytes. */
ASSAY_API ASSAY_MUST_USE assay_status assay_export_timing_json(const assay_timers *timers,
                                                               const char *path,
                                                               const char *section_name,
                                                               assay_error *error);

/* ---- speed-up -------------------------------------------------------------------------------- */

typedef struct assay_speedup {
    const char *name;    /* borrowed from the timers */
    assay_reading time;  /* seconds */
    assay_reading ratio; /* baseline time / this time: above 1 is faster than the baseline;
                            not enough data if a time is zero or missing */
} assay_speedup;

/* Compute one ratio for each entry, in order. `ratios` must have room for assay_timers_count()
 * ratios. A NULL `baseline` is the slowest entry. `baseline_index`, which may be NULL, receives the
 * index of the baseline. ASSAY_E_NOT_FOUND if there is no such entry, ASSAY_E_DATA if it has no
 * time. */
ASSAY_API ASSAY_MUST_USE assay_status assay_speedup_ratios(const assay_timers *timers,
                                                           const char *baseline, assay_error *error,
                                                           assay_speedup *ratios,
                                                           size_t *baseline_index);

/* Print the SPEEDUP ANALYSIS against `baseline` (NULL: the slowest entry), the fastest first:
 * "1.67x faster", "1.25x slower", "1.00x as fast". Fails as assay_speedup_ratios does. */
ASSAY_API assay_status assay_print_speedup_analysis(const assay_timers *timers, FILE *stream,
                                                    const char *baseline, assay_error *error);

/* Find the entry with the smallest time: the best of several configurations. Of equal entries the
 * first one wins. ASSAY_E_DATA if no entry has a time. */
ASSAY_API ASSAY_MUST_USE assay_status assay_timers_best(const assay_timers *timers, size_t *index);

/* Print "Optimal batch size: 32 (1.234s)": the best entry of timers that are named after their
 * configurations. `what` is "batch size" here. */
ASSAY_API assay_status assay_timers_print_best(const assay_timers *timers, FILE *stream,
                                               const char *what);

/* A speed-up with its interval and verdict. */
typedef struct assay_speedup_verdict {
    assay_reading ratio;     /* baseline time / this time: above 1 is faster than the baseline */
    assay_reading low, high; /* 95 % interval of the ratio */
    assay_verdict verdict;   /* of the candidate, by the rule of compare.h */
    char reason[256];        /* why a verdict is inconclusive; else a remark or empty */
    uint64_t reserved[4];    /* zero */
} assay_speedup_verdict;

/* Compare repeated timings of a baseline and a candidate, each in the order in which they were
 * measured. `alternating` says that the i-th timing of one was measured next to the i-th timing of
 * the other, so that disturbances of both cancel. The counts must then be equal, or the call fails
 * with ASSAY_E_ARGUMENT. Too few timings, and timings that are negative or not finite, give an
 * inconclusive verdict with the reason. Needs memory. */
ASSAY_API ASSAY_MUST_USE assay_status assay_speedup_compare(
    const double *baseline_seconds, size_t baseline_count, const double *candidate_seconds,
    size_t candidate_count, bool alternating, assay_speedup_verdict *verdict);

/* Print "SIREN : 1.67x faster (1.620x … 1.720x)", a line of the speed-up analysis with its
 * interval, and on the next line the verdict with its reason. */
ASSAY_API assay_status assay_speedup_print(const assay_speedup_verdict *verdict, FILE *stream,
                                           const char *name);

/* ---- phases of one job -------------------------------------------------------------------------
 *
 *     assay_phase_timer_start_phase(timer, "load");
 *     ...
 *     assay_phase_timer_start_phase(timer, "train");       // ends "load"
 *     ...
 *     assay_phase_timer_end_phase(timer);
 *     assay_phase_timer_print_breakdown(timer, stdout);
 *
 * Phases follow each other: the start of a phase ends the phase before it. If a phase comes again,
 * its times are added up. You may ignore the status of a start or an end: the timers of the phase
 * timer keep the first failure, assay_timers_status(assay_phase_timer_timers(timer)). */
typedef struct assay_phase_timer assay_phase_timer;

/* Make a phase timer. A NULL `clock` is the best clock of the machine. Caller frees. */
ASSAY_API ASSAY_MUST_USE assay_status assay_phase_timer_new(const char *name,
                                                            const assay_clock *clock,
                                                            assay_phase_timer **timer);
ASSAY_API void assay_phase_timer_free(assay_phase_timer *timer);

/* Start a phase. ASSAY_E_LIMIT for more than ASSAY_TIMERS_MAX phases, ASSAY_E_MEMORY. */
ASSAY_API assay_status assay_phase_timer_start_phase(assay_phase_timer *timer, const char *phase);
/* End the open phase. ASSAY_E_STATE if no phase is open. */
ASSAY_API assay_status assay_phase_timer_end_phase(assay_phase_timer *timer);

/* Print "NAME - Detailed Breakdown:" and the phases that have ended, the longest first, with their
 * shares. */
ASSAY_API assay_status assay_phase_timer_print_breakdown(const assay_phase_timer *timer,
                                                         FILE *stream);
/* The phases as timers, to export or compare them. They belong to the phase timer. */
ASSAY_API const assay_timers *assay_phase_timer_timers(const assay_phase_timer *timer);

/* ---- behind the macros ----------------------------------------------------------------------- */

enum { ASSAY__TIMING_TIME, ASSAY__TIMING_MEMORY, ASSAY__TIMING_GPU };

typedef struct assay__timing {
    assay_timers *timers;
    const char *name;
    int kind;
    int32_t entry, enclosing;
    uint64_t start_ns;
    double level_bytes;     /* resident memory or live heap at the start */
    double peak_bytes;      /* the kernel's peak at the start */
    uint64_t heap_state[8]; /* state of the heap instrument */
} assay__timing;

typedef struct assay__timed {
    assay_stopwatch stopwatch;
    double *seconds;
} assay__timed;

static inline assay__timed *assay__timed_open(assay__timed *timed, const char *name,
                                              double *seconds)
{
    timed->seconds = seconds;
    timed->stopwatch = assay_time_operation(name);
    return timed;
}

static inline void assay__timed_close(assay__timed *timed)
{
    if (timed->seconds != NULL)
        *timed->seconds = assay_stopwatch_seconds(&timed->stopwatch);
}

ASSAY_API assay__timing *assay__timing_begin(assay__timing *timing, assay_timers *timers,
                                             const char *name, int kind);
ASSAY_API void assay__timing_end(assay__timing *timing);

#ifdef __cplusplus
}
#endif

#endif
