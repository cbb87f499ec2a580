/* A clock that the test sets, functions that take a given time, and a text with its digits
 * replaced, for comparing texts without their figures. */
#ifndef TESTS_FACADE_FIXTURE_H
#define TESTS_FACADE_FIXTURE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "assay/assay.h"
#include "tests/golden.h"

static uint64_t test_now_ns;

static inline uint64_t test_clock_source(void *context)
{
    (void)context;
    return test_now_ns;
}

static inline assay_clock *test_clock(void)
{
    assay_clock *clock = NULL;
    test_now_ns = 1000000000;
    assert_int_equal(assay_clock_new_injected(test_clock_source, NULL, &clock), ASSAY_OK);
    return clock;
}

static inline void pass_ms(double milliseconds)
{
    test_now_ns += (uint64_t)(milliseconds * 1e6);
}

static inline void assert_reads(assay_reading reading, double expected)
{
    assert_int_equal(reading.validity, ASSAY_VALID);
    if (fabs(reading.value - expected) > 1e-9)
        fail_msg("%.17g is not %.17g", reading.value, expected);
}

static inline void busy_ns(uint64_t duration_ns)
{
    const assay_clock *clock = assay_clock_default();
    uint64_t start = assay_clock_now_ns(clock);
    while (assay_clock_now_ns(clock) - start < duration_ns) {
    }
}

static inline void *busy_and_return(void *argument)
{
    busy_ns(10000000);
    return argument;
}

/* The lines hold real times; check their shape and let the shape hold the numbers. */
static inline char *digits_as_hashes(char *text)
{
    for (char *at = text; *at != '\0'; at++)
        if (*at >= '0' && *at <= '9')
            *at = '#';
    return text;
}

#endif
