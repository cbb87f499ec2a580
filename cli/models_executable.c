/* Finds assay-models beside this executable and becomes it, so that `assay` itself never loads the
 * models. */
#include "cli/models_executable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "cli/common/installed_files.h"
#include "cli/common/message.h"

/* Become assay-models. Returns only after a failure, for which it prints a message. */
static void become(int argc, char **argv)
{
    static const char *const places[] = {"assay-models", "../lib/assay/assay-models"};
    char path[INSTALLED_PATH_SIZE];
    char **arguments = calloc((size_t)argc + 2, sizeof *arguments);
    if (arguments == NULL) {
        message_error("assay: out of memory");
        return;
    }
    arguments[0] = "assay-models";
    memcpy(arguments + 1, argv, (size_t)argc * sizeof *argv);
    if (!installed_file_find(places, 2, X_OK, path))
        message_error("assay %s: assay-models is neither beside assay nor in ../lib/assay; the "
                      "installation is incomplete",
                      argv[0]);
    else if (execv(path, arguments) != 0)
        message_error("assay %s: cannot run '%s': %s", argv[0], path, strerror(errno));
    free(arguments);
}

int models_executable_main(const command *self, int argc, char **argv)
{
    (void)self;
    become(argc, argv);
    return EX_UNAVAILABLE;
}

void models_executable_complete(const command *self, int argc, char **argv)
{
    (void)self;
    char **arguments = calloc((size_t)argc + 1, sizeof *arguments);
    if (arguments == NULL)
        return;
    arguments[0] = "complete";
    memcpy(arguments + 1, argv, (size_t)argc * sizeof *argv);
    become(argc + 1, arguments);
    free(arguments);
}

bool models_executable_measure_peak(void)
{
    char *arguments[] = {"peak", NULL};
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        become(1, arguments);
        _exit(EX_UNAVAILABLE);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (child < 0)
        message_error("assay doctor: cannot start assay-models: %s", strerror(errno));
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == EX_OK;
}
