/* The pipeline, and what it writes. */
#include "studies/rom/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/compare.h"
#include "assay/record.h"
#include "assay/runtime.h"
#include "assay/sampling.h"
#include "base/error.h"
#include "studies/common/json_file.h"
#include "studies/rom/models.h"

enum { FIT_MVAR, TRAIN_LSTM, MEASURE, STEPS };
enum { MVAR, LSTM, MODELS };

static const assay__study_step steps[STEPS] = {
    {"fit MVAR", 1}, {"train LSTM", 60}, {"evaluate and benchmark", 40}};

assay__rom_settings assay__rom_defaults(bool quick)
{
    return (assay__rom_settings){.latent_dim = 20,
                                 .lag = 5,
                                 .hidden_size = 64,
                                 .num_layers = 1,
                                 .window = 20,
                                 .epochs = quick ? 8 : 40,
                                 .batch = 32,
                                 .learning_rate = 2e-3,
                                 .n_steps = 100,
                                 .n_trials = 50,
                                 .budget_seconds = quick ? 1 : 5};
}

typedef struct forecast_error {
    double latent, field; /* root of the summed squared errors over that of the truth */
} forecast_error;

typedef struct rom {
    assay__study *study;
    const assay__study_plan *plan;
    const assay__rom_settings *settings;
    assay__rom_data data;
    assay__rom_model models[MODELS];
    forecast_error errors[MODELS];
    int64_t horizon; /* steps of the test's forecasts */
    assay_runtime_profile profiles[MODELS];
    assay_runtime_comparison comparison;
    assay_record *record; /* of the interleaved runs */
} rom;

/* ---- 4: forecasts of the test trajectories ---- */

static void add_squares(const double *forecast, const double *truth, int64_t count, double *wrong,
                        double *whole)
{
    for (int64_t i = 0; i < count; i++) {
        *wrong += (forecast[i] - truth[i]) * (forecast[i] - truth[i]);
        *whole += truth[i] * truth[i];
    }
}

static assay_status evaluate(rom *self, assay__rom_model *model, assay_error *error,
                             forecast_error *result)
{
    const assay__rom_data *data = &self->data;
    const int64_t dim = model->dim, width = data->features, horizon = self->horizon;
    const int64_t from = data->steps - horizon;
    double *forecast = malloc((size_t)(horizon * dim) * sizeof *forecast);
    double *fields = malloc((size_t)(horizon * width) * sizeof *fields);
    double wrong = 0, whole = 0, field_wrong = 0, field_whole = 0;
    assay_status status = forecast != NULL && fields != NULL
                              ? ASSAY_OK
                              : assay__fail(error, ASSAY_E_MEMORY, "no memory for forecasts");
    for (int64_t t = data->train; t < data->trajectories && status == ASSAY_OK; t++) {
        int64_t row = t * data->steps + from;
        assay__rom_set_window(model, data, t, from);
        status = assay__rom_forecast_values(model, horizon, error, forecast);
        if (status == ASSAY_OK)
            status = assay__rom_restore(data, horizon, forecast, fields);
        if (status == ASSAY_OK) {
            add_squares(forecast, data->latent + row * dim, horizon * dim, &wrong, &whole);
            add_squares(fields, data->fields + row * width, horizon * width, &field_wrong,
                        &field_whole);
        }
    }
    free(forecast);
    free(fields);
    *result = (forecast_error){sqrt(wrong / whole), sqrt(field_wrong / field_whole)};
    return status;
}

/* ---- 4.5: what they cost ---- */

static assay_status profile(rom *self, int which, assay_error *error)
{
    assay__rom_model *model = &self->models[which];
    const assay__rom_settings *settings = self->settings;
    assay_forecast forecast = {assay__rom_forecast, model};
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.n_trials = (size_t)settings->n_trials;
    assay_profile_parts parts = ASSAY_PROFILE_PARTS_INIT;
    parts.model_name = model->name;
    parts.training_seconds = assay_reading_of(model->training_seconds);
    parts.n_forecast_steps = (uint64_t)settings->n_steps;
    parts.model_params = assay_model_parameter_count(model->model);
    parts.bytes_per_parameter = which == MVAR ? sizeof(double) : sizeof(float);
    parts.shape =
        (assay_complexity_shape){.kind = which == MVAR ? ASSAY_RUNTIME_MVAR : ASSAY_RUNTIME_LSTM,
                                 .latent_dim = (uint64_t)settings->latent_dim,
                                 .lag = (uint64_t)settings->lag,
                                 .hidden_size = (uint64_t)settings->hidden_size,
                                 .num_layers = (uint64_t)settings->num_layers};
    return assay_quick_benchmark(&forecast, &parts, &options, error, &self->profiles[which]);
}

