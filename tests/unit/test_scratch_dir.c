/* The private directories of `assay run`: nothing remains of them, whoever was killed, and nobody
 * loses one that is in use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/scratch_dir.h"

static char parent[] = "/dev/shm/test-scratch-XXXXXX";
static bool chmod_fails;

/* This chmod() stands in front of libc's. */
int chmod(const char *path, mode_t mode)
{
    if (chmod_fails && (mode & 01000) != 0) {
        errno = EPERM;
        return -1;
    }
    return (int)syscall(SYS_fchmodat, AT_FDCWD, path, mode);
}

static bool is_ended;

/* The lock file gets its name by this rename(). */
int rename(const char *from, const char *to)
{
    if (is_ended)
        raise(SIGTERM);
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static int entries(const char *path)
{
    int count = 0;
    DIR *directory = opendir(path);
    assert_non_null(directory);
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count - 2; /* "." and ".." */
}

static int make_parent(void **state)
{
    (void)state;
    memcpy(strrchr(parent, '-'), "-XXXXXX", 7);
    return mkdtemp(parent) == NULL || setenv("TMPDIR", parent, 1) != 0;
}

static int remove_parent(void **state)
{
    (void)state;
    return rmdir(parent);
}

/* Start a process that makes a directory, with one file in it, and then does nothing. */
static pid_t start_owner(char path[SCRATCH_PATH_SIZE])
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char own[SCRATCH_PATH_SIZE] = "", file[SCRATCH_PATH_SIZE + 16];
        bool made = scratch_dir_make(0, own);
        snprintf(file, sizeof file, "%s/one.assay", own);
        int descriptor = open(file, O_RDWR | O_CREAT | O_EXCL, 0600);
        made = made && descriptor >= 0 && write(descriptor, "some", 4) == 4;
        if (!made || write(ends[1], own, sizeof own) != (ssize_t)sizeof own)
            _exit(1);
        close(descriptor);
        for (;;)
            pause();
    }
    assert_true(pid > 0);
    close(ends[1]);
    size_t got = 0;
    for (ssize_t some; (some = read(ends[0], path + got, SCRATCH_PATH_SIZE - got)) > 0;)
        if ((got += (size_t)some) == SCRATCH_PATH_SIZE)
            break;
    assert_int_equal(got, SCRATCH_PATH_SIZE);
    close(ends[0]);
    return pid;
}

