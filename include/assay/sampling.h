/* Sampling: the one loop that times repeated calls.
 *
 *     assay_timing timing;
 *     if (assay_benchmark_function(sort_once, numbers, NULL, &error, &timing) != ASSAY_OK) ...
 *     printf("%g s a call\n", timing.mean_seconds);
 *
 * That is the short form: it calls one function a hundred times. The long form decides by itself
 * how often to call, and takes several subjects, so that they can be compared:
 *
 *     static assay_status sort(void *numbers, uint64_t iterations) { ... return ASSAY_OK; }
 *
 *     assay_subject subjects[] = {{.struct_size = sizeof(assay_subject), .name = "qsort",
 *                                  .run = sort, .context = numbers}, ...};
 *     assay_record *record = NULL;
 *     if (assay_sampling_run(subjects, 2, NULL, &error, &record) != ASSAY_OK) ...
 *     if (assay_record_compare(record, NULL) != ASSAY_OK) ...     which is faster? (compare.h)
 *     assay_report_print(record, "bench", stdout, NULL);
 *
 * A subject is a callback that does its work a given number of times. assay_sampling_run() chooses
 * how many iterations make one sample, lets the subjects take turns in rounds, leaves out the
 * warm-up and disturbed rounds, and stops when one subject's mean is precise enough or when every
 * comparison of several has its verdict, when the budget is spent, or when noise makes the question
 * unanswerable. The result is a record of kind "bench",
 * whose subjects hold every sample that counts.
 *
 * These rules are fixed beforehand:
 *   order      Every round runs each subject once. Rounds come in blocks of a Williams design: each
 *              subject stands equally often at each place, and equally often after each other one.
 *              The blocks are randomised by `seed`; the same seed gives the same order.
 *   length     A sample repeats the work until it takes at least `min_sample_seconds` (default
 *              200 µs) and 1000 times what the clock costs or resolves.
 *   warm-up    Rounds before the steady state are left out, or exactly `warmup_rounds` if asked.
 *              For one subject the steady state is looked for in the whole series, for several
 *              subjects in the first 200 rounds of each. If that would leave out more than half of
 *              the rounds of several subjects, the machine changed for all of them; then only the
 *              rounds before the ratios are steady are left out.
 *   disturbed  A sample is disturbed if the thread was preempted more than ten times a second (in a
 *              sample below 0.1 s: once), if it waited for a page from storage, if the clock went
 *              backwards, or if the hypervisor took more than 5 % of the machine's time (checked
 *              every 10 ms or longer), or if a GPU was throttled (with a `meter`). A round with
 *              a disturbed sample is left out as a whole, and counted for the subject that was
 *              preempted or waited. If more than half of the rounds would be left out, or fewer
 *              than two would remain, all of them are kept.
 *   looks      The interval of one subject is computed at 30 rounds, and then by the rule of
 *              assay_stopping_look() (stats.h): each look is nearer to the predicted end, so that
 *              repeated looks cost no coverage. Precision ends the run at 200 rounds at the
 *              earliest, so that a slow mode of one run in 50 is seen. Several subjects are looked
 *              at from 6 rounds on, each time a quarter later. The risk of a false verdict is spent
 *              over the looks, which the record lists. Without a verdict the whole budget is used.
 *
 * Processor time of each sample is that of the whole process, since a subject may have threads of
 * its own ("cpu_seconds" among the measures). User and system time are those of the calling thread,
 * recorded only where samples take 0.1 s or more: the kernel updates them at its timer ticks, so in
 * shorter samples they would mix the times of several subjects. How long a sample waited for a
 * processor is recorded where the kernel says so. Peak memory belongs to the whole process and says
 * nothing about one subject. It is ASSAY_NOT_MEASURED unless `measure` provides it, as commands do.
 *
 * Energy (`meter`) is that of the whole machine during a sample, divided by its iterations, also of
 * what `set_up_iteration` does. A sample that is shorter than the period of the counter or of the
 * meter (both 0.1 s, with a GPU) has bounds only; then the record has a mean between bounds, and
 * energy is not compared. If energy is what is compared by, a sample is at least five periods long,
 * where the subject can be repeated. Energy of up to half a period at either end may be a
 * neighbour's, so that samples of few periods show differences smaller than they are.
 *
 * Threads: subjects run in the calling thread. Run at most one sampling on each processor at a
 * time; otherwise the runs disturb each other. Nothing is printed. */
#ifndef ASSAY_SAMPLING_H
#define ASSAY_SAMPLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/clock.h"
#include "assay/reading.h"
#include "assay/record.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One sample of a subject that measures its own time: its `measure` fills this struct. Everything
 * but `seconds` is optional; readings start as ASSAY_NOT_MEASURED. */
