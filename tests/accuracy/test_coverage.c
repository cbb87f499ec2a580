/* The short form of bench/coverage.c: the same cases with fewer replications. The bounds are so
 * wide that a coverage at the bar falls outside once in a thousand runs. The seed is fixed, so
 * another result means that the method changed. */
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
        coverage_result result = {0};
        assert_int_equal(coverage_measure(&coverage_cases[i], REPLICATIONS, &result), 0);
        double bar = coverage_cases[i].bar;
        double low = bar - 31 * sqrt(bar * (100 - bar) / REPLICATIONS) / 10;
        double high = 97 + 310 * sqrt(0.97 * 0.03 / REPLICATIONS);
        if (result.safe_percent < low || result.covered_percent > high)
            fail_msg("%s: %.1f %% covered, %.1f %% covered or flagged", coverage_cases[i].name,
                     result.covered_percent, result.safe_percent);
        if (coverage_cases[i].kind == COVERAGE_NORMAL && result.flagged_percent > 10)
            fail_msg("%s: %.1f %% flagged", coverage_cases[i].name, result.flagged_percent);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(intervals_cover_after_stopping)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
