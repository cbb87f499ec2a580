/* Training loops: epochs and batches, warm-up, convergence.
 *
 *     assay_epoch_monitor *monitor = NULL;
 *     if (assay_epoch_monitor_new(NULL, &monitor) != ASSAY_OK) ...
 *     for (int epoch = 0; epoch < epochs; epoch++) {
 *         assay_epoch_monitor_on_epoch_start(monitor);
 *         for (uint64_t i = 0; i < batches; i++) {
 *             assay_epoch_monitor_on_batch_start(monitor, i);
 *             double loss = train(model, i);
 *             assay_epoch_monitor_on_batch_end(monitor, i, loss);
 *         }
 *         assay_epoch_monitor_on_epoch_end(monitor);
 *     }
 *     assay_epoch_monitor_free(monitor);
 *
 * Epochs and batches are the spans "epoch" and "batch" of a monitor, and the loss is its counter
 * "loss". So they are in the journal of that monitor, and spans that begin inside a batch are
 * children of the batch.
 *
 * Members that end in `_time` are in seconds, members that end in `_pct` in percent. Warm-up and
 * convergence have two analyses each. The simple one gives figures of one run (assay_warmup,
 * assay_convergence). The other one shows how far these can be trusted, with 95 % intervals
 * (assay_warmup_detection, assay_convergence_summary).
 *
 * Threads: an epoch monitor belongs to one thread at a time. The analyses may run in any thread.
 */
#ifndef ASSAY_TRAINING_H
#define ASSAY_TRAINING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/bottleneck.h"
#include "assay/clock.h"
#include "assay/monitor.h"
#include "assay/reading.h"
#include "assay/stats.h"
#include "assay/status.h"
#include "assay/timers.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the loop -------------------------------------------------------------------------------- */

typedef struct assay_epoch_monitor assay_epoch_monitor;

/* Start from ASSAY_EPOCH_MONITOR_OPTIONS_INIT; every zero means the default. */
typedef struct assay_epoch_monitor_options {
    size_t struct_size;
    bool disabled;            /* every call does nothing, at the cost of a branch */
    int verbose_batches;      /* first batches of each epoch to print; default 5, negative: none */
    FILE *output;             /* for lines of batches and epochs; default: nothing is printed */
    assay_monitor *monitor;   /* receives the spans, borrowed; default: a monitor of its own */
    const assay_clock *clock; /* for tests; default: the best clock of the machine */
    /* Reads the memory of the GPU for the printed lines. NULL: assay_get_gpu_memory_usage(). */
    assay_gpu_memory (*gpu_memory)(void *gpu_context);
    void *gpu_context;
} assay_epoch_monitor_options;

#define ASSAY_EPOCH_MONITOR_OPTIONS_INIT ASSAY_INIT(assay_epoch_monitor_options)

/* Make an epoch monitor. NULL options are the defaults. Caller frees. */
ASSAY_API ASSAY_MUST_USE assay_status
assay_epoch_monitor_new(const assay_epoch_monitor_options *options, assay_epoch_monitor **monitor);
ASSAY_API void assay_epoch_monitor_free(assay_epoch_monitor *monitor);

/* With a NULL monitor these calls do nothing. If calls are out of order (an end without its start,
 * a start before the previous end), that epoch or batch is left out and the status is set. */
ASSAY_API void assay_epoch_monitor_on_epoch_start(assay_epoch_monitor *monitor);
ASSAY_API void assay_epoch_monitor_on_batch_start(assay_epoch_monitor *monitor, uint64_t index);
/* Pass NAN as the loss if there is none to show. */
ASSAY_API void assay_epoch_monitor_on_batch_end(assay_epoch_monitor *monitor, uint64_t index,
                                                double loss);
ASSAY_API void assay_epoch_monitor_on_epoch_end(assay_epoch_monitor *monitor);