typedef struct assay_sample {
    size_t struct_size; /* set by the caller of `measure` */
    double seconds;     /* of all iterations together; finite and not negative */
    bool failed;    /* the work failed, but the run goes on: the sample is counted as failed, and
                       its round is left out unless the subject's `time_failures` is set */
    bool disturbed; /* the subject itself noticed a disturbance */
    assay_reading user_seconds, sys_seconds; /* of all iterations together */
    assay_reading peak_rss_bytes;
    assay_reading involuntary_switches, major_faults;
    assay_reading waited_seconds; /* for a processor, ready to run; of all iterations together */
} assay_sample;

/* Something whose time is sampled. Either `run` or `measure` is set. A callback that does not
 * return ASSAY_OK ends the whole run with that status. A callback that returns ASSAY_E_INTERRUPTED
 * ends the run early instead: what was sampled before becomes the record. */
typedef struct assay_subject {
    size_t struct_size; /* set by the caller */
    const char *name;   /* in the record; must differ between subjects */
    void *context;      /* handed to every callback */

    /* Do the work `iterations` times; the whole call is timed. */
    assay_status (*run)(void *context, uint64_t iterations);

    /* Before and after each sample, outside the timing. */
    assay_status (*set_up)(void *context);
    assay_status (*tear_down)(void *context);

    /* Before and after each single iteration, outside the timing: `run` is then called with 1 and
     * timed call by call, which puts the cost of one clock reading (see the record's clock) into
     * each iteration. Nothing is subtracted. For work of less than a microsecond, prepare many
     * inputs in `set_up` instead. */
    assay_status (*set_up_iteration)(void *context);
    assay_status (*tear_down_iteration)(void *context);

    /* For work that measures its own time (a command, a GPU kernel): fills `sample`. */
    assay_status (*measure)(void *context, uint64_t iterations, assay_sample *sample);

    uint64_t max_iterations; /* of one sample; 0: no bound, 1: work that can be done once only */
    bool time_failures;      /* samples that failed are counted as failed, but used like others */

    /* Described in the record, if any. */
    const char *const *command;
    size_t command_count;
    const assay_record_fact *parameters;
    size_t parameter_count;
} assay_subject;

/* Why sampling stopped; the record has the word. */
typedef enum assay_sampling_end {
    ASSAY_SAMPLING_GOING = 0,
    ASSAY_SAMPLING_PRECISION, /* "precision": the interval is narrow enough */
    ASSAY_SAMPLING_BUDGET,    /* "budget": the time is spent */
    ASSAY_SAMPLING_NOISE,     /* "noise": never steady, or ten budgets would not be enough */
    ASSAY_SAMPLING_COUNT,     /* "count": max_rounds */
    ASSAY_SAMPLING_VERDICT,   /* "verdict": several subjects, and every comparison has its answer */
    ASSAY_SAMPLING_INTERRUPTED /* "interrupted": a callback of a subject asked for it */
} assay_sampling_end;

/* Where a run stands. */
typedef struct assay_sampling_progress {
    size_t struct_size;
    double elapsed_seconds;
    double expected_seconds; /* in all, guessed from the width of the interval so far */
    size_t rounds;           /* so far, warm-up and disturbed ones included */
    size_t subject;          /* about to run */
    /* As of the last look. One subject: its mean in seconds. Several: the ratio of the least
     * certain candidate to the first. */
    assay_reading estimate, low, high;
    double relative_width; /* half the interval's width, relative to the estimate; 0: not known */
} assay_sampling_progress;

