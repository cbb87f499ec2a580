/* Times a fit, single steps and whole forecasts of a model, and builds its runtime profile. */
#include "studies/profile/forecast.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "assay/record_build.h"
#include "assay/sampling.h"
#include "assay/timers.h"
#include "base/error.h"
#include "studies/common/results.h"
#include "studies/profile/view.h"

enum { DEFAULT_WARMUP_TRIALS = 5 };

typedef struct forecasting {
    const assay__profile_plan *plan;
    const assay_model_class *class_;
    const assay_record_model *model;
    assay_record *record;
} forecasting;

assay_status assay__profile_name_subject(assay_record *record, const char *model, const char *what,
                                         const char *covers)
{
    char name[256];
    assay_record_subject *subject = &record->subjects[record->subject_count - 1];
    snprintf(name, sizeof name, "%s %s", model, what);
    subject->name = assay_record_text(record, name);
    subject->model = model;
    subject->covers = covers;
    return subject->name != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
}

typedef struct forecast_call {
    const forecasting *self;
    assay_tensor first; /* the first trajectory of the batch */
    uint64_t steps;
    assay_error *error;
} forecast_call;

static assay_status run_forecast(void *context, uint64_t iterations)
{
    forecast_call *call = context;
    const forecasting *self = call->self;
    assay_tensor output;
    assay_status status = ASSAY_OK;
    for (uint64_t i = 0; i < iterations && status == ASSAY_OK; i++)
        status = self->class_->forecast(assay_model_state(self->plan->model), &call->first, 1,
                                        (int64_t)call->steps, call->error, &output);
    return status;
}

/* The number of trials that is advised for the time of a call. The second of two calls is timed for
 * this, because the first is slow. */
static size_t default_trials(forecast_call *call)
{
    double seconds = 0;
    for (int i = 0; i < 2; i++) {
        assay_stopwatch pilot = assay_time_operation("pilot");
        if (run_forecast(call, 1) != ASSAY_OK)
            break; /* sampling meets the failure again, and reports it */
        seconds = assay_stopwatch_seconds(&pilot);
    }
    return assay_trials_advise(seconds);
}

static assay_status sample_forecast(const forecasting *self, const char *what, const char *covers,
                                    uint64_t steps, assay_error *error, assay_timing *timing)
{
    const assay__profile_plan *plan = self->plan;
    assay_error words = {0}; /* message of the model; that of the sampling says less */
    forecast_call call = {self, plan->inputs[0], steps, &words};
    call.first.shape[0] = 1;
    assay_subject subject = ASSAY_SUBJECT_INIT;
    subject.name = what;
    subject.run = run_forecast;
    subject.context = &call;
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.yardstick = true;
    options.runs = plan->num_runs != 0 ? plan->num_runs : default_trials(&call);
    options.warmup =
        plan->warmup_runs != 0 || plan->no_warmup ? plan->warmup_runs : DEFAULT_WARMUP_TRIALS;
    assay_record *sampled = NULL;
    assay_status status = assay_sampling_run(&subject, 1, &options, error, &sampled);
    if (status != ASSAY_OK)
        return assay__fail(error, status, "model '%s' cannot forecast: %s", self->class_->name,
                           words.message[0] != '\0' ? words.message : assay_status_message(status));
    const assay_record_subject *from = &sampled->subjects[0];
    status = assay__record_append_subject(self->record, from);
    if (status == ASSAY_OK)
        status = assay__profile_name_subject(self->record, self->model->name, what, covers);
    if (status == ASSAY_OK)
        status = assay_timing_summarize(from->samples_seconds, from->sample_count, timing);
    assay_record_free(sampled);
    return status;
}

static uint64_t setting(const forecasting *self, const char *name)
{
    const double *settings = assay_model_settings(self->plan->model);
    for (size_t i = 0; i < self->class_->option_count; i++)
        if (strcmp(self->class_->options[i].name, name) == 0)
            return (uint64_t)settings[i];
    return 0;
}

static assay_complexity_shape complexity_shape(const forecasting *self)
{
    bool is_mvar = strcmp(self->class_->name, "mvar") == 0;
    bool is_lstm = strcmp(self->class_->name, "lstm") == 0;
    const assay_tensor *input = self->plan->inputs;
    return (assay_complexity_shape){
        .kind = is_mvar   ? ASSAY_RUNTIME_MVAR
                : is_lstm ? ASSAY_RUNTIME_LSTM
                          : ASSAY_RUNTIME_OTHER,
        .latent_dim = input->rank > 0 ? (uint64_t)input->shape[input->rank - 1] : 1,
        .lag = is_mvar ? setting(self, "order") : 0,
        .hidden_size = is_lstm ? setting(self, "hidden-dim") : 0,
        .num_layers = is_lstm ? setting(self, "num-layers") : 0};
}

static assay_status time_fit(const forecasting *self, assay_error *error, assay_reading *seconds)
{
    *seconds = assay_reading_missing(ASSAY_NOT_MEASURED);
    if (self->class_->fit == NULL)
        return ASSAY_OK;
    assay_stopwatch stopwatch = assay_time_operation("fit");
    assay_status status = self->class_->fit(assay_model_state(self->plan->model),
                                            self->plan->inputs, self->class_->input_count, error);
    *seconds = assay_reading_of(assay_stopwatch_seconds(&stopwatch));
    return status;
}

static assay_status measure(const forecasting *self, assay_error *error,
                            assay_runtime_profile *forecast)
{
    int64_t steps =
        self->plan->forecast_steps > 0 ? self->plan->forecast_steps : ASSAY_FORECAST_STEPS;
    assay_profile_parts parts = ASSAY_PROFILE_PARTS_INIT;
    parts.model_name = self->class_->name;
    parts.n_forecast_steps = (uint64_t)steps;
    parts.model_params = (uint64_t)self->model->parameters.value;
    parts.bytes_per_parameter =
        parts.model_params > 0
            ? (size_t)(self->model->parameter_bytes.value / self->model->parameters.value)
            : 0;
    parts.shape = complexity_shape(self);
    assay_status status = time_fit(self, error, &parts.training_seconds);
    if (status == ASSAY_OK)
        status = sample_forecast(self, "single_step", "one step ahead of one trajectory", 1, error,
                                 &parts.single_step);
    if (status == ASSAY_OK)
        status = sample_forecast(self, "forecast", "all steps of one forecast",
                                 parts.n_forecast_steps, error, &parts.full_trajectory);
    if (status == ASSAY_OK)
        status = assay_build_profile(&parts, error, forecast);
    if (status == ASSAY_OK)
        status = assay__found_setting(self->record, "forecast_steps", (double)steps);
    if (status == ASSAY_OK)
        status = assay__found_cost(self->record, ASSAY__FIGURE_FIT, self->model->name,
                                   parts.training_seconds, "s", "one fit to the inputs");
    return status == ASSAY_OK
               ? assay__found_cost(self->record, ASSAY__FIGURE_STEP_RATE, self->model->name,
                                   assay_reading_of(forecast->throughput.steps_per_second), "1/s",
                                   "steps of whole forecasts")
               : status;
}

assay_status assay__forecast_measure(const assay__profile_plan *plan,
                                     const assay_record_model *model, assay_error *error,
                                     assay_record *record, assay_runtime_profile *forecast)
{
    const forecasting self = {plan, assay_model_class_of(plan->model), model, record};
    return measure(&self, error, forecast);
}
