/* Evaluates the forecasts of the test trajectories, and samples the time of forecasts. */
#include "studies/rom/measure.h"

#include <math.h>
#include <stdlib.h>

#include "assay/compare.h"
#include "assay/memory.h"
#include "assay/record_build.h"
#include "assay/sampling.h"
#include "base/error.h"
#include "studies/common/results.h"

enum { MODELS = ASSAY__ROM_MODELS, WORKS = ASSAY__ROM_WORKS, SUBJECTS = WORKS * MODELS };

const char *const assay__rom_subjects[WORKS][MODELS] = {{"MVAR single step", "LSTM single step"},
                                                        {"MVAR forecast", "LSTM forecast"}};

static assay_status no_memory(assay_error *error, assay_status status)
{
    return assay__fail(error, status, "no memory for what was measured");
}

/* ---- forecasts of the test trajectories ---- */

const char assay__rom_last_value[] = "last value";

/* Sums of squares over all test trajectories: of the errors, and of the true values. The relative
 * error is the root of their quotient. */
typedef struct squares {
    double wrong, whole;
} squares;

typedef struct forecast_errors {
    squares latent, field;
    squares *steps; /* (horizon): of the field */
} forecast_errors;

static double relative(squares sums)
{
    return sqrt(sums.wrong / sums.whole);
}

/* The number of forecast steps: that of a benchmarked forecast, or fewer if the trajectories are
 * too short. */
static int64_t horizon_of(const assay__rom_trial *self)
{
    const assay__rom_settings *settings = self->settings;
    int64_t start = settings->window > settings->lag ? settings->window : settings->lag;
    int64_t left = self->data->steps - start;
    return left < settings->n_steps ? left : settings->n_steps;
}

static void add_squares(const double *forecast, const double *truth, int64_t count, squares *sums)
{
    for (int64_t i = 0; i < count; i++) {
        sums->wrong += (forecast[i] - truth[i]) * (forecast[i] - truth[i]);
        sums->whole += truth[i] * truth[i];
    }
}

/* Forecast the steps from `from` on, (horizon, dim), by the model. If `model` is NULL, repeat the
 * step before them. */
static assay_status make_forecast(const assay__rom_trial *self, assay__rom_model *model,
                                  int64_t trajectory, int64_t from, int64_t horizon,
                                  assay_error *error, double *forecast)
{
    const assay__rom_data *data = self->data;
    int64_t dim = data->pod.rank;
    if (model != NULL) {
        assay__rom_set_window(model, data, trajectory, from);
        return assay__rom_forecast_values(model, horizon, error, forecast);
    }
    const double *last = data->latent + (trajectory * data->steps + from - 1) * dim;
    for (int64_t i = 0; i < horizon * dim; i++)
        forecast[i] = last[i % dim];
    return ASSAY_OK;
}

/* Add the errors of the forecast of one trajectory. `forecast` (horizon, dim) receives the
 * forecast; `fields` (horizon, features) is scratch. */
static assay_status add_errors(const assay__rom_trial *self, assay__rom_model *model,
                               int64_t trajectory, int64_t horizon, assay_error *error,
                               double *forecast, double *fields, forecast_errors *errors)
{
    const assay__rom_data *data = self->data;
    const int64_t dim = data->pod.rank, width = data->features, from = data->steps - horizon;
    const int64_t row = trajectory * data->steps + from;
    assay_status status = make_forecast(self, model, trajectory, from, horizon, error, forecast);
    if (status == ASSAY_OK && assay__rom_restore(data, horizon, forecast, fields) != ASSAY_OK)
        status = assay__fail(error, ASSAY_E_MEMORY, "no memory for forecasts");
    if (status != ASSAY_OK)
        return status;
    add_squares(forecast, data->latent + row * dim, horizon * dim, &errors->latent);
    for (int64_t step = 0; step < horizon; step++) {
        squares here = {0, 0};
        add_squares(fields + step * width, data->fields + (row + step) * width, width, &here);
        errors->steps[step].wrong += here.wrong;
        errors->steps[step].whole += here.whole;
        errors->field.wrong += here.wrong;
        errors->field.whole += here.whole;
    }
    return ASSAY_OK;
}

static assay_status found_error(const forecast_errors *errors, const char *name, int64_t horizon,
                                double *by_step, assay_record *found)
{
    for (int64_t step = 0; step < horizon; step++)
        by_step[step] = relative(errors->steps[step]);
    assay_status status = assay__found_figure(found, "relative_error_latent", name,
                                              assay_reading_of(relative(errors->latent)), NULL);
    if (status == ASSAY_OK)
        status = assay__found_figure(found, "relative_error_field", name,
                                     assay_reading_of(relative(errors->field)), NULL);
    return status == ASSAY_OK ? assay__found_series(found, "relative_error", name, "step", NULL,
                                                    by_step, (size_t)horizon)
                              : status;
}

/* Add the series of the first amplitude, the largest, over the horizon, from rows (horizon,
 * latent_dim). `column` (horizon) is scratch. */
