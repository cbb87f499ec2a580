/* Reads small files of /proc and /sys, and finds fields in them. */
#include "instrument/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

assay_status assay__proc_read(const char *path, char *text, size_t capacity)
{
    text[0] = '\0';
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0)
        return assay__fail_errno(NULL, "cannot read '%s'", path);
    assay_status status = ASSAY_OK;
    size_t used = 0;
    while (used < capacity - 1) {
        ssize_t got = read(descriptor, text + used, capacity - 1 - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) /* ESRCH: the process ended after the open */
            status = errno == ESRCH ? ASSAY_E_NOT_FOUND : assay__fail_errno(NULL, "%s", path);
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    text[used] = '\0';
    close(descriptor);
    return status;
}

bool assay__proc_field(const char *text, const char *name, uint64_t *value)
{
    size_t length = strlen(name);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) != 0 || line[length] != ':')
            continue;
        const char *digits = line + length + 1;
        digits += strspn(digits, " \t");
        if (*digits < '0' || *digits > '9')
            return false;
        char *end = NULL;
        *value = strtoull(digits, &end, 10);
        if (strncmp(end, " kB", 3) == 0)
            *value *= 1024;
        return true;
    }
    return false;
}

assay_validity assay__proc_validity(assay_status status)
{
    switch (status) {
    case ASSAY_OK:
        return ASSAY_VALID;
    case ASSAY_E_PERMISSION:
        return ASSAY_NOT_PERMITTED;
    case ASSAY_E_NOT_FOUND:
    case ASSAY_E_UNSUPPORTED:
        return ASSAY_UNSUPPORTED;
    default:
        return ASSAY_NOT_MEASURED;
    }
}
