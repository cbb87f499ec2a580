/* The subcommands of both executables, `assay` and `assay-models`. Each is defined in its
 * cmd_NAME.c. */
#ifndef ASSAY_CLI_COMMON_COMMANDS_H
#define ASSAY_CLI_COMMON_COMMANDS_H

#include "cli/common/options.h"

extern const command command_run;
extern const command command_bench;
extern const command command_journal;
extern const command command_report;
extern const command command_compare;
extern const command command_fit;
extern const command command_history;
extern const command command_doctor;

/* The commands of assay-models (cli/models_executable.h). Their lines of `assay help` are here
 * because both executables need them. */
extern const command command_model;
extern const command command_study;
extern const command command_profile;

#define MODEL_SUMMARY   "use the built-in models and plugins themselves"
#define PROFILE_SUMMARY "measure one model: runtime, memory, FLOPs, scaling"
#define STUDY_SUMMARY   "run a complete study: models, measurements, comparison, report"

#endif