static assay_status found_amplitude(const assay__rom_trial *self, const char *name, const char *of,
                                    const double *rows, double *column, assay_record *found)
{
    const int64_t horizon = horizon_of(self), dim = self->data->pod.rank;
    for (int64_t step = 0; step < horizon; step++)
        column[step] = rows[step * dim];
    return assay__found_series(found, name, of, "step", NULL, column, (size_t)horizon);
}

/* Add the forecast of the first test trajectory. With the trivial forecast, also add the truth. */
static assay_status found_forecast(const assay__rom_trial *self, const assay__rom_model *model,
                                   const double *forecast, double *column, assay_record *found)
{
    const assay__rom_data *data = self->data;
    const int64_t row = data->train * data->steps + data->steps - horizon_of(self);
    assay_status status = found_amplitude(self, "amplitude_forecast",
                                          model != NULL ? model->name : assay__rom_last_value,
                                          forecast, column, found);
    return status != ASSAY_OK || model != NULL
               ? status
               : found_amplitude(self, "amplitude_truth", "test",
                                 data->latent + row * data->pod.rank, column, found);
}

/* Forecast the end of every test trajectory by the model, or by the last value if it is NULL. */
static assay_status evaluate(const assay__rom_trial *self, assay__rom_model *model,
                             assay_record *found, assay_error *error)
{
    const assay__rom_data *data = self->data;
    const int64_t horizon = horizon_of(self);
    double *forecast = malloc((size_t)(horizon * data->pod.rank) * sizeof *forecast);
    double *fields = malloc((size_t)(horizon * data->features) * sizeof *fields);
    forecast_errors errors = {.steps = calloc((size_t)horizon, sizeof *errors.steps)};
    assay_status status = forecast != NULL && fields != NULL && errors.steps != NULL
                              ? ASSAY_OK
                              : assay__fail(error, ASSAY_E_MEMORY, "no memory for forecasts");
    for (int64_t t = data->train; t < data->trajectories && status == ASSAY_OK; t++) {
        status = add_errors(self, model, t, horizon, error, forecast, fields, &errors);
        if (status == ASSAY_OK && t == data->train &&
            found_forecast(self, model, forecast, fields, found) != ASSAY_OK)
            status = no_memory(error, ASSAY_E_MEMORY);
    }
    if (status == ASSAY_OK &&
        found_error(&errors, model != NULL ? model->name : assay__rom_last_value, horizon, forecast,
                    found) != ASSAY_OK)
        status = no_memory(error, ASSAY_E_MEMORY);
    free(forecast);
    free(fields);
    free(errors.steps);
    return status;
}

static assay_status found_errors(const assay__rom_trial *self, assay_record *found,
                                 assay_error *error)
{
    assay_status status = ASSAY_OK;
    for (int i = 0; i < MODELS && status == ASSAY_OK; i++)
        status = evaluate(self, &self->models[i], found, error);
    return status == ASSAY_OK ? evaluate(self, NULL, found, error) : status;
}

static assay_status found_data(const assay__rom_trial *self, assay_record *found,
                               assay_error *error)
{
    const assay__rom_data *data = self->data;
    double energy = 0;
    for (int64_t k = 0; k < data->pod.rank; k++)
        energy += data->pod.energy[k];
    const struct {
        const char *name, *of;
        double value;
    } figures[] = {{"trajectories", "data", (double)data->trajectories},
                   {"training_trajectories", "data", (double)data->train},
                   {"steps", "data", (double)data->steps},
                   {"features", "data", (double)data->features},
                   {"energy", "reduction", energy},
                   {"horizon_steps", "test", (double)horizon_of(self)}};
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < sizeof figures / sizeof *figures && status == ASSAY_OK; i++)
        status = assay__found_figure(found, figures[i].name, figures[i].of,
                                     assay_reading_of(figures[i].value), NULL);
    return status == ASSAY_OK ? status : no_memory(error, status);
}

/* ---- the cost of forecasts ---- */

typedef struct forecast_work {
    assay__rom_model *model;
    int64_t steps;
} forecast_work;

static assay_status run_forecasts(void *context, uint64_t iterations)
{
    const forecast_work *work = context;
    assay_status status = ASSAY_OK;
    for (uint64_t i = 0; i < iterations && status == ASSAY_OK; i++)
        status = assay__rom_forecast(work->model, work->steps);
    return status;
}

static void show_progress(void *context, const assay_sampling_progress *progress)
{
    const assay__rom_trial *self = context;
    double expected = fmax(progress->expected_seconds, progress->elapsed_seconds);
    (void)assay__study_advance(self->study,
                               expected > 0 ? progress->elapsed_seconds / expected : 0);
}

/* A profile shows a fixed number of trials after a warm-up (document A of docs/seed-map.md). So the
 * number of rounds is fixed, and the budget decides how long they are. A trial repeats the forecast
 * until its share of the budget is used. The times of single calls, some below a microsecond, would
 * depend on the clock and on short disturbances, and two runs of the study would differ although
 * nothing in them does. Disturbed rounds are left out, as always. */
