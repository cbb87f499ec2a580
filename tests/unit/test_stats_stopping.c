/* The stopping rule: when it looks, when it stops, and when it gives up. */
#include "tests/unit/stats_fixture.h"

#include "base/random.h"

enum { CAPACITY = 4000 };

typedef struct outcome {
    size_t count, looks;
    assay_stopping_decision decision;
} outcome;

/* Feed values of the given spread around 100 until the rule stops. */
static outcome follow(assay_stopping *stopping, double spread, uint64_t seed)
{
    static double series[CAPACITY];
    assay__random random;
    outcome got = {0};
    assay__random_init(&random, seed);
    size_t last = 0;
    while (got.decision == ASSAY_STOPPING_CONTINUE && got.count < CAPACITY) {
        series[got.count++] = 100 + spread * assay__random_normal(&random);
        size_t planned = stopping->next_look;
        assert_int_equal(assay_stopping_look(stopping, series, got.count, &got.decision), ASSAY_OK);
        if (got.decision != ASSAY_STOPPING_CONTINUE || stopping->next_look != planned) {
            assert_true(last == 0 || got.count == stopping->maximum ||
                        (double)got.count >= 1.014 * (double)last);
            got.looks++;
            last = got.count;
        }
    }
    return got;
}

static void stops_when_precise(void **state)
{
    (void)state;
    double sum = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        assay_stopping stopping;
        assert_int_equal(assay_stopping_init(&stopping, 0.95, 0.01, CAPACITY), ASSAY_OK);
        outcome got = follow(&stopping, 10, seed);
        assert_int_equal(got.decision, ASSAY_STOPPING_PRECISE);
        assert_true(got.looks <= 70);
        assay_interval interval = stopping.interval;
        assert_int_equal(interval.validity, ASSAY_VALID);
        assert_true(interval.high - interval.low <= 2 * 0.01 * interval.estimate);
        sum += (double)got.count;
    }
    double oracle = 1.96 * 1.96 * 10 * 10; /* of one who knows the noise */
    assert_true(sum / 20 > oracle && sum / 20 < 1.2 * oracle);
}

static void never_before_the_minimum(void **state)
{
    assay_stopping stopping;
    (void)state;
    assert_int_equal(assay_stopping_init(&stopping, 0.95, 0.5, CAPACITY), ASSAY_OK);
    assert_true(follow(&stopping, 1, 3).count >= 30);
    assert_int_equal(assay_stopping_init(&stopping, 0.95, 0.5, CAPACITY), ASSAY_OK);
    stopping.mode_minimum = 0;
    stopping.minimum = 100;
    assert_int_equal(follow(&stopping, 1, 3).count, 100);
}

/* A relative precision is not believed before a slow mode had its chance; an absolute one is, and
 * so is either where there will be no more values. */
static void waits_for_a_slow_mode(void **state)
{
    assay_stopping stopping;
    (void)state;
    assert_int_equal(assay_stopping_init(&stopping, 0.95, 0.01, CAPACITY), ASSAY_OK);
    outcome got = follow(&stopping, 1, 3);
    assert_int_equal(got.decision, ASSAY_STOPPING_PRECISE);
    assert_int_equal(got.count, 200);
    assert_int_equal(got.looks, 2);
    assert_int_equal(assay_stopping_init(&stopping, 0.95, 0.001, CAPACITY), ASSAY_OK);
    stopping.absolute_precision = 1;
    assert_int_equal(follow(&stopping, 1, 3).count, 30);
    assert_int_equal(assay_stopping_init(&stopping, 0.95, 0.01, 60), ASSAY_OK);
    got = follow(&stopping, 1, 3);
    assert_int_equal(got.decision, ASSAY_STOPPING_PRECISE);
    assert_int_equal(got.count, 60);
}

static void gives_up_early_when_hopeless(void **state)
{
    assay_stopping stopping;
    (void)state;
    assert_int_equal(assay_stopping_init(&stopping, 0.95, 0.001, 1000), ASSAY_OK);
    outcome got = follow(&stopping, 10, 6); /* would take 38 000 */
    assert_int_equal(got.decision, ASSAY_STOPPING_UNREACHABLE);
    assert_int_equal(got.count, 200);
    assert_in_range(stopping.predicted, 20000, 100000);
    assert_int_equal(stopping.interval.validity, ASSAY_VALID);
}

static void says_when_the_maximum_came_first(void **state)
{
    assay_stopping stopping;
    (void)state;
    assert_int_equal(assay_stopping_init(&stopping, 0.95, 0.01, 330), ASSAY_OK);
    outcome got = follow(&stopping, 10, 6); /* takes about 450 */
    assert_int_equal(got.decision, ASSAY_STOPPING_EXHAUSTED);
    assert_int_equal(got.count, 330);
    assert_int_equal(assay_stopping_init(&stopping, 0.95, 0.01, 1), ASSAY_OK);
    got = follow(&stopping, 10, 6);
    assert_int_equal(got.decision, ASSAY_STOPPING_EXHAUSTED);
    assert_int_equal(stopping.interval.validity, ASSAY_NOT_ENOUGH_DATA);
}

static void equal_values_are_precise(void **state)
{
    assay_stopping stopping;
    (void)state;
    assert_int_equal(assay_stopping_init(&stopping, 0.95, 0.01, CAPACITY), ASSAY_OK);
    outcome got = follow(&stopping, 0, 7);
    assert_int_equal(got.decision, ASSAY_STOPPING_PRECISE);
    assert_int_equal(got.count, 30);
}

static void absolute_precision_around_zero(void **state)
{
    enum { COUNT = 200 };
    double series[COUNT];
    assay__random random;
    assay_stopping stopping;
    assay_stopping_decision decision;
    (void)state;
    assay__random_init(&random, 8);
    for (size_t i = 0; i < COUNT; i++)
        series[i] = 0.01 * assay__random_normal(&random);
    assert_int_equal(assay_stopping_init(&stopping, 0.95, 0.001, COUNT), ASSAY_OK);
    stopping.absolute_precision = 0.005;
    assert_int_equal(assay_stopping_look(&stopping, series, COUNT, &decision), ASSAY_OK);
    assert_int_equal(decision, ASSAY_STOPPING_PRECISE);
}

static void broken_input(void **state)
{
    assay_stopping stopping;
    assay_stopping_decision decision;
    double values[40] = {1, 2, NAN};
    (void)state;
    assert_int_equal(assay_stopping_init(&stopping, 0, 0.01, 10), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_stopping_init(&stopping, 0.95, 0, 10), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_stopping_init(&stopping, 0.95, NAN, 10), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_stopping_init(&stopping, 0.95, 0.01, 0), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_stopping_init(&stopping, 0.95, 0.01, 100), ASSAY_OK);
    assert_int_equal(assay_stopping_look(&stopping, values, 40, &decision), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_stopping_look(&stopping, values, 29, &decision), ASSAY_OK);
    assert_int_equal(decision, ASSAY_STOPPING_CONTINUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stops_when_precise),
        cmocka_unit_test(never_before_the_minimum),
        cmocka_unit_test(waits_for_a_slow_mode),
        cmocka_unit_test(gives_up_early_when_hopeless),
        cmocka_unit_test(says_when_the_maximum_came_first),
        cmocka_unit_test(equal_values_are_precise),
        cmocka_unit_test(absolute_precision_around_zero),
        cmocka_unit_test(broken_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
