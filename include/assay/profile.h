/* Profiling one model: how long its passes take and how much memory they use. Link assay-models.
 *
 *     assay_profile_target target = ASSAY_PROFILE_TARGET_INIT;
 *     target.model = model;
 *     target.inputs = inputs;
 *     target.target = &wanted;
 *     assay_pass_profile passes;
 *     if (assay_profile_all(&target, NULL, &error, &passes) != ASSAY_OK) ...
 *     printf("Forward: %g s\n", passes.forward.mean_seconds);
 *
 * Built-in models, plugins and a program's own class are measured alike: assay_model_new() makes a
 * model of any class. All times are taken by assay_sampling_run() (sampling.h): by default 100 runs
 * one by one, after 10 that do not count.
 *
 * Threads: one thread at a time on the same model.
 */
#ifndef ASSAY_PROFILE_H
#define ASSAY_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "assay/model.h"
#include "assay/reading.h"
#include "assay/sampling.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- passes of a model ---- */

typedef struct assay_profile_target {
    size_t struct_size;
    assay_model *model;
    const assay_tensor *inputs; /* all inputs of its class, in the class's order */
    const assay_tensor *target; /* NULL: no backward pass, no training */
    double learning_rate;       /* of training steps; default 1e-3 */
    assay_loss loss;            /* between output and target; default: the class's own */
    assay_optimizer optimizer;  /* of training steps; default: the class's own */
} assay_profile_target;

#define ASSAY_PROFILE_TARGET_INIT ASSAY_INIT(assay_profile_target)

/* Time one pass. A training step is gradient and update, so it changes the parameters. Afterwards
 * the model has the loss and the optimizer that it had before. The call fails with
 * ASSAY_E_UNSUPPORTED, and the error names the model, in three cases: the class lacks the pass, the
 * class has one fixed loss or optimizer and you chose another one, or there is no target.
 *
 * No class can run its backward pass alone. So forward and gradient (forward and backward together)
 * are timed in turns, and the time of backward is the mean of the differences in each round, with
 * the interval of that mean. Forward and backward then add up to the gradient. No single backward
 * pass is ever timed. So its minimum and maximum are NaN, and its deviation and percentiles are
 * ASSAY_UNSUPPORTED.
 *
 * `options->sample` receives the times under the names "forward", "gradient" and
 * "training_step". */
ASSAY_API ASSAY_MUST_USE assay_status assay_profile_forward(const assay_profile_target *target,
                                                            const assay_sampling_options *options,
                                                            assay_error *error,
                                                            assay_timing *timing);
ASSAY_API ASSAY_MUST_USE assay_status assay_profile_backward(const assay_profile_target *target,
                                                             const assay_sampling_options *options,
                                                             assay_error *error,
                                                             assay_timing *timing);
ASSAY_API ASSAY_MUST_USE assay_status assay_profile_training_step(
    const assay_profile_target *target, const assay_sampling_options *options, assay_error *error,
    assay_timing *timing);

typedef struct assay_pass_profile {
    assay_timing forward, backward, training_step; /* count 0: the class has no such pass */
} assay_pass_profile;

/* Time every pass that the class has, in turns. */
ASSAY_API ASSAY_MUST_USE assay_status assay_profile_all(const assay_profile_target *target,
                                                        const assay_sampling_options *options,
                                                        assay_error *error,
                                                        assay_pass_profile *profile);

/* Print "10.50 ± 1.20 ms (min 9.80, max 14.10, 100 runs)" without a newline. Figures that the
 * timing lacks are left out. */
ASSAY_API void assay_runtime_stats_print(const assay_timing *timing, FILE *stream);

/* ---- models to benchmark and compare ---- */

typedef enum assay_model_pass {
    ASSAY_PASS_FORWARD,
    ASSAY_PASS_GRADIENT, /* forward and backward */
    ASSAY_PASS_TRAINING_STEP
} assay_model_pass;

