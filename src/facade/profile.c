/* Passes of a model timed one by one. Forward and backward are run in turns, so that what drifts
 * (frequency, caches, neighbours) touches both alike and their difference is of one moment. */
#include "assay/profile.h"

#include <math.h>
#include <stdlib.h>

#include "assay/stats.h"
#include "base/error.h"
#include "base/struct_size.h"

enum { DEFAULT_RUNS = 100, DEFAULT_WARMUP = 10 };

typedef struct plan {
    size_t runs, warmup;
    double learning_rate;
    const assay_clock *clock;
    void (*sample)(void *context, const char *pass, double seconds);
    void *sample_context;
} plan;

static assay_status make_plan(const assay_profile_options *given, assay_error *error, plan *made)
{
    assay_profile_options own, *options = &own;
    assay_status status =
        assay__struct_take(options, sizeof own, given, "assay_profile_options", error);
    if (status != ASSAY_OK)
        return status;
    if (options->num_runs == 1)
        return assay__fail(error, ASSAY_E_ARGUMENT, "a profile needs at least 2 runs");
    *made = (plan){
        .runs = options->num_runs != 0 ? options->num_runs : DEFAULT_RUNS,
        .warmup = options->no_warmup          ? 0
                  : options->warmup_runs != 0 ? options->warmup_runs
                                              : DEFAULT_WARMUP,
        .learning_rate = options->learning_rate > 0 ? options->learning_rate : 1e-3,
        .clock = options->clock != NULL ? options->clock : assay_clock_default(),
        .sample = options->sample,
        .sample_context = options->sample_context,
    };
    return ASSAY_OK;
}

assay_status assay_runtime_stats_of(const double *seconds, size_t count, assay_runtime_stats *stats)
{
    *stats = (assay_runtime_stats){0};
    if (count < 2)
        return ASSAY_E_DATA;
    assay_interval interval;
    assay_status status = assay_stats_time_interval(seconds, count, 0.95, &interval);
    if (status != ASSAY_OK)
        return status;
    double low = seconds[0], high = seconds[0], squares = 0;
    for (size_t i = 0; i < count; i++) {
        low = fmin(low, seconds[i]);
        high = fmax(high, seconds[i]);
        squares += (seconds[i] - interval.estimate) * (seconds[i] - interval.estimate);
    }
    *stats = (assay_runtime_stats){.mean = 1e3 * interval.estimate,
                                   .std = 1e3 * sqrt(squares / (double)(count - 1)),
                                   .min = 1e3 * low,
                                   .max = 1e3 * high,
                                   .low = 1e3 * interval.low,
                                   .high = 1e3 * interval.high,
                                   .num_runs = count};
    return ASSAY_OK;
}

/* One timed call: seconds through the last argument. */
typedef assay_status (*timed_call)(const void *what, const plan *made, assay_error *error,
                                   double *seconds);

static assay_status run_all(timed_call call, const void *what, const char *pass, const plan *made,
                            assay_error *error, assay_runtime_stats *stats)
{
    double *seconds = calloc(made->runs, sizeof *seconds), ignored;
    if (seconds == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "no memory for %zu times", made->runs);
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < made->warmup && status == ASSAY_OK; i++)
        status = call(what, made, error, &ignored);
    for (size_t i = 0; i < made->runs && status == ASSAY_OK; i++) {
        status = call(what, made, error, &seconds[i]);
        if (status == ASSAY_OK && made->sample != NULL)
            made->sample(made->sample_context, pass, seconds[i]);
    }
    if (status == ASSAY_OK)
        status = assay_runtime_stats_of(seconds, made->runs, stats);
    free(seconds);
    return status;
}

typedef struct function_call {
    assay_status (*function)(void *);
    void *argument;
} function_call;

static double seconds_since(const plan *made, uint64_t start_ns)
{
    return (double)(assay_clock_now_ns(made->clock) - start_ns) * 1e-9;
}

static assay_status time_function(const void *what, const plan *made, assay_error *error,
                                  double *seconds)
{
    const function_call *call = what;
    (void)error;
    uint64_t start_ns = assay_clock_now_ns(made->clock);
    assay_status status = call->function(call->argument);
    *seconds = seconds_since(made, start_ns);
    return status;
}

assay_status assay_benchmark_function(assay_status (*function)(void *), void *argument,
                                      const assay_profile_options *options,
                                      assay_runtime_stats *stats)
{
    *stats = (assay_runtime_stats){0};
    plan made;
    assay_status status = make_plan(options, NULL, &made);
    const function_call call = {function, argument};
    return status == ASSAY_OK ? run_all(time_function, &call, "function", &made, NULL, stats)
                              : status;
}

static assay_status time_forward(const void *what, const plan *made, assay_error *error,
                                 double *seconds)
{
    const assay_profile_target *target = what;
    assay_tensor output;
    uint64_t start_ns = assay_clock_now_ns(made->clock);
    assay_status status =
        target->class_->forward(target->state, target->inputs, target->input_count, error, &output);
    *seconds = seconds_since(made, start_ns);
    return status;
}

static assay_status run_gradient(const assay_profile_target *target, assay_error *error)
{
    double loss;
    return target->class_->gradient(target->state, target->inputs, target->input_count,
                                    target->target, error, &loss);
}

