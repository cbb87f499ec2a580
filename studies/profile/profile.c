/* The measurement behind `assay profile`, in an order that keeps its parts apart: memory of the
 * fresh model first, then its passes, then what makes new models. */
#include "studies/profile/profile.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "assay/runtime.h"
#include "assay/timers.h"
#include "base/error.h"

enum { DEFAULT_FORECAST_STEPS = 100, DEFAULT_RUNS = 100 };
static const double default_budget_seconds = 5;

const char *assay__pass_name(int pass)
{
    static const char *const pass_names[ASSAY__PASSES] = {"forward", "backward", "training_step"};
    return pass_names[pass];
}

uint64_t assay__profile_model_bytes(const assay_model_memory *memory)
{
    return memory->parameters + memory->gradients + memory->optimizer + memory->activations +
           memory->workspace;
}

static void announce(const assay__profile *profile, const char *stage)
{
    if (profile->plan.progress != NULL)
        profile->plan.progress(profile->plan.progress_context, stage);
}

static assay_profile_target target_of(const assay__profile *profile)
{
    return (assay_profile_target){.struct_size = sizeof(assay_profile_target),
                                  .model = profile->plan.model,
                                  .inputs = profile->plan.inputs,
                                  .target = profile->plan.target};
}

/* ---- memory ---- */

typedef struct breakdown_call {
    assay_profile_target target;
    assay_model_memory *breakdown;
    assay_error *error;
} breakdown_call;

static assay_status take_breakdown(void *argument)
{
    breakdown_call *call = argument;
    const assay_model_class *class_ = assay_model_class_of(call->target.model);
    assay_tensor output;
    if (class_->memory != NULL)
        return assay_get_memory_breakdown(&call->target, call->error, call->breakdown);
    return class_->forward(assay_model_state(call->target.model), call->target.inputs,
                           class_->input_count, call->error, &output);
}

static assay_status measure_memory(assay__profile *profile, assay_error *error)
{
    announce(profile, "memory");
    breakdown_call call = {target_of(profile), &profile->breakdown, error};
    assay_status status = assay_profile_memory_usage(take_breakdown, &call, &profile->process);
    profile->has_memory = status == ASSAY_OK;
    profile->has_breakdown = profile->has_memory && profile->class_->memory != NULL;
    return status;
}

/* ---- runtime ---- */

static void keep_sample(void *context, const char *pass, double seconds)
{
    assay__profile *profile = context;
    for (int i = 0; i < ASSAY__PASSES; i++) {
        assay__pass *it = &profile->passes[i];
        if (strcmp(assay__pass_name(i), pass) == 0 && it->seconds != NULL)
            it->seconds[it->count++] = seconds;
    }
}

static assay_status measure_passes(assay__profile *profile, assay_error *error)
{
    announce(profile, "runtime");
    const assay__profile_plan *plan = &profile->plan;
    size_t runs = plan->num_runs != 0 ? plan->num_runs : DEFAULT_RUNS;
    for (int i = 0; i < ASSAY__PASSES; i++) {
        profile->passes[i].seconds = calloc(runs, sizeof *profile->passes[i].seconds);
        if (profile->passes[i].seconds == NULL)
            return assay__fail(error, ASSAY_E_MEMORY, "no memory for %zu times", runs);
    }
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.num_runs = runs;
    options.warmup_runs = plan->warmup_runs;
    options.no_warmup = plan->no_warmup;
    options.sample = keep_sample;
    options.sample_context = profile;
    assay_profile_target target = target_of(profile);
    assay_profiling_context context = assay_profiling_begin(plan->model, false);
    assay_pass_profile passes;
    assay_status status = assay_profile_all(&target, &options, error, &passes);
    assay_profiling_end(&context);
    profile->passes[ASSAY__PASS_FORWARD].timing = passes.forward;
    profile->passes[ASSAY__PASS_BACKWARD].timing = passes.backward;
    profile->passes[ASSAY__PASS_TRAINING].timing = passes.training_step;
    return status;
}

/* ---- forecasts, seed A's view of the same model ---- */

typedef struct forecast_call {
    const assay__profile *profile;
    assay_tensor first; /* of the batch: one trajectory to go on with */
    assay_error *error;
} forecast_call;

static assay_status run_forecast(void *context, uint64_t steps)
{
    forecast_call *call = context;
    const assay__profile *profile = call->profile;
    assay_tensor output;
    return profile->class_->forecast(assay_model_state(profile->plan.model), &call->first, 1,
                                     (int64_t)steps, call->error, &output);
}

