/* The measurements of `assay profile`, in an order in which they do not disturb one another: first
 * the memory of the fresh model, then its passes, then the axes, which make new models. */
#include "studies/profile/profile.h"

#include <inttypes.h>
#include <stdio.h>

#include "assay/profile.h"
#include "assay/record_build.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "models/profile/passes.h"
#include "studies/common/results.h"
#include "studies/profile/arithmetic.h"
#include "studies/profile/device.h"
#include "studies/profile/forecast.h"
#include "studies/profile/view.h"

enum { DEFAULT_RUNS = 100, USUAL_WARMUP = 10 };
static const double default_budget_seconds = 5;

typedef struct profiling {
    const assay__profile_plan *plan;
    const assay_model_class *class_;
    assay_record *record;
    assay_record_model model; /* added to the record when it is complete */
} profiling;

const char *const assay__loss_names[] = {"mse", "l1", "bce", "cross-entropy", NULL};
const char *const assay__optimizer_names[] = {"adam", "adamw", "sgd", "momentum", NULL};

static void announce(const assay__profile_plan *plan, const char *stage)
{
    if (plan->progress != NULL)
        plan->progress(plan->progress_context, stage);
}

static assay_profile_target target_of(const assay__profile_plan *plan)
{
    return (assay_profile_target){.struct_size = sizeof(assay_profile_target),
                                  .model = plan->model,
                                  .inputs = plan->inputs,
                                  .target = plan->target,
                                  .loss = plan->loss,
                                  .optimizer = plan->optimizer};
}

/* ---- the model ---- */

static void weigh(profiling *self)
{
    size_t count;
    double bytes = 0;
    const assay_model_parameter *list = assay_model_parameters(self->plan->model, &count);
    for (size_t i = 0; i < count; i++)
        bytes += (list[i].value.element == ASSAY_F32 ? 4 : 8) *
                 (double)assay_tensor_count(&list[i].value);
    self->model.parameters =
        assay_reading_of((double)assay_model_parameter_count(self->plan->model));
    self->model.parameter_bytes = assay_reading_of(bytes);
}

static assay_status describe_settings(profiling *self)
{
    const double *settings = assay_model_settings(self->plan->model);
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < self->class_->option_count && status == ASSAY_OK; i++) {
        const assay_model_option *option = &self->class_->options[i];
        status =
            option->words != NULL
                ? assay_record_add_model_setting(self->record, &self->model, option->name,
                                                 option->words[(size_t)settings[i]])
                : assay__found_model_setting(self->record, &self->model, option->name, settings[i]);
    }
    return status;
}

static assay_status describe_inputs(profiling *self)
{
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < self->class_->input_count && status == ASSAY_OK; i++) {
        const assay_tensor *input = &self->plan->inputs[i];
        double shape[ASSAY_TENSOR_MAX_RANK];
        for (uint32_t axis = 0; axis < input->rank; axis++)
            shape[axis] = (double)input->shape[axis];
        if (input->data != NULL)
            status =
                assay__found_series(self->record, ASSAY__SERIES_SHAPE, self->class_->inputs[i].name,
                                    "dimension", NULL, shape, input->rank);
    }
    return status;
}

static assay_status add_count(assay_record *record, const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    return assay_record_add_setting(record, key, text);
}

static assay_status describe_model(profiling *self)
{
    const assay__profile_plan *plan = self->plan;
    assay_record_model_init(&self->model);
    self->model.name = assay_record_text(self->record, self->class_->name);
    self->model.class_name = self->model.name;
    assay_status status = self->model.name != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
    weigh(self);
    if (status == ASSAY_OK)
        status = describe_settings(self);
    if (status == ASSAY_OK)
        status = describe_inputs(self);
    if (status == ASSAY_OK)
        status = assay_record_add_setting(self->record, "data", plan->data);
    if (status == ASSAY_OK && plan->loss != ASSAY_LOSS_MSE)
        status = assay_record_add_setting(self->record, "loss", assay__loss_names[plan->loss]);
    if (status == ASSAY_OK && plan->optimizer != ASSAY_OPTIMIZER_ADAM)
        status = assay_record_add_setting(self->record, "optimizer",
                                          assay__optimizer_names[plan->optimizer]);
    if (status == ASSAY_OK)
        status = add_count(self->record, "seed", plan->seed);
    return status == ASSAY_OK ? add_count(self->record, "threads", plan->threads) : status;
}

/* ---- memory ---- */

typedef struct breakdown_call {
    assay_profile_target target;
    assay_model_memory breakdown;
    assay_error *error;
} breakdown_call;

static assay_status take_breakdown(void *argument)
{
    breakdown_call *call = argument;
    const assay_model_class *class_ = assay_model_class_of(call->target.model);
    assay_tensor output;
    if (class_->memory != NULL)
        return assay_get_memory_breakdown(&call->target, call->error, &call->breakdown);
    return class_->forward(assay_model_state(call->target.model), call->target.inputs,
                           class_->input_count, call->error, &output);
}

