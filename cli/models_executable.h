/* assay-models: the commands that need the models, in an executable of their own.
 *
 * The models bring OpenBLAS along, whose loading costs milliseconds and memory. `assay run` must be
 * small: the kernel counts what a process held before exec into the peak of the program it becomes,
 * so everything in this executable would show in the figures of small programs. */
#ifndef ASSAY_CLI_MODELS_EXECUTABLE_H
#define ASSAY_CLI_MODELS_EXECUTABLE_H

#include <stdbool.h>

#include "cli/common/options.h"

/* The main function of such a command: it becomes assay-models, or prints why it cannot. */
int models_executable_main(const command *self, int argc, char **argv);

/* The completion of such a command. It prints nothing if assay-models is missing. */
void models_executable_complete(const command *self, int argc, char **argv);

/* Run assay-models to measure the peak of the machine and to store it. False after a message. */
bool models_executable_measure_peak(void);

#endif
