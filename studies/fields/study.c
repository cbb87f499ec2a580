/* The steps of the study. The functions are learnt one after another, each by all models, so that a
 * machine that becomes slower affects all three. Every training is a step of its own, so that the
 * study can be resumed after each.
 *
 * After each training, a few epochs of all models are run in turn. So these samples are spread over
 * the whole study, and their variation includes that of the machine. Samples that were all taken at
 * the end would not show this variation, and two studies would differ whenever the machine was busy
 * at the end of one of them. */
#include "studies/fields/study.h"

#include <stdlib.h>
#include <string.h>

#include "assay/record_build.h"
#include "assay/sampling.h"
#include "assay/timers.h"
#include "base/error.h"
#include "studies/common/results.h"
#include "studies/fields/measure.h"
#include "studies/fields/report.h"
#include "studies/fields/sweep.h"

enum {
    STEPS = ASSAY__FIELDS_FUNCTIONS * ASSAY__FIELDS_MODELS, /* trainings */
    MAX_STEPS = STEPS + ASSAY__FIELDS_MAX_VARIANTS,         /* with the sweep */
    ROUNDS = 6, /* of epochs in turn, after each training */
    MAX_EPOCHS = ASSAY_SAMPLING_MAX_ROUNDS / 2,
    MAX_SAMPLES = 10000000
};

typedef struct fields {
    assay__study_plan plan;
    assay__study_step steps[MAX_STEPS];
    char names[STEPS][ASSAY__FIELDS_NAME_BYTES];
    assay__fields_variant variants[ASSAY__FIELDS_MAX_VARIANTS];
    size_t variant_count;
    char settings[512];
    assay__study *study;
    assay__fields_points points;
    assay__fields_findings findings;
    assay_record *turns; /* the epochs in turn of all steps, as subjects */
    assay_error *error;
} fields;

/* ---- the plan ---- */

static assay_status take_options(fields *self, const assay__fields_options *options)
{
    assay__fields_options *taken = &self->findings.options;
    *taken = *options;
    if (taken->epochs == 0)
        taken->epochs = self->plan.quick ? 30 : 200;
    if (taken->samples == 0)
        taken->samples = self->plan.quick ? 1024 : 4096;
    if (taken->threshold == 0)
        taken->threshold = 0.01;
    if (taken->epochs < 1 || taken->epochs > MAX_EPOCHS)
        return assay__fail(self->error, ASSAY_E_ARGUMENT, "epochs must be 1 to %d", MAX_EPOCHS);
    if (taken->samples < 1 || taken->samples > MAX_SAMPLES)
        return assay__fail(self->error, ASSAY_E_ARGUMENT, "samples must be 1 to %d", MAX_SAMPLES);
    assay_status status =
        assay__fields_variants(taken, self->error, self->variants, &self->variant_count);
    if (status != ASSAY_OK || taken->baseline == NULL)
        return status;
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS; m++)
        if (strcasecmp(taken->baseline, assay__fields_models[m].label) == 0) {
            taken->baseline = assay__fields_models[m].label;
            return ASSAY_OK;
        }
    return assay__fail(self->error, ASSAY_E_ARGUMENT,
                       "no model '%.50s' to compare with; there are: MLP, SIREN, KAN",
                       taken->baseline);
}

static const char *known(const char *list)
{
    return list != NULL ? list : "default";
}

static void make_plan(fields *self)
{
    const assay__fields_options *options = &self->findings.options;
    for (size_t step = 0; step < STEPS; step++) {
        size_t m = step % ASSAY__FIELDS_MODELS;
        assay__fields_training_name(self->names[step], step / ASSAY__FIELDS_MODELS, m);
        self->steps[step].name = self->names[step];
        self->steps[step].weight = assay__fields_models[m].cost * (double)options->epochs;
    }
    int used = snprintf(self->settings, sizeof self->settings, "epochs %lld, samples %lld",
                        (long long)options->epochs, (long long)options->samples);
    for (size_t i = 0; i < self->variant_count; i++) {
        const assay__fields_variant *variant = &self->variants[i];
        self->steps[STEPS + i].name = variant->name;
        self->steps[STEPS + i].weight = assay__fields_models[variant->model].cost *
                                        ASSAY__FIELDS_FUNCTIONS * (double)options->epochs;
    }
    if (self->variant_count > 0)
        snprintf(self->settings + used, sizeof self->settings - (size_t)used,
                 ", sweep %.100s/%.100s/%.100s", known(options->depths),
                 known(options->activations), known(options->grids));
    self->plan.settings = self->settings;
    self->plan.steps = self->steps;
    self->plan.step_count = STEPS + self->variant_count;
    self->findings.plan = &self->plan;
}

