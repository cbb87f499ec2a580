/* Scenarios on the fake NVML library (tests/fake/nvml.c). Each has a process of its own, because
 * the library is opened only once in a process. */
#ifndef ASSAY_TESTS_UNIT_FAKE_GPU_H
#define ASSAY_TESTS_UNIT_FAKE_GPU_H

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static inline void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* Run in a child in which the fake is told `fake`; its checks are those of CHECK. */
static inline void in_child(const char *fake, void (*scenario)(void))
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv("FAKE_NVML", fake, 1);
        scenario();
        fflush(NULL);
        _exit(0);
    }
    int how = -1;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

#endif
