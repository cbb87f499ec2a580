/* Turns the record of the study into runtime profiles and their comparison, and writes and prints
 * them. */
#include "studies/rom/report.h"

#include <string.h>

#include "assay/report.h"
#include "assay/runtime.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "models/profile/runtime_json.h"
#include "studies/common/results.h"
#include "studies/rom/measure.h"

enum { MVAR = ASSAY__ROM_MVAR, LSTM = ASSAY__ROM_LSTM, MODELS = ASSAY__ROM_MODELS };

static const char *const names[MODELS] = {"MVAR", "LSTM"};

typedef struct view {
    const assay__study_plan *plan;
    const assay__rom_settings *settings;
    const assay_record *record;
    assay_runtime_profile profiles[MODELS];
    assay_runtime_comparison comparison;
    const assay_record_comparison *verdict; /* of the whole forecasts */
} view;

/* ---- the record as runtime profiles ---- */

static const assay_record_subject *subject_of(const assay_record *record, int work, int model)
{
    return assay__record_find_subject(record, assay__rom_subjects[work][model]);
}

static assay_status timing_of(const assay_record_subject *subject, assay_error *error,
                              assay_timing *timing)
{
    assay_status status =
        assay_timing_summarize(subject->samples_seconds, subject->sample_count, timing);
    return status == ASSAY_OK
               ? status
               : assay__fail(error, status, "the samples of '%s' have no mean", subject->name);
}

static assay_complexity_shape shape_of(const assay__rom_settings *settings, int which)
{
    return (assay_complexity_shape){.kind = which == MVAR ? ASSAY_RUNTIME_MVAR : ASSAY_RUNTIME_LSTM,
                                    .latent_dim = (uint64_t)settings->latent_dim,
                                    .lag = (uint64_t)settings->lag,
                                    .hidden_size = (uint64_t)settings->hidden_size,
                                    .num_layers = (uint64_t)settings->num_layers};
}

static assay_status profile_of(view *self, int which, assay_error *error)
{
    const assay_record *record = self->record;
    const assay_record_model *model = assay__record_find_model(record, names[which]);
    const assay_record_subject *step = subject_of(record, ASSAY__ROM_STEP, which);
    const assay_record_subject *whole = subject_of(record, ASSAY__ROM_FORECAST, which);
    assay_runtime_profile *profile = &self->profiles[which];
    if (model == NULL || !(model->parameters.value > 0) || step == NULL || whole == NULL)
        return assay__fail(error, ASSAY_E_FORMAT,
                           "the kept results lack '%s'; --restart begins anew", names[which]);
    assay_profile_parts parts = ASSAY_PROFILE_PARTS_INIT;
    parts.model_name = names[which];
    parts.training_seconds = assay__record_figure(record, "training_seconds", names[which]);
    parts.n_forecast_steps = (uint64_t)self->settings->n_steps;
    parts.model_params = (uint64_t)model->parameters.value;
    parts.bytes_per_parameter = (size_t)(model->parameter_bytes.value / model->parameters.value);
    parts.shape = shape_of(self->settings, which);
    parts.single_step_covers = step->covers;
    parts.full_trajectory_covers = whole->covers;
    assay_status status = timing_of(step, error, &parts.single_step);
    if (status == ASSAY_OK)
        status = timing_of(whole, error, &parts.full_trajectory);
    if (status == ASSAY_OK)
        status = assay_build_profile(&parts, error, profile);
    /* Use the memory of the process that measured, because this process may only show results. */
    profile->memory.peak_bytes = assay__record_figure(record, "peak_rss_bytes", NULL);
    profile->memory.current_bytes = assay__record_figure(record, "rss_bytes", NULL);
    return status;
}

static const assay_record_comparison *verdict_of(const assay_record *record)
{
    for (size_t i = 0; i < record->comparison_count; i++)
        if (strcmp(record->comparisons[i].candidate,
                   assay__rom_subjects[ASSAY__ROM_FORECAST][LSTM]) == 0)
            return &record->comparisons[i];
    return NULL;
}

static assay_status make_view(view *self, assay_error *error)
{
    assay_status status = ASSAY_OK;
    for (int i = 0; i < MODELS && status == ASSAY_OK; i++)
        status = profile_of(self, i, error);
    if (status != ASSAY_OK)
        return status;
    self->verdict = verdict_of(self->record);
    if (self->verdict == NULL)
        return assay__fail(error, ASSAY_E_FORMAT,
                           "the kept results lack the comparison; --restart begins anew");
    status = assay_compare_models(self->profiles, MODELS, &self->comparison);
    return status == ASSAY_OK ? status
                              : assay__fail(error, status, "the models cannot be compared: %s",
                                            assay_status_message(status));
}

/* ---- summary.json ---- */

/* The value of a figure that is a count. */
static uint64_t count_of(const view *self, const char *name, const char *of)
{
    return (uint64_t)assay__record_figure(self->record, name, of).value;
}

static const char *source_of(const view *self)
{
    return self->settings->data != NULL ? self->settings->data : "generated";
}