/* ---- trainings ---- */

/* The seed of a training. It depends only on the study's seed and the step, not on what ran before.
 */
static uint64_t training_seed(const fields *self, size_t step)
{
    assay__random random;
    assay__random_init(&random, self->plan.seed);
    for (size_t i = 0; i < step; i++)
        assay__random_next(&random);
    return assay__random_next(&random);
}

typedef struct tracked {
    const assay__fields_step *step;
    size_t function, model, epochs;
    assay_error *error;
    assay_status status;
} tracked;

static void *train(void *argument)
{
    tracked *job = argument;
    job->status =
        assay__fields_train(job->step, job->function, job->model, job->epochs, job->error);
    return job;
}

/* Train under a timer. The timer's line is shown only if the training succeeds. */
static assay_status train_timed(fields *self, const assay__fields_step *step, size_t function,
                                size_t model)
{
    const char *name = self->names[function * ASSAY__FIELDS_MODELS + model];
    tracked job = {step,        function, model, (size_t)self->findings.options.epochs,
                   self->error, ASSAY_OK};
    char *line = NULL;
    size_t length = 0;
    assay_timers *timers = NULL;
    FILE *lines = open_memstream(&line, &length);
    assay_status status = lines == NULL ? assay__fail(self->error, ASSAY_E_MEMORY, "out of memory")
                                        : assay_timers_new(lines, &timers);
    if (status == ASSAY_OK) {
        assay_track_time(timers, name, train, &job);
        status = job.status;
    }
    if (lines != NULL)
        fclose(lines);
    if (status == ASSAY_OK) {
        status =
            assay__found_cost(step->found, "time", name, assay_timers_get(timers, name, "time"),
                              "s", "making the net, every epoch, and the test");
        assay__study_quiet(self->study);
        fputs(line, self->plan.output);
        fflush(self->plan.output);
    }
    assay_timers_free(timers);
    free(line);
    return status;
}

/* ---- steps ---- */

static assay_status do_step(fields *self, size_t step, assay_record *found)
{
    if (step >= STEPS) {
        const assay__fields_step variant = {self->study, &self->points, training_seed(self, step),
                                            found};
        return assay__fields_train_variant(&variant, &self->variants[step - STEPS],
                                           &self->findings.options, self->error);
    }
    size_t function = step / ASSAY__FIELDS_MODELS, model = step % ASSAY__FIELDS_MODELS;
    const assay__fields_step work = {self->study, &self->points, training_seed(self, step), found};
    assay__fields_points_evaluate(&self->points, &assay__fields_functions[function]);
    assay_status status = train_timed(self, &work, function, model);
    return status == ASSAY_OK ? assay__fields_take_turns(&work, ROUNDS, self->error) : status;
}

/* Add the results of a step to the study's record. Its subjects, the epochs in turn, are first
 * collected, until join_turns() joins those of all steps. */
static assay_status take_over(fields *self, assay_record *found)
{
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < found->subject_count && status == ASSAY_OK; i++)
        status = assay__record_append_subject(self->turns, &found->subjects[i]);
    found->subject_count = 0;
    return status == ASSAY_OK ? assay__record_append(self->findings.record, found) : status;
}

/* Do the step, or read the results of an earlier run. */
static assay_status take_step(fields *self, size_t step)
{
    assay_record *found = NULL;
    assay_status status;
    if (assay__study_done(self->study, step)) {
        status = assay__study_recall(self->study, step, self->error, &found);
    } else {
        assay__study_begin(self->study, step);
        status = assay__study_findings(self->study, self->error, &found);
        if (status == ASSAY_OK)
            status = do_step(self, step, found);
        if (status == ASSAY_OK)
            status = assay__study_keep(self->study, step, found, self->error);
        if (status == ASSAY_OK)
            status = assay__study_end(self->study, self->error);
    }
    if (status == ASSAY_OK)
        status = take_over(self, found);
    assay_record_free(found);
    return status;
}

