/* assay-models: the executable that `assay` becomes for the commands that need the models
 * (cli/models_executable.h). It finds the command, or the completion of a command, or measures the
 * peak of the machine. */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "cli/common/ascii.h"
#include "cli/common/commands.h"
#include "cli/common/message.h"
#include "studies/profile/peak_measure.h"

static const command *const commands[] = {&command_model, &command_profile, &command_study};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

/* Measure the peak of the machine and store it, for `assay doctor --measure`. */
static int measure_peak(void)
{
    assay__peak peak;
    assay_error error = {0};
    assay_status status = assay__peak_measure(&peak, &error);
    if (status == ASSAY_OK)
        status = assay__peak_save(&peak, &error);
    if (status == ASSAY_OK)
        return EX_OK;
    message_error("assay doctor: %s", error.message);
    return EX_CANTCREAT;
}

int main(int argc, char **argv)
{
    int code = EX_USAGE;
    ascii_begin();
    bool completes = argc > 2 && strcmp(argv[1], "complete") == 0;
    const command *found = NULL;
    for (size_t i = 0; i < COMMAND_COUNT && argc > 1; i++)
        if (strcmp(commands[i]->name, argv[completes ? 2 : 1]) == 0)
            found = commands[i];
    if (found != NULL && completes) {
        found->complete(found, argc - 2, argv + 2);
        code = EX_OK;
    } else if (found != NULL)
        code = found->main(found, argc - 1, argv + 1);
    else if (argc == 2 && strcmp(argv[1], "peak") == 0)
        code = measure_peak();
    else
        message_error("assay-models: this is a part of 'assay'; use that");
    return message_finish(code);
}
