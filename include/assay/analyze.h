/* What measured figures mean: timers compared, convergence, warm-up, aggregates, bottlenecks.
 *
 * Arrays and records in, numbers out: nothing here measures or prints. Structs that come from the
 * seeds keep the seeds' keys: `_time` is in seconds, `_ms` in milliseconds, `_mb` in 2^20 bytes,
 * `_pct` in percent. A figure that cannot be known is a reading that says why.
 *
 * Threads: one thread at a time on the same object; different objects are independent.
 */
#ifndef ASSAY_ANALYZE_H
#define ASSAY_ANALYZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/reading.h"
#include "assay/record.h"
#include "assay/stats.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- timers: named results, in order ---------------------------------------------------------
 *
 *     assay_timers *timers = NULL;
 *     if (assay_timers_new(stdout, &timers) != ASSAY_OK)
 *         return 1;
 *     if (assay_timers_set(timers, "MLP", 120.0) != ASSAY_OK) ...       // flat: only a time
 *     assay_track_time(timers, "SIREN training", train, &siren);        // facade.h
 *     assay_print_timing_summary(timers, stdout, "Section 1.1", 9);     // report.h
 *     assay_timers_free(timers);
 *
 * An entry is flat (a time) or nested (a time and further metrics); every function takes both.
 * Setting a name again replaces its figures and keeps its place, as in a dictionary. An entry
 * measured while another one was being measured is that one's child: it is shown below it and not
 * added to the total again. Names are made printable and kept to 255 bytes. */
typedef struct assay_timers assay_timers;

enum {
    ASSAY_TIMERS_MAX = 4096,  /* entries */
    ASSAY_TIMER_METRICS = 16, /* metrics of one entry, beside its time */
    ASSAY_TIMER_KEY_MAX = 31  /* bytes of a metric's key */
};

typedef struct assay_timer_metric {
    char key[ASSAY_TIMER_KEY_MAX + 1]; /* "peak_memory_mb", ... */
    assay_reading value;
} assay_timer_metric;

typedef struct assay_timer {
    const char *name;
    int32_t parent;     /* index of the entry it was measured in, -1 at the top */
    assay_reading time; /* seconds; not measured while it still runs */
    size_t metric_count;
    const assay_timer_metric *metrics;
} assay_timer;

/* `progress` is where the tracking calls say what they finished, NULL for silence; it stays the
 * caller's and must outlive the timers. Caller frees. */
ASSAY_API ASSAY_MUST_USE assay_status assay_timers_new(FILE *progress, assay_timers **timers);
ASSAY_API void assay_timers_free(assay_timers *timers);

/* The first failure of a tracking call on these timers (no room, no memory, progress not writable),
 * which itself returns what the tracked function returns; ASSAY_OK if all is on record. */
ASSAY_API assay_status assay_timers_status(const assay_timers *timers);

/* ASSAY_E_ARGUMENT for a time that is negative or not finite, ASSAY_E_LIMIT past
 * ASSAY_TIMERS_MAX. The entry becomes flat and stands at the top. */
ASSAY_API ASSAY_MUST_USE assay_status assay_timers_set(assay_timers *timers, const char *name,
                                                       double seconds);

/* Add or replace one metric of an entry, which is made if missing; the key "time" sets the time.
 * ASSAY_E_LIMIT for a key longer than ASSAY_TIMER_KEY_MAX or one more than ASSAY_TIMER_METRICS. */
ASSAY_API ASSAY_MUST_USE assay_status assay_timers_set_metric(assay_timers *timers,
                                                              const char *name, const char *key,
                                                              assay_reading value);

/* Not measured when there is no such entry or metric. The key "time" gives the time. */
ASSAY_API assay_reading assay_timers_get(const assay_timers *timers, const char *name);
ASSAY_API assay_reading assay_timers_get_metric(const assay_timers *timers, const char *name,
                                                const char *key);

