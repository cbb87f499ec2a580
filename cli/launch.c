/* Starts the measured program so that its figures contain nothing of assay's own.
 *
 * The kernel counts the peak of resident memory (ru_maxrss) over the whole life of a process. That
 * includes the time between fork and exec, when the process is still a copy of us. vfork and
 * posix_spawn make this worse: the process then runs in our own memory, and the exec adds our whole
 * peak to its figures. A plain fork copies only our private pages, but every page of libc that the
 * copy touches before the exec counts, 64 KiB at a time. fork(), setenv() and execvp() together
 * cost a megabyte, which is more than /usr/bin/true has.
 *
 * So the parent prepares everything: it finds the file and builds the environment. The bare system
 * call makes the process, and the copy makes only a few more system calls before the exec. The rest
 * of our own cost is smaller than the steps of the kernel's counters (tests/accuracy/test_run.sh).
 *
 * The start time, and the errno of a failed exec, are in a page that is shared with the copy. The
 * copy sends no message, because a message would wake us, often on the copy's own processor, while
 * it is being timed. launch_start() must return when the exec has happened: there the exec closes a
 * pipe on which we wait. The time between fork and exec is our own and does not count. */
#include "cli/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/common/message.h"

extern char **environ;

enum { KERNEL_SIGSET_BYTES = 8 };

typedef struct handover {
    uint64_t start_ns;
    int failure;
} handover;

/* What the forked copy of assay needs to become the program. */
typedef struct recipe {
    const char *path;
    char *const *command;
    char **environment;
    const sigset_t *signal_mask;
    const launch_streams *streams;
    handover *note; /* shared with the copy */
} recipe;

static uint64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void launch_block_signals(sigset_t *original)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    static const int awaited[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    for (size_t i = 0; i < sizeof awaited / sizeof *awaited; i++)
        sigaddset(&blocked, awaited[i]);
    sigprocmask(SIG_BLOCK, &blocked, original);
}

/* Returns 0 if `path` is a file that we may execute, otherwise the errno that says why not. */
static int executable(const char *path)
{
    struct stat file;
    if (stat(path, &file) != 0)
        return errno;
    if (!S_ISREG(file.st_mode))
        return S_ISDIR(file.st_mode) ? EISDIR : EACCES;
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

/* The path of the file that `program` names, searched as execvp does. The caller frees it. Returns
 * NULL with errno set: ENOENT if there is no such file, otherwise the reason why the file that was
 * found cannot be executed. */
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
        if (access(path, F_OK) == 0) /* a folder that we may not enter does not count as a find */
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

/* Our environment with `variables` in front. The caller frees the array and its first `count`
 * strings with free_environment(). NULL when out of memory. */
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

/* Runs in the copy, up to the exec. It makes only bare system calls; the top of this file says why.
 */
_Noreturn static void become(const recipe *r)
{
    struct timespec now = {0};
    const int streams[] = {r->streams->input, r->streams->output, r->streams->error};
    for (int i = 0; i < 3; i++)
        if (streams[i] >= 0)
            syscall(SYS_dup3, streams[i], i, 0);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, r->signal_mask, NULL, KERNEL_SIGSET_BYTES);
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    r->note->start_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    syscall(SYS_execve, r->path, r->command, r->environment);
    r->note->failure = errno;
    for (;;)
        syscall(SYS_exit_group, 127);
}

/* Returns the id of the new process, or 0 with the errno in the note. */
static pid_t make_process(const recipe *r)
{
    pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid == 0)
        become(r);
    if (pid < 0)
        r->note->failure = errno;
    return pid > 0 ? pid : 0;
}

static pid_t wait_for(pid_t pid, int *status, struct rusage *usage)
{
    pid_t ended;
    do
        ended = wait4(pid, status, 0, usage);
    while (ended < 0 && errno == EINTR);
    return ended;
}

/* Make the process and wait until its exec has succeeded, which closes the pipe, or failed. */
static pid_t start_program(const recipe *r)
{
    int ends[2], status;
    char none;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        r->note->failure = errno;
        return 0;
    }
    pid_t pid = make_process(r);
    close(ends[1]);
    while (pid > 0 && read(ends[0], &none, 1) < 0 && errno == EINTR)
        continue;
    close(ends[0]);
    if (pid > 0 && r->note->failure != 0)
        (void)wait_for(pid, &status, NULL);
    return pid;
}

/* How long the first thread of the process waited for a processor: the second number of its
 * schedstat file, in nanoseconds. Call this before the process is reaped, because the file vanishes
 * then. */
static double read_waited_seconds(pid_t pid)
{
    char path[64];
    unsigned long long waited_ns = 0;
    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)pid);
    FILE *file = fopen(path, "re");
    bool known = file != NULL && fscanf(file, "%*u %llu", &waited_ns) == 1;
    if (file != NULL)
        fclose(file);
    return known ? (double)waited_ns * 1e-9 : (double)NAN;
}

