/* Makes and removes the private directories of a run, in memory (tmpfs) if possible. */
#include "cli/scratch_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

static bool is_in_memory(const char *path, uint64_t needed_bytes)
{
    struct statfs disk;
    return statfs(path, &disk) == 0 && disk.f_type == TMPFS_MAGIC &&
           disk.f_bavail * (uint64_t)disk.f_bsize >= needed_bytes && access(path, W_OK | X_OK) == 0;
}

/* Files in memory cost a program a fifth of what files on a disk cost, and the kernel does not
 * count them as written by the program. */
const char *scratch_dir_parent(uint64_t needed_bytes)
{
    static const char in_memory[] = "/dev/shm";
    const char *chosen = getenv("TMPDIR");
    bool is_chosen = chosen != NULL && *chosen != '\0';
    if (is_chosen && is_in_memory(chosen, needed_bytes))
        return chosen;
    if (is_in_memory(in_memory, needed_bytes))
        return in_memory;
    return is_chosen ? chosen : "/tmp";
}

bool scratch_dir_is_in_memory(const char *path)
{
    return is_in_memory(path, 0);
}

/* The name of an inner directory begins with this text. */
static const char inner_name[] = "all-";

/* Root may start programs of other users (setpriv, gosu, su). These must be able to make files too,
 * and all others must not. So root's directory has an inner one, in which everybody may make files,
 * but whose name nobody can list or guess. `path` becomes the inner directory. */
static bool make_inner(char path[SCRATCH_PATH_SIZE])
{
    uint64_t words[2];
    size_t used = strlen(path);
    if (getrandom(words, sizeof words, 0) != sizeof words || chmod(path, 0711) != 0)
        return false;
    int length = snprintf(path + used, SCRATCH_PATH_SIZE - used, "/%s%016llx%016llx", inner_name,
                          (unsigned long long)words[0], (unsigned long long)words[1]);
    bool made = length > 0 && used + (size_t)length < SCRATCH_PATH_SIZE && mkdir(path, 0700) == 0 &&
                chmod(path, 01733) == 0; /* mkdir() obeys the umask, chmod() does not */
    if (!made)
        path[used] = '\0';
    return made;
}

/* The path is absolute, because the program may change its working directory. */
bool scratch_dir_make(uint64_t needed_bytes, char path[SCRATCH_PATH_SIZE])
{
    const char *parent = scratch_dir_parent(needed_bytes);
    char here[SCRATCH_PATH_SIZE] = "";
    bool is_relative = *parent != '/' && getcwd(here, sizeof here - 1) != NULL;
    int used = snprintf(path, SCRATCH_PATH_SIZE, "%s%s%s/assay-XXXXXX", here,
                        is_relative ? "/" : "", parent);
    if (used < 0 || used >= SCRATCH_PATH_SIZE) {
        path[0] = '\0';
        errno = ENAMETOOLONG;
        return false;
    }
    if (mkdtemp(path) == NULL) { /* mode 0700 */
        path[0] = '\0';
        return false;
    }
    if (geteuid() == 0 && !make_inner(path)) {
        int failure = errno;
        rmdir(path);
        path[0] = '\0';
        errno = failure;
        return false;
    }
    return true;
}

static bool is_dot(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

void scratch_dir_remove(const char *path)
{
    if (*path == '\0')
        return;
    DIR *directory = opendir(path);
    if (directory == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        if (!is_dot(entry->d_name))
            unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    rmdir(path);
    const char *name = strrchr(path, '/');
    if (name == NULL || strncmp(name + 1, inner_name, sizeof inner_name - 1) != 0)
        return;
    char outer[SCRATCH_PATH_SIZE];
    snprintf(outer, sizeof outer, "%.*s", (int)(name - path), path);
    rmdir(outer);
}

bool scratch_dir_is_empty(const char *path)
{
    DIR *directory = opendir(path);
    if (directory == NULL)
        return true;
    bool empty = true;
    for (struct dirent *entry; empty && (entry = readdir(directory)) != NULL;)
        empty = is_dot(entry->d_name);
    closedir(directory);
    return empty;
}

bool scratch_find_interposer(char path[SCRATCH_PATH_SIZE])
{
    static const char *const places[] = {"lib/libassay_heap.so", "../lib/libassay_heap.so"};
    return installed_file_find(places, 2, R_OK, path);
}