/* Entries in order of their first appearance. The view borrows from the timers and is good until
 * they change; `index` must be below the count. */
ASSAY_API size_t assay_timers_count(const assay_timers *timers);
ASSAY_API size_t assay_timers_find(const assay_timers *timers, const char *name); /* or the count */
ASSAY_API assay_timer assay_timers_at(const assay_timers *timers, size_t index);

/* Sum over the entries at the top, in seconds; children are part of their parents. */
ASSAY_API double assay_timers_total(const assay_timers *timers);

/* ---- speed-up --------------------------------------------------------------------------------
 */
typedef struct assay_speedup {
    const char *name;    /* borrowed from the timers */
    assay_reading time;  /* seconds */
    assay_reading ratio; /* baseline time / this time: above 1 is faster than the baseline;
                            not enough data where a time is zero or missing */
} assay_speedup;

/* One ratio for each entry, in order, into `ratios`, which has room for assay_timers_count().
 * `baseline` NULL is the slowest entry. `baseline_index` (may be NULL) gets its place.
 * ASSAY_E_NOT_FOUND if there is no such entry, ASSAY_E_DATA if it has no time. */
ASSAY_API ASSAY_MUST_USE assay_status assay_speedup_ratios(const assay_timers *timers,
                                                           const char *baseline, assay_error *error,
                                                           assay_speedup *ratios,
                                                           size_t *baseline_index);

/* The entry with the smallest time: the best of several configurations. ASSAY_E_DATA if none has a
 * time; the first one wins a tie. */
ASSAY_API ASSAY_MUST_USE assay_status assay_best_configuration(const assay_timers *timers,
                                                               size_t *index);

/* ---- convergence, warm-up, latency ----------------------------------------------------------- */

typedef struct assay_convergence {
    bool converged;                   /* the threshold was reached */
    assay_reading epochs_to_converge; /* counted from 1; not enough data when never reached */
    assay_reading time_to_converge;   /* not enough data when never reached, not measured without
                                         epoch times */
    assay_reading best_loss, best_epoch, final_loss; /* losses that are not finite are no losses */
    assay_reading total_time;
    double threshold;
    size_t epochs; /* on record */
} assay_convergence;

/* The first epoch whose loss is at or below `threshold`, and what it took. `epoch_seconds` may be
 * NULL. ASSAY_E_ARGUMENT for a threshold that is NaN or an epoch time that is negative or not
 * finite; no epochs at all is no error: nothing converged. */
ASSAY_API ASSAY_MUST_USE assay_status assay_convergence_analyze(const double *losses,
                                                                const double *epoch_seconds,
                                                                size_t count, double threshold,
                                                                assay_convergence *convergence);

typedef struct assay_warmup {
    double first_epoch_time;
    assay_reading avg_steady_state_time; /* mean of all epochs but the first */
    assay_reading warmup_overhead;       /* first minus steady; negative if the first was faster */
    assay_reading warmup_overhead_pct;   /* overhead as a share of the steady state */
} assay_warmup;

/* ASSAY_E_DATA without epochs; with one epoch the steady state is not enough data.
 * ASSAY_E_ARGUMENT for a time that is negative or not finite. */
ASSAY_API ASSAY_MUST_USE assay_status assay_warmup_analyze(size_t total_epochs,
                                                           const double *epoch_seconds,
                                                           assay_warmup *warmup);

typedef struct assay_inference_stats {
    size_t num_iterations;
    double mean_ms, min_ms, max_ms;
    assay_reading throughput_samples_per_sec; /* not enough data when the clock saw no time pass */
} assay_inference_stats;

/* From the durations of single calls, each of which handled `samples_per_call` samples (0: one).
 * ASSAY_E_DATA without durations. */
ASSAY_API ASSAY_MUST_USE assay_status assay_inference_summarize(const double *seconds, size_t count,
                                                                size_t samples_per_call,
                                                                assay_inference_stats *stats);

