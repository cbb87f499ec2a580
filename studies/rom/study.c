/* The steps of the reduced-order-model study: fit the MVAR, train the LSTM, evaluate and benchmark
 * both. Then the record is published and the report written. */
#include "studies/rom/study.h"

#include "assay/record_build.h"
#include "base/error.h"
#include "studies/common/results.h"
#include "studies/rom/measure.h"
#include "studies/rom/report.h"

enum { FIT_MVAR, TRAIN_LSTM, MEASURE, STEPS };

static const assay__study_step steps[STEPS] = {
    {"fit MVAR", 1}, {"train LSTM", 60}, {"evaluate and benchmark", 40}};

assay__rom_settings assay__rom_defaults(bool quick)
{
    return (assay__rom_settings){.latent_dim = 20,
                                 .lag = 5,
                                 .hidden_size = 64,
                                 .num_layers = 1,
                                 .window = 20,
                                 .epochs = quick ? 4 : 6,
                                 .batch = 4,
                                 .learning_rate = 3e-3,
                                 .n_steps = 100,
                                 .n_trials = 100,
                                 .budget_seconds = quick ? 1 : 5};
}

/* Add the settings of the study, except the seed, to the record. */
static assay_status found_settings(const assay__rom_settings *settings, assay_record *record)
{
    const struct {
        const char *key;
        double value;
    } numbers[] = {{"latent_dim", (double)settings->latent_dim},
                   {"lag", (double)settings->lag},
                   {"hidden_size", (double)settings->hidden_size},
                   {"num_layers", (double)settings->num_layers},
                   {"window", (double)settings->window},
                   {"epochs", (double)settings->epochs},
                   {"batch", (double)settings->batch},
                   {"learning_rate", settings->learning_rate},
                   {"n_steps", (double)settings->n_steps},
                   {"n_trials", (double)settings->n_trials},
                   {"budget_seconds", settings->budget_seconds}};
    assay_status status = assay_record_add_setting(
        record, "data", settings->data != NULL ? settings->data : "generated");
    if (status == ASSAY_OK && settings->device != NULL)
        status = assay_record_add_setting(record, "device", settings->device);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && status == ASSAY_OK; i++)
        status = assay__found_setting(record, numbers[i].key, numbers[i].value);
    return status;
}

/* Do all steps, and add their results to `whole`. */
static assay_status run(assay__study *study, const assay__rom_settings *settings,
                        const assay__rom_data *data, assay_record *whole, assay_error *error)
{
    assay__rom_model models[ASSAY__ROM_MODELS] = {0};
    assay__rom_trial trial = {study, settings, data, models};
    assay_status status = found_settings(settings, whole);
    if (status != ASSAY_OK)
        return assay__fail(error, status, "no memory for the settings");
    status =
        assay__rom_mvar(study, FIT_MVAR, settings, data, whole, error, &models[ASSAY__ROM_MVAR]);
    if (status == ASSAY_OK)
        status = assay__rom_lstm(study, TRAIN_LSTM, settings, data, whole, error,
                                 &models[ASSAY__ROM_LSTM]);
    if (status == ASSAY_OK)
        status = assay__study_find(study, MEASURE, assay__rom_measure, &trial, whole, error);
    for (int i = 0; i < ASSAY__ROM_MODELS; i++)
        assay__rom_model_release(&models[i]);
    return status;
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
             "batch %lld, rate %g, steps %lld, trials %lld, budget %g%s%s",
             settings->data != NULL ? settings->data : "generated", (long long)settings->latent_dim,
             (long long)settings->lag, (long long)settings->hidden_size,
             (long long)settings->num_layers, (long long)settings->window,
             (long long)settings->epochs, (long long)settings->batch, settings->learning_rate,
             (long long)settings->n_steps, (long long)settings->n_trials, settings->budget_seconds,
             settings->device != NULL ? ", LSTM on " : "",
             settings->device != NULL ? settings->device : "");
    plan.settings = text;
    plan.steps = steps;
    plan.step_count = STEPS;
    assay__rom_data data = {0};
    assay__study *study = NULL;
    assay_record *whole = NULL;
    /* The data come first, so that data which cannot be used leave no folder behind. */
    assay_status status = assay__rom_data_prepare(settings, plan.seed, plan.quick, error, &data);
    if (status == ASSAY_OK)
        status = assay__study_open(&plan, error, &study);
    if (status == ASSAY_OK)
        status = assay__study_findings(study, error, &whole);
    if (status == ASSAY_OK)
        status = run(study, settings, &data, whole, error);
    if (status == ASSAY_OK)
        status = assay__study_publish(study, whole, error);
    if (status == ASSAY_OK)
        status = assay__rom_report(study, settings, whole, summary_path, error);
    assay_record_free(whole);
    assay__study_free(study);
    assay__rom_data_release(&data);
    return status;
}
