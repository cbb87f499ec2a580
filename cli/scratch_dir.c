/* Makes and removes the private directories of a run, in memory (tmpfs) if possible, and sweeps
 * those of runs that were killed. Each directory has a lock file, which its owner keeps locked. The
 * kernel frees the lock when the owner ends, whatever its process id or its container. */
#include "cli/scratch_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { BOOT_ID_SIZE = 36 };

static const char in_memory[] = "/dev/shm";

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

/* The parts of the names. A private directory is PARENT/assay-XXXXXX/all-NUMBER. */
static const char outer_name[] = "assay-", inner_name[] = "all-", lock_name[] = "lock";

/* Make the inner directory of `path`, which becomes its path. Root may start programs of other
 * users (setpriv, gosu, su). These must be able to make files too, and all others must not. So in
 * root's inner directory everybody may make files, but nobody can list or guess its name. */
static bool make_inner(char path[SCRATCH_PATH_SIZE])
{
    uint64_t words[2];
    size_t used = strlen(path);
    const bool is_root = geteuid() == 0;
    if (getrandom(words, sizeof words, 0) != sizeof words || (is_root && chmod(path, 0711) != 0))
        return false;
    int length = snprintf(path + used, SCRATCH_PATH_SIZE - used, "/%s%016llx%016llx", inner_name,
                          (unsigned long long)words[0], (unsigned long long)words[1]);
    bool made = length > 0 && used + (size_t)length < SCRATCH_PATH_SIZE && mkdir(path, 0700) == 0;
    if (made && is_root &&
        chmod(path, 01733) != 0) { /* mkdir() obeys the umask, chmod() does not */
        int failure = errno;
        rmdir(path);
        errno = failure;
        made = false;
    }
    if (!made)
        path[used] = '\0';
    return made;
}

/* The id of the running kernel. Two processes with the same id see each other's locks. */
static bool read_boot_id(char id[BOOT_ID_SIZE])
{
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, id, BOOT_ID_SIZE) : -1;
    if (file >= 0)
        close(file);
    return length == BOOT_ID_SIZE;
}

/* Whether a file of this length may be written. Beyond the limit the kernel would end the process.
 */
static bool may_be_as_long(size_t length)
{
    struct rlimit most;
    return getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur >= length;
}

/* The locks of this process. A directory that finds no place here has no lock. */
static int locks[8];
static size_t lock_count;

/* Make the lock file of an outer directory. It is locked before it gets its name. So a lock file
 * that is not locked has lost its owner. It stays locked until the directory is removed or this
 * process ends, in whatever way. A directory without a lock file works too, but nobody sweeps it.
 */
static void lock_outer(const char *outer)
{
    char id[BOOT_ID_SIZE], unnamed[SCRATCH_PATH_SIZE + 16], named[SCRATCH_PATH_SIZE + 16];
    snprintf(unnamed, sizeof unnamed, "%s/%s-to-be", outer, lock_name);
    snprintf(named, sizeof named, "%s/%s", outer, lock_name);
    bool wanted = lock_count < sizeof locks / sizeof *locks && may_be_as_long(sizeof id);
    int file = wanted && read_boot_id(id)
                   ? open(unnamed, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)
                   : -1;
    if (file < 0)
        return;
    if (write(file, id, sizeof id) == (ssize_t)sizeof id && flock(file, LOCK_EX | LOCK_NB) == 0 &&
        rename(unnamed, named) == 0) {
        locks[lock_count++] = file;
        return;
    }
    unlink(unnamed);
    close(file);
}

/* Let go of the lock of an outer directory. The limit on open files may leave no other descriptor
 * for the removal. */
static void unlock_outer(const char *lock)
{
    struct stat wanted, found;
    for (size_t i = 0; i < lock_count && stat(lock, &wanted) == 0; i++)
        if (fstat(locks[i], &found) == 0 && found.st_dev == wanted.st_dev &&
            found.st_ino == wanted.st_ino) {
            close(locks[i]);
            locks[i] = locks[--lock_count];
            return;
        }
}

/* Make a private directory. `path` is the pattern of its name, and becomes its path. */
static bool make_locked(char path[SCRATCH_PATH_SIZE])
{
    char outer[SCRATCH_PATH_SIZE];
    if (mkdtemp(path) == NULL) { /* mode 0700 */
        path[0] = '\0';
        return false;
    }
    memcpy(outer, path, sizeof outer);
    if (!make_inner(path)) {
        int failure = errno;
        rmdir(path);
        path[0] = '\0';
        errno = failure;
        return false;
    }
    lock_outer(outer);
    return true;
}

/* The path is absolute, because the program may change its working directory. Signals wait, because
 * nobody would sweep a directory whose owner ended before it made the lock file. */
bool scratch_dir_make(uint64_t needed_bytes, char path[SCRATCH_PATH_SIZE])
{
    const char *parent = scratch_dir_parent(needed_bytes);
    char here[SCRATCH_PATH_SIZE] = "";
    sigset_t all, before;
    bool is_relative = *parent != '/' && getcwd(here, sizeof here - 1) != NULL;
    int used = snprintf(path, SCRATCH_PATH_SIZE, "%s%s%s/%sXXXXXX", here, is_relative ? "/" : "",
                        parent, outer_name);
    if (used < 0 || used >= SCRATCH_PATH_SIZE) {
        path[0] = '\0';
        errno = ENAMETOOLONG;
        return false;
    }
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    bool made = make_locked(path);
    int failure = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = failure;
    return made;
}