/* ---- the same from repeated measurements ------------------------------------------------------
 *
 * The figures above are what one run gives: a ratio of two times, the first epoch against the rest.
 * These say how far they can be believed. Intervals are at 95 %. */

/* Until when epochs are slower (or faster) than they will be. */
typedef struct assay_warmup_detection {
    size_t epochs;              /* looked at */
    assay_steady_state state;   /* ASSAY_STEADY, or why nothing below is known */
    size_t warmup_epochs;       /* before the steady state; 0: steady from the first epoch on */
    assay_interval steady_time; /* seconds of an epoch once steady, mean */
    assay_interval overhead;    /* seconds that warm-up took beyond as many steady epochs */
    assay_reading overhead_pct; /* as a share of one steady epoch, as in assay_warmup */
} assay_warmup_detection;

/* Where the steady state begins is detected, not guessed to be the second epoch. Fewer than
 * ASSAY_STEADY_LEAST epochs are ASSAY_STEADY_UNKNOWN. ASSAY_E_ARGUMENT for a time that is negative
 * or not finite; needs memory. */
ASSAY_API ASSAY_MUST_USE assay_status assay_warmup_detect(const double *epoch_seconds, size_t count,
                                                          assay_warmup_detection *detection);

/* Time or epochs until a threshold, over several trainings. */
typedef struct assay_time_to_threshold {
    assay_reading mean, mean_low, mean_high; /* not enough data unless every training got there */
    assay_reading median;                    /* not enough data when half of them did not */
    assay_reading median_low, median_high;   /* from 6 trainings on; no upper end is known when too
                                                many of them did not get there */
    assay_reading median_at_least;           /* what can be said when the median is not known */
} assay_time_to_threshold;

typedef struct assay_convergence_summary {
    size_t trainings, converged;
    assay_interval share_converged;
    assay_time_to_threshold seconds, epochs;
} assay_convergence_summary;

/* Over trainings analyzed with the same threshold. One that never got there is no number and is
 * not left out either: it took longer than it was given. ASSAY_E_DATA without trainings,
 * ASSAY_E_ARGUMENT when their thresholds differ; `seconds` is not measured when a training has no
 * epoch times. Needs memory. */
ASSAY_API ASSAY_MUST_USE assay_status assay_convergence_summarize(
    const assay_convergence *trainings, size_t count, assay_convergence_summary *summary);

/* A speed-up and whether to believe it. */
typedef struct assay_speedup_verdict {
    assay_reading ratio;     /* baseline time / this time: above 1 is faster than the baseline */
    assay_reading low, high; /* of the ratio */
    assay_verdict verdict;   /* by the rule of assay_compare_subjects: of the candidate */
    char reason[256];        /* why a verdict is inconclusive; else a remark or empty */
} assay_speedup_verdict;

/* From repeated timings of both, in the order they were measured. `alternating`: the i-th of one
 * was measured next to the i-th of the other, so that what disturbed both cancels (counts must be
 * equal, else ASSAY_E_ARGUMENT). Too few timings, or such that are no times, are an inconclusive
 * verdict with the reason. Needs memory. */
ASSAY_API ASSAY_MUST_USE assay_status assay_speedup_compare(
    const double *baseline_seconds, size_t baseline_count, const double *candidate_seconds,
    size_t candidate_count, bool alternating, assay_speedup_verdict *verdict);

/* Batches told apart by how far they lie from the others. */
typedef struct assay_batch_variance {
    size_t batches;
    assay_reading spread;       /* slowest over fastest, the seeds' figure */
    assay_reading median_time;  /* seconds */
    bool classified;            /* false below 8 batches: quartiles say too little */
    size_t far_below, below;    /* outside Tukey's outer and inner fences */
    size_t above, far_above;    /* far ones are not counted again as near ones */
    size_t slowest;             /* index of the slowest batch */
    assay_reading slowest_time; /* seconds */
    bool first_only;            /* the first batch is the only one that is far above */
} assay_batch_variance;