static void write_figure(assay__json *json, const view *self, const char *name, const char *of)
{
    assay__json_reading(json, name, assay__record_figure(self->record, name, of));
}

static void write_data(assay__json *json, const view *self)
{
    assay__json_object(json, "data");
    assay__json_text(json, "source", source_of(self));
    write_figure(json, self, "trajectories", "data");
    write_figure(json, self, "training_trajectories", "data");
    write_figure(json, self, "steps", "data");
    write_figure(json, self, "features", "data");
    assay__json_end(json);
    assay__json_object(json, "reduction");
    assay__json_text(json, "method", "POD");
    assay__json_integer(json, "latent_dimension", self->settings->latent_dim);
    write_figure(json, self, "energy", "reduction");
    assay__json_end(json);
}

/* Whether the model forecasts better than repeating the last value does. */
static bool beats_last_value(const view *self, int which)
{
    const char error[] = "relative_error_field";
    return assay__record_figure(self->record, error, names[which]).value <
           assay__record_figure(self->record, error, assay__rom_last_value).value;
}

static void write_forecast(assay__json *json, const view *self)
{
    assay__json_object(json, "forecast");
    write_figure(json, self, "horizon_steps", "test");
    assay__json_count(json, "test_trajectories",
                      count_of(self, "trajectories", "data") -
                          count_of(self, "training_trajectories", "data"));
    assay__json_object(json, "models");
    for (int i = 0; i < MODELS; i++) {
        assay__json_object(json, names[i]);
        write_figure(json, self, "relative_error_latent", names[i]);
        write_figure(json, self, "relative_error_field", names[i]);
        write_figure(json, self, "final_loss", names[i]);
        assay__json_flag(json, "beats_last_value", beats_last_value(self, i));
        assay__json_end(json);
    }
    assay__json_end(json);
    assay__json_object(json, "last_value");
    write_figure(json, self, "relative_error_latent", assay__rom_last_value);
    write_figure(json, self, "relative_error_field", assay__rom_last_value);
    assay__json_end(json);
    assay__json_end(json);
}

static assay_status write_runtime(assay__json *json, const view *self, assay_error *error)
{
    assay__json_object(json, "runtime_analysis");
    assay__json_array(json, "profiles");
    for (int i = 0; i < MODELS; i++)
        assay__runtime_profile_write(json, NULL, &self->profiles[i]);
    assay__json_end(json);
    assay_status status =
        assay__runtime_comparison_write(json, "comparison", &self->comparison, error);
    assay__json_end(json);
    return status;
}

static void write_significance(assay__json *json, const view *self)
{
    const assay_record_comparison *found = self->verdict;
    assay__json_object(json, "significance");
    assay__json_text(json, "baseline", found->baseline);
    assay__json_text(json, "candidate", found->candidate);
    assay__json_reading(json, "ratio", found->ratio);
    assay__json_reading(json, "low", found->low);
    assay__json_reading(json, "high", found->high);
    assay__json_text(json, "verdict", assay_verdict_text(found->verdict));
    assay__json_text(json, "reason", found->reason);
    assay__json_count(json, "pairs", found->pairs);
    assay__json_object(json, "covers");
    for (int i = 0; i < MODELS; i++)
        assay__json_text(json, assay__rom_subjects[ASSAY__ROM_FORECAST][i],
                         self->profiles[i].full_trajectory_covers);
    assay__json_end(json);
    assay__json_end(json);
}

static assay_status print_summary(const void *subject, FILE *stream, assay_error *error)
{
    const view *self = subject;
    assay__json json;
    assay__json_init(&json, stream, 0);
    assay__json_object(&json, NULL);
    assay__json_text(&json, "experiment_name", self->plan->experiment);
    assay__json_count(&json, "seed", self->plan->seed);
    write_data(&json, self);
    write_forecast(&json, self);
    assay_status status = write_runtime(&json, self, error);
    write_significance(&json, self);
    assay__json_end(&json);
    if (status != ASSAY_OK)
        return status;
    status = assay__json_finish(&json);
    return status == ASSAY_OK ? status
                              : assay__fail(error, status, "cannot write the summary: %s",
                                            assay_status_message(status));
}

static assay_status write_files(assay__study *study, const view *self, assay_error *error)
{
    static const char *const files[MODELS] = {"MVAR/runtime_profile.json",
                                              "LSTM/runtime_profile.json"};
    assay_status status = ASSAY_OK;
    for (int i = 0; i < MODELS && status == ASSAY_OK; i++) {
        const char *path = assay__study_file(study, files[i], error);
        status = path != NULL ? assay_save_profile(&self->profiles[i], path, error) : ASSAY_E_IO;
    }
    if (status != ASSAY_OK)
        return status;
    const char *path = assay__study_file(study, "runtime_comparison.json", error);
    status = path != NULL ? assay_save_comparison(&self->comparison, path, error) : ASSAY_E_IO;
    if (status != ASSAY_OK)
        return status;
    path = assay__study_file(study, "summary.json", error);
    return path != NULL ? assay_file_save(path, print_summary, self, error) : ASSAY_E_IO;
}