static uint64_t setting(const assay__profile *profile, const char *name)
{
    const double *settings = assay_model_settings(profile->plan.model);
    for (size_t i = 0; i < profile->class_->option_count; i++)
        if (strcmp(profile->class_->options[i].name, name) == 0)
            return (uint64_t)settings[i];
    return 0;
}

static assay_complexity_shape complexity_shape(const assay__profile *profile)
{
    const char *name = profile->class_->name;
    const assay_tensor *input = profile->plan.inputs;
    return (assay_complexity_shape){
        .kind = strcmp(name, "mvar") == 0   ? ASSAY_RUNTIME_MVAR
                : strcmp(name, "lstm") == 0 ? ASSAY_RUNTIME_LSTM
                                            : ASSAY_RUNTIME_OTHER,
        .latent_dim = input->rank > 0 ? (uint64_t)input->shape[input->rank - 1] : 1,
        .lag = setting(profile, "order"),
        .hidden_size = setting(profile, "hidden-dim"),
        .num_layers = setting(profile, "num-layers")};
}

static assay_status time_fit(const assay__profile *profile, assay_error *error,
                             assay_reading *seconds)
{
    *seconds = assay_reading_missing(ASSAY_NOT_MEASURED);
    if (profile->class_->fit == NULL)
        return ASSAY_OK;
    assay_stopwatch stopwatch = assay_time_operation("fit");
    assay_status status =
        profile->class_->fit(assay_model_state(profile->plan.model), profile->plan.inputs,
                             profile->class_->input_count, error);
    *seconds = assay_reading_of(assay_stopwatch_seconds(&stopwatch));
    return status;
}

static assay_status measure_forecast(assay__profile *profile, assay_error *error)
{
    const assay__profile_plan *plan = &profile->plan;
    forecast_call call = {profile, plan->inputs[0], error};
    call.first.shape[0] = 1;
    assay_forecast forecast = {run_forecast, &call};
    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.n_trials = plan->num_runs;
    options.warmup_trials = plan->warmup_runs;
    options.no_warmup = plan->no_warmup;
    profile->forecast_steps =
        plan->forecast_steps > 0 ? plan->forecast_steps : DEFAULT_FORECAST_STEPS;
    assay_profile_parts parts = ASSAY_PROFILE_PARTS_INIT;
    parts.model_name = profile->class_->name;
    parts.n_forecast_steps = (uint64_t)profile->forecast_steps;
    parts.model_params = profile->parameters;
    parts.bytes_per_parameter = (size_t)profile->element_bytes;
    parts.shape = complexity_shape(profile);
    assay_status status = time_fit(profile, error, &parts.training_seconds);
    if (status == ASSAY_OK)
        status = assay_quick_benchmark(&forecast, &parts, &options, error, &profile->forecast);
    if (status != ASSAY_OK && error != NULL && error->message[0] == '\0')
        return assay__fail(error, status, "model '%s' cannot forecast: %s", profile->class_->name,
                           assay_status_message(status));
    profile->has_forecast = status == ASSAY_OK;
    return status;
}

/* ---- arithmetic ---- */

static void add_both(void *context, const assay_term *term)
{
    void *const *accounts = context;
    assay_flop_account_add(accounts[0], term);
    assay__work_add(accounts[1], term);
}

static assay_status count_flops(assay__profile *profile, assay_error *error)
{
    const assay_model_class *class_ = profile->class_;
    if (class_->describe == NULL)
        return ASSAY_OK; /* said in the outputs */
    assay__work_account work = {.element_bytes = profile->element_bytes};
    assay_status status = assay_flop_account_new(&profile->components);
    if (status != ASSAY_OK)
        return assay__fail(error, status, "no memory to count FLOPs");
    void *accounts[] = {profile->components, &work};
    status = class_->describe(assay_model_state(profile->plan.model), profile->plan.inputs,
                              class_->input_count, add_both, accounts, error);
    if (status != ASSAY_OK)
        return status;
    status = assay_flop_account_group(profile->components, &profile->groups);
    if (status != ASSAY_OK)
        return assay__fail(error, status, "cannot count the FLOPs of '%s': %s", class_->name,
                           assay_status_message(status));
    assay__work update = assay__work_of_update(profile->parameter_bytes);
    profile->work[ASSAY__PASS_FORWARD] = work.forward;
    profile->work[ASSAY__PASS_BACKWARD] = work.backward;
    profile->work[ASSAY__PASS_TRAINING] =
        (assay__work){work.forward.flops + work.backward.flops,
                      work.forward.bytes + work.backward.bytes + update.bytes};
    profile->has_peak = assay__peak_load(&profile->peak, NULL) == ASSAY_OK;
    return ASSAY_OK;
}