static void fill_memory(profiling *self, const assay_model_memory *held)
{
    assay_record_model *model = &self->model;
    bool known = self->class_->memory != NULL;
    const assay_reading none = assay_reading_missing(ASSAY_UNSUPPORTED);
    if (known)
        model->parameter_bytes = assay_reading_of((double)held->parameters);
    model->gradient_bytes = known ? assay_reading_of((double)held->gradients) : none;
    model->optimizer_bytes = known ? assay_reading_of((double)held->optimizer) : none;
    model->activation_bytes = known ? assay_reading_of((double)held->activations) : none;
    model->workspace_bytes = known ? assay_reading_of((double)held->workspace) : none;
}

static assay_status measure_memory(profiling *self, assay_error *error)
{
    announce(self->plan, "memory");
    breakdown_call call = {.target = target_of(self->plan), .error = error};
    assay_memory_stats process;
    assay_status status = assay_profile_memory_usage(take_breakdown, &call, &process);
    if (status != ASSAY_OK)
        return status;
    fill_memory(self, &call.breakdown);
    status = assay__found_cost(self->record, ASSAY__FIGURE_PROCESS_PEAK, NULL, process.peak_bytes,
                               "bytes", "resident, code and libraries included");
    if (status == ASSAY_OK)
        status = assay__found_figure(self->record, ASSAY__FIGURE_PROCESS_NOW, NULL,
                                     process.allocated_bytes, "bytes");
    if (status == ASSAY_OK)
        status = assay__found_figure(self->record, ASSAY__FIGURE_RESERVED, NULL,
                                     process.reserved_bytes, "bytes");
    return status == ASSAY_OK ? assay_record_add_setting(self->record, "device", process.device)
                              : status;
}

/* ---- runtime ---- */

/* Announce the number of runs so far, and the time that the others will take at this rate. */
static void show_runs(void *context, const assay_sampling_progress *now)
{
    const assay__profile_plan *plan = context;
    size_t warmup = plan->no_warmup ? 0 : plan->warmup_runs != 0 ? plan->warmup_runs : USUAL_WARMUP;
    size_t total = warmup + (plan->num_runs != 0 ? plan->num_runs : DEFAULT_RUNS);
    char stage[96];
    if (now->rounds == 0 || now->rounds >= total)
        return;
    double left = now->elapsed_seconds * (double)(total - now->rounds) / (double)now->rounds;
    snprintf(stage, sizeof stage, "runtime, run %zu of %zu, %.0f s left", now->rounds + 1, total,
             left);
    announce(plan, stage);
}

static assay_status add_backward(profiling *self, const assay_record *passes)
{
    static const char covers[] = "gradient less forward, the mean over all rounds";
    const assay_reading none = assay_reading_missing(ASSAY_UNSUPPORTED);
    assay_reading mean = none, low = none, high = none;
    assay_status status = ASSAY_OK;
    if (passes->subject_count > 1) {
        assay_timing timing;
        status = assay__passes_subtract(&passes->subjects[1], &passes->subjects[0], &timing);
        mean = assay_reading_of(timing.mean_seconds);
        low = timing.low_seconds;
        high = timing.high_seconds;
    }
    const char *of = self->model.name;
    if (status == ASSAY_OK)
        status = assay__found_cost(self->record, ASSAY__FIGURE_BACKWARD, of, mean, "s", covers);
    if (status == ASSAY_OK)
        status = assay__found_cost(self->record, ASSAY__FIGURE_BACKWARD_LOW, of, low, "s",
                                   "lower end of its 95 % interval");
    return status == ASSAY_OK ? assay__found_cost(self->record, ASSAY__FIGURE_BACKWARD_HIGH, of,
                                                  high, "s", "upper end of its 95 % interval")
                              : status;
}

static assay_status measure_passes(profiling *self, assay_error *error)
{
    static const char *const covers[] = {"one forward pass", "forward and backward together",
                                         "gradient and update"};
    announce(self->plan, "runtime");
    const assay__profile_plan *plan = self->plan;
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.yardstick = true;
    options.num_runs = plan->num_runs != 0 ? plan->num_runs : DEFAULT_RUNS;
    options.warmup_runs = plan->warmup_runs;
    options.no_warmup = plan->no_warmup;
    options.progress = plan->progress != NULL ? show_runs : NULL;
    options.progress_context = (void *)plan;
    assay_profile_target target = target_of(plan);
    assay_profiling_context context = assay_profiling_begin(plan->model, false);
    assay_record *passes = NULL;
    assay_status status = assay__passes_sample(&target, &options, error, &passes);
    assay_profiling_end(&context);
    for (size_t i = 0; status == ASSAY_OK && i < passes->subject_count; i++) {
        status = assay__record_append_subject(self->record, &passes->subjects[i]);
        if (status == ASSAY_OK)
            status = assay__profile_name_subject(self->record, self->model.name,
                                                 passes->subjects[i].name, covers[i]);
    }
    if (status == ASSAY_OK)
        status = add_backward(self, passes);
    assay_record_free(passes);
    return status;
}

