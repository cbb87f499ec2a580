/* Sampling: the loop that times repeated calls.
 *
 *     assay_timing timing;
 *     if (assay_benchmark_function(sort_once, numbers, NULL, &error, &timing) != ASSAY_OK) ...
 *     printf("%g s a call\n", timing.mean_seconds);
 *
 * This is the short form, which calls one function a hundred times. The long form decides by itself
 * how often to call. It takes several subjects, so that they can be compared:
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
 * how many iterations make one sample, lets the subjects take turns in rounds, and leaves out the
 * warm-up and disturbed rounds. It stops when the mean of one subject is precise enough, when every
 * comparison of several subjects has its verdict, when the budget is spent, or when the noise is
 * too large for an answer. The result is a record of kind "bench", whose subjects contain every
 * sample that counts.
 *
 * These rules are fixed in advance:
 *   order      Every round runs each subject once. Rounds come in blocks of a Williams design: each
 *              subject is equally often at each place, and equally often after each other subject.
 *              The blocks are randomised by `seed`; the same seed gives the same order.
 *   length     A sample repeats the work until it takes at least `min_sample_seconds` (default
 *              200 µs) and at least 1000 times the cost and the resolution of the clock.
 *   warm-up    The rounds before the steady state are left out, or exactly `warmup_rounds` if you
 *              ask for that. For one subject the steady state is searched for in the whole series,
 *              for several subjects in the first 200 rounds of each. If more than half of the
 *              rounds of several subjects would be left out, the machine changed for all of them.
 *              In that case only the rounds before the ratios become steady are left out.
 *   disturbed  A sample is disturbed if the thread was preempted more than ten times a second (in a
 *              sample below 0.1 s: once), if it waited for a page from storage, if the clock went
 *              backwards, if the hypervisor took more than 5 % of the machine's time (checked every
 *              10 ms or longer), or if a GPU was throttled (with a `meter`). A round with a
 *              disturbed sample is left out as a whole, and counted for the subject that was
 *              preempted or waited. If more than half of the rounds would be left out, or fewer
 *              than two would remain, all of them are kept.
 *   looks      For one subject the interval is computed at 30 rounds, and then by the rule of
 *              assay_stopping_look() (stats.h): each look is nearer to the predicted end, so that
 *              repeated looks cost no coverage. A run ends for its precision at 200 rounds at the
 *              earliest, so that a slow mode of one run in 50 is seen. For several subjects the
 *              first look is at 6 rounds, and each further look comes a quarter later. The risk of
 *              a false verdict is divided among the looks, which the record lists. Without a
 *              verdict the whole budget is used.
 *
 * The processor time of a sample ("cpu_seconds" among the measures) is that of the whole process,
 * because a subject may have threads of its own. User and system time are those of the calling
 * thread. They are recorded only if samples take 0.1 s or more: the kernel updates them at its
 * timer ticks, so in shorter samples they would mix the times of several subjects. The time that a
 * sample waited for a processor is recorded if the kernel shows it. Peak memory belongs to the
 * whole process and says nothing about one subject. It is ASSAY_NOT_MEASURED unless `measure`
 * provides it, as it does for commands.
 *
 * Energy (with a `meter`) is that of the whole machine during a sample, divided by the number of
 * iterations. It includes the energy of `set_up_iteration`. A sample that is shorter than the
 * period of the energy counter or of the meter (both 0.1 s, with a GPU) has bounds only. The record
 * then has a mean between bounds, and energy is not compared. If `metric` is energy, a sample is at
 * least five periods long, unless the subject cannot be repeated. Up to half a period of energy at
 * either end of a sample may belong to a neighbouring sample. So samples of few periods show
 * differences smaller than they are.
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
    bool failed;    /* the work failed, but the run goes on. The sample is counted as failed, and
                       its round is left out unless the subject's `time_failures` is set */
    bool disturbed; /* the subject itself noticed a disturbance */
    assay_reading user_seconds, sys_seconds; /* of all iterations together */
    assay_reading peak_rss_bytes;
    assay_reading involuntary_switches, major_faults;
    assay_reading waited_seconds; /* time ready to run without a processor; of all iterations */
} assay_sample;

