/* The passes of a model as subjects of sampling. They are sampled in turn, so that drifts (clock
 * frequency, caches, other processes) affect all passes alike, and the difference of two passes
 * compares samples taken close together.
 *
 * The functions of the class are called directly. assay_model_forward() and similar calls check
 * every input value, and the time of these checks is not part of the model. */
#include "models/profile/passes.h"

#include <math.h>
#include <stdlib.h>

#include "assay/stats.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "models/profile/runs.h"

enum { DEFAULT_RUNS = 100, DEFAULT_WARMUP = 10 };

static assay_status run_forward(void *context, uint64_t iterations)
{
    const assay_profile_target *target = context;
    const assay_model_class *class_ = assay_model_class_of(target->model);
    void *state = assay_model_state(target->model);
    assay_status status = ASSAY_OK;
    assay_tensor output;
    for (uint64_t i = 0; i < iterations && status == ASSAY_OK; i++)
        status = class_->forward(state, target->inputs, class_->input_count, NULL, &output);
    return status;
}

/* Give the model the loss and the optimizer of the target. Returns its training settings before,
 * for restore(). Neither function changes the random state of dropout. */
static assay_model_training choose(const assay_profile_target *target)
{
    assay_model_training *training = assay_model_training_of(target->model);
    assay_model_training before = {0};
    if (training != NULL) {
        before = *training;
        training->loss = target->loss;
        training->optimizer = target->optimizer;
    }
    return before;
}

static void restore(const assay_profile_target *target, const assay_model_training *before)
{
    assay_model_training *training = assay_model_training_of(target->model);
    if (training != NULL) {
        training->loss = before->loss;
        training->optimizer = before->optimizer;
    }
}

/* Compute one gradient and, unless the learning rate is negative, make the update. */
static assay_status train(const assay_profile_target *target, double learning_rate,
                          assay_error *error)
{
    const assay_model_class *class_ = assay_model_class_of(target->model);
    void *state = assay_model_state(target->model);
    double loss;
    assay_status status =
        class_->gradient(state, target->inputs, class_->input_count, target->target, error, &loss);
    if (status == ASSAY_OK && learning_rate >= 0)
        status = class_->update(state, learning_rate, error);
    return status;
}

assay_status assay__passes_train(const assay_profile_target *target, double learning_rate,
                                 assay_error *error)
{
    assay_model_training before = choose(target);
    assay_status status = train(target, learning_rate, error);
    restore(target, &before);
    return status;
}

static assay_status run_gradient(void *context, uint64_t iterations)
{
    assay_model_training before = choose(context);
    assay_status status = ASSAY_OK;
    for (uint64_t i = 0; i < iterations && status == ASSAY_OK; i++)
        status = train(context, ASSAY__NO_UPDATE, NULL);
    restore(context, &before);
    return status;
}

static assay_status run_training_step(void *context, uint64_t iterations)
{
    const assay_profile_target *target = context;
    double learning_rate = target->learning_rate > 0 ? target->learning_rate : 1e-3;
    assay_model_training before = choose(target);
    assay_status status = ASSAY_OK;
    for (uint64_t i = 0; i < iterations && status == ASSAY_OK; i++)
        status = train(target, learning_rate, NULL);
    restore(target, &before);
    return status;
}

/* Find the message of the class for a failure. Sampling reports only the status, so the pass is run
 * once more with an error struct. Returns whether there is a message. */
static bool explain(const assay_profile_target *target, assay_model_pass pass, assay_error *error)
{
    const assay_model_class *class_ = assay_model_class_of(target->model);
    void *state = assay_model_state(target->model);
    assay_error words = {0};
    assay_tensor output;
    assay_status status =
        pass == ASSAY_PASS_FORWARD
            ? class_->forward(state, target->inputs, class_->input_count, &words, &output)
            : assay__passes_train(target, ASSAY__NO_UPDATE, &words);
    bool said = status != ASSAY_OK && words.message[0] != '\0';
    if (said && error != NULL)
        *error = words;
    return said;
}

static const struct {
    const char *name;   /* the pass that is timed */
    const char *wanted; /* the pass that the caller wants to know about */
    assay_status (*run)(void *context, uint64_t iterations);
} passes[] = {[ASSAY_PASS_FORWARD] = {"forward", "forward", run_forward},
              [ASSAY_PASS_GRADIENT] = {"gradient", "backward", run_gradient},
              [ASSAY_PASS_TRAINING_STEP] = {"training_step", "training_step", run_training_step}};
enum { PASSES = sizeof passes / sizeof *passes };