typedef struct forecast_work {
    assay__rom_model *model;
    uint64_t steps;
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
    rom *self = context;
    double expected = fmax(progress->expected_seconds, progress->elapsed_seconds);
    (void)assay__study_advance(self->study,
                               expected > 0 ? progress->elapsed_seconds / expected : 0);
}

/* Whole forecasts of both, in turns; then the verdict. */
static assay_status compare(rom *self, assay_error *error)
{
    forecast_work work[MODELS];
    assay_subject subjects[MODELS];
    for (int i = 0; i < MODELS; i++) {
        work[i] = (forecast_work){&self->models[i], (uint64_t)self->settings->n_steps};
        subjects[i] = (assay_subject){.struct_size = sizeof(assay_subject),
                                      .name = self->models[i].name,
                                      .run = run_forecasts,
                                      .context = &work[i]};
    }
    assay_sampling_options options = {.struct_size = sizeof options,
                                      .budget_seconds = self->settings->budget_seconds,
                                      .seed = self->plan->seed,
                                      .progress = show_progress,
                                      .progress_context = self};
    assay_status status = assay_sampling_run(subjects, MODELS, &options, error, &self->record);
    if (status != ASSAY_OK)
        return status;
    status = assay_record_compare(self->record, NULL);
    return status == ASSAY_OK ? status
                              : assay__fail(error, status, "the models cannot be compared");
}

static assay_status measure(rom *self, assay_error *error)
{
    assay_status status = ASSAY_OK;
    for (int i = 0; i < MODELS && status == ASSAY_OK; i++)
        status = evaluate(self, &self->models[i], error, &self->errors[i]);
    for (int i = 0; i < MODELS && status == ASSAY_OK; i++)
        status = profile(self, i, error);
    if (status == ASSAY_OK)
        status = compare(self, error);
    if (status == ASSAY_OK)
        status = assay_compare_models(self->profiles, MODELS, &self->comparison);
    if (status == ASSAY_OK && assay__study_stopped(self->study))
        status = assay__study_interrupted(self->study, error);
    return status;
}

/* ---- files ---- */

/* What a report prints, as a JSON value. */
static json_t *printed(assay_status (*print)(const void *, FILE *, assay_error *),
                       const void *subject)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    json_t *value = NULL;
    if (stream == NULL)
        return NULL;
    assay_status status = print(subject, stream, NULL);
    if (fclose(stream) == 0 && status == ASSAY_OK)
        value = json_loadb(text, length, 0, NULL);
    free(text);
    return value;
}

static assay_status print_profile(const void *subject, FILE *stream, assay_error *error)
{
    return assay_runtime_profile_print(subject, stream, error);
}

static assay_status print_comparison(const void *subject, FILE *stream, assay_error *error)
{
    return assay_runtime_comparison_print(subject, stream, error);
}

static json_t *reading(assay_reading value)
{
    return value.validity == ASSAY_VALID ? json_real(value.value) : json_null();
}

static json_t *significance(const assay_record_comparison *found)
{
    static const char *const verdicts[] = {[ASSAY_VERDICT_FASTER] = "faster",
                                           [ASSAY_VERDICT_SLOWER] = "slower",
                                           [ASSAY_VERDICT_SAME] = "same",
                                           [ASSAY_VERDICT_INCONCLUSIVE] = "inconclusive"};
    return json_pack("{ss, ss, so, so, so, ss, ss?, sI}", "baseline", found->baseline, "candidate",
                     found->candidate, "ratio", reading(found->ratio), "low", reading(found->low),
                     "high", reading(found->high), "verdict", verdicts[found->verdict], "reason",
                     found->reason, "pairs", (json_int_t)found->pairs);
}

static json_t *forecast_part(const rom *self)
{
    json_t *models = json_object();
    for (int i = 0; i < MODELS; i++)
        json_object_set_new(
            models, self->models[i].name,
            json_pack("{sf, sf, so}", "relative_error_latent", self->errors[i].latent,
                      "relative_error_field", self->errors[i].field, "final_loss",
                      isfinite(self->models[i].final_loss) ? json_real(self->models[i].final_loss)
                                                           : json_null()));
    return json_pack("{sI, sI, so}", "horizon_steps", (json_int_t)self->horizon,
                     "test_trajectories", (json_int_t)(self->data.trajectories - self->data.train),
                     "models", models);
}