/* The times of a training loop, in seconds. */
typedef struct assay_epoch_statistics {
    double total_epoch_time;
    assay_reading avg_epoch_time; /* not enough data before the first epoch has ended */
    double total_batch_time;
    assay_reading avg_batch_time, min_batch_time, max_batch_time; /* likewise for batches */
    uint64_t num_batches, num_epochs;
    assay_reading first_batch_time; /* of the very first batch, where warm-up shows */
    uint64_t reserved[4];           /* zero */
} assay_epoch_statistics;

ASSAY_API assay_epoch_statistics
assay_epoch_monitor_get_statistics(const assay_epoch_monitor *monitor);

/* The first failure so far: ASSAY_E_STATE for calls out of order, or why a line was not printed. */
ASSAY_API assay_status assay_epoch_monitor_status(const assay_epoch_monitor *monitor);

/* The monitor that receives the spans, for spans of your own inside a batch; NULL when disabled. */
ASSAY_API assay_monitor *assay_epoch_monitor_spans(const assay_epoch_monitor *monitor);

/* Find the rules for batches (bottleneck.h) that hold. Caller frees `*findings` with free(). If no
 * rule holds, `*findings` is NULL and the count is 0. */
ASSAY_API ASSAY_MUST_USE assay_status assay_bottlenecks_find_in_epochs(
    const assay_epoch_statistics *statistics, assay_finding **findings, size_t *count);

/* ---- batches --------------------------------------------------------------------------------- */

/* How far the slowest and the fastest batches lie from the others. */
typedef struct assay_batch_variance {
    size_t batches;
    assay_reading spread; /* slowest over fastest */
    assay_reading median_seconds;
    bool classified;         /* false below 8 batches: quartiles say too little */
    size_t far_below, below; /* outside Tukey's outer and inner fences */
    size_t above, far_above; /* each batch counts in at most one of the four */
    size_t slowest;          /* index of the slowest batch */
    assay_reading slowest_seconds;
    bool first_only;      /* the first batch is the only one that is far above */
    uint64_t reserved[4]; /* zero */
} assay_batch_variance;

/* Analyze the times of batches. ASSAY_E_DATA without batches, ASSAY_E_ARGUMENT for a time that is
 * negative or not finite. Needs memory. */
ASSAY_API ASSAY_MUST_USE assay_status assay_batch_variance_analyze(const double *batch_seconds,
                                                                   size_t count,
                                                                   assay_batch_variance *variance);

/* Print "High variance (6.6x) - investigate outliers!" if the slowest batch took more than twice as
 * long as the fastest, then which batches are outliers, or that there are none. */
ASSAY_API assay_status assay_batch_variance_print(const assay_batch_variance *variance,
                                                  FILE *stream);

/* ---- warm-up --------------------------------------------------------------------------------- */

typedef struct assay_warmup {
    double first_epoch_time;
    assay_reading avg_steady_state_time; /* mean of all epochs but the first */
    assay_reading warmup_overhead;       /* first minus steady; negative if the first was faster */
    assay_reading warmup_overhead_pct;   /* overhead as a share of the steady state */
} assay_warmup;

/* Analyze the warm-up, under the assumption that it is the first epoch. ASSAY_E_DATA without
 * epochs; with one epoch the figures of the steady state are ASSAY_NOT_ENOUGH_DATA.
 * ASSAY_E_ARGUMENT for a time that is negative or not finite. */
ASSAY_API ASSAY_MUST_USE assay_status assay_warmup_analyze(const double *epoch_seconds,
                                                           size_t count, assay_warmup *warmup);

/* Print the table of the warm-up analysis. */
ASSAY_API assay_status assay_print_warmup_analysis(const assay_warmup *warmup, FILE *stream,
                                                   const char *model_name);