/* ASSAY_E_DATA without batches, ASSAY_E_ARGUMENT for a time that is negative or not finite; needs
 * memory. */
ASSAY_API ASSAY_MUST_USE assay_status assay_batch_variance_analyze(const double *batch_seconds,
                                                                   size_t count,
                                                                   assay_batch_variance *variance);

/* What a training loop took; the epoch monitor (facade.h) fills it. */
typedef struct assay_epoch_statistics {
    double total_epoch_time;
    assay_reading avg_epoch_time; /* not enough data before the first epoch ended */
    double total_batch_time;
    assay_reading avg_batch_time, min_batch_time, max_batch_time; /* likewise for batches */
    uint64_t num_batches, num_epochs;
    assay_reading first_batch_time; /* of the very first batch, where warm-up shows */
} assay_epoch_statistics;

/* ---- bottlenecks ------------------------------------------------------------------------------
 *
 * A rule is data: which operations it looks at, which figure it compares with which limit, and
 * what to do about it. assay_bottleneck_rules() shows them all; docs and reports quote them. */

typedef enum assay_evidence {
    ASSAY_EVIDENCE_OWN_SHARE = 1,   /* own time (without children) / total time of the run */
    ASSAY_EVIDENCE_SHARE = 2,       /* its whole time / total time of the run */
    ASSAY_EVIDENCE_BATCH_SHARE = 3, /* its whole time / time of the enclosing operation */
    ASSAY_EVIDENCE_SPREAD = 4,      /* slowest span / fastest span */
    ASSAY_EVIDENCE_FIRST = 5        /* first span / mean of the others */
} assay_evidence;

typedef enum assay_severity { ASSAY_SEVERITY_HINT = 1, ASSAY_SEVERITY_WARNING = 2 } assay_severity;

enum { ASSAY_RULE_REMEDIES = 4 };

typedef struct assay_bottleneck_rule {
    const char *id;         /* "data-loading" */
    const char *family;     /* of the rules of one family only the first that holds is reported for
                               an operation */
    const char *operations; /* words separated by '|', one of which the operation's name contains,
                               letter case and separators aside; NULL: every operation */
    assay_evidence evidence;
    double limit; /* the rule holds above it: a share of 1, or a ratio */
    assay_severity severity;
    const char *symptom; /* the line to print; {operation} and {value} stand for the finding's */
    const char *remedies[ASSAY_RULE_REMEDIES]; /* until NULL */
} assay_bottleneck_rule;

typedef struct assay_finding {
    const assay_bottleneck_rule *rule;
    const char *operation; /* borrowed from the record; "batch" for a training loop */
    double value;          /* the evidence: share or ratio */
} assay_finding;

/* The rules, in the order they are tried; static storage. */
ASSAY_API const assay_bottleneck_rule *assay_bottleneck_rules(size_t *count);

/* What stands out in a record: for each rule, the operations it holds for. Caller frees
 * `*findings` with free(); NULL with count 0 when nothing does. */
ASSAY_API ASSAY_MUST_USE assay_status assay_bottlenecks_find(const assay_record *record,
                                                             assay_finding **findings,
                                                             size_t *count);

/* The same from the statistics of a training loop: the batch rules only. */
ASSAY_API ASSAY_MUST_USE assay_status assay_bottlenecks_in_epochs(
    const assay_epoch_statistics *statistics, assay_finding **findings, size_t *count);

