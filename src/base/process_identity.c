#include "base/process_identity.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool read_line(const char *path, char *line, size_t capacity)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = descriptor < 0 ? -1 : read(descriptor, line, capacity - 1);
    if (descriptor >= 0)
        close(descriptor);
    line[length > 0 ? length : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return length > 0;
}

/* The command in field 2 may contain anything, so the fields are counted from its last ')'. */
uint64_t assay__process_start(int64_t process_id)
{
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)process_id);
    const char *rest = read_line(path, line, sizeof line) ? strrchr(line, ')') : NULL;
    char state = 'X';
    unsigned long long start = 0;
    if (rest == NULL || sscanf(rest + 1,
                               " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d"
                               " %*d %*d %*d %llu",
                               &state, &start) != 2)
        return 0;
    return state == 'Z' || state == 'X' ? 0 : start;
}

void assay__boot_id(char *text, size_t capacity)
{
    if (!read_line("/proc/sys/kernel/random/boot_id", text, capacity))
        text[0] = '\0';
}
