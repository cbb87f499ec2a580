/* Finds files that belong to this executable by their path relative to it (/proc/self/exe). So they
 * are found in a build folder as well as in an installation. */
#include "cli/common/installed_files.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool installed_file_find(const char *const *places, size_t count, int mode,
                         char path[INSTALLED_PATH_SIZE])
{
    char folder[INSTALLED_PATH_SIZE];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (length <= 0)
        return false;
    folder[length] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    for (size_t i = 0; i < count; i++) {
        int used = snprintf(path, INSTALLED_PATH_SIZE, "%s/%s", folder, places[i]);
        if (used > 0 && used < INSTALLED_PATH_SIZE && access(path, mode) == 0)
            return true;
    }
    return false;
}
