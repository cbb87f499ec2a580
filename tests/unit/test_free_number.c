/* A free number is found in few steps, however many are taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/free_number.h"

static unsigned calls;

static bool up_to(const void *last, unsigned number)
{
    calls++;
    return number <= *(const unsigned *)last;
}

static bool not_a_gap(const void *gap, unsigned number)
{
    return number != *(const unsigned *)gap && number < 1000;
}

static void test_the_first_free_one(void **state)
{
    (void)state;
    for (unsigned first = 0; first <= 2; first++)
        for (unsigned last = first; last < 300; last++)
            assert_int_equal(assay__free_number(first, up_to, &last), last + 1);
    unsigned none = 1;
    assert_int_equal(assay__free_number(2, up_to, &none), 2);
    none = ASSAY__MOST_NUMBERS - 1;
    assert_int_equal(assay__free_number(2, up_to, &none), ASSAY__MOST_NUMBERS);
}

static void test_few_steps(void **state)
{
    (void)state;
    const unsigned last = 50000;
    calls = 0;
    assert_int_equal(assay__free_number(2, up_to, &last), last + 1);
    assert_in_range(calls, 1, 34);
}

static void test_all_taken(void **state)
{
    (void)state;
    const unsigned last = UINT32_MAX;
    assert_int_equal(assay__free_number(0, up_to, &last), ASSAY__MOST_NUMBERS + 1);
    assert_int_equal(assay__free_number(2, up_to, &last), ASSAY__MOST_NUMBERS + 1);
}

/* After a gap, some free number is found. */
static void test_a_gap(void **state)
{
    (void)state;
    for (unsigned gap = 2; gap < 1000; gap++) {
        unsigned found = assay__free_number(2, not_a_gap, &gap);
        assert_true(found == gap || found == 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_free_one),
        cmocka_unit_test(test_few_steps),
        cmocka_unit_test(test_all_taken),
        cmocka_unit_test(test_a_gap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
