/* The kernel books the resident peak of a process (ru_maxrss) over its whole life, and so over the
 * moment between fork and exec when it is still a copy of us. vfork and posix_spawn make this
 * worse: the process then runs in our own memory, and exec books our whole peak to it. A plain fork
 * copies only our private pages, but every page of libc that the copy touches on its way to exec
 * counts, 64 KiB at a time; fork(), setenv() and execvp() together cost a megabyte, more than
 * /usr/bin/true has. So everything is prepared before: the file is found and the environment built
 * by the parent, the process is made by the bare system call, and the copy makes a few more of them
 * and is gone. What it leaves behind is below what the kernel's counters resolve
 * (tests/accuracy/test_run.sh).
 *
 * A close-on-exec pipe carries the start time, then either ends (the exec succeeded) or carries the
 * errno. Time between fork and exec is ours and not counted. */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { KERNEL_SIGSET_BYTES = 8 };

typedef struct handover {
    uint64_t start_ns;
    int failure;
} handover;

/* What the copy of us needs to become the program. */
typedef struct recipe {
    const char *path;
    char *const *command;
    char **environment;
    const sigset_t *signal_mask;
    const launch_streams *streams;
    int report; /* writing end of the pipe */
} recipe;

void launch_block_signals(sigset_t *original)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    static const int awaited[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    for (size_t i = 0; i < sizeof awaited / sizeof *awaited; i++)
        sigaddset(&blocked, awaited[i]);
    sigprocmask(SIG_BLOCK, &blocked, original);
}

/* 0 if `path` is a file we may execute, else the errno that says why not. */
static int executable(const char *path)
{
    struct stat file;
    if (stat(path, &file) != 0)
        return errno;
    if (!S_ISREG(file.st_mode))
        return S_ISDIR(file.st_mode) ? EISDIR : EACCES;
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

/* The file that `program` names, searched as execvp does; caller frees. NULL with errno set: ENOENT
 * when it is nowhere, else why the one found is no use. */
static char *find_program(const char *program)
{
    if (strchr(program, '/') != NULL || *program == '\0') {
        int failure = *program == '\0' ? ENOENT : executable(program);
        errno = failure;
        return failure == 0 ? strdup(program) : NULL;
    }
    const char *folders = getenv("PATH");
    if (folders == NULL)
        folders = "/bin:/usr/bin";
    int failure = ENOENT;
    for (const char *at = folders;; at++) {
        int length = (int)strcspn(at, ":");
        char *path = NULL;
        if (asprintf(&path, "%.*s%s%s", length, at, length > 0 ? "/" : "./", program) < 0)
            return NULL;
        int reason = executable(path);
        if (reason == 0)
            return path;
        if (access(path, F_OK) == 0) /* a folder closed to us holds nothing that we could name */
            failure = reason;
        free(path);
        at += length;
        if (*at == '\0')
            break;
    }
    errno = failure;
    return NULL;
}

static bool defines(const char *entry, const launch_variable *variables, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(variables[i].name);
        if (strncmp(entry, variables[i].name, length) == 0 && entry[length] == '=')
            return true;
    }
    return false;
}

/* Ours with `variables` on top, which come first and are the only strings to free. NULL when out of
 * memory. */
static char **make_environment(const launch_variable *variables, size_t count)
{
    size_t inherited = 0;
    while (environ[inherited] != NULL)
        inherited++;
    char **made = calloc(count + inherited + 1, sizeof *made);
    size_t used = 0;
    for (size_t i = 0; made != NULL && i < count; i++) {
        if (asprintf(&made[used], "%s=%s", variables[i].name, variables[i].value) >= 0) {
            used++;
            continue;
        }
        while (used > 0)
            free(made[--used]);
        free(made);
        return NULL;
    }
    for (size_t i = 0; made != NULL && i < inherited; i++)
        if (!defines(environ[i], variables, count))
            made[used++] = environ[i];
    return made;
}

static void free_environment(char **environment, size_t count)
{
    for (size_t i = 0; environment != NULL && i < count; i++)
        free(environment[i]);
    free(environment);
}

/* Only bare system calls from here on: see the top. */
_Noreturn static void become(const recipe *r)
{
    handover message = {0};
    struct timespec now = {0};
    const int streams[] = {r->streams->input, r->streams->output, r->streams->error};
    for (int i = 0; i < 3; i++)
        if (streams[i] >= 0)
            syscall(SYS_dup3, streams[i], i, 0);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, r->signal_mask, NULL, KERNEL_SIGSET_BYTES);
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    message.start_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    syscall(SYS_write, r->report, &message, sizeof message);
    syscall(SYS_execve, r->path, r->command, r->environment);
    message.failure = errno;
    syscall(SYS_write, r->report, &message, sizeof message);
    for (;;)
        syscall(SYS_exit_group, 127);
}

static bool receive(int descriptor, handover *message)
{
    ssize_t got;
    do
        got = read(descriptor, message, sizeof *message);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof *message;
}

static launch_result fork_and_exec(recipe *r)
{
    launch_result result = {.found = true};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        result.failure = errno;
        return result;
    }
    r->report = ends[1];
    result.pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (result.pid == 0)
        become(r);
    if (result.pid < 0) {
        result.failure = errno;
        result.pid = 0;
    }
    close(ends[1]);
    handover message = {0};
    while (result.pid > 0 && receive(ends[0], &message)) {
        result.start_ns = message.start_ns;
        if (message.failure != 0) {
            waitpid(result.pid, NULL, 0);
            result.failure = message.failure;
            result.pid = 0;
        }
    }
    close(ends[0]);
    return result;
}

launch_result launch_start_with(char *const *command, const launch_variable *variables,
                                size_t count, const sigset_t *signal_mask,
                                const launch_streams *streams)
{
    launch_result result = {0};
    recipe r = {.command = command, .signal_mask = signal_mask, .streams = streams};
    char *path = find_program(command[0]);
    if (path == NULL)
        return (launch_result){.failure = errno, .found = errno != ENOENT && errno != ENOTDIR};
    r.path = path;
    r.environment = make_environment(variables, count);
    if (r.environment == NULL) {
        result = (launch_result){.failure = ENOMEM, .found = true};
    } else {
        /* Under a parent that ignores SIGCHLD there would be nothing to wait for. */
        signal(SIGCHLD, SIG_DFL);
        result = fork_and_exec(&r);
    }
    free_environment(r.environment, count);
    free(path);
    return result;
}

launch_result launch_start(char *const *command, const launch_variable *variables, size_t count,
                           const sigset_t *signal_mask)
{
    static const launch_streams ours = {-1, -1, -1};
    return launch_start_with(command, variables, count, signal_mask, &ours);
}
