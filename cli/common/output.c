/* Checks output paths before a command begins to measure, so that a long measurement is not lost to
 * a typing mistake. Also reports writes that failed. */
#include "cli/common/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "cli/common/ascii.h"
#include "cli/common/message.h"

/* The folder that will hold `path`. The caller frees it. NULL when out of memory. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

static int refuse_one(const char *command, const char *path)
{
    struct stat existing;
    bool exists = stat(path, &existing) == 0;
    if (exists && S_ISDIR(existing.st_mode)) {
        message_error("assay %s: cannot write '%s': it is a directory", command, path);
        return EX_CANTCREAT;
    }
    if (exists && !S_ISREG(existing.st_mode)) /* a pipe or a device is not replaced by a new file */
        return EX_OK;
    char *folder = folder_of(path);
    if (folder == NULL) {
        message_error("assay %s: out of memory", command);
        return EX_OSERR;
    }
    int code = EX_OK;
    if (access(folder, W_OK | X_OK) != 0) {
        message_error("assay %s: cannot write '%s': directory '%s': %s", command, path, folder,
                      strerror(errno));
        code = EX_CANTCREAT;
    }
    free(folder);
    return code;
}

int output_refuse(const char *command, const char *const *paths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (paths[i] == NULL)
            continue;
        for (size_t j = 0; j < i; j++)
            if (paths[j] != NULL && strcmp(paths[i], paths[j]) == 0) {
                message_error("assay %s: '%s' is given for two outputs; they need different files",
                              command, paths[i]);
                return EX_USAGE;
            }
        bool to_stdout = strcmp(paths[i], "-") == 0;
        int code = to_stdout ? EX_OK : refuse_one(command, paths[i]);
        if (to_stdout)
            ascii_spare_stdout();
        if (code != EX_OK)
            return code;
    }
    return EX_OK;
}

bool output_check(const char *command, assay_status status, const assay_error *error)
{
    if (status == ASSAY_OK)
        return true;
    message_error("assay %s: %s", command, error->message);
    return false;
}

void output_note_no_events(const assay_record *record, const char *remedy)
{
    if (record->event_count == 0)
        message_note("the trace shows no spans, because no events were kept; %s", remedy);
}