/* ---- comparisons ------------------------------------------------------------------------------
 *
 * Which of two subjects takes less time, really? The rule is fixed: the candidate is *faster* or
 * *slower* only if a 99 % interval of the ratio (candidate's time over the baseline's), aware of
 * autocorrelation, lies wholly beyond the margin; *same* if the 95 % interval lies wholly within
 * it; otherwise *inconclusive*, and the reason says what is missing. The interval shown is the
 * 95 % one. When several comparisons are made at once the 1 % risk is shared between them by Holm's
 * step-down procedure, those included that the data keep from being judged; `decision_level` says
 * which level a verdict took.
 *
 * Subjects that were interleaved in one record are compared round by round: what disturbs both
 * cancels. Others are compared as two series. Whatever the data cannot support (too few samples,
 * times that are no times, samples that are all equal, failed runs, one side disturbed clearly more
 * often, a drift or a step within the run as large as the difference) is inconclusive, never a
 * made-up number.
 *
 * Identical subjects are called different in 1 % of comparisons at most, whatever the size of the
 * noise, if neighbouring samples are correlated by 0.8 at most (0.95 from 30 samples on). Of many
 * compared at once with such a memory (20 candidates, 12 to 40 rounds) one record in 40 has a false
 * alarm. No method sees what never changes while it looks: a level that one run has from beginning
 * to end and the next one has not (another clock frequency, another place in memory) is a
 * difference between two saved records. Interleave the subjects to compare them, or let
 * `fresh_rounds` (sampling.h) draw the place anew.
 *
 *     assay_record *record = NULL;                      // with two subjects or more
 *     if (assay_compare_record(record, NULL) != ASSAY_OK) ...
 *     assay_report_comparisons(record, stdout, NULL);   // report.h
 */
typedef struct assay_compare_options {
    size_t struct_size; /* set by assay_compare_options_init */
    double margin;      /* differences up to this share are none: 0.01; 0 ≤ margin < 1 */
    bool all_pairs;     /* every pair, not only every candidate with the first */
} assay_compare_options;

/* The defaults; inline, so that the size is that of the version the caller was compiled with. */
static inline void assay_compare_options_init(assay_compare_options *options)
{
    assay_compare_options fresh = ASSAY_INIT(assay_compare_options);
    fresh.margin = 0.01;
    *options = fresh;
}

/* One comparison; the subjects and the texts of the result belong to `record`. Paired if both have
 * rounds. `options` NULL: the defaults. Fails with ASSAY_E_MEMORY or, for options that make no
 * sense, ASSAY_E_ARGUMENT; bad data is a verdict. Cost: a copy of the samples, some 30 passes
 * over them, and a millisecond to look for steps. */
ASSAY_API ASSAY_MUST_USE assay_status assay_compare_subjects(assay_record *record,
                                                             const assay_record_subject *baseline,
                                                             const assay_record_subject *candidate,
                                                             const assay_compare_options *options,
                                                             assay_record_comparison *comparison);

/* Replace the record's comparisons by those between its subjects: every other with the first. In a
 * sweep, where several subjects have the same parameters, those are compared among themselves.
 * Fewer than two subjects: an empty list. ASSAY_E_ARGUMENT for options that make no sense,
 * ASSAY_E_LIMIT for more than 4096 subjects. */
ASSAY_API ASSAY_MUST_USE assay_status assay_compare_record(assay_record *record,
                                                           const assay_compare_options *options);

/* Compare saved records: subjects of the same name and parameters, every other record with the
 * first. `origins` names the records (paths). The result is a new record of kind "compare" with all
 * subjects, the comparisons, and in `differences` what besides the code differs between the records
 * (processor, kernel, governor, compiler, iterations, …) or is in one of them only. ASSAY_E_DATA
 * when two records to be compared have no benchmark in common, ASSAY_E_ARGUMENT for fewer than two
 * records, ASSAY_E_LIMIT for more than 4096 benchmarks in one. Caller frees. */
ASSAY_API ASSAY_MUST_USE assay_status assay_compare_records(
    const assay_record *const *records, const char *const *origins, size_t count,
    const assay_compare_options *options, assay_error *error, assay_record **comparison);

/* The name of a benchmark of the baseline that is missing from the candidate's record and so was
 * not compared, if that is the difference; else NULL. Points into the difference. */
ASSAY_API const char *assay_compare_missing(const assay_record_difference *difference);

#ifdef __cplusplus
}
#endif

#endif
