/* Runs trainings and epochs under the sampling engine. An epoch is one iteration of a subject. A
 * training is a subject that runs alone: each epoch is one sample, and none is left out, because
 * each changes the net. */
#include "studies/fields/measure.h"

#include <stdio.h>
#include <stdlib.h>

#include "assay/record_build.h"
#include "assay/sampling.h"
#include "base/error.h"
#include "studies/common/results.h"

void assay__fields_training_name(char name[ASSAY__FIELDS_NAME_BYTES], size_t function, size_t model)
{
    snprintf(name, ASSAY__FIELDS_NAME_BYTES, "%s on %s", assay__fields_models[model].label,
             assay__fields_functions[function].name);
}

void assay__fields_epoch_name(char name[ASSAY__FIELDS_NAME_BYTES], size_t model)
{
    snprintf(name, ASSAY__FIELDS_NAME_BYTES, "%s epoch", assay__fields_models[model].label);
}

/* ---- epochs as samples ---- */

/* The state that all subjects of a step share. */
typedef struct epochs {
    const assay__fields_step *step;
    assay__random random;
    size_t done, total;
    bool trained;        /* the training of the step is over, and these are its epochs in turn */
    double *losses;      /* (total) */
    assay_error failure; /* of an epoch; the sampler reports only that one failed */
} epochs;

typedef struct learner {
    epochs *epochs;
    const assay__fields_model *model;
    assay_model *instance;
} learner;

static assay_status run_epoch(void *context, uint64_t iterations)
{
    learner *self = context;
    epochs *shared = self->epochs;
    (void)iterations; /* max_iterations is 1 */
    return assay__fields_epoch(self->instance, self->model->learning_rate, shared->step->points,
                               &shared->random, &shared->failure, &shared->losses[shared->done]);
}

/* Called after each sample, outside its measured time. */
static assay_status end_epoch(void *context)
{
    epochs *shared = ((learner *)context)->epochs;
    assay__study *study = shared->step->study;
    double share = (double)++shared->done / (double)shared->total;
    bool go_on = assay__study_advance(study, shared->trained ? 1 : share);
    return go_on || shared->failure.status != ASSAY_OK
               ? ASSAY_OK
               : assay__study_interrupted(study, &shared->failure);
}

static assay_status begin_epochs(epochs *self, const assay__fields_step *step, size_t total,
                                 assay_error *error)
{
    *self = (epochs){.step = step, .total = total, .losses = calloc(total, sizeof(double))};
    assay__random_init(&self->random, step->seed);
    if (self->losses != NULL)
        return ASSAY_OK;
    return assay__fail(error, ASSAY_E_MEMORY, "out of memory for %zu epochs", total);
}

static assay_subject subject_of(learner *self, const char *name)
{
    assay_subject subject = ASSAY_SUBJECT_INIT;
    subject.name = name;
    subject.context = self;
    subject.run = run_epoch;
    subject.tear_down = end_epoch;
    subject.max_iterations = 1;
    return subject;
}

/* Run the sampling engine. If an epoch failed, the error is that of the epoch. */
static assay_status sample(epochs *self, const assay_subject *subjects, size_t count,
                           const assay_sampling_options *options, assay_error *error,
                           assay_record **sampled)
{
    assay_status status = assay_sampling_run(subjects, count, options, error, sampled);
    if (status != ASSAY_OK && self->failure.status != ASSAY_OK && error != NULL)
        *error = self->failure;
    return status;
}

/* ---- a training ---- */

static assay_status add_settings(assay_record *record, const assay_model *instance,
                                 assay_record_model *item)
{
    const assay_model_class *class_ = assay_model_class_of(instance);
    const double *values = assay_model_settings(instance);
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < class_->option_count && status == ASSAY_OK; i++) {
        const assay_model_option *option = &class_->options[i];
        status = option->words != NULL
                     ? assay_record_add_model_setting(record, item, option->name,
                                                      option->words[(size_t)values[i]])
                     : assay__found_model_setting(record, item, option->name, values[i]);
    }
    return status;
}

static assay_status add_model(assay_record *record, const assay__fields_model *model,
                              assay_model *instance)
{
    assay_record_model item;
    assay_record_model_init(&item);
    item.name = model->label; /* labels and names of classes are static */
    item.class_name = model->class_name;
    item.parameters = assay_reading_of((double)assay_model_parameter_count(instance));
    assay_status status = add_settings(record, instance, &item);
    if (status == ASSAY_OK)
        status = assay__found_model_setting(record, &item, "learning_rate", model->learning_rate);
    return status == ASSAY_OK ? assay_record_add_model(record, &item) : status;
}