static assay_sampling_options sampling_options(assay__rom_trial *self)
{
    enum { WARMUP = 5 };
    const assay__rom_settings *settings = self->settings;
    size_t rounds = (size_t)settings->n_trials + WARMUP;
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.yardstick = true;
    options.fixed_rounds = options.fixed_warmup = true;
    options.min_rounds = options.max_rounds = rounds;
    options.warmup_rounds = WARMUP;
    options.budget_seconds = settings->budget_seconds;
    options.min_sample_seconds = settings->budget_seconds / (double)(rounds * SUBJECTS);
    options.seed = assay__study_plan_of(self->study)->seed;
    options.progress = show_progress;
    options.progress_context = self;
    return options;
}

static assay_status sample(assay__rom_trial *self, assay_error *error, assay_record **sampled)
{
    forecast_work works[SUBJECTS];
    assay_subject subjects[SUBJECTS];
    for (int i = 0; i < SUBJECTS; i++) {
        int work = i / MODELS, model = i % MODELS;
        works[i] = (forecast_work){&self->models[model],
                                   work == ASSAY__ROM_STEP ? 1 : self->settings->n_steps};
        subjects[i] = (assay_subject){.struct_size = sizeof(assay_subject),
                                      .name = assay__rom_subjects[work][model],
                                      .run = run_forecasts,
                                      .context = &works[i]};
    }
    assay_sampling_options options = sampling_options(self);
    return assay_sampling_run(subjects, SUBJECTS, &options, error, sampled);
}

static const char *covers(const assay__rom_trial *self, int work, int model, assay_record *record)
{
    char text[160];
    long long steps = work == ASSAY__ROM_STEP ? 1 : (long long)self->settings->n_steps;
    snprintf(text, sizeof text, "%lld %s, after reading a window of %lld steps", steps,
             steps == 1 ? "step" : "steps", (long long)self->models[model].start);
    return assay_record_text(record, text);
}

/* Set the model of each subject and what it covers. */
static assay_status describe_subjects(const assay__rom_trial *self, assay_record *sampled)
{
    for (int i = 0; i < SUBJECTS; i++) {
        assay_record_subject *subject = &sampled->subjects[i];
        subject->model = assay_record_text(sampled, self->models[i % MODELS].name);
        subject->covers = covers(self, i / MODELS, i % MODELS, sampled);
        if (subject->model == NULL || subject->covers == NULL)
            return ASSAY_E_MEMORY;
    }
    return ASSAY_OK;
}

/* Compare the subjects of one work. They are copied to a record of their own, so that they are not
 * compared with the other subjects. */
static assay_status compare_work(const assay_record *sampled, int work, assay_record *found)
{
    assay_compare_options by_wall_time = ASSAY_COMPARE_OPTIONS_INIT;
    by_wall_time.metric = "wall_seconds"; /* a speed refers to wall time */
    assay_record *pair = NULL;
    assay_status status = assay_record_new(&pair);
    for (int i = 0; i < MODELS && status == ASSAY_OK; i++)
        status = assay__record_append_subject(pair, &sampled->subjects[work * MODELS + i]);
    if (status == ASSAY_OK)
        status = assay_record_compare(pair, &by_wall_time);
    if (status == ASSAY_OK) {
        pair->subject_count = 0; /* `found` has the subjects already */
        status = assay__record_append(found, pair);
    }
    assay_record_free(pair);
    return status;
}

static assay_status found_memory(assay_record *found, assay_error *error)
{
    const char *covers = "the whole process, after the forecasts were timed";
    assay_memory memory = {.struct_size = sizeof memory};
    assay_status status = assay_memory_read(&memory);
    if (status != ASSAY_OK)
        return assay__fail(error, status, "cannot read the memory in use: %s",
                           assay_status_message(status));
    status =
        assay__found_cost(found, "peak_rss_bytes", NULL, memory.peak_rss_bytes, "bytes", covers);
    if (status == ASSAY_OK)
        status = assay__found_cost(found, "rss_bytes", NULL, memory.rss_bytes, "bytes", covers);
    return status == ASSAY_OK ? status : no_memory(error, status);
}

static assay_status found_costs(assay__rom_trial *self, assay_record *found, assay_error *error)
{
    assay_record *sampled = NULL;
    assay_status status = sample(self, error, &sampled);
    if (status != ASSAY_OK)
        return status;
    status = describe_subjects(self, sampled);
    if (status == ASSAY_OK)
        status = assay__record_append(found, sampled);
    for (int work = 0; work < WORKS && status == ASSAY_OK; work++)
        status = compare_work(sampled, work, found);
    assay_record_free(sampled);
    return status == ASSAY_OK ? found_memory(found, error) : no_memory(error, status);
}

assay_status assay__rom_measure(void *trial, assay_record *found, assay_error *error)
{
    assay__rom_trial *self = trial;
    assay_status status = found_data(self, found, error);
    if (status == ASSAY_OK)
        status = found_errors(self, found, error);
    if (status == ASSAY_OK)
        status = found_costs(self, found, error);
    if (status == ASSAY_OK && assay__study_stopped(self->study))
        status = assay__study_interrupted(self->study, error);
    return status;
}
