/* assay-models: the commands that need the models, in an executable of their own.
 *
 * The models bring OpenBLAS along, whose loading costs milliseconds and memory. `assay run` must be
 * small: the kernel counts what a process held before exec into the peak of the program it becomes,
 * so everything in this executable would show in the figures of small programs. */
#ifndef ASSAY_CLI_MODELS_EXECUTABLE_H
#define ASSAY_CLI_MODELS_EXECUTABLE_H

#include <stdbool.h>

#include "cli/common/options.h"

/* The `main` of a command that lives there: becomes assay-models, or says why not. */
int models_executable_main(const command *self, int argc, char **argv);

/* The `complete` of such a command. Says nothing where assay-models is missing. */
void models_executable_complete(const command *self, int argc, char **argv);

/* Have it measure the machine's peak and keep it. False after a message. */
bool models_executable_measure_peak(void);

#endif