static json_t *summary(const rom *self)
{
    const assay__rom_data *data = &self->data;
    double energy = 0;
    for (int64_t k = 0; k < data->pod.rank; k++)
        energy += data->pod.energy[k];
    return json_pack("{ss, sI, so, so, so, s{s[oo], so}, so}", "experiment_name",
                     self->plan->experiment, "seed", (json_int_t)self->plan->seed, "data",
                     json_pack("{ss, sI, sI, sI, sI}", "source",
                               data->generated ? "generated" : self->settings->data, "trajectories",
                               (json_int_t)data->trajectories, "training_trajectories",
                               (json_int_t)data->train, "steps", (json_int_t)data->steps,
                               "features", (json_int_t)data->features),
                     "reduction",
                     json_pack("{ss, sI, sf}", "method", "POD", "latent_dimension",
                               (json_int_t)data->pod.rank, "energy", energy),
                     "forecast", forecast_part(self), "runtime_analysis", "profiles",
                     printed(print_profile, &self->profiles[MVAR]),
                     printed(print_profile, &self->profiles[LSTM]), "comparison",
                     printed(print_comparison, &self->comparison), "significance",
                     significance(&self->record->comparisons[0]));
}

static assay_status write_files(rom *self, assay_error *error)
{
    static const char *const names[MODELS] = {"MVAR/runtime_profile.json",
                                              "LSTM/runtime_profile.json"};
    assay_status status = ASSAY_OK;
    for (int i = 0; i < MODELS && status == ASSAY_OK; i++) {
        const char *path = assay__study_file(self->study, names[i], error);
        status = path != NULL ? assay_save_profile(&self->profiles[i], path, error) : ASSAY_E_IO;
    }
    const char *path = status == ASSAY_OK
                           ? assay__study_file(self->study, "runtime_comparison.json", error)
                           : NULL;
    if (path != NULL)
        status = assay_save_comparison(&self->comparison, path, error);
    path = status == ASSAY_OK ? assay__study_file(self->study, "summary.json", error) : NULL;
    if (path == NULL)
        return status != ASSAY_OK ? status : ASSAY_E_IO;
    return assay__json_file_write(summary(self), path, error);
}

/* ---- the report, from summary.json alone, so that a finished study can show it again ---- */