/* Join the epochs in turn of all steps to one subject for each model. */
static assay_status join_turns(fields *self)
{
    assay_status status = ASSAY_OK;
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS && status == ASSAY_OK; m++) {
        const assay_record_subject *parts[STEPS];
        char name[ASSAY__FIELDS_NAME_BYTES];
        size_t count = 0;
        assay__fields_epoch_name(name, m);
        for (size_t i = 0; i < self->turns->subject_count; i++)
            if (count < STEPS && strcmp(self->turns->subjects[i].name, name) == 0)
                parts[count++] = &self->turns->subjects[i];
        if (count > 0)
            status = assay__found_joined(self->findings.record, parts, count);
    }
    return status;
}

/* ---- the study ---- */

static assay_status begin_record(fields *self)
{
    const assay__fields_options *options = &self->findings.options;
    const struct {
        const char *key;
        double value;
    } settings[] = {
        {"epochs", (double)options->epochs},
        {"samples", (double)options->samples},
        {"batch_size", ASSAY__FIELDS_BATCH},
        {"threshold", options->threshold},
    };
    assay_status status = assay__study_findings(self->study, self->error, &self->findings.record);
    for (size_t i = 0; i < sizeof settings / sizeof *settings && status == ASSAY_OK; i++)
        status = assay__found_setting(self->findings.record, settings[i].key, settings[i].value);
    if (status == ASSAY_OK && options->baseline != NULL)
        status = assay_record_add_setting(self->findings.record, "baseline", options->baseline);
    return status;
}

static assay_status conclude(fields *self)
{
    assay_status status = assay__fields_analyze(&self->findings, self->error);
    if (status == ASSAY_OK)
        status = assay__study_publish(self->study, self->findings.record, self->error);
    if (status == ASSAY_OK)
        status = assay__fields_export(&self->findings, self->study, self->error);
    const char *table =
        self->variant_count > 0 ? assay__study_file(self->study, "sweep.csv", self->error) : NULL;
    if (status == ASSAY_OK && table != NULL)
        status = assay__fields_sweep_save(self->findings.record, self->variants,
                                          self->variant_count, table, self->error);
    assay__study_quiet(self->study);
    if (status == ASSAY_OK)
        status = assay__fields_print(&self->findings, self->plan.output, self->error);
    if (status == ASSAY_OK && self->variant_count > 0)
        status = assay__fields_sweep_print(self->findings.record, self->variants,
                                           self->variant_count, self->plan.output);
    if (status == ASSAY_OK)
        fprintf(self->plan.output,
                "Results in %s:\n"
                "accuracy.csv, fields_timing.csv, fields_timing.json, record.json,\n"
                "results.json%s\n",
                self->plan.folder, self->variant_count > 0 ? ", sweep.csv" : "");
    return status;
}

static assay_status run(fields *self)
{
    assay_status status = assay__study_open(&self->plan, self->error, &self->study);
    if (status != ASSAY_OK)
        return status;
    if (assay__study_resumed(self->study) > 0)
        fprintf(self->plan.output, "%zu of %zu steps were finished by an earlier run\n",
                assay__study_resumed(self->study), self->plan.step_count);
    status = assay__fields_points_init(&self->points, self->findings.options.samples,
                                       self->plan.seed, self->error);
    if (status == ASSAY_OK)
        status = begin_record(self);
    if (status == ASSAY_OK)
        status = assay_record_new(&self->turns);
    for (size_t step = 0; step < self->plan.step_count && status == ASSAY_OK; step++)
        status = take_step(self, step);
    if (status == ASSAY_OK)
        status = join_turns(self);
    return status == ASSAY_OK ? conclude(self) : status;
}

static void release(fields *self)
{
    assay_record_free(self->findings.record);
    assay_record_free(self->turns);
    assay_timers_free(self->findings.timers);
    assay__fields_points_release(&self->points);
    assay__study_free(self->study);
    free(self);
}

assay_status assay__fields_run(const assay__study_plan *plan, const assay__fields_options *options,
                               assay_error *error)
{
    fields *self = calloc(1, sizeof *self);
    if (self == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory");
    self->plan = *plan;
    self->error = error;
    assay_status status = take_options(self, options);
    if (status == ASSAY_OK) {
        make_plan(self);
        status = run(self);
    }
    release(self);
    return status;
}
