/* For tests that need the heap interposer: the program starts itself again with libassay_heap.so
 * preloaded and a directory for heap files. */
#ifndef TESTS_PRELOADED_H
#define TESTS_PRELOADED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/memory.h"
#include "tests/emulator.h"
#include "tests/sanitizers.h"

static inline int skip_test(const char *reason)
{
    printf("skipped: %s\n", reason);
    return 77;
}

static inline int restart_preloaded(char **arguments)
{
    char self[4096], library[4200], directory[] = "/tmp/assay-heap-XXXXXX";
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return skip_test("/proc/self/exe is not readable");
    self[length] = '\0';
    char *slash = strrchr(self, '/');
    snprintf(library, sizeof library, "%.*s/../../lib/libassay_heap.so", (int)(slash - self), self);
    if (access(library, R_OK) != 0)
        return skip_test("libassay_heap.so was not built");
    if (mkdtemp(directory) == NULL)
        return skip_test("cannot create a directory in /tmp");
    pid_t child = fork();
    if (child == 0) {
        setenv("ASSAY_HEAP_DIR", directory, 1);
        exec_self(arguments, library);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", directory);
    if (system(command) != 0)
        return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* What main returns at once: the status of the preloaded run, or 77 with the reason. Negative in
 * the preloaded run itself, which goes on to its tests. */
static inline int run_preloaded(char **arguments)
{
    if (ADDRESS_SANITIZER || THREAD_SANITIZER)
        return skip_test("sanitizers bring their own allocator");
    if (getenv("ASSAY_HEAP_DIR") == NULL)
        return restart_preloaded(arguments);
    return assay_heap_available()
               ? -1
               : skip_test("the interposer does not see this process's allocations");
}

#endif