static double number(json_t *object, const char *first, const char *second, const char *third)
{
    json_t *value = json_object_get(json_object_get(json_object_get(object, first), second), third);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void print_model(json_t *root, size_t index, FILE *stream)
{
    json_t *found = json_array_get(
        json_object_get(json_object_get(root, "runtime_analysis"), "profiles"), index);
    const char *name = json_string_value(json_object_get(found, "model_name"));
    json_t *errors = json_object_get(json_object_get(root, "forecast"), "models");
    json_t *of_model = name != NULL ? json_object_get(errors, name) : NULL;
    double error = json_number_value(json_object_get(of_model, "relative_error_field"));
    fprintf(
        stream, "%-8s %10.0f %12.4f %12.2f %13.3f %14.4f\n", name != NULL ? name : "?",
        json_number_value(json_object_get(json_object_get(found, "memory"), "model_parameters")),
        json_number_value(json_object_get(json_object_get(found, "training"), "total_seconds")),
        1e6 * number(found, "inference", "single_step", "mean_seconds"),
        1e3 * number(found, "inference", "full_trajectory", "mean_seconds"), error);
}

static void print_verdict(json_t *root, FILE *stream)
{
    json_t *found = json_object_get(root, "significance");
    const char *verdict = json_string_value(json_object_get(found, "verdict"));
    const char *reason = json_string_value(json_object_get(found, "reason"));
    double ratio = json_number_value(json_object_get(found, "ratio"));
    double low = json_number_value(json_object_get(found, "low"));
    double high = json_number_value(json_object_get(found, "high"));
    if (verdict == NULL)
        return;
    if (strcmp(verdict, "slower") == 0)
        fprintf(stream, "MVAR forecasts %.2f times as fast as LSTM (95 %%: %.2f to %.2f).\n", ratio,
                low, high);
    else if (strcmp(verdict, "faster") == 0)
        fprintf(stream, "LSTM forecasts %.2f times as fast as MVAR (95 %%: %.2f to %.2f).\n",
                1 / ratio, 1 / high, 1 / low);
    else if (strcmp(verdict, "same") == 0)
        fprintf(stream, "Both forecast equally fast: ratio %.4f (95 %%: %.4f to %.4f).\n", ratio,
                low, high);
    else
        fprintf(stream, "Which is faster cannot be said: %s.\n",
                reason != NULL ? reason : "no reason given");
    fprintf(stream, "Interleaved, %lld pairs; faster or slower is said at 99 %% confidence.\n",
            (long long)json_integer_value(json_object_get(found, "pairs")));
}

static assay_status report(const rom *self, const char *summary_path, assay_error *error)
{
    json_t *root = NULL;
    FILE *stream = self->plan->output;
    const char *path = assay__study_file(self->study, "summary.json", error);
    assay_status status = path != NULL ? assay__json_file_read(path, error, &root) : ASSAY_E_IO;
    if (status != ASSAY_OK)
        return status;
    if (summary_path == NULL || strcmp(summary_path, "-") != 0) {
        json_t *data = json_object_get(root, "data"),
               *reduction = json_object_get(root, "reduction");
        assay__study_quiet(self->study);
        fprintf(stream, "%s: %lld trajectories of %lld steps, %lld features, %s\n",
                self->plan->experiment,
                (long long)json_integer_value(json_object_get(data, "trajectories")),
                (long long)json_integer_value(json_object_get(data, "steps")),
                (long long)json_integer_value(json_object_get(data, "features")),
                json_string_value(json_object_get(data, "source")));
        fprintf(stream, "reduced to %lld amplitudes, which hold %.2f %% of the variance\n\n",
                (long long)json_integer_value(json_object_get(reduction, "latent_dimension")),
                100 * json_number_value(json_object_get(reduction, "energy")));
        fprintf(stream, "%-8s %10s %12s %12s %13s %14s\n", "model", "parameters", "training (s)",
                "step (us)", "forecast (ms)", "relative error");
        for (size_t i = 0; i < MODELS; i++)
            print_model(root, i, stream);
        fputc('\n', stream);
        print_verdict(root, stream);
        fprintf(stream,
                "\nwritten to %s: MVAR/ and LSTM/runtime_profile.json,\n"
                "runtime_comparison.json, summary.json\n",
                self->plan->folder);
    }
    if (summary_path != NULL)
        status = assay__json_file_write(json_incref(root), summary_path, error);
    json_decref(root);
    return status;
}

/* ---- all of it ---- */

static assay_status run(rom *self, assay_error *error)
{
    const assay__rom_settings *settings = self->settings;
    uint64_t seed = self->plan->seed;
    int64_t start = settings->window > settings->lag ? settings->window : settings->lag;
    self->horizon = self->data.steps - start;
    if (self->horizon > settings->n_steps)
        self->horizon = settings->n_steps;
    assay_status status = assay__rom_mvar(self->study, FIT_MVAR, settings, &self->data, seed, error,
                                          &self->models[MVAR]);
    if (status == ASSAY_OK)
        status = assay__rom_lstm(self->study, TRAIN_LSTM, settings, &self->data, seed, error,
                                 &self->models[LSTM]);
    if (status != ASSAY_OK || assay__study_done(self->study, MEASURE))
        return status;
    assay__study_begin(self->study, MEASURE);
    status = measure(self, error);
    if (status == ASSAY_OK)
        status = write_files(self, error);
    return status == ASSAY_OK ? assay__study_end(self->study, error) : status;
}

assay_status assay__study_rom(assay__study_plan plan, const assay__rom_settings *settings,
                              const char *summary_path, assay_error *error)
{
    char text[1024];
    assay_error unheard = {0};
    if (error == NULL)
        error = &unheard;
    snprintf(text, sizeof text,
             "data %s, latent %lld, lag %lld, hidden %lld, layers %lld, window %lld, epochs %lld, "
             "batch %lld, rate %g, steps %lld, trials %lld, budget %g",
             settings->data != NULL ? settings->data : "generated", (long long)settings->latent_dim,
             (long long)settings->lag, (long long)settings->hidden_size,
             (long long)settings->num_layers, (long long)settings->window,
             (long long)settings->epochs, (long long)settings->batch, settings->learning_rate,
             (long long)settings->n_steps, (long long)settings->n_trials, settings->budget_seconds);
    plan.settings = text;
    plan.steps = steps;
    plan.step_count = STEPS;
    rom self = {.plan = &plan, .settings = settings};
    /* Data that cannot be used leave no folder behind. */
    assay_status status =
        assay__rom_data_prepare(settings, plan.seed, plan.quick, error, &self.data);
    if (status == ASSAY_OK)
        status = assay__study_open(&plan, error, &self.study);
    if (status == ASSAY_OK)
        status = run(&self, error);
    if (status == ASSAY_OK)
        status = report(&self, summary_path, error);
    for (int i = 0; i < MODELS; i++)
        assay__rom_model_release(&self.models[i]);
    assay_runtime_comparison_release(&self.comparison);
    assay_record_free(self.record);
    assay__rom_data_release(&self.data);
    assay__study_free(self.study);
    return status;
}