/* The detected warm-up: the epochs before the steady state. */
typedef struct assay_warmup_detection {
    size_t epochs;                 /* number of epochs that were analyzed */
    assay_steady_state state;      /* ASSAY_STEADY, or why the figures below are not known */
    size_t warmup_epochs;          /* before the steady state; 0: steady from the first epoch on */
    assay_interval steady_seconds; /* mean time of an epoch in the steady state */
    assay_interval overhead;       /* time of the warm-up minus that of as many steady epochs */
    assay_reading overhead_pct;    /* as a share of one steady epoch, as in assay_warmup */
    uint64_t reserved[4];          /* zero */
} assay_warmup_detection;

/* Detect where the steady state begins, instead of assuming that it begins with the second epoch.
 * Fewer than ASSAY_STEADY_LEAST epochs are ASSAY_STEADY_UNKNOWN. ASSAY_E_ARGUMENT for a time that
 * is negative or not finite; needs memory. */
ASSAY_API ASSAY_MUST_USE assay_status assay_warmup_detect(const double *epoch_seconds, size_t count,
                                                          assay_warmup_detection *detection);

/* Print the table of the warm-up analysis, and below it the detection: the epoch from which on the
 * times are steady, their mean, and the cost of the warm-up; or that the times never become
 * steady. */
ASSAY_API assay_status assay_warmup_print(const assay_warmup *warmup,
                                          const assay_warmup_detection *detection, FILE *stream,
                                          const char *model_name);

/* ---- convergence ----------------------------------------------------------------------------- */

typedef struct assay_convergence {
    bool converged;                   /* the threshold was reached */
    assay_reading epochs_to_converge; /* counted from 1; not enough data if never reached */
    assay_reading time_to_converge;   /* not enough data if never reached; not measured without
                                         epoch times */
    assay_reading best_loss, best_epoch, final_loss; /* losses that are not finite are ignored */
    assay_reading total_seconds;
    double threshold;
    size_t epochs;        /* number of epochs */
    uint64_t reserved[4]; /* zero */
} assay_convergence;

/* Find the first epoch whose loss is at or below `threshold`, and the time until then.
 * `epoch_seconds` may be NULL. ASSAY_E_ARGUMENT for a threshold that is NaN or an epoch time that
 * is negative or not finite. A training without epochs is no error; it did not converge. */
ASSAY_API ASSAY_MUST_USE assay_status assay_convergence_analyze(const double *losses,
                                                                const double *epoch_seconds,
                                                                size_t count, double threshold,
                                                                assay_convergence *convergence);

/* Time or epochs until a threshold, over several trainings. */
typedef struct assay_time_to_threshold {
    assay_reading mean, mean_low, mean_high; /* not enough data unless every training converged */
    assay_reading median;                    /* not enough data if half of them did not converge */
    assay_reading median_low, median_high;   /* needs 6 trainings; the upper end is not known if too
                                                many of them did not converge */
    assay_reading median_at_least;           /* a lower bound if the median is not known */
} assay_time_to_threshold;

typedef struct assay_convergence_summary {
    size_t trainings, converged;
    assay_interval share_converged;
    assay_time_to_threshold seconds, epochs;
    uint64_t reserved[4]; /* zero */
} assay_convergence_summary;

/* Summarize trainings that were analyzed with the same threshold. A training that did not converge
 * is not left out: it counts as one that would take longer than it ran. `seconds` is
 * ASSAY_NOT_MEASURED if a training has no epoch times. ASSAY_E_DATA without trainings,
 * ASSAY_E_ARGUMENT if their thresholds differ. Needs memory. */
ASSAY_API ASSAY_MUST_USE assay_status assay_convergence_summarize(
    const assay_convergence *trainings, size_t count, assay_convergence_summary *summary);

/* Print how many of the trainings converged, after how much time and how many epochs, and how many
 * never did. */
ASSAY_API assay_status assay_convergence_print(const assay_convergence_summary *summary,
                                               FILE *stream, const char *model_name);

#ifdef __cplusplus
}
#endif

#endif