static void kill_owner(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void outer_of(const char *path, char outer[SCRATCH_PATH_SIZE])
{
    snprintf(outer, SCRATCH_PATH_SIZE, "%.*s", (int)(strrchr(path, '/') - path), path);
}

static void test_nothing_remains(void **state)
{
    (void)state;
    char path[SCRATCH_PATH_SIZE];
    assert_true(scratch_dir_make(0, path));
    assert_true(scratch_dir_is_empty(path));
    assert_int_equal(entries(parent), 1);
    scratch_dir_remove(path);
    scratch_dir_remove("");
    assert_int_equal(entries(parent), 0);
}

static void test_a_failure_leaves_nothing(void **state)
{
    (void)state;
    char path[SCRATCH_PATH_SIZE];
    if (geteuid() != 0)
        skip();
    chmod_fails = true;
    assert_false(scratch_dir_make(0, path));
    assert_int_equal(errno, EPERM);
    chmod_fails = false;
    assert_string_equal(path, "");
    assert_int_equal(entries(parent), 0);
}

/* A process may be forbidden to write files of any length. Its directory has no lock file. */
static void test_a_limit_on_the_size_of_files(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit none = {0, 0};
        char path[SCRATCH_PATH_SIZE];
        if (setrlimit(RLIMIT_FSIZE, &none) != 0 || !scratch_dir_make(0, path))
            _exit(1);
        scratch_dir_remove(path);
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(entries(parent), 0);
    assert_int_equal(status, 0);
}

static void test_only_a_dead_owner_is_swept(void **state)
{
    (void)state;
    char living[SCRATCH_PATH_SIZE], dead[SCRATCH_PATH_SIZE], own[SCRATCH_PATH_SIZE];
    pid_t first = start_owner(living), second = start_owner(dead);
    assert_true(scratch_dir_make(0, own));
    kill_owner(second);
    assert_int_equal(entries(parent), 3);
    scratch_dir_sweep();
    assert_int_equal(entries(parent), 2);
    assert_false(scratch_dir_is_empty(living));
    assert_int_equal(access(own, F_OK), 0);
    assert_int_equal(access(dead, F_OK), -1);
    kill_owner(first);
    scratch_dir_remove(own);
    scratch_dir_sweep();
    assert_int_equal(entries(parent), 0);
}

/* The owner is ended while it makes its directory. */
static void test_an_unfinished_directory_is_swept(void **state)
{
    (void)state;
    char path[SCRATCH_PATH_SIZE];
    pid_t child = fork();
    if (child == 0) {
        is_ended = true;
        _exit(scratch_dir_make(0, path) ? 1 : 2);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    assert_int_equal(entries(parent), 1);
    scratch_dir_sweep();
    assert_int_equal(entries(parent), 0);
}

/* Its program outlives `assay run`, and its journal can still be read. */
static void test_a_file_in_use_is_not_swept(void **state)
{
    (void)state;
    char path[SCRATCH_PATH_SIZE], file[SCRATCH_PATH_SIZE + 16];
    kill_owner(start_owner(path));
    snprintf(file, sizeof file, "%s/one.assay", path);
    int descriptor = open(file, O_RDWR);
    assert_true(descriptor >= 0);
    void *mapped = mmap(NULL, 4, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    assert_ptr_not_equal(mapped, MAP_FAILED);
    close(descriptor);
    scratch_dir_sweep();
    assert_int_equal(access(file, F_OK), 0);
    munmap(mapped, 4);
    scratch_dir_sweep();
    assert_int_equal(entries(parent), 0);
}

/* Something in it cannot be removed now, such as a file that a program makes at that moment. The
 * directory can still be swept later. */
static void test_what_could_not_be_removed_is_swept_later(void **state)
{
    (void)state;
    char path[SCRATCH_PATH_SIZE], folder[SCRATCH_PATH_SIZE + 128];
    pid_t child = fork();
    if (child == 0) {
        _exit(scratch_dir_make(0, path) && chdir(path) == 0 && mkdir("folder", 0700) == 0
                  ? (scratch_dir_remove(path), 0)
                  : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(entries(parent), 1);
    DIR *directory = opendir(parent);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        if (entry->d_name[0] != '.')
            snprintf(path, sizeof path, "%s/%.64s", parent, entry->d_name);
    closedir(directory);
    assert_int_equal(entries(path), 2); /* the inner one and the lock file */
    scratch_dir_sweep();
    assert_int_equal(entries(path), 2);
    directory = opendir(path);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        if (strncmp(entry->d_name, "all-", 4) == 0)
            snprintf(folder, sizeof folder, "%s/%.64s/folder", path, entry->d_name);
    closedir(directory);
    assert_int_equal(rmdir(folder), 0);
    scratch_dir_sweep();
    assert_int_equal(entries(parent), 0);
}

/* Directories that another program, another user or another machine may need. */
static void test_what_is_not_ours_is_not_swept(void **state)
{
    (void)state;
    char foreign[SCRATCH_PATH_SIZE], outer[SCRATCH_PATH_SIZE], lock[SCRATCH_PATH_SIZE + 16];
    char others[sizeof parent + 32], link[sizeof parent + 32];
    kill_owner(start_owner(foreign));
    outer_of(foreign, outer);
    snprintf(others, sizeof others, "%s/assay-others", parent);
    snprintf(link, sizeof link, "%s/assay-link", parent);
    assert_int_equal(mkdir(others, 0700), 0); /* without a lock file */
    assert_int_equal(symlink(outer, link), 0);
    snprintf(lock, sizeof lock, "%s/lock", outer);
    int file = open(lock, O_RDWR);
    char id[36];
    assert_int_equal(read(file, id, sizeof id), (int)sizeof id);
    assert_int_equal(pwrite(file, "x", 1, 0), 1); /* of another kernel */
    scratch_dir_sweep();
    assert_int_equal(entries(parent), 3);
    assert_int_equal(pwrite(file, id, sizeof id, 0), (int)sizeof id);
    close(file);
    if (geteuid() == 0) {
        assert_int_equal(chown(outer, 65534, 65534), 0);
        scratch_dir_sweep();
        assert_int_equal(entries(parent), 3);
        assert_int_equal(chown(outer, 0, 0), 0);
    }
    scratch_dir_sweep();
    assert_int_equal(entries(parent), 2);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(rmdir(others), 0);
}

/* A program removed the directory, or put a link to its own files in its place. */
static void test_what_a_link_leads_to_is_not_removed(void **state)
{
    (void)state;
    char path[SCRATCH_PATH_SIZE], others[64], file[80];
    snprintf(others, sizeof others, "%s/others", parent);
    snprintf(file, sizeof file, "%s/precious", others);
    assert_int_equal(mkdir(others, 0700), 0);
    assert_true(close(open(file, O_WRONLY | O_CREAT, 0600)) == 0);
    for (int linked = 0; linked < 2; linked++) {
        assert_true(scratch_dir_make(0, path));
        assert_int_equal(rmdir(path), 0);
        if (linked)
            assert_int_equal(symlink(others, path), 0);
        scratch_dir_remove(path);
        assert_int_equal(entries(parent), 1);
        assert_int_equal(access(file, F_OK), 0);
    }
    unlink(file);
    rmdir(others);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nothing_remains, make_parent, remove_parent),
        cmocka_unit_test_setup_teardown(test_a_failure_leaves_nothing, make_parent, remove_parent),
        cmocka_unit_test_setup_teardown(test_a_limit_on_the_size_of_files, make_parent,
                                        remove_parent),
        cmocka_unit_test_setup_teardown(test_only_a_dead_owner_is_swept, make_parent,
                                        remove_parent),
        cmocka_unit_test_setup_teardown(test_an_unfinished_directory_is_swept, make_parent,
                                        remove_parent),
        cmocka_unit_test_setup_teardown(test_a_file_in_use_is_not_swept, make_parent,
                                        remove_parent),
        cmocka_unit_test_setup_teardown(test_what_could_not_be_removed_is_swept_later, make_parent,
                                        remove_parent),
        cmocka_unit_test_setup_teardown(test_what_a_link_leads_to_is_not_removed, make_parent,
                                        remove_parent),
        cmocka_unit_test_setup_teardown(test_what_is_not_ours_is_not_swept, make_parent,
                                        remove_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