static bool is_dot(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Open a directory in `parent` to list it, or return NULL. Never follows a link. */
static DIR *open_inside(int parent, const char *name)
{
    int descriptor = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *directory = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    if (descriptor >= 0 && directory == NULL)
        close(descriptor);
    return directory;
}

/* Remove the files of a directory. */
static void empty(DIR *directory)
{
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        if (!is_dot(entry->d_name))
            unlinkat(dirfd(directory), entry->d_name, 0);
}

/* If a program makes a file meanwhile, the inner directory stays, and so does the lock file, by
 * which it will be swept. If a program has put a link in its place, only the link is removed. */
void scratch_dir_remove(const char *path)
{
    const char *inner = strrchr(path, '/');
    char outer[SCRATCH_PATH_SIZE], lock[SCRATCH_PATH_SIZE + 16];
    if (inner == NULL)
        return;
    snprintf(outer, sizeof outer, "%.*s", (int)(inner - path), path);
    snprintf(lock, sizeof lock, "%s/%s", outer, lock_name);
    unlock_outer(lock);
    DIR *directory = open_inside(AT_FDCWD, path);
    if (directory != NULL) {
        empty(directory);
        closedir(directory);
    }
    if ((directory != NULL ? rmdir(path) : unlink(path)) == 0 || errno == ENOENT)
        unlink(lock);
    rmdir(outer);
}

/* Whether a process may still write this file, be it through a mapping or in another container. A
 * lease for reading is refused as long as the file is open for writing, or mapped from such a
 * descriptor. Returns true if that cannot be known. */
static bool is_written(int directory, const char *name)
{
    int file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return errno != ELOOP && errno != ENOENT; /* a link has no content */
    bool idle = fcntl(file, F_SETLEASE, F_RDLCK) == 0;
    if (idle)
        fcntl(file, F_SETLEASE, F_UNLCK);
    close(file);
    return !idle;
}

/* Whether a process may still write any file of the inner directory. */
static bool is_in_use(int outer, const char *name)
{
    DIR *directory = open_inside(outer, name);
    bool used = directory == NULL;
    for (struct dirent *entry; !used && (entry = readdir(directory)) != NULL;)
        used = !is_dot(entry->d_name) && is_written(dirfd(directory), entry->d_name);
    if (directory != NULL)
        closedir(directory);
    return used;
}

/* Take the lock of an outer directory. Returns its descriptor, or -1 if the owner may live: its
 * process has the lock, or the lock was made under another kernel, whose locks cannot be seen. */
static int take_lock(int outer, const char *boot_id)
{
    char id[BOOT_ID_SIZE];
    int file = openat(outer, lock_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0 &&
        read(file, id, sizeof id) == (ssize_t)sizeof id && memcmp(id, boot_id, sizeof id) == 0)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

/* Remove the contents of an outer directory, whose lock is held, unless they are in use. */
static void sweep_contents(DIR *outer)
{
    char inner[sizeof((struct dirent *)0)->d_name] = "";
    for (struct dirent *entry; (entry = readdir(outer)) != NULL;)
        if (begins_with(entry->d_name, inner_name))
            snprintf(inner, sizeof inner, "%s", entry->d_name);
    if (*inner != '\0' && is_in_use(dirfd(outer), inner))
        return;
    DIR *directory = *inner != '\0' ? open_inside(dirfd(outer), inner) : NULL;
    if (directory != NULL) {
        empty(directory);
        closedir(directory);
    }
    if (*inner == '\0' || unlinkat(dirfd(outer), inner, AT_REMOVEDIR) == 0)
        unlinkat(dirfd(outer), lock_name, 0);
}

/* Sweep the outer directory `name` of `parent`. */
static void sweep_outer(int parent, const char *name, const char *boot_id)
{
    struct stat status;
    DIR *outer = open_inside(parent, name);
    if (outer == NULL)
        return;
    bool ours = fstat(dirfd(outer), &status) == 0 && status.st_uid == geteuid();
    int lock = ours ? take_lock(dirfd(outer), boot_id) : -1;
    if (lock >= 0) {
        sweep_contents(outer);
        unlinkat(parent, name, AT_REMOVEDIR);
        close(lock);
    }
    closedir(outer);
}

static void sweep(const char *parent, const char *boot_id)
{
    DIR *directory = opendir(parent);
    if (directory == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        if (begins_with(entry->d_name, outer_name))
            sweep_outer(dirfd(directory), entry->d_name, boot_id);
    closedir(directory);
}

void scratch_dir_sweep(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction before;
    char boot_id[BOOT_ID_SIZE];
    const char *chosen = getenv("TMPDIR");
    if (!read_boot_id(boot_id))
        return;
    /* It comes if a program opens a file for writing during our lease, and would end us. */
    sigaction(SIGIO, &ignore, &before);
    sweep(in_memory, boot_id);
    sweep(chosen != NULL && *chosen != '\0' ? chosen : "/tmp", boot_id);
    sigaction(SIGIO, &before, NULL);
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
