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

bool scratch_dir_make(uint64_t needed_bytes, char path[SCRATCH_PATH_SIZE])
{
    int used =
        snprintf(path, SCRATCH_PATH_SIZE, "%s/assay-XXXXXX", scratch_dir_parent(needed_bytes));
    if (used < 0 || used >= SCRATCH_PATH_SIZE) {
        path[0] = '\0';
        errno = ENAMETOOLONG;
        return false;
    }
    if (mkdtemp(path) != NULL) /* mode 0700 */
        return true;
    path[0] = '\0';
    return false;
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