static assay_status add_accuracy(assay_record *record, const char *of,
                                 const assay__fields_accuracy *accuracy)
{
    const struct {
        const char *name;
        double value;
    } figures[] = {
        {"rmse", accuracy->rmse},
        {"r2", accuracy->r2},
        {"largest_error", accuracy->largest_error},
    };
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < sizeof figures / sizeof *figures && status == ASSAY_OK; i++)
        status = assay__found_cost(record, figures[i].name, of, assay_reading_of(figures[i].value),
                                   NULL, "the test points, after the last epoch");
    return status;
}

static assay_status add_training(const learner *self, const char *of,
                                 const assay_record_subject *sampled,
                                 const assay__fields_accuracy *accuracy)
{
    assay_record *found = self->epochs->step->found;
    assay_status status = add_model(found, self->model, self->instance);
    if (status == ASSAY_OK)
        status = assay__found_series(found, "loss", of, "epoch", NULL, self->epochs->losses,
                                     self->epochs->done);
    if (status == ASSAY_OK)
        status = assay__found_series(found, "epoch_time", of, "epoch", NULL,
                                     sampled->samples_seconds, sampled->sample_count);
    if (status == ASSAY_OK)
        found->series[found->series_count - 1].unit = "s";
    return status == ASSAY_OK ? add_accuracy(found, of, accuracy) : status;
}

static assay_status train(learner *self, const char *name, assay_error *error,
                          assay_record **sampled)
{
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.yardstick = true;
    const assay_subject subject = subject_of(self, name);
    options.runs = self->epochs->total;
    return sample(self->epochs, &subject, 1, &options, error, sampled);
}

assay_status assay__fields_train(const assay__fields_step *step, size_t function, size_t model,
                                 size_t epoch_count, assay_error *error)
{
    epochs shared;
    learner self = {.epochs = &shared, .model = &assay__fields_models[model]};
    char name[ASSAY__FIELDS_NAME_BYTES];
    assay__fields_accuracy accuracy;
    assay_record *sampled = NULL;
    assay__fields_training_name(name, function, model);
    assay_status status = begin_epochs(&shared, step, epoch_count, error);
    if (status == ASSAY_OK)
        status = assay__fields_model_new(self.model, step->seed, error, &self.instance);
    if (status == ASSAY_OK)
        status = train(&self, name, error, &sampled);
    if (status == ASSAY_OK)
        status = assay__fields_test(self.instance, step->points, error, &accuracy);
    if (status == ASSAY_OK)
        status = add_training(&self, name, sampled->subjects, &accuracy);
    assay_record_free(sampled);
    assay_model_free(self.instance);
    free(shared.losses);
    return status;
}

/* ---- epochs in turn ---- */

/* Sample the epochs of all models in turn. The first round is the warm-up. */
static assay_status sample_turns(epochs *shared, learner *learners, size_t rounds,
                                 assay_error *error, assay_record **sampled)
{
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.yardstick = true;
    assay_subject subjects[ASSAY__FIELDS_MODELS];
    char names[ASSAY__FIELDS_MODELS][ASSAY__FIELDS_NAME_BYTES];
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS; m++) {
        assay__fields_epoch_name(names[m], m);
        subjects[m] = subject_of(&learners[m], names[m]);
    }
    options.fixed_rounds = options.fixed_warmup = true;
    options.warmup_rounds = 1;
    options.max_rounds = options.min_rounds = rounds + 1; /* independent of the budget */
    options.seed = shared->step->seed;
    return sample(shared, subjects, ASSAY__FIELDS_MODELS, &options, error, sampled);
}

static assay_status add_turns(assay_record *found, const assay_record_subject *sampled,
                              const char *model)
{
    assay_record_subject subject = *sampled;
    subject.model = model;
    subject.covers = "one epoch, in turns with the other models";
    return assay__record_append_subject(found, &subject);
}

assay_status assay__fields_take_turns(const assay__fields_step *step, size_t rounds,
                                      assay_error *error)
{
    epochs shared;
    learner learners[ASSAY__FIELDS_MODELS] = {{.model = NULL}};
    assay_record *sampled = NULL;
    assay_status status = begin_epochs(&shared, step, (rounds + 1) * ASSAY__FIELDS_MODELS, error);
    shared.trained = true;
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS && status == ASSAY_OK; m++) {
        learners[m] = (learner){.epochs = &shared, .model = &assay__fields_models[m]};
        status =
            assay__fields_model_new(learners[m].model, step->seed, error, &learners[m].instance);
    }
    if (status == ASSAY_OK)
        status = sample_turns(&shared, learners, rounds, error, &sampled);
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS && status == ASSAY_OK; m++)
        status = add_turns(step->found, &sampled->subjects[m], learners[m].model->label);
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS; m++)
        assay_model_free(learners[m].instance);
    assay_record_free(sampled);
    free(shared.losses);
    return status;
}
