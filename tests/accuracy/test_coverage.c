/* The short form of bench/coverage.c: the same cases, fewer replications, bounds wide enough that a
 * coverage of 94 to 97 % falls outside once in a thousand runs. The seed is fixed: a change here
 * means that the method changed. */
#include "bench/coverage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

enum { REPLICATIONS = 600 };

static void intervals_cover_after_stopping(void **state)
{
    (void)state;
    for (size_t i = 0; i < COVERAGE_CASES; i++) {
        coverage_result result;
        assert_int_equal(coverage_measure(&coverage_cases[i], REPLICATIONS, &result), 0);
        double low = 94 - 310 * sqrt(0.94 * 0.06 / REPLICATIONS);
        double high = 97 + 310 * sqrt(0.97 * 0.03 / REPLICATIONS);
        if (result.covered_percent < low || result.covered_percent > high)
            fail_msg("%s: %.1f %% covered", coverage_cases[i].name, result.covered_percent);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(intervals_cover_after_stopping)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
