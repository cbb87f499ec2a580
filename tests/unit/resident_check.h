/* Resident memory that is known beforehand, and how near a reading has to come. */
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

/* The thread sanitizer keeps several bytes for each byte of the program, and a thread of its own.
 */
#if defined(__has_feature)
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_THREAD__) || HAS_FEATURE(thread_sanitizer)
static const bool is_shadowed = true;
#else
static const bool is_shadowed = false;
#endif

enum { MEGABYTE = 1 << 20 };
#if defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer)
enum { SLACK = 20 * MEGABYTE }; /* each process carries the sanitizer's own memory along */
#else
enum { SLACK = 8 * MEGABYTE };
#endif

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