/* Something whose time is sampled. Set either `run` or `measure`. If a callback does not return
 * ASSAY_OK, the whole run ends with that status and without a record. A callback that returns
 * ASSAY_E_INTERRUPTED ends the run early instead: the earlier samples become the record. */
typedef struct assay_subject {
    size_t struct_size; /* set by the caller */
    const char *name;   /* in the record; must differ between subjects */
    void *context;      /* passed to every callback */

    /* Do the work `iterations` times; the whole call is timed. */
    assay_status (*run)(void *context, uint64_t iterations);

    /* Called before and after each sample, outside of the timing. Optional. */
    assay_status (*set_up)(void *context);
    assay_status (*tear_down)(void *context);

    /* Called before and after each iteration, outside of the timing. Optional. With them, `run` is
     * called with 1 and timed call by call. So the time of each iteration includes the cost of one
     * clock reading (see the record's clock), which is not subtracted. For work of less than a
     * microsecond, prepare many inputs in `set_up` instead. */
    assay_status (*set_up_iteration)(void *context);
    assay_status (*tear_down_iteration)(void *context);

    /* For work that measures its own time (a command, a GPU kernel): fills `sample`. */
    assay_status (*measure)(void *context, uint64_t iterations, assay_sample *sample);

    uint64_t max_iterations; /* of one sample; 0: no limit, 1: the work can be done only once */
    bool time_failures;      /* samples that failed are counted as failed, but used like others */

    /* Copied into the record. Optional. */
    const char *const *command;
    size_t command_count;
    const assay_record_fact *parameters;
    size_t parameter_count;
} assay_subject;

/* Why sampling stopped. The record contains the word in quotation marks. */
typedef enum assay_sampling_end {
    ASSAY_SAMPLING_GOING = 0,
    ASSAY_SAMPLING_PRECISION,  /* "precision": the interval is narrow enough */
    ASSAY_SAMPLING_BUDGET,     /* "budget": the time is spent */
    ASSAY_SAMPLING_NOISE,      /* "noise": never steady, or ten budgets would not be enough */
    ASSAY_SAMPLING_COUNT,      /* "count": max_rounds is reached */
    ASSAY_SAMPLING_VERDICT,    /* "verdict": every comparison of several subjects has its verdict */
    ASSAY_SAMPLING_INTERRUPTED /* "interrupted": a callback of a subject asked for it */
} assay_sampling_end;

/* The progress of a run. */
typedef struct assay_sampling_progress {
    size_t struct_size;
    double elapsed_seconds;
    double expected_seconds; /* of the whole run, estimated from the width of the interval so far */
    size_t rounds;           /* so far, warm-up and disturbed ones included */
    size_t subject;          /* index of the subject that runs next */
    /* The estimate and its interval at the last look. For one subject it is the mean in seconds,
     * for several subjects the ratio of the least certain candidate to the first. */
    assay_reading estimate, low, high;
    double relative_width; /* half the interval's width, relative to the estimate; 0: not known */
} assay_sampling_progress;