static bool is_possible(const assay_profile_target *target, assay_model_pass pass)
{
    const assay_model_class *class_ = assay_model_class_of(target->model);
    return pass == ASSAY_PASS_FORWARD || (class_->gradient != NULL && target->target != NULL &&
                                          (pass == ASSAY_PASS_GRADIENT || class_->update != NULL));
}

assay_status assay_profile_subject(const assay_profile_target *target, assay_model_pass pass,
                                   const char *name, assay_error *error, assay_subject *subject)
{
    assay_status status = assay__struct_check(target, target->struct_size, sizeof *target,
                                              "assay_profile_target", error);
    if (status != ASSAY_OK)
        return status;
    if (!assay__struct_has_room(subject, sizeof *subject))
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "a subject to fill in starts from ASSAY_SUBJECT_INIT");
    if (!is_possible(target, pass))
        return assay__fail(error, ASSAY_E_UNSUPPORTED, "model '%s' has no %s pass to profile%s",
                           assay_model_class_of(target->model)->name, passes[pass].wanted,
                           target->target == NULL ? " without a target" : "");
    if ((target->loss != ASSAY_LOSS_MSE || target->optimizer != ASSAY_OPTIMIZER_ADAM) &&
        assay_model_training_of(target->model) == NULL)
        return assay__fail(error, ASSAY_E_UNSUPPORTED,
                           "model '%s' leaves no choice of loss or optimizer",
                           assay_model_class_of(target->model)->name);
    *subject = (assay_subject){.struct_size = subject->struct_size,
                               .name = name,
                               .run = passes[pass].run,
                               .context = (void *)(uintptr_t)target};
    return ASSAY_OK;
}

static assay_status sample(const assay_profile_target *target, const assay_model_pass *wanted,
                           size_t count, const assay_sampling_options *given, assay_error *error,
                           assay_record **record)
{
    assay_sampling_options options;
    assay_subject subjects[PASSES] = {ASSAY_SUBJECT_INIT, ASSAY_SUBJECT_INIT, ASSAY_SUBJECT_INIT};
    assay_status status = assay__runs_take(given, DEFAULT_RUNS, DEFAULT_WARMUP, error, &options);
    for (size_t i = 0; i < count && status == ASSAY_OK; i++)
        status =
            assay_profile_subject(target, wanted[i], passes[wanted[i]].name, error, &subjects[i]);
    if (status != ASSAY_OK)
        return status;
    status = assay_sampling_run(subjects, count, &options, error, record);
    for (size_t i = 0; i < count && status != ASSAY_OK; i++)
        if (explain(target, wanted[i], error))
            break;
    return status;
}

static assay_status run_subject_once(void *context)
{
    const assay_subject *subject = context;
    return subject->run(subject->context, 1);
}

static assay_status sum_up(const assay_record_subject *subject, assay_timing *timing)
{
    return assay_timing_summarize(subject->samples_seconds, subject->sample_count, timing);
}

static assay_status profile_alone(const assay_profile_target *target, assay_model_pass pass,
                                  const assay_sampling_options *options, assay_error *error,
                                  assay_timing *timing)
{
    *timing = (assay_timing){0};
    assay_record *record = NULL;
    assay_status status = sample(target, &pass, 1, options, error, &record);
    if (status == ASSAY_OK)
        status = sum_up(&record->subjects[0], timing);
    assay_record_free(record);
    return status;
}

assay_status assay_profile_forward(const assay_profile_target *target,
                                   const assay_sampling_options *options, assay_error *error,
                                   assay_timing *timing)
{
    return profile_alone(target, ASSAY_PASS_FORWARD, options, error, timing);
}

assay_status assay_profile_training_step(const assay_profile_target *target,
                                         const assay_sampling_options *options, assay_error *error,
                                         assay_timing *timing)
{
    return profile_alone(target, ASSAY_PASS_TRAINING_STEP, options, error, timing);
}

/* The backward pass alone is never timed. The spread of the single differences is mostly the noise
 * of two runs, so only their mean and its confidence interval are figures of the backward pass. */
assay_status assay__passes_subtract(const assay_record_subject *gradient,
                                    const assay_record_subject *forward, assay_timing *timing)
{
    size_t count = gradient->sample_count;
    double *seconds = calloc(count > 0 ? count : 1, sizeof *seconds);
    if (seconds == NULL)
        return ASSAY_E_MEMORY;
    double total = 0;
    for (size_t i = 0; i < count; i++) {
        seconds[i] = gradient->samples_seconds[i] - forward->samples_seconds[i];
        total += seconds[i];
    }
    assay_interval interval;
    const assay_reading none = assay_reading_missing(ASSAY_UNSUPPORTED);
    assay_status status = assay_stats_mean_interval(seconds, count, 0.95, &interval);
    if (status == ASSAY_OK)
        *timing = (assay_timing){.count = count,
                                 .total_seconds = total,
                                 .mean_seconds = total / (double)count,
                                 .min_seconds = NAN,
                                 .max_seconds = NAN,
                                 .std_seconds = none,
                                 .low_seconds = {interval.low, interval.validity},
                                 .high_seconds = {interval.high, interval.validity},
                                 .p50_seconds = none,
                                 .p95_seconds = none,
                                 .p99_seconds = none,
                                 .steady_from = none,
                                 .slow_ratio = none};
    free(seconds);
    return status;
}