/* Start from ASSAY_SAMPLING_OPTIONS_INIT; every zero means the default. */
typedef struct assay_sampling_options {
    size_t struct_size;

    /* A fixed number of single calls: `runs` of each subject, after `warmup` calls that do not
     * count. Every call is then a sample, disturbed or not, and neither precision nor budget ends
     * the run. 0: as many samples as the precision needs. The other names mean the same.
     */
    union {
        size_t runs, num_runs, num_iterations, n_trials;
    };
    union {
        size_t warmup, warmup_runs, warmup_trials;
    };
    bool no_warmup; /* do not warm up, in calls that do so by default */
    /* Receives each sample that counts, in the order of measuring, once all were taken. Pass NULL
     * if you do not need them. */
    void (*sample)(void *context, const char *subject, double seconds);
    void *sample_context;

    double budget_seconds;     /* default 5; once spent, the round under way is finished */
    double precision;          /* half width of the 95 % interval, relative: for one subject of the
                                  mean, by default 0.01; for several of the ratios, by default as
                                  wide as the verdicts allow */
    double margin;             /* of the comparison to come; default 0.01 */
    const char *metric;        /* by which several are compared: "cpu_seconds", "peak_rss_bytes",
                                  "energy_joules" (with a meter); NULL and what is not measured:
                                  wall time */
    double min_sample_seconds; /* default 200e-6 */
    uint64_t seed;             /* of the order; 0 is a seed like any other */
    size_t min_rounds;         /* measured even if precise enough or over budget; default 2 */
    size_t max_rounds;         /* default and at most ASSAY_SAMPLING_MAX_ROUNDS; warm-up counts */
    bool fixed_rounds;         /* take `max_rounds`, however precise or noisy; only the budget ends
                                  the run sooner */
    bool fixed_warmup;         /* leave out exactly `warmup_rounds` instead of detecting */
    size_t warmup_rounds;
    size_t fresh_rounds; /* above 0: fork a new process after every so many rounds */
    /* After each sample, outside its time, do a piece of arithmetic that never changes (about 20
     * µs) and record how long it took. Records of two runs can then be compared although the
     * machine was faster in one of them (compare.h). */
    bool yardstick;
    bool pin; /* run on `cpu` alone, and undo that afterwards */
    int cpu;
    const assay_clock *clock; /* NULL: the default; a test's clock drives budget and `run` */
    /* Called before each sample, at most every `progress_seconds` (default 0.1). */
    void (*progress)(void *context, const assay_sampling_progress *progress);
    void *progress_context;
    double progress_seconds;
    /* What it reads goes into the record: the energy of samples, and that a GPU was throttled,
     * which is a disturbance. It must run in this process and outlive the call. NULL: neither. */
    struct assay_meter *meter;
} assay_sampling_options;

#define ASSAY_SAMPLING_OPTIONS_INIT ASSAY_INIT(assay_sampling_options)
#define ASSAY_SUBJECT_INIT          ASSAY_INIT(assay_subject)

enum { ASSAY_SAMPLING_MAX_SUBJECTS = 1024, ASSAY_SAMPLING_MAX_ROUNDS = 1 << 20 };

/* Sample `count` subjects. NULL options are the defaults. The record says for each subject what was
 * measured, what was left out and why sampling stopped; assay_record_describe() adds the machine. A
 * subject that fails ends the run with its status and without a record; `error` names the subject
 * and the sample. A subject that returns ASSAY_E_INTERRUPTED ends the run early: the record then
 * holds the rounds that were complete, and the round under way is dropped. Fewer than two rounds
 * that count give no record but ASSAY_E_INTERRUPTED. The end counts as one more look, so that
 * ending a run when its figures please costs no false verdicts. With `fresh_rounds`, changes that
 * subjects make in memory stay in the forked processes. ASSAY_E_ARGUMENT for subjects or options
 * that make no sense. Caller frees the record.
 */
ASSAY_API ASSAY_MUST_USE assay_status assay_sampling_run(const assay_subject *subjects,
                                                         size_t count,
                                                         const assay_sampling_options *options,
                                                         assay_error *error, assay_record **record);

/* ---- the short form -------------------------------------------------------------------------- */

/* The result of every benchmark call. Records hold the same figures. */
typedef struct assay_timing {
    uint64_t count; /* calls that were timed */
    double total_seconds, mean_seconds;
    double min_seconds, max_seconds;         /* NaN for a difference of two times: profile.h */
    assay_reading std_seconds;               /* divides by count - 1; from two calls on */
    assay_reading low_seconds, high_seconds; /* 95 % interval of the mean, aware of
                                                autocorrelation; from two calls on */
    assay_reading p50_seconds, p95_seconds, p99_seconds;
    assay_reading steady_from; /* the call, counted from 0, at which the times become steady; not
                                  enough data if they never do, or if there are too few */
    uint64_t slow_count; /* calls of a slow mode, which stand apart above the others: stats.h */
    assay_reading slow_ratio; /* how many times as long they took; not enough data without any */
    const char *doubt;    /* why the interval cannot be trusted, as a sentence; NULL: nothing speaks
                             against it. Static storage */
    uint64_t reserved[4]; /* zero */
} assay_timing;

/* Do the work once. */
typedef assay_status (*assay_function)(void *argument);

/* Time single calls of a function: by default 100, after 10 that do not count. If the function
 * fails, the benchmark ends and returns its status; ASSAY_E_INTERRUPTED ends it early with the
 * calls so far, if two of them count. */
ASSAY_API ASSAY_MUST_USE assay_status assay_benchmark_function(
    assay_function function, void *argument, const assay_sampling_options *options,
    assay_error *error, assay_timing *timing);

/* The same figures from durations measured elsewhere. ASSAY_E_DATA without any, ASSAY_E_ARGUMENT
 * for one that is not finite. Needs memory for copies. */
ASSAY_API ASSAY_MUST_USE assay_status assay_timing_summarize(const double *seconds, size_t count,
                                                             assay_timing *timing);

#ifdef __cplusplus
}
#endif

#endif