/* Start from ASSAY_SAMPLING_OPTIONS_INIT; every zero means the default. */
typedef struct assay_sampling_options {
    size_t struct_size;

    /* A fixed number of single calls: `runs` calls of each subject, after `warmup` calls that do
     * not count. Every call is then a sample, disturbed or not, and neither precision nor budget
     * ends the run. 0: as many samples as the precision needs. The other names of each union mean
     * the same. */
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
    double precision;          /* relative half width of the 95 % interval. One subject: of its
                                  mean, default 0.01. Several subjects: of the ratios; by default
                                  the verdicts alone decide */
    double margin;             /* of the comparison that follows; default 0.01 */
    const char *metric;        /* by which several subjects are compared: "cpu_seconds",
                                  "peak_rss_bytes", "energy_joules" (with a meter). Wall time if
                                  NULL, or if the metric is not measured */
    double min_sample_seconds; /* default 200e-6 */
    uint64_t seed;             /* of the order; 0 is a seed like any other */
    size_t min_rounds;         /* measured even if precise enough or over budget; default 2 */
    size_t max_rounds;         /* default and at most ASSAY_SAMPLING_MAX_ROUNDS; warm-up counts */
    bool fixed_rounds;         /* take `max_rounds`, however precise or noisy; only the budget ends
                                  the run sooner */
    bool fixed_warmup;         /* leave out exactly `warmup_rounds` instead of detecting */
    size_t warmup_rounds;
    size_t fresh_rounds; /* above 0: take each group of this many rounds in a new forked process */
    /* After each sample, outside of its time, do a piece of arithmetic that never changes (about
     * 20 µs) and record how long it took. Records of two runs can then be compared although the
     * machine was faster in one of them (compare.h). */
    bool yardstick;
    bool pin; /* run on `cpu` alone, and undo that afterwards */
    int cpu;
    const assay_clock *clock; /* NULL: the default. A clock of a test times `run` and the budget */
    /* Called before each sample, at most every `progress_seconds` (default 0.1). */
    void (*progress)(void *context, const assay_sampling_progress *progress);
    void *progress_context;
    double progress_seconds;
    /* A meter gives the energy of samples, and shows whether a GPU was throttled, which is a
     * disturbance. It must have been made in this process and outlive the call. NULL: neither is
     * measured. */
    struct assay_meter *meter;
} assay_sampling_options;

#define ASSAY_SAMPLING_OPTIONS_INIT ASSAY_INIT(assay_sampling_options)
#define ASSAY_SUBJECT_INIT          ASSAY_INIT(assay_subject)

enum { ASSAY_SAMPLING_MAX_SUBJECTS = 1024, ASSAY_SAMPLING_MAX_ROUNDS = 1 << 20 };

/* Sample `count` subjects. NULL options are the defaults. The record contains for each subject the
 * samples, the number of samples that were left out, and why sampling stopped.
 * assay_record_describe() adds the machine. Caller frees the record.
 *
 * If a subject fails, the run ends with its status and without a record; `error` names the subject
 * and the round. If a subject returns ASSAY_E_INTERRUPTED, the run ends early: the record then has
 * the complete rounds, and the round under way is dropped. If fewer than two rounds count, there is
 * no record, and the call returns ASSAY_E_INTERRUPTED. The end counts as one more look. So you may
 * end a run when its figures please you, without more false verdicts.
 *
 * With `fresh_rounds`, changes that subjects make in memory stay in the forked processes.
 * ASSAY_E_ARGUMENT for subjects or options that make no sense. */
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
    assay_reading std_seconds;               /* divides by count - 1; needs two calls */
    assay_reading low_seconds, high_seconds; /* 95 % interval of the mean, corrected for
                                                autocorrelation; needs two calls */
    assay_reading p50_seconds, p95_seconds, p99_seconds;
    assay_reading steady_from; /* the call, counted from 0, at which the times become steady; not
                                  enough data if they never do, or if there are too few */
    uint64_t slow_count;       /* calls of a slow mode, well separated from the others (stats.h) */
    assay_reading slow_ratio;  /* how many times as long they took; not enough data without any */
    const char *doubt;    /* why the interval cannot be trusted, as a sentence; NULL if there is no
                             doubt. Static storage */
    uint64_t reserved[4]; /* zero */
} assay_timing;

/* Do the work once. */
typedef assay_status (*assay_function)(void *argument);

/* Time single calls of a function: by default 100 calls, after 10 that do not count. If the
 * function fails, the benchmark ends and returns its status. If the function returns
 * ASSAY_E_INTERRUPTED, the benchmark ends early with the calls so far, if at least two of them
 * count. */
ASSAY_API ASSAY_MUST_USE assay_status assay_benchmark_function(
    assay_function function, void *argument, const assay_sampling_options *options,
    assay_error *error, assay_timing *timing);

/* Compute the same figures from durations that were measured elsewhere. ASSAY_E_DATA if there are
 * none, ASSAY_E_ARGUMENT if one is not finite. Needs memory for copies. */
ASSAY_API ASSAY_MUST_USE assay_status assay_timing_summarize(const double *seconds, size_t count,
                                                             assay_timing *timing);

#ifdef __cplusplus
}
#endif

#endif
