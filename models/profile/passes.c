/* Passes of a model as subjects of sampling. Forward and backward are run in turns, so that what
 * drifts (frequency, caches, neighbours) touches both alike and their difference is of one moment.
 *
 * The functions of the class are called directly: the checks of assay_model_forward() and its like
 * look at every input value, and their time is not the model's. */
#include <stdlib.h>

#include "assay/profile.h"
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

static assay_status run_gradient(void *context, uint64_t iterations)
{
    const assay_profile_target *target = context;
    const assay_model_class *class_ = assay_model_class_of(target->model);
    void *state = assay_model_state(target->model);
    assay_status status = ASSAY_OK;
    double loss;
    for (uint64_t i = 0; i < iterations && status == ASSAY_OK; i++)
        status = class_->gradient(state, target->inputs, class_->input_count, target->target, NULL,
                                  &loss);
    return status;
}

static assay_status run_training_step(void *context, uint64_t iterations)
{
    const assay_profile_target *target = context;
    double learning_rate = target->learning_rate > 0 ? target->learning_rate : 1e-3;
    assay_status status = ASSAY_OK;
    for (uint64_t i = 0; i < iterations && status == ASSAY_OK; i++) {
        status = run_gradient(context, 1);
        if (status == ASSAY_OK)
            status = assay_model_class_of(target->model)
                         ->update(assay_model_state(target->model), learning_rate, NULL);
    }
    return status;
}

/* The class's own words for a failure: sampling only knows the status, so the pass is run once more
 * with a place for the message. */
static void explain(const assay_profile_target *target, assay_model_pass pass, assay_error *error)
{
    const assay_model_class *class_ = assay_model_class_of(target->model);
    void *state = assay_model_state(target->model);
    const assay_tensor *inputs = target->inputs;
    assay_error words = {0};
    assay_tensor output;
    double loss;
    assay_status status =
        pass == ASSAY_PASS_FORWARD
            ? class_->forward(state, inputs, class_->input_count, &words, &output)
            : class_->gradient(state, inputs, class_->input_count, target->target, &words, &loss);
    if (status != ASSAY_OK && words.message[0] != '\0' && error != NULL)
        *error = words;
}

static const struct {
    const char *name;
    assay_status (*run)(void *context, uint64_t iterations);
} passes[] = {[ASSAY_PASS_FORWARD] = {"forward", run_forward},
              [ASSAY_PASS_GRADIENT] = {"backward", run_gradient},
              [ASSAY_PASS_TRAINING_STEP] = {"training_step", run_training_step}};

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
                           assay_model_class_of(target->model)->name, passes[pass].name,
                           target->target == NULL ? " without a target" : "");
    *subject = (assay_subject){.struct_size = subject->struct_size,
                               .name = name,
                               .run = passes[pass].run,
                               .context = (void *)(uintptr_t)target};
    return ASSAY_OK;
}

static assay_status profile_alone(const assay_profile_target *target, assay_model_pass pass,
                                  const assay_sampling_options *given, assay_error *error,
                                  assay_timing *timing)
{
    *timing = (assay_timing){0};
    assay_sampling_options options;
    assay_subject subject = ASSAY_SUBJECT_INIT;
    assay_record *record = NULL;
    assay_status status = assay__runs_take(given, DEFAULT_RUNS, DEFAULT_WARMUP, error, &options);
    if (status == ASSAY_OK)
        status = assay_profile_subject(target, pass, passes[pass].name, error, &subject);
    if (status == ASSAY_OK)
        status = assay_sampling_run(&subject, 1, &options, error, &record);
    else
        return status;
    if (status != ASSAY_OK)
        explain(target, pass, error);
    else
        status = assay_timing_summarize(record->subjects[0].samples_seconds,
                                        record->subjects[0].sample_count, timing);
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

/* Gradient less forward, round by round. */
static assay_status subtract(const assay_record *record, const assay_sampling_options *options,
                             assay_timing *timing)
{
    const assay_record_subject *forward = &record->subjects[0], *both = &record->subjects[1];
    double *seconds = calloc(both->sample_count, sizeof *seconds);
    if (seconds == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < both->sample_count; i++) {
        seconds[i] = both->samples_seconds[i] - forward->samples_seconds[i];
        if (options->sample != NULL)
            options->sample(options->sample_context, passes[ASSAY_PASS_GRADIENT].name, seconds[i]);
    }
    assay_status status = assay_timing_summarize(seconds, both->sample_count, timing);
    free(seconds);
    return status;
}

assay_status assay_profile_backward(const assay_profile_target *target,
                                    const assay_sampling_options *given, assay_error *error,
                                    assay_timing *timing)
{
    *timing = (assay_timing){0};
    assay_sampling_options options;
    assay_subject subjects[] = {ASSAY_SUBJECT_INIT, ASSAY_SUBJECT_INIT};
    assay_record *record = NULL;
    assay_status status = assay__runs_take(given, DEFAULT_RUNS, DEFAULT_WARMUP, error, &options);
    if (status == ASSAY_OK)
        status = assay_profile_subject(target, ASSAY_PASS_FORWARD, "forward", error, &subjects[0]);
    if (status == ASSAY_OK)
        status =
            assay_profile_subject(target, ASSAY_PASS_GRADIENT, "gradient", error, &subjects[1]);
    if (status != ASSAY_OK)
        return status;
    assay_sampling_options silent = options;
    silent.sample = NULL;
    status = assay_sampling_run(subjects, 2, &silent, error, &record);
    if (status != ASSAY_OK)
        explain(target, ASSAY_PASS_GRADIENT, error);
    else
        status = subtract(record, &options, timing);
    assay_record_free(record);
    return status;
}

assay_status assay_profile_all(const assay_profile_target *target,
                               const assay_sampling_options *options, assay_error *error,
                               assay_pass_profile *profile)
{
    *profile = (assay_pass_profile){0};
    assay_status status = assay_profile_forward(target, options, error, &profile->forward);
    if (status == ASSAY_OK && is_possible(target, ASSAY_PASS_GRADIENT))
        status = assay_profile_backward(target, options, error, &profile->backward);
    if (status == ASSAY_OK && is_possible(target, ASSAY_PASS_TRAINING_STEP))
        status = assay_profile_training_step(target, options, error, &profile->training_step);
    return status;
}

assay_profiling_context assay_profiling_begin(assay_model *model, bool is_training)
{
    assay_model_set_training(model, false);
    return (assay_profiling_context){model, is_training};
}

void assay_profiling_end(assay_profiling_context *context)
{
    if (context->model != NULL)
        assay_model_set_training(context->model, context->was_training);
    *context = (assay_profiling_context){0};
}
