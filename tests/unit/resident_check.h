/* Allocates a known amount of resident memory, and checks how near a reading comes to it. */
#ifndef TESTS_RESIDENT_CHECK_H
#define TESTS_RESIDENT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "tests/sanitizers.h"

/* The thread sanitizer keeps several bytes for each byte of the program, and a thread of its own.
 */
static const bool is_shadowed = THREAD_SANITIZER;

/* Each process carries the address sanitizer's own memory along. */
enum { MEGABYTE = 1 << 20, SLACK = (ADDRESS_SANITIZER ? 20 : 8) * MEGABYTE };

/* Map and touch that much. Also for forked children, which have no test to fail. */
static inline void *touch(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    return memset(memory, 1, bytes);
}

static inline void assert_near(double value, double expected)
{
    if (value < expected - SLACK || value > expected + SLACK)
        fail_msg("%.0f is not near %.0f", value, expected);
}

#endif
