/* The short form of bench/steady.c. */
#include "bench/steady.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

enum { REPLICATIONS = 200 };

static void boundaries_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < STEADY_CASES; i++) {
        steady_result result;
        assert_int_equal(steady_measure(&steady_cases[i], REPLICATIONS, &result), 0);
        if (result.found_percent < 90 || result.false_percent > 6)
            fail_msg("%s: %.1f %% found, %.1f %% claimed falsely", steady_cases[i].name,
                     result.found_percent, result.false_percent);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(boundaries_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