/* Make a pass of a model a subject of assay_sampling_run(), so that passes can be compared like any
 * other subjects. The target must outlive the sampling. Start `subject` from ASSAY_SUBJECT_INIT.
 * ASSAY_E_UNSUPPORTED if the class or the target lacks something that the pass needs; the error
 * names the model. */
ASSAY_API ASSAY_MUST_USE assay_status assay_profile_subject(const assay_profile_target *target,
                                                            assay_model_pass pass, const char *name,
                                                            assay_error *error,
                                                            assay_subject *subject);

/* ---- memory ---- */

typedef struct assay_memory_stats {
    assay_reading peak_bytes;      /* highest resident memory of the process */
    assay_reading allocated_bytes; /* live heap with libassay_heap.so, else resident now */
    assay_reading reserved_bytes;  /* of a GPU's allocator; unsupported on the CPU */
    const char *device;            /* "cpu" */
} assay_memory_stats;

/* Reset the peak to the present resident memory. This changes the kernel's figure of the process
 * (VmHWM) for every reader. */
ASSAY_API ASSAY_MUST_USE assay_status assay_reset_memory_stats(void);
ASSAY_API assay_reading assay_get_peak_memory(void); /* bytes */

/* Reset the peak if the kernel allows it, call the function, and read the memory. Returns the
 * status of the function. */
ASSAY_API ASSAY_MUST_USE assay_status assay_profile_memory_usage(assay_function function,
                                                                 void *argument,
                                                                 assay_memory_stats *stats);

/* Measure the memory of the process in one pass of the model, as assay_profile_memory_usage()
 * does. */
ASSAY_API ASSAY_MUST_USE assay_status assay_profile_pass_memory(const assay_profile_target *target,
                                                                assay_model_pass pass,
                                                                assay_error *error,
                                                                assay_memory_stats *stats);

/* The memory in bytes that a model uses after forward, backward and an update, by purpose.
 * ASSAY_E_UNSUPPORTED for a class that does not report its memory. */
ASSAY_API ASSAY_MUST_USE assay_status assay_get_memory_breakdown(const assay_profile_target *target,
                                                                 assay_error *error,
                                                                 assay_model_memory *breakdown);

/* ---- the state of the model during a profile ---- */

/* Put the model into evaluation mode (no dropout) between begin and end. End restores the previous
 * mode. A model cannot be asked for its mode, so the caller passes the present mode to begin.
 *
 *     assay_profiling_context context = assay_profiling_begin(model, false);
 *     ...
 *     assay_profiling_end(&context);
 *
 * Mode, dropout and seed can be chosen one by one:
 *
 *     assay_profiling_options options = ASSAY_PROFILING_OPTIONS_INIT;
 *     options.keep_mode = true;     a training step ...
 *     options.seeded = true;        ... whose dropout draws the same masks each time
 *     options.keep_dropout = true;
 *     options.seed = 42;
 *     context = assay_profiling_begin_with(model, true, &options);
 */
typedef struct assay_profiling_options {
    size_t struct_size;
    bool keep_mode;    /* keep the mode that the model is in; otherwise it is evaluation mode */
    bool keep_dropout; /* keep dropout in training mode; otherwise it is switched off */
    bool seeded;       /* dropout draws its masks from `seed`, starting with the first */
    uint64_t seed;
} assay_profiling_options;

#define ASSAY_PROFILING_OPTIONS_INIT ASSAY_INIT(assay_profiling_options)

typedef struct assay_profiling_context {
    assay_model *model;
    bool was_training;
    assay_model_training before; /* restored by end */
} assay_profiling_context;

ASSAY_API assay_profiling_context assay_profiling_begin(assay_model *model, bool is_training);
/* NULL options are the defaults: evaluation mode, no dropout, no seed. */
ASSAY_API assay_profiling_context assay_profiling_begin_with(
    assay_model *model, bool is_training, const assay_profiling_options *options);
ASSAY_API void assay_profiling_end(assay_profiling_context *context);

#ifdef __cplusplus
}
#endif

#endif