static assay_status time_backward(const void *what, const plan *made, assay_error *error,
                                  double *seconds)
{
    double forward = 0;
    assay_status status = time_forward(what, made, error, &forward);
    if (status != ASSAY_OK)
        return status;
    uint64_t start_ns = assay_clock_now_ns(made->clock);
    status = run_gradient(what, error);
    *seconds = seconds_since(made, start_ns) - forward;
    return status;
}

static assay_status time_training_step(const void *what, const plan *made, assay_error *error,
                                       double *seconds)
{
    const assay_profile_target *target = what;
    uint64_t start_ns = assay_clock_now_ns(made->clock);
    assay_status status = run_gradient(target, error);
    if (status == ASSAY_OK)
        status = target->class_->update(target->state, made->learning_rate, error);
    *seconds = seconds_since(made, start_ns);
    return status;
}

/* What a pass needs of the class and the target. */
static bool has_backward(const assay_profile_target *target)
{
    return target->class_->gradient != NULL && target->target != NULL;
}

static bool has_training(const assay_profile_target *target)
{
    return has_backward(target) && target->class_->update != NULL;
}

static assay_status fail_lacking(const assay_profile_target *target, const char *pass,
                                 assay_error *error)
{
    return assay__fail(error, ASSAY_E_UNSUPPORTED, "model '%s' has no %s pass to profile%s",
                       target->class_->name, pass,
                       target->target == NULL ? " without a target" : "");
}

static assay_status check_target(const assay_profile_target *target, assay_error *error)
{
    return assay__struct_check(target, target->struct_size, sizeof *target, "assay_profile_target",
                               error);
}

static assay_status profile(const assay_profile_target *target,
                            const assay_profile_options *options, bool possible, const char *pass,
                            timed_call call, assay_error *error, assay_runtime_stats *stats)
{
    *stats = (assay_runtime_stats){0};
    plan made;
    assay_status status = check_target(target, error);
    if (status == ASSAY_OK)
        status = make_plan(options, error, &made);
    if (status != ASSAY_OK)
        return status;
    if (!possible)
        return fail_lacking(target, pass, error);
    return run_all(call, target, pass, &made, error, stats);
}

assay_status assay_profile_forward(const assay_profile_target *target,
                                   const assay_profile_options *options, assay_error *error,
                                   assay_runtime_stats *stats)
{
    return profile(target, options, true, "forward", time_forward, error, stats);
}

assay_status assay_profile_backward(const assay_profile_target *target,
                                    const assay_profile_options *options, assay_error *error,
                                    assay_runtime_stats *stats)
{
    return profile(target, options, has_backward(target), "backward", time_backward, error, stats);
}

assay_status assay_profile_training_step(const assay_profile_target *target,
                                         const assay_profile_options *options, assay_error *error,
                                         assay_runtime_stats *stats)
{
    return profile(target, options, has_training(target), "training_step", time_training_step,
                   error, stats);
}

assay_status assay_profile_all(const assay_profile_target *target,
                               const assay_profile_options *options, assay_error *error,
                               assay_pass_profile *passes)
{
    *passes = (assay_pass_profile){0};
    assay_status status = assay_profile_forward(target, options, error, &passes->forward);
    if (status == ASSAY_OK && has_backward(target))
        status = assay_profile_backward(target, options, error, &passes->backward);
    if (status == ASSAY_OK && has_training(target))
        status = assay_profile_training_step(target, options, error, &passes->training_step);
    return status;
}

static assay_status run_pass(void *context, uint64_t iterations)
{
    const assay_model_work *work = context;
    const assay_profile_target *target = work->target;
    assay_status status = ASSAY_OK;
    assay_tensor output;
    for (uint64_t i = 0; i < iterations && status == ASSAY_OK; i++) {
        if (work->pass == ASSAY_PASS_FORWARD)
            status = target->class_->forward(target->state, target->inputs, target->input_count,
                                             NULL, &output);
        else
            status = run_gradient(target, NULL);
        if (status == ASSAY_OK && work->pass == ASSAY_PASS_TRAINING_STEP)
            status = target->class_->update(
                target->state, work->learning_rate > 0 ? work->learning_rate : 1e-3, NULL);
    }
    return status;
}

assay_status assay_model_subject(assay_model_work *work, const char *name, assay_error *error,
                                 assay_subject *subject)
{
    const assay_profile_target *target = work->target;
    assay_status status = check_target(target, error);
    if (status != ASSAY_OK)
        return status;
    if (!assay__struct_has_room(subject, sizeof *subject))
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "a subject to fill in starts from ASSAY_SUBJECT_INIT");
    if (work->pass == ASSAY_PASS_GRADIENT && !has_backward(target))
        return fail_lacking(target, "backward", error);
    if (work->pass == ASSAY_PASS_TRAINING_STEP && !has_training(target))
        return fail_lacking(target, "training_step", error);
    *subject = (assay_subject){
        .struct_size = subject->struct_size, .name = name, .run = run_pass, .context = work};
    return ASSAY_OK;
}

assay_profiling_context assay_profiling_begin(const assay_profile_target *target, bool is_training)
{
    if (target->class_->set_training != NULL)
        target->class_->set_training(target->state, false);
    return (assay_profiling_context){target->class_, target->state, is_training};
}

void assay_profiling_end(assay_profiling_context *context)
{
    if (context->class_ != NULL && context->class_->set_training != NULL)
        context->class_->set_training(context->state, context->was_training);
    *context = (assay_profiling_context){0};
}
