/* Programs of a cross build are run by an emulator of user programs (qemu-user): the host's kernel
 * serves them. CMake says so in ASSAY_EMULATOR. This header knows what such a program cannot do and
 * how it starts another program of its own kind. */
#ifndef ASSAY_TESTS_EMULATOR_H
#define ASSAY_TESTS_EMULATOR_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The command that runs this program, or NULL. */
static inline const char *emulator(void)
{
    const char *command = getenv("ASSAY_EMULATOR");
    return command != NULL && command[0] != '\0' ? command : NULL;
}

/* In a cmocka test: skip it under the emulator, for this reason (a literal). */
#define SKIP_IF_EMULATED(reason)                                                                   \
    do {                                                                                           \
        if (emulator() != NULL) {                                                                  \
            print_message("skipped: " reason "\n");                                                \
            skip();                                                                                \
        }                                                                                          \
    } while (0)

/* Replace this process by the same program with these arguments (with arguments[0], and NULL at the
 * end), and with `library` preloaded unless it is NULL. Returns only if that fails. */
static inline void exec_self(char *const *arguments, const char *library)
{
    enum { MOST = 16 };
    char self[4096], setting[4300];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return;
    self[length] = '\0';
    if (emulator() == NULL) {
        if (library == NULL || setenv("LD_PRELOAD", library, 1) == 0)
            execv(self, arguments);
        return;
    }
    /* The emulator is the host's program, so LD_PRELOAD must not be in its own environment. */
    snprintf(setting, sizeof setting, "LD_PRELOAD=%s", library != NULL ? library : "");
    const char *command[MOST] = {emulator(), "-E", setting, "-0", arguments[0], self};
    for (size_t i = 1; arguments[i] != NULL; i++) {
        if (5 + i + 1 == MOST)
            return;
        command[5 + i] = arguments[i];
    }
    execvp(command[0], (char **)(void *)command);
}

#endif