assay_status assay_profile_backward(const assay_profile_target *target,
                                    const assay_sampling_options *options, assay_error *error,
                                    assay_timing *timing)
{
    static const assay_model_pass wanted[] = {ASSAY_PASS_FORWARD, ASSAY_PASS_GRADIENT};
    *timing = (assay_timing){0};
    assay_record *record = NULL;
    assay_status status = sample(target, wanted, 2, options, error, &record);
    if (status == ASSAY_OK)
        status = assay__passes_subtract(&record->subjects[1], &record->subjects[0], timing);
    assay_record_free(record);
    return status;
}

assay_status assay__passes_sample(const assay_profile_target *target,
                                  const assay_sampling_options *options, assay_error *error,
                                  assay_record **record)
{
    assay_model_pass wanted[PASSES];
    size_t count = 0;
    for (int pass = 0; pass < PASSES; pass++)
        if (is_possible(target, (assay_model_pass)pass))
            wanted[count++] = (assay_model_pass)pass;
    return sample(target, wanted, count, options, error, record);
}

assay_status assay_profile_all(const assay_profile_target *target,
                               const assay_sampling_options *options, assay_error *error,
                               assay_pass_profile *profile)
{
    *profile = (assay_pass_profile){0};
    assay_record *record = NULL;
    assay_status status = assay__passes_sample(target, options, error, &record);
    size_t count = status == ASSAY_OK ? record->subject_count : 0;
    if (count > 0)
        status = sum_up(&record->subjects[0], &profile->forward);
    if (status == ASSAY_OK && count > 1)
        status =
            assay__passes_subtract(&record->subjects[1], &record->subjects[0], &profile->backward);
    if (status == ASSAY_OK && count > 2)
        status = sum_up(&record->subjects[2], &profile->training_step);
    assay_record_free(record);
    return status;
}

assay_status assay_profile_pass_memory(const assay_profile_target *target, assay_model_pass pass,
                                       assay_error *error, assay_memory_stats *stats)
{
    assay_subject subject = ASSAY_SUBJECT_INIT;
    assay_status status = assay_profile_subject(target, pass, passes[pass].name, error, &subject);
    if (status == ASSAY_OK)
        status = assay_profile_memory_usage(run_subject_once, &subject, stats);
    if (status != ASSAY_OK)
        (void)explain(target, pass, error);
    return status;
}

assay_profiling_context assay_profiling_begin_with(assay_model *model, bool is_training,
                                                   const assay_profiling_options *given)
{
    const assay_profiling_options none = {0}, *options = given != NULL ? given : &none;
    assay_model_training *training = assay_model_training_of(model);
    assay_profiling_context context = {.model = model, .was_training = is_training};
    if (training != NULL) {
        context.before = *training;
        training->no_dropout = !options->keep_dropout;
    }
    if (training != NULL && options->seeded) {
        training->seed = options->seed;
        training->passes = 0;
    }
    if (!options->keep_mode)
        assay_model_set_training(model, false);
    return context;
}

assay_profiling_context assay_profiling_begin(assay_model *model, bool is_training)
{
    return assay_profiling_begin_with(model, is_training, NULL);
}

void assay_profiling_end(assay_profiling_context *context)
{
    if (context->model == NULL)
        return;
    assay_model_training *training = assay_model_training_of(context->model);
    if (training != NULL)
        *training = context->before;
    assay_model_set_training(context->model, context->was_training);
    *context = (assay_profiling_context){0};
}

void assay_runtime_stats_print(const assay_timing *timing, FILE *stream)
{
    fprintf(stream, "%.2f", 1e3 * timing->mean_seconds);
    if (timing->std_seconds.validity == ASSAY_VALID)
        fprintf(stream, " ± %.2f", 1e3 * timing->std_seconds.value);
    fputs(" ms (", stream);
    if (isfinite(timing->min_seconds) && isfinite(timing->max_seconds))
        fprintf(stream, "min %.2f, max %.2f, ", 1e3 * timing->min_seconds,
                1e3 * timing->max_seconds);
    fprintf(stream, "%llu runs)", (unsigned long long)timing->count);
}