static bool is_ignored(int number)
{
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* Sleep until a signal comes, such as SIGCHLD when the program ends. A signal that a process sent
 * to us alone is passed on to the program. A signal of the terminal (si_code > 0) has reached the
 * program already. If the program does not end after the first signal, a second one kills it. */
static void await(pid_t pid, const sigset_t *signals, launch_end *end)
{
    siginfo_t signal = {0};
    int number = sigwaitinfo(signals, &signal);
    if (number <= 0 || number == SIGCHLD || is_ignored(number))
        return;
    end->insisted = end->signal != 0;
    end->signal = number;
    if (end->insisted)
        kill(pid, SIGKILL);
    else if (signal.si_code <= 0)
        kill(pid, number);
}

int launch_pending_signal(void)
{
    const struct timespec now = {0};
    sigset_t signals;
    int number;
    sigprocmask(SIG_BLOCK, NULL, &signals);
    sigdelset(&signals, SIGCHLD);
    do
        number = sigtimedwait(&signals, NULL, &now);
    while (number > 0 && is_ignored(number));
    return number > 0 ? number : 0;
}

void launch_restore_signals(const sigset_t *original)
{
    while (launch_pending_signal() != 0)
        continue;
    sigprocmask(SIG_SETMASK, original, NULL);
}

/* Make the process and wait until it has ended. A signal that is pending before the start prevents
 * it. */
static pid_t run_program(const recipe *r, launch_end *end)
{
    sigset_t signals;
    sigprocmask(SIG_BLOCK, NULL, &signals);
    end->signal = launch_pending_signal();
    if (end->signal != 0) {
        r->note->failure = EINTR;
        return 0;
    }
    pid_t pid = make_process(r), ended = 0;
    while (pid > 0 && ended == 0) {
        await(pid, &signals, end);
        end->end_ns = monotonic_ns();
        end->waited_seconds = read_waited_seconds(pid);
        ended = wait4(pid, &end->wait_status, WNOHANG, &end->usage);
    }
    if (ended < 0)
        r->note->failure = errno;
    return pid;
}

static launch_result launch(recipe *r, const launch_variable *variables, size_t count,
                            launch_end *end)
{
    launch_result result = {.found = true, .failure = ENOMEM, .is_ours = true};
    char *path = find_program(r->command[0]);
    if (path == NULL)
        return (launch_result){.failure = errno, .found = errno != ENOENT && errno != ENOTDIR};
    r->path = path;
    r->environment = make_environment(variables, count);
    r->note =
        mmap(NULL, sizeof *r->note, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (r->environment != NULL && r->note != MAP_FAILED) {
        /* If our parent ignored SIGCHLD, we inherited that, and wait4() would find no process. */
        signal(SIGCHLD, SIG_DFL);
        result.pid = end != NULL ? run_program(r, end) : start_program(r);
        result.start_ns = r->note->start_ns;
        result.failure = r->note->failure;
        result.is_ours = result.failure != 0 && result.pid == 0;
        if (result.failure != 0)
            result.pid = 0;
    }
    if (r->note != MAP_FAILED)
        munmap(r->note, sizeof *r->note);
    free_environment(r->environment, count);
    free(path);
    return result;
}

launch_result launch_start(char *const *command, const launch_variable *variables, size_t count,
                           const sigset_t *signal_mask)
{
    static const launch_streams ours = {-1, -1, -1};
    recipe r = {.command = command, .signal_mask = signal_mask, .streams = &ours};
    return launch(&r, variables, count, NULL);
}

launch_result launch_run(char *const *command, const sigset_t *signal_mask,
                         const launch_streams *streams, launch_end *end)
{
    recipe r = {.command = command, .signal_mask = signal_mask, .streams = streams};
    return launch(&r, NULL, 0, end);
}

void launch_explain(const char *command, const launch_result *failed, const char *program)
{
    if (!failed->found) {
        /* A program name with a space is probably a whole command line, which only a shell would
         * split. */
        const char *hint = strchr(program, ' ') == NULL ? ""
                           : strcmp(command, "bench") == 0
                               ? "; for command lines write --shell -- 'LINE' -- 'LINE', or the "
                                 "words apart"
                               : "; write the words apart, or with a shell: assay run -- sh -c "
                                 "'LINE'";
        message_error("assay %s: '%s' was not found%s%s", command, program,
                      strchr(program, '/') != NULL ? "" : " in PATH", hint);
        return;
    }
    if (failed->is_ours) {
        message_error("assay %s: cannot start a process: %s", command, strerror(failed->failure));
        return;
    }
    const char *remedy = "";
    if (failed->failure == ENOENT)
        remedy = "; the interpreter in its first line is missing";
    else if (failed->failure == EACCES)
        remedy = "; is it executable (chmod +x)?";
    else if (failed->failure == ENOEXEC)
        remedy = "; a script needs a first line such as #!/bin/sh";
    message_error("assay %s: cannot execute '%s': %s%s", command, program,
                  strerror(failed->failure), remedy);
}