/* ---- the printed report ---- */

static void print_models(const view *self, FILE *stream)
{
    fprintf(stream, "%-10s %10s %12s %12s %13s %14s\n", "model", "parameters", "training (s)",
            "step (us)", "forecast (ms)", "relative error");
    for (int i = 0; i < MODELS; i++) {
        const assay_runtime_profile *profile = &self->profiles[i];
        fprintf(stream, "%-10s %10llu %12.4f %12.2f %13.3f %14.4f\n", names[i],
                (unsigned long long)profile->memory.model_parameters,
                profile->training_seconds.value, 1e6 * profile->inference_single_step.mean_seconds,
                1e3 * profile->inference_full_trajectory.mean_seconds,
                assay__record_figure(self->record, "relative_error_field", names[i]).value);
    }
    fprintf(
        stream, "%-10s %10s %12s %12s %13s %14.4f\n", assay__rom_last_value, "", "", "", "",
        assay__record_figure(self->record, "relative_error_field", assay__rom_last_value).value);
    fprintf(stream,
            "Both times include reading the window: %lld steps by MVAR, %lld by LSTM.\n"
            "The error is that of the field over %llu steps; \"%s\" repeats the step\n"
            "before them.\n",
            (long long)self->settings->lag, (long long)self->settings->window,
            (unsigned long long)count_of(self, "horizon_steps", "test"), assay__rom_last_value);
    for (int i = 0; i < MODELS; i++)
        if (!beats_last_value(self, i))
            fprintf(stream, "warning: %s forecasts no better than the last value does\n", names[i]);
    for (int i = 0; i < MODELS; i++) {
        /* Check the number of trials that was asked for: the timing leaves out disturbed trials. */
        assay_timing asked = self->profiles[i].inference_single_step;
        asked.count = (size_t)self->settings->n_trials;
        const char *few = assay_trials_check(&asked);
        if (few != NULL)
            fprintf(stream, "warning: %s: %s (--n-trials)\n", names[i], few);
    }
}

static void print_verdict(const view *self, FILE *stream)
{
    const assay_record_comparison *found = self->verdict;
    double ratio = found->ratio.value, low = found->low.value, high = found->high.value;
    switch (found->verdict) {
    case ASSAY_VERDICT_SLOWER:
        fprintf(stream, "MVAR forecasts %.2f times as fast as LSTM (95 %%: %.2f to %.2f).\n", ratio,
                low, high);
        break;
    case ASSAY_VERDICT_FASTER:
        fprintf(stream, "LSTM forecasts %.2f times as fast as MVAR (95 %%: %.2f to %.2f).\n",
                1 / ratio, 1 / high, 1 / low);
        break;
    case ASSAY_VERDICT_SAME:
        fprintf(stream, "Both forecast equally fast: ratio %.4f (95 %%: %.4f to %.4f).\n", ratio,
                low, high);
        break;
    case ASSAY_VERDICT_INCONCLUSIVE:
        fprintf(stream, "Which is faster cannot be said: %s.\n",
                found->reason != NULL ? found->reason : "no reason given");
        break;
    }
    fprintf(stream, "Interleaved, %llu pairs; faster or slower is said at 99 %% confidence.\n",
            (unsigned long long)found->pairs);
}

static void print_report(const view *self, FILE *stream)
{
    fprintf(stream, "%s: %llu trajectories of %llu steps, %llu features, %s\n",
            self->plan->experiment, (unsigned long long)count_of(self, "trajectories", "data"),
            (unsigned long long)count_of(self, "steps", "data"),
            (unsigned long long)count_of(self, "features", "data"), source_of(self));
    fprintf(stream, "reduced to %lld amplitudes, which hold %.2f %% of the variance\n\n",
            (long long)self->settings->latent_dim,
            100 * assay__record_figure(self->record, "energy", "reduction").value);
    print_models(self, stream);
    fputc('\n', stream);
    print_verdict(self, stream);
    fprintf(stream,
            "\nwritten to %s: MVAR/ and LSTM/runtime_profile.json,\n"
            "runtime_comparison.json, summary.json, record.json\n",
            self->plan->folder);
}

assay_status assay__rom_report(assay__study *study, const assay__rom_settings *settings,
                               const assay_record *record, const char *summary_path,
                               assay_error *error)
{
    view self = {.plan = assay__study_plan_of(study), .settings = settings, .record = record};
    assay_status status = make_view(&self, error);
    if (status == ASSAY_OK)
        status = write_files(study, &self, error);
    assay__study_quiet(study);
    if (status == ASSAY_OK && (summary_path == NULL || strcmp(summary_path, "-") != 0))
        print_report(&self, self.plan->output);
    if (status == ASSAY_OK && summary_path != NULL)
        status = assay_file_save(summary_path, print_summary, &self, error);
    assay_runtime_comparison_release(&self.comparison);
    return status;
}
