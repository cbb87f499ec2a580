/* Two forecasting models side by side: training, forecasts, memory, arithmetic, and which one is
 * better.
 *
 *     cc runtime_profile.c $(pkg-config --cflags --libs assay-models) -lm -o runtime_profile
 *     ./runtime_profile
 *     ./runtime_profile FOLDER      also writes runtime_profile.json and runtime_comparison.json
 *
 * Both are built in: an MVAR, which is fitted in one step, and an LSTM, which is trained by
 * gradient steps. The MVAR's profile is made by one call, the LSTM's part by part; both ways give
 * the same kind of profile. */
#include <assay/assay.h>
#include <assay/model.h>
#include <assay/runtime.h>
#include <assay/timers.h>

enum { LATENT = 20, LAG = 5, HIDDEN = 64, STEPS = 100, TRAINING_STEPS = 20 };

static const assay_complexity_shape mvar_shape = {ASSAY_RUNTIME_MVAR, LATENT, .lag = LAG};
static const assay_complexity_shape lstm_shape = {ASSAY_RUNTIME_LSTM, LATENT, .hidden_size = HIDDEN,
                                                  .num_layers = 1};

typedef struct forecaster {
    assay_model *model;
    assay_tensor input, target;
} forecaster;

static assay_status make(forecaster *made, const char *name, assay_error *error)
{
    const assay_model_class *class = NULL;
    assay_status status = assay_model_find(name, error, &class);
    if (status == ASSAY_OK)
        status = assay_model_new(class, NULL, 1, error, &made->model);
    if (status == ASSAY_OK)
        status = assay_model_example(made->model, 1, error, &made->input, &made->target);
    return status;
}

/* Forecasts the next `steps` values. The benchmark calls this function. */
static assay_status forecast(void *context, uint64_t steps)
{
    forecaster *made = context;
    assay_tensor output;
    return assay_model_forecast(made->model, &made->input, 1, (int64_t)steps, NULL, &output);
}

static assay_status profile_mvar(forecaster *mvar, assay_error *error,
                                 assay_runtime_profile *profile)
{
    double seconds = 0.0;
    assay_status status = ASSAY_OK;
    ASSAY_TIME_OPERATION("training", &seconds) {
        status = assay_model_fit(mvar->model, &mvar->input, 1, error);
    }
    if (status != ASSAY_OK)
        return status;
    assay_profile_parts parts = ASSAY_PROFILE_PARTS_INIT;
    parts.model_name = "MVAR";
    parts.training_seconds = assay_reading_of(seconds);
    parts.n_forecast_steps = STEPS;
    parts.model_params = assay_compute_mvar_params(LATENT, LAG);
    parts.shape = mvar_shape;
    return assay_quick_benchmark(&(assay_forecast){forecast, mvar}, &parts, NULL, error, profile);
}

static assay_status profile_lstm(forecaster *lstm, assay_error *error,
                                 assay_runtime_profile *profile)
{
    double loss = 0.0;
    assay_status status = ASSAY_OK;
    const assay_stopwatch training = assay_time_operation("training");
    for (int i = 0; status == ASSAY_OK && i < TRAINING_STEPS; i++) {
        status = assay_model_gradient(lstm->model, &lstm->input, 1, &lstm->target, error, &loss);
        if (status == ASSAY_OK)
            status = assay_model_update(lstm->model, 1e-3, error);
    }
    assay_profile_parts parts = ASSAY_PROFILE_PARTS_INIT;
    parts.model_name = "LSTM";
    parts.training_seconds = assay_reading_of(assay_stopwatch_seconds(&training));
    parts.n_forecast_steps = STEPS;
    parts.model_params = assay_compute_lstm_params(LATENT, HIDDEN, 1, LATENT);
    parts.shape = lstm_shape;

    assay_sampling_options options = ASSAY_SAMPLING_OPTIONS_INIT;
    options.n_trials = 120;
    options.warmup_trials = 5;
    const assay_forecast subject = {forecast, lstm};
    if (status == ASSAY_OK)
        status = assay_forecast_benchmark(&subject, STEPS, &options, error, &parts.single_step,
                                          &parts.full_trajectory);
    return status == ASSAY_OK ? assay_build_profile(&parts, error, profile) : status;
}

/* Shows both JSON forms, then figures computed one by one, as a program could compute them for
 * anything that it timed. */
static assay_status show(const assay_runtime_comparison *comparison, assay_error *error)
{
    const assay_runtime_profile *mvar = &comparison->profiles[0], *lstm = &comparison->profiles[1];
    assay_memory_result memory;
    assay_throughput speed;
    assay_complexity complexity;
    const uint64_t parameters = assay_compute_lstm_params(LATENT, HIDDEN, 1, LATENT);
    assay_status status = assay_runtime_profile_print(mvar, stdout, error);
    if (status == ASSAY_OK)
        status = assay_runtime_comparison_print(comparison, stdout, error);
    if (status == ASSAY_OK)
        status = assay_measure_memory(parameters, sizeof(float), &memory);
    if (status == ASSAY_OK)
        status = assay_compute_throughput(&lstm->inference_full_trajectory, STEPS, LATENT, &speed);
    if (status == ASSAY_OK)
        status = assay_analyze_complexity(&lstm_shape, parameters, &complexity);
    if (status != ASSAY_OK)
        return status;
    printf("\nLSTM: %.0f bytes of parameters, %.0f steps a second,\n", memory.parameter_bytes,
           speed.steps_per_second);
    printf("%.0f FLOPs a step, %s\n", complexity.inference_flops_per_step.value,
           complexity.inference_complexity);
    return ASSAY_OK;
}

static assay_status save(const assay_runtime_comparison *comparison, const char *folder,
                         assay_error *error)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/runtime_profile.json", folder);
    const assay_status status = assay_save_profile(&comparison->profiles[0], path, error);
    snprintf(path, sizeof path, "%s/runtime_comparison.json", folder);
    return status == ASSAY_OK ? assay_save_comparison(comparison, path, error) : status;
}

int main(int count, char **arguments)
{
    assay_error error = {0};
    forecaster mvar = {0}, lstm = {0};
    assay_runtime_profile profiles[2];
    assay_runtime_comparison comparison = {0};
    assay_status status = make(&mvar, "mvar", &error);
    if (status == ASSAY_OK)
        status = make(&lstm, "lstm", &error);
    if (status == ASSAY_OK)
        status = profile_mvar(&mvar, &error, &profiles[0]);
    if (status == ASSAY_OK)
        status = profile_lstm(&lstm, &error, &profiles[1]);
    if (status == ASSAY_OK)
        status = assay_compare_models(profiles, 2, &comparison);
    if (status == ASSAY_OK)
        status = show(&comparison, &error);
    if (status == ASSAY_OK && count > 1)
        status = save(&comparison, arguments[1], &error);
    if (status != ASSAY_OK)
        fprintf(stderr, "%s: %s\n", assay_status_name(status),
                error.message[0] != '\0' ? error.message : assay_status_message(status));
    assay_runtime_comparison_release(&comparison);
    assay_model_free(mvar.model);
    assay_model_free(lstm.model);
    return status == ASSAY_OK ? 0 : 1;
}