/* ---- scaling ---- */

static assay_status measure_axes(assay__profile *profile, assay_error *error)
{
    const assay__profile_plan *plan = &profile->plan;
    assay__axis usual[ASSAY__AXES_MAX];
    const assay__axis *axes = plan->axes;
    size_t count = plan->axis_count;
    if (count == 0) {
        axes = usual;
        count = assay__axes_default(profile->class_, usual);
    }
    if (count == 0)
        return assay__fail(error, ASSAY_E_UNSUPPORTED,
                           "model '%s' has no size to grow by; name one with --scaling",
                           profile->class_->name);
    profile->axes = calloc(count, sizeof *profile->axes);
    if (profile->axes == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "no memory for scaling runs");
    assay_model_factory factory = ASSAY_MODEL_FACTORY_INIT;
    factory.class_ = profile->class_;
    factory.settings = assay_model_settings(plan->model);
    factory.seed = plan->seed;
    assay_scaling_options options = ASSAY_SCALING_OPTIONS_INIT;
    options.budget_seconds =
        plan->budget_seconds > 0 ? plan->budget_seconds : default_budget_seconds;
    options.seed = plan->seed;
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < count && status == ASSAY_OK; i++) {
        announce(profile, axes[i].name);
        status = assay__axis_run(&factory, &axes[i], &options, error, &profile->axes[i]);
        profile->axis_count += status == ASSAY_OK;
    }
    return status;
}

/* ---- together ---- */

static void weigh(assay__profile *profile)
{
    size_t count;
    const assay_model_parameter *list = assay_model_parameters(profile->plan.model, &count);
    profile->element_bytes = sizeof(float);
    for (size_t i = 0; i < count; i++) {
        double each = list[i].value.element == ASSAY_F32 ? 4 : 8;
        profile->parameter_bytes += each * (double)assay_tensor_count(&list[i].value);
        profile->element_bytes = each;
    }
    profile->parameters = assay_model_parameter_count(profile->plan.model);
}

static assay_status measure_parts(assay__profile *profile, assay_error *error)
{
    unsigned parts = profile->plan.parts;
    assay_status status = ASSAY_OK;
    if ((parts & ASSAY__PROFILE_MEMORY) != 0)
        status = measure_memory(profile, error);
    if (status == ASSAY_OK && (parts & ASSAY__PROFILE_FLOPS) != 0)
        status = count_flops(profile, error);
    if (status == ASSAY_OK && (parts & ASSAY__PROFILE_RUNTIME) != 0) {
        status = measure_passes(profile, error);
        if (status == ASSAY_OK && profile->class_->forecast != NULL)
            status = measure_forecast(profile, error);
    }
    if (status == ASSAY_OK && (parts & ASSAY__PROFILE_SCALING) != 0)
        status = measure_axes(profile, error);
    return status;
}

assay_status assay__profile_measure(const assay__profile_plan *plan, assay_error *error,
                                    assay__profile *profile)
{
    *profile = (assay__profile){.plan = *plan, .class_ = assay_model_class_of(plan->model)};
    time_t now = time(NULL);
    struct tm utc;
    strftime(profile->timestamp, sizeof profile->timestamp, "%Y-%m-%dT%H:%M:%SZ",
             gmtime_r(&now, &utc));
    weigh(profile);
    profile->complexity = assay__complexity_of(profile->class_->name);
    assay_status status = measure_parts(profile, error);
    if (status != ASSAY_OK)
        assay__profile_release(profile);
    return status;
}

void assay__profile_release(assay__profile *profile)
{
    for (int i = 0; i < ASSAY__PASSES; i++)
        free(profile->passes[i].seconds);
    assay_flop_account_free(profile->components);
    assay_flop_account_free(profile->groups);
    for (size_t i = 0; i < profile->axis_count; i++)
        assay__axis_release(&profile->axes[i]);
    free(profile->axes);
    *profile = (assay__profile){0};
}
