/* The subcommands, each defined in its cmd_NAME.c. */
#ifndef ASSAY_CLI_COMMANDS_H
#define ASSAY_CLI_COMMANDS_H

#include "options.h"

extern const command command_run;
extern const command command_bench;
extern const command command_journal;
extern const command command_report;
extern const command command_compare;
extern const command command_fit;
extern const command command_model;
extern const command command_study;
extern const command command_profile;
extern const command command_doctor;

#endif
