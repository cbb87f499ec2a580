/* Functions are learnt one after another, each by all models in turn, so that a machine that
 * becomes slower meets all three; every training is a step of its own and can be resumed. */
#include "studies/fields/study.h"

#include <stdlib.h>
#include <string.h>

#include "assay/clock.h"
#include "assay/timers.h"
#include "base/error.h"
#include "studies/common/json_file.h"
#include "studies/fields/report.h"
#include "studies/fields/training.h"

enum {
    TRAININGS = ASSAY__FIELDS_FUNCTIONS * ASSAY__FIELDS_MODELS,
    ROUNDS_STEP = TRAININGS,
    STEPS,
    NAME_BYTES = 64,
    MAX_EPOCHS = 1000000,
    MAX_SAMPLES = 10000000
};

typedef struct fields {
    assay__study_plan plan;
    assay__study_step steps[STEPS];
    char names[STEPS][NAME_BYTES];
    char settings[128];
    assay__study *study;
    assay__fields_points points;
    assay__fields_findings findings;
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
    if (taken->baseline == NULL)
        return ASSAY_OK;
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS; m++)
        if (strcasecmp(taken->baseline, assay__fields_models[m].label) == 0) {
            taken->baseline = assay__fields_models[m].label;
            return ASSAY_OK;
        }
    return assay__fail(self->error, ASSAY_E_ARGUMENT,
                       "no model '%.50s' to compare with; there are: MLP, SIREN, KAN",
                       taken->baseline);
}

static size_t training_step(size_t function, size_t model)
{
    return function * ASSAY__FIELDS_MODELS + model;
}

static void make_plan(fields *self)
{
    const assay__fields_options *options = &self->findings.options;
    for (size_t f = 0; f < ASSAY__FIELDS_FUNCTIONS; f++) {
        for (size_t m = 0; m < ASSAY__FIELDS_MODELS; m++) {
            size_t step = training_step(f, m);
            snprintf(self->names[step], NAME_BYTES, "%s on %s", assay__fields_models[m].label,
                     assay__fields_functions[f].name);
            self->steps[step] = (assay__study_step){
                self->names[step], assay__fields_models[m].cost * (double)options->epochs};
        }
    }
    self->findings.rounds = self->plan.quick ? 60 : 100;
    self->steps[ROUNDS_STEP] =
        (assay__study_step){"interleaved epochs", 4 * (double)self->findings.rounds};
    snprintf(self->settings, sizeof self->settings, "epochs %lld, samples %lld",
             (long long)options->epochs, (long long)options->samples);
    self->plan.settings = self->settings;
    self->plan.steps = self->steps;
    self->plan.step_count = STEPS;
    self->findings.plan = &self->plan;
}

/* ---- trainings ---- */

/* Every training has a seed of its own, whatever ran before it. */
static uint64_t training_seed(const fields *self, size_t step)
{
    assay__random random;
    assay__random_init(&random, self->plan.seed);
    for (size_t i = 0; i < step; i++)
        assay__random_next(&random);
    return assay__random_next(&random);
}

typedef struct tracked {
    fields *self;
    size_t function, model;
    assay_status status;
} tracked;

static void *train(void *argument)
{
    tracked *job = argument;
    fields *self = job->self;
    job->status = assay__fields_train(self->study, &assay__fields_models[job->model],
                                      training_seed(self, training_step(job->function, job->model)),
                                      &self->points, self->error,
                                      &self->findings.results[job->function][job->model]);
    return job;
}

/* Train under a timer. Its line is shown only if the training came to its end. */
static assay_status train_timed(fields *self, size_t function, size_t model)
{
    const char *name = self->names[training_step(function, model)];
    tracked job = {self, function, model, ASSAY_OK};
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
        self->findings.results[function][model].total_seconds =
            assay_timers_get(timers, name, "time").value;
        assay__study_quiet(self->study);
        fputs(line, self->plan.output);
        fflush(self->plan.output);
    }
    assay_timers_free(timers);
    free(line);
    return status;
}

static assay_status do_training(fields *self, size_t function, size_t model)
{
    size_t step = training_step(function, model);
    assay__fields_result *result = &self->findings.results[function][model];
    char relative[NAME_BYTES * 2];
    snprintf(relative, sizeof relative, ".study/%s_%s.json", assay__fields_functions[function].name,
             assay__fields_models[model].label);
    const char *path = assay__study_file(self->study, relative, self->error);
    assay_status status =
        path == NULL
            ? ASSAY_E_IO
            : assay__fields_result_init(result, self->findings.options.epochs, self->error);
    if (status != ASSAY_OK)
        return status;
    if (assay__study_done(self->study, step))
        return assay__fields_result_load(path, self->error, result);
    assay__study_begin(self->study, step);
    assay__fields_points_evaluate(&self->points, &assay__fields_functions[function]);
    status = train_timed(self, function, model);
    if (status == ASSAY_OK)
        status = assay__fields_result_save(result, path, self->error);
    return status == ASSAY_OK ? assay__study_end(self->study, self->error) : status;
}

/* ---- interleaved epochs ---- */

