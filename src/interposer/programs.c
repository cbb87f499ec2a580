/* Announces the programs that this process starts, by interposing exec and posix_spawn().
 *
 * A program that is statically linked, set-user-id, or started with another environment does not
 * load the interposer and leaves no file. A reader of the files could not tell it from a program
 * that was never started. So each start is announced in a list. A program that was announced and
 * left no file is known to be missing. system() and popen() start a shell inside libc and bypass
 * these functions. The shell loads the interposer like any program, and announces the programs that
 * it starts.
 *
 * After vfork() the child runs in its parent's memory until it has called exec. So only system
 * calls are made here, nothing that belongs to the process is changed, and the interposed functions
 * are looked up when the process starts. */
#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "interposer/count.h"
#include "interposer/counters_file.h"

#define EXPORT __attribute__((visibility("default")))

extern char **environ;

typedef char *const *vector; /* of texts, terminated by NULL */
typedef int spawn_function(pid_t *, const char *, const posix_spawn_file_actions_t *,
                           const posix_spawnattr_t *, vector, vector);

static struct {
    int (*execve)(const char *, vector, vector);
    int (*execvpe)(const char *, vector, vector);
    int (*fexecve)(int, vector, vector);
    spawn_function *posix_spawn, *posix_spawnp;
} next;

/* This runs before other constructors, because constructors of the program may start programs. */
__attribute__((constructor(101))) static void find_next(void)
{
    next.execve = (int (*)(const char *, vector, vector))dlsym(RTLD_NEXT, "execve");
    next.execvpe = (int (*)(const char *, vector, vector))dlsym(RTLD_NEXT, "execvpe");
    next.fexecve = (int (*)(int, vector, vector))dlsym(RTLD_NEXT, "fexecve");
    next.posix_spawn = (spawn_function *)dlsym(RTLD_NEXT, "posix_spawn");
    next.posix_spawnp = (spawn_function *)dlsym(RTLD_NEXT, "posix_spawnp");
}

static void find_next_if_early(void)
{
    if (UNLIKELY(next.posix_spawnp == NULL))
        find_next();
}

/* The flags of an announcement, by whether the environment names the interposer and its
 * directory. */
static uint32_t flags_of(vector environment)
{
    bool directory = false, preload = false;
    for (vector entry = environment; entry != NULL && *entry != NULL; entry++) {
        directory |= strncmp(*entry, "ASSAY_HEAP_DIR=", 15) == 0;
        preload |= strncmp(*entry, "LD_PRELOAD=", 11) == 0 && strstr(*entry, "libassay_heap");
    }
    return directory && preload ? 0 : ASSAY__HEAP_UNPRELOADED;
}

/* Announce an exec, and mark the counters as those of a replaced program, unless this is the child
 * of a vfork(). Returns the former state of the counters, for fail_exec(). */
static uint32_t begin_exec(const char *path, vector environment)
{
    find_next_if_early();
    uint32_t *state = &assay__heap_counters.header.state, before = LOAD(*state);
    pid_t process = getpid();
    if (path != NULL)
        assay__counters_announce(process, assay__counters_now_ns(), flags_of(environment), path);
    if (process == LOAD(assay__heap_counters.header.process_id))
        STORE(*state, ASSAY__HEAP_REPLACED);
    return before;
}

/* exec has returned, so it failed. Cancel the announcement and restore the state. */
static int fail_exec(uint32_t before, const char *path)
{
    if (path != NULL)
        assay__counters_announce(getpid(), assay__counters_now_ns(), ASSAY__HEAP_CANCELLED, path);
    if (getpid() == LOAD(assay__heap_counters.header.process_id))
        STORE(assay__heap_counters.header.state, before);
    return -1;
}

EXPORT int execve(const char *path, char *const arguments[], char *const environment[])
{
    uint32_t before = begin_exec(path, environment);
    next.execve(path, arguments, environment);
    return fail_exec(before, path);
}

EXPORT int execv(const char *path, char *const arguments[])
{
    return execve(path, arguments, environ);
}

EXPORT int execvpe(const char *file, char *const arguments[], char *const environment[])
{
    uint32_t before = begin_exec(file, environment);
    next.execvpe(file, arguments, environment);
    return fail_exec(before, file);
}

EXPORT int execvp(const char *file, char *const arguments[])
{
    return execvpe(file, arguments, environ);
}

EXPORT int fexecve(int descriptor, char *const arguments[], char *const environment[])
{
    const char *name = arguments[0] != NULL ? arguments[0] : "";
    uint32_t before = begin_exec(name, environment);
    next.fexecve(descriptor, arguments, environment);
    return fail_exec(before, name);
}

/* The number of texts, including the NULL that ends them. */
static size_t count_texts(va_list texts)
{
    size_t count = 1;
    while (va_arg(texts, const char *) != NULL)
        count++;
    return count;
}

/* Call FUNCTION(path, vector ENVIRONMENT) with the variable arguments from `first` on. */
#define EXEC_LIST(function, path, first, ...)                                                      \
    do {                                                                                           \
        va_list texts;                                                                             \
        va_start(texts, first);                                                                    \
        size_t count = count_texts(texts);                                                         \
        va_end(texts);                                                                             \
        char *arguments[count + 1];                                                                \
        arguments[0] = (char *)first; /* execv takes char *const, as C had no const */             \
        va_start(texts, first);                                                                    \
        for (size_t i = 1; i <= count; i++)                                                        \
            arguments[i] = va_arg(texts, char *);                                                  \
        vector environment = __VA_ARGS__;                                                          \
        va_end(texts);                                                                             \
        return function(path, arguments, environment);                                             \
    } while (0)

EXPORT int execl(const char *path, const char *first, ...)
{
    EXEC_LIST(execve, path, first, environ);
}

EXPORT int execlp(const char *file, const char *first, ...)
{
    EXEC_LIST(execvpe, file, first, environ);
}

EXPORT int execle(const char *path, const char *first, ...)
{
    EXEC_LIST(execve, path, first, va_arg(texts, char *const *));
}

/* Spawn a program and announce it. Its process id is known only afterwards, so the announcement
 * contains the time before the program could begin. */
static int spawn(spawn_function *function, pid_t *result, const char *path,
                 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                 vector arguments, vector environment)
{
    int64_t begin_ns = assay__counters_now_ns();
    pid_t child = 0;
    int failure = function(&child, path, actions, attributes, arguments, environment);
    if (failure != 0)
        return failure;
    assay__counters_announce(child, begin_ns, flags_of(environment), path);
    if (result != NULL)
        *result = child;
    return 0;
}

EXPORT int posix_spawn(pid_t *result, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const arguments[],
                       char *const environment[])
{
    find_next_if_early();
    return spawn(next.posix_spawn, result, path, actions, attributes, arguments, environment);
}

EXPORT int posix_spawnp(pid_t *result, const char *file, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const arguments[],
                        char *const environment[])
{
    find_next_if_early();
    return spawn(next.posix_spawnp, result, file, actions, attributes, arguments, environment);
}
