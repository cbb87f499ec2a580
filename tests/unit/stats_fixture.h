/* Compares computed numbers with published ones. */
#ifndef ASSAY_TESTS_STATS_FIXTURE_H
#define ASSAY_TESTS_STATS_FIXTURE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "assay/stats.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Within `tolerance` relative to the expected value (absolute when that is 0). */
#define assert_close(actual, expected, tolerance)                                                  \
    check_close(actual, expected, tolerance, #actual, __FILE__, __LINE__)

static inline void check_close(double actual, double expected, double tolerance, const char *what,
                               const char *file, int line)
{
    double scale = expected == 0 ? 1 : fabs(expected);
    if (fabs(actual - expected) <= tolerance * scale)
        return;
    print_error("%s is %.15g, not %.15g\n", what, actual, expected);
    _fail(file, line);
}

#endif
