/* assay-models: the commands that need the models, in an executable of their own.
 *
 * The models need OpenBLAS, which takes milliseconds and memory to load. `assay run` must be small:
 * the peak that the kernel reports for a program includes the memory that its process held before
 * the exec. So the memory of a larger executable would show in the figures of small programs. */
#ifndef ASSAY_CLI_MODELS_EXECUTABLE_H
#define ASSAY_CLI_MODELS_EXECUTABLE_H

#include <stdbool.h>

#include "cli/common/options.h"

/* The main function of such a command. The process becomes assay-models. The function returns only
 * if that fails, after a message. */
int models_executable_main(const command *self, int argc, char **argv);

/* The completion of such a command. It prints nothing if assay-models is missing. */
void models_executable_complete(const command *self, int argc, char **argv);

/* Run assay-models to measure the peak of the machine and to store it. Returns false after a
 * message. */
bool models_executable_measure_peak(void);

#endif
