/* Reads the mappings of a process from /proc/PID/maps, and the id of this boot from /proc/sys. The
 * boot id is read only once in a process. */
#include "base/process_identity.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A line ends in the path of the mapped file, to which the kernel may add " (deleted)". */
static bool is_mapping_of(const char *line, const char *name)
{
    size_t length = strlen(name);
    const char *shown = strrchr(line, '/');
    return shown != NULL && strncmp(shown + 1, name, length) == 0 &&
           strchr("\n ", shown[1 + length]) != NULL;
}

bool assay__process_maps(int64_t process_id, const char *path)
{
    char maps[64], *line = NULL;
    size_t capacity = 0;
    const char *slash = strrchr(path, '/');
    snprintf(maps, sizeof maps, "/proc/%lld/maps", (long long)process_id);
    FILE *file = fopen(maps, "re");
    bool found = false;
    while (file != NULL && !found && getline(&line, &capacity, file) > 0)
        found = is_mapping_of(line, slash != NULL ? slash + 1 : path);
    free(line);
    if (file != NULL)
        fclose(file);
    return found;
}

static char boot_id[40];
static pthread_once_t boot_id_once = PTHREAD_ONCE_INIT;

static void read_boot_id(void)
{
    int descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t length = descriptor < 0 ? -1 : read(descriptor, boot_id, sizeof boot_id - 1);
    if (descriptor >= 0)
        close(descriptor);
    boot_id[length > 0 ? length : 0] = '\0';
    boot_id[strcspn(boot_id, "\n")] = '\0';
}

/* Forked children inherit the id from their parent. */
const char *assay__boot_id(void)
{
    pthread_once(&boot_id_once, read_boot_id);
    return boot_id;
}