/* ---- scaling ---- */

typedef struct growing {
    const assay__profile_plan *plan;
    const char *axis;
} growing;

static void show_sizes(void *context, double size, size_t done, size_t total)
{
    const growing *self = context;
    char stage[96];
    snprintf(stage, sizeof stage, "scaling by %.32s, size %.6g, %zu of %zu", self->axis, size,
             done + 1, total);
    announce(self->plan, stage);
}

static assay_status run_axes(const assay__profile_plan *plan, const assay__axis *axes, size_t count,
                             assay_error *error, assay_record *record)
{
    assay_model_factory factory = ASSAY_MODEL_FACTORY_INIT;
    factory.class_ = assay_model_class_of(plan->model);
    factory.settings = assay_model_settings(plan->model);
    factory.seed = plan->seed;
    assay_scaling_options options = ASSAY_SCALING_OPTIONS_INIT;
    options.budget_seconds =
        plan->budget_seconds > 0 ? plan->budget_seconds : default_budget_seconds;
    options.seed = plan->seed;
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < count && status == ASSAY_OK; i++) {
        growing shown = {plan, axes[i].name};
        announce(plan, axes[i].name);
        options.progress = plan->progress != NULL ? show_sizes : NULL;
        options.progress_context = &shown;
        status = assay__axis_run(&factory, &axes[i], &options, error, record);
    }
    return status;
}

static assay_status tell(assay_status status, assay_error *error)
{
    if (status != ASSAY_OK && error != NULL && error->message[0] == '\0')
        return assay__fail(error, status, "cannot profile: %s", assay_status_message(status));
    return status;
}

assay_status assay__profile_scale(const assay__profile_plan *plan, assay_error *error,
                                  assay_record *record)
{
    const assay_model_class *class_ = assay_model_class_of(plan->model);
    assay__axis usual[ASSAY__AXES_MAX];
    if (plan->axis_count > 0)
        return tell(run_axes(plan, plan->axes, plan->axis_count, error, record), error);
    size_t count = assay__axes_default(class_, usual);
    if (count == 0)
        return assay__fail(error, ASSAY_E_UNSUPPORTED,
                           "model '%s' has no size to grow by; name one with --scaling",
                           class_->name);
    return tell(run_axes(plan, usual, count, error, record), error);
}

/* ---- together ---- */

static assay_status measure_parts(profiling *self, assay_error *error,
                                  assay_runtime_profile *forecast)
{
    unsigned parts = self->plan->parts;
    assay_runtime_profile unused;
    assay_status status = describe_model(self);
    if (status == ASSAY_OK && (parts & ASSAY__PROFILE_MEMORY) != 0)
        status = measure_memory(self, error);
    if (status == ASSAY_OK && (parts & ASSAY__PROFILE_FLOPS) != 0)
        status = assay__arithmetic_count(self->plan, error, self->record, &self->model);
    if (status == ASSAY_OK && (parts & ASSAY__PROFILE_RUNTIME) != 0) {
        status = measure_passes(self, error);
        if (status == ASSAY_OK && assay__device_is_used(self->plan)) {
            announce(self->plan, "the processor beside the device");
            status = assay__device_compare(self->plan, error, self->record);
        }
        if (status == ASSAY_OK && self->class_->forecast != NULL)
            status = assay__forecast_measure(self->plan, &self->model, error, self->record,
                                             forecast != NULL ? forecast : &unused);
    }
    if (status == ASSAY_OK)
        status = assay_record_add_model(self->record, &self->model);
    if (status == ASSAY_OK && (parts & ASSAY__PROFILE_RUNTIME) != 0)
        status = assay__arithmetic_rate(self->record);
    return status;
}

assay_status assay__profile_measure(const assay__profile_plan *plan, assay_error *error,
                                    assay_record *record, assay_runtime_profile *forecast)
{
    profiling self = {.plan = plan, .class_ = assay_model_class_of(plan->model), .record = record};
    assay_status status = tell(measure_parts(&self, error, forecast), error);
    if (status == ASSAY_OK && (plan->parts & ASSAY__PROFILE_SCALING) != 0)
        status = assay__profile_scale(plan, error, record);
    return status;
}

assay_status assay__profile_run(const assay__profile_plan *plan, assay_error *error,
                                assay_record **record, assay_runtime_profile *forecast)
{
    assay_status status = assay_record_new(record);
    if (status == ASSAY_OK) {
        (*record)->kind = "profile";
        (*record)->name = assay_record_text(*record, assay_model_class_of(plan->model)->name);
        status = assay_record_describe(*record);
    }
    if (status != ASSAY_OK)
        (void)assay__fail(error, status, "cannot profile: %s", assay_status_message(status));
    else
        status = assay__profile_measure(plan, error, *record, forecast);
    if (status != ASSAY_OK) {
        assay_record_free(*record);
        *record = NULL;
    }
    return status;
}
