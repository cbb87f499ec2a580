/* Profiling one model: how long its passes take, what memory they hold.
 *
 *     assay_profile_target target = {sizeof target, class_, state, inputs, input_count, &wanted};
 *     assay_pass_profile passes;
 *     if (assay_profile_all(&target, NULL, &error, &passes) != ASSAY_OK) ...
 *     printf("Forward: %.2f ± %.2f ms\n", passes.forward.mean, passes.forward.std);
 *
 * The model is reached through its class alone (model.h), so built-in models, plugins and a
 * program's own class are measured alike, and libassay needs none of them to link.
 *
 * Times are in milliseconds, `_mb` in 2^20 bytes, as in the seed. Runs are timed one by one after
 * warm-up runs; how far the mean can be believed stands beside it (`low`, `high`: 95 %).
 *
 * Threads: one thread at a time on the same model.
 */
#ifndef ASSAY_PROFILE_H
#define ASSAY_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/clock.h"
#include "assay/model.h"
#include "assay/reading.h"
#include "assay/sampling.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- any function ---- */

typedef struct assay_runtime_stats {
    double mean, std, min, max; /* ms; std divides by num_runs - 1 */
    double low, high;           /* 95 % interval of the mean, correlated runs allowed for */
    uint64_t num_runs;
} assay_runtime_stats;

/* Start from ASSAY_PROFILE_OPTIONS_INIT; every zero means the default. */
typedef struct assay_profile_options {
    size_t struct_size;
    size_t num_runs;          /* default 100 */
    size_t warmup_runs;       /* default 10 */
    bool no_warmup;           /* none at all */
    double learning_rate;     /* of training steps; default 1e-3 */
    const assay_clock *clock; /* for tests; default: the best clock of the machine */
    /* Called after each timed run, for who keeps the times: "forward", "backward",
     * "training_step" or, of assay_benchmark_function(), "function". NULL: nobody does. */
    void (*sample)(void *context, const char *pass, double seconds);
    void *sample_context;
} assay_profile_options;

#define ASSAY_PROFILE_OPTIONS_INIT ASSAY_INIT(assay_profile_options)

/* A failure of the function ends it and is returned. At least 2 runs. */
ASSAY_API ASSAY_MUST_USE assay_status assay_benchmark_function(assay_status (*function)(void *),
                                                               void *argument,
                                                               const assay_profile_options *options,
                                                               assay_runtime_stats *stats);

/* From durations in seconds. ASSAY_E_DATA for fewer than 2, ASSAY_E_ARGUMENT for one that is not
 * finite. */
ASSAY_API ASSAY_MUST_USE assay_status assay_runtime_stats_of(const double *seconds, size_t count,
                                                             assay_runtime_stats *stats);

/* ---- passes of a model ---- */

typedef struct assay_profile_target {
    size_t struct_size;
    const assay_model_class *class_;
    void *state; /* what its create() made */
    const assay_tensor *inputs;
    size_t input_count;
    const assay_tensor *target; /* NULL: no backward, no training */
} assay_profile_target;

/* ASSAY_E_UNSUPPORTED, naming the model, where its class lacks the function or the target is
 * missing. Backward is the time of forward and backward together less that of the forward pass
 * run just before it, so that the two add up. A training step is gradient and update: it changes
 * the parameters. */
ASSAY_API ASSAY_MUST_USE assay_status assay_profile_forward(const assay_profile_target *target,
                                                            const assay_profile_options *options,
                                                            assay_error *error,
                                                            assay_runtime_stats *stats);
ASSAY_API ASSAY_MUST_USE assay_status assay_profile_backward(const assay_profile_target *target,
                                                             const assay_profile_options *options,
                                                             assay_error *error,
                                                             assay_runtime_stats *stats);
ASSAY_API ASSAY_MUST_USE assay_status assay_profile_training_step(
    const assay_profile_target *target, const assay_profile_options *options, assay_error *error,
    assay_runtime_stats *stats);

typedef struct assay_pass_profile {
    assay_runtime_stats forward, backward, training_step; /* num_runs 0: the class has none */
} assay_pass_profile;

/* All the class can do. */
ASSAY_API ASSAY_MUST_USE assay_status assay_profile_all(const assay_profile_target *target,
                                                        const assay_profile_options *options,
                                                        assay_error *error,
                                                        assay_pass_profile *profile);

/* ---- models to benchmark and compare ---- */

typedef enum assay_model_pass {
    ASSAY_PASS_FORWARD,
    ASSAY_PASS_GRADIENT, /* forward and backward */
    ASSAY_PASS_TRAINING_STEP
} assay_model_pass;

/* What a subject runs; caller-owned, must outlive the sampling. */
typedef struct assay_model_work {
    const assay_profile_target *target;
    assay_model_pass pass;
    double learning_rate; /* of training steps; 0 counts as 1e-3 */
} assay_model_work;

/* A pass of a model or plugin as a subject of assay_sampling_run() (sampling.h): two of them are
 * compared like any other two. ASSAY_E_UNSUPPORTED, naming the model, where its class or the target
 * lacks what the pass needs. Start `subject` from ASSAY_SUBJECT_INIT. */
ASSAY_API ASSAY_MUST_USE assay_status assay_model_subject(assay_model_work *work, const char *name,
                                                          assay_error *error,
                                                          assay_subject *subject);

/* ---- memory ---- */

typedef struct assay_memory_stats {
    assay_reading peak_mb;      /* highest resident memory of the process */
    assay_reading allocated_mb; /* live heap with libassay_heap.so, else resident now */
    assay_reading reserved_mb;  /* of a GPU's allocator; unsupported on the CPU */
    const char *device;         /* "cpu" */
} assay_memory_stats;

/* Let the peak start again from now. This changes the kernel's figure of the process (VmHWM) for
 * whoever reads it. */
ASSAY_API ASSAY_MUST_USE assay_status assay_reset_memory_stats(void);
ASSAY_API assay_reading assay_get_peak_memory(void); /* MB */

/* Reset the peak (where the kernel lets us), call, read. Returns what the function returned. */
ASSAY_API ASSAY_MUST_USE assay_status assay_profile_memory_usage(assay_status (*function)(void *),
                                                                 void *argument,
                                                                 assay_memory_stats *stats);

/* What a model holds after forward, backward and an update, by use, in MB. */
typedef struct assay_memory_breakdown {
    double parameters, gradients, optimizer_state, forward_activations, workspace, total;
} assay_memory_breakdown;

ASSAY_API ASSAY_MUST_USE assay_status assay_get_memory_breakdown(const assay_profile_target *target,
                                                                 assay_error *error,
                                                                 assay_memory_breakdown *breakdown);

/* ---- the state a profile is taken in ---- */

/* Evaluation mode (no dropout) for what comes between begin and end; end gives back the mode, which
 * the class cannot be asked for and the caller therefore states.
 *
 *     assay_profiling_context context = assay_profiling_begin(&target, false);
 *     ...
 *     assay_profiling_end(&context);
 */
typedef struct assay_profiling_context {
    const assay_model_class *class_;
    void *state;
    bool was_training;
} assay_profiling_context;

ASSAY_API assay_profiling_context assay_profiling_begin(const assay_profile_target *target,
                                                        bool is_training);
ASSAY_API void assay_profiling_end(assay_profiling_context *context);

#ifdef __cplusplus
}
#endif

#endif
