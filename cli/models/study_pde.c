/* assay study pde: learning with differential equations, configured by YAML files. This file has
 * the options, finds the folder of the YAML files and calls the study (studies/pde). */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "cli/common/history.h"
#include "cli/common/installed_files.h"
#include "cli/common/message.h"
#include "cli/common/output.h"
#include "cli/models/study.h"
#include "studies/pde/study.h"

typedef struct pde_settings {
    study_common common;
    const char *config_name, *config_dir;
    bool show_config;
} pde_settings;

static const option pde_options[] = {
    STUDY_COMMON_OPTIONS(pde_settings),
    {"config-name", 'c', OPTION_TEXT, "NAME",
     "The experiment, a file NAME.yaml (default: burgers_experiment).",
     offsetof(pde_settings, config_name)},
    {"config-dir", 0, OPTION_TEXT, "DIR",
     "Where the YAML files are (default: conf, or those installed).",
     offsetof(pde_settings, config_dir)},
    {"show-config", 0, OPTION_FLAG, NULL, "Print the composed configuration and do nothing else.",
     offsetof(pde_settings, show_config)},
};

/* The folder of the YAML files: ./conf, or the folder of the sources around a build folder, or the
 * installed folder. NULL if there is none. */
static const char *find_configurations(char path[INSTALLED_PATH_SIZE])
{
    static const char *const places[] = {"../conf", "../../share/assay/conf",
                                         "../share/assay/conf"};
    if (access("conf", X_OK) == 0)
        return "conf";
    return installed_file_find(places, sizeof places / sizeof *places, X_OK, path) ? path : NULL;
}

static int run(const command *self, const pde_settings *settings,
               const assay__config_source *source)
{
    assay__pde_config config;
    char experiment[256], folder[300];
    assay_error error = {0};
    assay_status status = assay__pde_config_load(source, settings->common.quick, &error, &config);
    if (status != ASSAY_OK)
        return study_exit(self->name, status, &error);
    if (settings->show_config) {
        assay__pde_config_print(&config, stdout);
        return EX_OK;
    }
    size_t length = strlen(source->name);
    if (length > 5 && strcmp(source->name + length - 5, ".yaml") == 0)
        length -= 5;
    snprintf(experiment, sizeof experiment, "%.*s", (int)length, source->name);
    snprintf(folder, sizeof folder, "assay-pde-study/%s", experiment);
    assay__study_plan plan = study_plan(&settings->common, "pde", experiment, folder);
    status = assay__pde_run(&plan, &config, settings->common.json, &error);
    return study_end(self->name, &settings->common, &plan, status, &error);
}

static int pde_main(const command *self, int argc, char **argv)
{
    pde_settings settings = {.config_name = "burgers_experiment"};
    char **operands, path[INSTALLED_PATH_SIZE];
    int count, code;
    if (!options_parse(self, argc, argv, &settings, &operands, &count, &code))
        return code;
    code = output_refuse(self->name, (const char *const[]){settings.common.json}, 1);
    if (code == EX_OK)
        code = history_refuse(self->name, settings.common.save);
    if (code != EX_OK)
        return code;
    const assay__config_source source = {
        .directory = settings.config_dir != NULL ? settings.config_dir : find_configurations(path),
        .name = settings.config_name,
        .overrides = (const char *const *)operands,
        .override_count = (size_t)count};
    if (source.directory == NULL) {
        message_error("assay study pde: there is no folder 'conf' here nor one installed; "
                      "say where the YAML files are with --config-dir DIR");
        return EX_NOINPUT;
    }
    return run(self, &settings, &source);
}

const command study_pde = {
    .name = "study pde",
    .summary = "learn from and through solvers of differential equations, monitored",
    .operands = "[KEY=VALUE...]",
    .description =
        "burgers_experiment trains a net on solutions of Burgers' equation,\n"
        "heat_physical_experiment recovers a conductivity by gradients through the solver\n"
        "of the heat equation. trainer=synthetic_with_memory (burgers) and\n"
        "trainer=physical_with_memory (heat) choose a trainer that is monitored: lines\n"
        "for batches and epochs, a summary of time and memory, and advice. KEY=VALUE\n"
        "sets any value of the configuration: trainer_params.epochs=20,\n"
        "problem.viscosity=0.02.",
    COMMAND_OPTIONS(pde_options),
    .main = pde_main,
};