static assay_status load_rounds(fields *self, const char *path)
{
    json_t *root = NULL;
    assay_status status = assay__json_file_read(path, self->error, &root);
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS && status == ASSAY_OK; m++) {
        json_t *list = json_object_get(root, assay__fields_models[m].label);
        if (json_array_size(list) != self->findings.rounds)
            status = assay__fail(self->error, ASSAY_E_FORMAT,
                                 "'%s' is damaged; --restart begins anew", path);
        for (size_t i = 0; i < self->findings.rounds && status == ASSAY_OK; i++)
            self->findings.round_seconds[m][i] = json_number_value(json_array_get(list, i));
    }
    json_decref(root);
    return status;
}

static assay_status save_rounds(fields *self, const char *path)
{
    json_t *root = json_object();
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS; m++) {
        json_t *list = json_array();
        for (size_t i = 0; i < self->findings.rounds; i++)
            json_array_append_new(list, json_real(self->findings.round_seconds[m][i]));
        json_object_set_new(root, assay__fields_models[m].label, list);
    }
    return assay__json_file_write(root, path, self->error);
}

/* One epoch of each model in a random order; the first round warms up and is not kept. */
static assay_status run_round(fields *self, assay_model *const *instances, assay__random *random,
                              size_t round)
{
    const assay_clock *clock = assay_clock_default();
    size_t order[ASSAY__FIELDS_MODELS];
    assay_status status = ASSAY_OK;
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS; m++) {
        size_t place = (size_t)assay__random_below(random, m + 1);
        order[m] = order[place];
        order[place] = m;
    }
    for (size_t i = 0; i < ASSAY__FIELDS_MODELS && status == ASSAY_OK; i++) {
        size_t m = order[i];
        double loss, start = assay_clock_seconds(clock);
        status = assay__fields_epoch(instances[m], assay__fields_models[m].learning_rate,
                                     &self->points, random, self->error, &loss);
        if (round > 0)
            self->findings.round_seconds[m][round - 1] = assay_clock_seconds(clock) - start;
    }
    if (status == ASSAY_OK &&
        !assay__study_advance(self->study, (double)round / (double)self->findings.rounds))
        status = assay__study_interrupted(self->study, self->error);
    return status;
}

static assay_status measure_rounds(fields *self)
{
    assay_model *instances[ASSAY__FIELDS_MODELS] = {NULL};
    assay__random random;
    uint64_t seed = training_seed(self, ROUNDS_STEP);
    assay_status status = ASSAY_OK;
    assay__random_init(&random, seed);
    assay__fields_points_evaluate(&self->points, &assay__fields_functions[0]);
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS && status == ASSAY_OK; m++)
        status =
            assay__fields_model_new(&assay__fields_models[m], seed, self->error, &instances[m]);
    for (size_t round = 0; round <= self->findings.rounds && status == ASSAY_OK; round++)
        status = run_round(self, instances, &random, round);
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS; m++)
        assay_model_free(instances[m]);
    return status;
}

static assay_status do_rounds(fields *self)
{
    const char *path = assay__study_file(self->study, ".study/rounds.json", self->error);
    if (path == NULL)
        return ASSAY_E_IO;
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS; m++) {
        self->findings.round_seconds[m] = calloc(self->findings.rounds, sizeof(double));
        if (self->findings.round_seconds[m] == NULL)
            return assay__fail(self->error, ASSAY_E_MEMORY, "out of memory");
    }
    if (assay__study_done(self->study, ROUNDS_STEP))
        return load_rounds(self, path);
    assay__study_begin(self->study, ROUNDS_STEP);
    assay_status status = measure_rounds(self);
    if (status == ASSAY_OK)
        status = save_rounds(self, path);
    return status == ASSAY_OK ? assay__study_end(self->study, self->error) : status;
}

/* ---- the study ---- */

static assay_status run(fields *self)
{
    assay_status status = assay__study_open(&self->plan, self->error, &self->study);
    if (status != ASSAY_OK)
        return status;
    if (assay__study_resumed(self->study) > 0)
        fprintf(self->plan.output, "%zu of %d steps were finished by an earlier run\n",
                assay__study_resumed(self->study), STEPS);
    status = assay__fields_points_init(&self->points, self->findings.options.samples,
                                       self->plan.seed, self->error);
    for (size_t f = 0; f < ASSAY__FIELDS_FUNCTIONS && status == ASSAY_OK; f++)
        for (size_t m = 0; m < ASSAY__FIELDS_MODELS && status == ASSAY_OK; m++)
            status = do_training(self, f, m);
    if (status == ASSAY_OK)
        status = do_rounds(self);
    if (status == ASSAY_OK)
        status = assay__fields_analyze(&self->findings, self->error);
    if (status == ASSAY_OK)
        status = assay__fields_export(&self->findings, self->study, self->error);
    assay__study_quiet(self->study);
    if (status == ASSAY_OK)
        status = assay__fields_print(&self->findings, self->plan.output, self->error);
    if (status == ASSAY_OK)
        fprintf(self->plan.output,
                "Results in %s: accuracy.csv, fields_timing.csv, "
                "fields_timing.json, results.json\n",
                self->plan.folder);
    return status;
}

static void release(fields *self)
{
    for (size_t f = 0; f < ASSAY__FIELDS_FUNCTIONS; f++)
        for (size_t m = 0; m < ASSAY__FIELDS_MODELS; m++)
            assay__fields_result_release(&self->findings.results[f][m]);
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS; m++)
        free(self->findings.round_seconds[m]);
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
