/* assay study rom: reduced-order models, MVAR against LSTM. This file has the options and calls the
 * study (studies/rom). */
#include <stdio.h>
#include <sysexits.h>

#include "cli/models/study.h"
#include "studies/rom/study.h"

typedef struct rom_options {
    study_common common;
    const char *experiment, *data, *device;
    size_t latent_dim, lag, hidden_size, num_layers, window, epochs, batch_size, n_steps, n_trials;
    double learning_rate, budget;
} rom_options;

static const option options[] = {
    {"experiment", 'e', OPTION_TEXT, "NAME",
     "Name of this run, its folder below --out (default: rom).", offsetof(rom_options, experiment)},
    {"data", 'd', OPTION_TEXT, "FILE",
     "Trajectories as .npy, (trajectories, time, features) or (time, features), instead of made-up "
     "ones.",
     offsetof(rom_options, data)},
    {"latent-dim", 0, OPTION_COUNT, "N", "Amplitudes kept by the reduction (default: 20).",
     offsetof(rom_options, latent_dim)},
    {"lag", 0, OPTION_COUNT, "N", "MVAR: order (default: 5).", offsetof(rom_options, lag)},
    {"hidden-size", 0, OPTION_COUNT, "N", "LSTM: units of a layer (default: 64).",
     offsetof(rom_options, hidden_size)},
    {"num-layers", 0, OPTION_COUNT, "N", "LSTM: layers (default: 1).",
     offsetof(rom_options, num_layers)},
    {"window", 0, OPTION_COUNT, "N", "LSTM: steps it sees before a forecast (default: 20).",
     offsetof(rom_options, window)},
    {"epochs", 0, OPTION_COUNT, "N", "LSTM: times over the training data (default: 6, quick 4).",
     offsetof(rom_options, epochs)},
    {"batch-size", 0, OPTION_COUNT, "N",
     "LSTM: stretches of trajectories in a training step (default: 4).",
     offsetof(rom_options, batch_size)},
    {"learning-rate", 0, OPTION_REAL, "RATE", "LSTM: of Adam at first, falling (default: 0.003).",
     offsetof(rom_options, learning_rate)},
    {"n-steps", 0, OPTION_COUNT, "N", "Steps of a forecast (default: 100).",
     offsetof(rom_options, n_steps)},
    {"n-trials", 0, OPTION_COUNT, "N", "Samples of single steps and of forecasts (default: 100).",
     offsetof(rom_options, n_trials)},
    {"budget", 'b', OPTION_SECONDS, "TIME", "Time for all samples together (default: 5s).",
     offsetof(rom_options, budget)},
    STUDY_DEVICE_OPTION(rom_options, device),
    STUDY_COMMON_OPTIONS(rom_options),
};

static void take(size_t given, int64_t *setting)
{
    if (given > 0)
        *setting = (int64_t)given;
}

static assay__rom_settings settings_of(const rom_options *given)
{
    assay__rom_settings settings = assay__rom_defaults(given->common.quick);
    settings.data = given->data;
    settings.device = given->device;
    take(given->latent_dim, &settings.latent_dim);
    take(given->lag, &settings.lag);
    take(given->hidden_size, &settings.hidden_size);
    take(given->num_layers, &settings.num_layers);
    take(given->window, &settings.window);
    take(given->epochs, &settings.epochs);
    take(given->batch_size, &settings.batch);
    take(given->n_steps, &settings.n_steps);
    take(given->n_trials, &settings.n_trials);
    if (given->learning_rate > 0)
        settings.learning_rate = given->learning_rate;
    if (given->budget > 0)
        settings.budget_seconds = given->budget;
    return settings;
}

static int rom_main(const command *self, int argc, char **argv)
{
    rom_options given = {0};
    char folder[4096];
    int code;
    if (!study_parse(self, argc, argv, &given, &given.common, &code))
        return code;
    if ((code = study_check_device(self->name, "lstm", given.device)) != EX_OK)
        return code;
    assay__rom_settings settings = settings_of(&given);
    const char *experiment = given.experiment != NULL ? given.experiment : "rom";
    assay__study_plan plan = study_plan(&given.common, "rom", experiment, "assay-rom-study");
    snprintf(folder, sizeof folder, "%s/%s", plan.folder, experiment);
    plan.folder = folder;
    assay_error error = {0};
    assay_status status = assay__study_rom(plan, &settings, given.common.json, &error);
    return study_end(self->name, &given.common, &plan, status, &error);
}

const command study_rom = {
    .name = "study rom",
    .summary = "reduced-order models: MVAR against LSTM, training and forecasts",
    .operands = "",
    .description = "Trajectories of a field are reduced to a few amplitudes, which an MVAR and an\n"
                   "LSTM learn to forecast. Writes record.json, MVAR/runtime_profile.json,\n"
                   "LSTM/runtime_profile.json, runtime_comparison.json and summary.json below\n"
                   "DIR/NAME, and says which is faster, with significance. --device moves the\n"
                   "LSTM; the MVAR is fitted on the processor.",
    COMMAND_OPTIONS(options),
    .main = rom_main,
};
