/* The clock compared with the system's clock, across threads, and set by the test. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "assay/clock.h"

static uint64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Sandwich our interval between two of the system's: inner <= ours <= outer, but for the rate's
 * error. */
static void test_intervals_agree_with_the_system_clock(void **state)
{
    (void)state;
    const assay_clock *clock = assay_clock_default();
    uint64_t outer_start = monotonic_ns();
    uint64_t start = assay_clock_now_ns(clock);
    uint64_t inner_start = monotonic_ns();
    while (monotonic_ns() - inner_start < 50000000)
        continue;
    uint64_t inner_end = monotonic_ns();
    uint64_t end = assay_clock_now_ns(clock);
    uint64_t outer_end = monotonic_ns();
    double ours = (double)(end - start);
    assert_true(ours > (double)(inner_end - inner_start) * 0.999 - 100);
    assert_true(ours < (double)(outer_end - outer_start) * 1.001 + 100);
}

static void test_the_clock_describes_itself(void **state)
{
    (void)state;
    assay_clock_info info = {.struct_size = sizeof info};
    assert_int_equal(assay_clock_describe(assay_clock_default(), &info), ASSAY_OK);
    assert_non_null(info.source);
    assert_non_null(info.reason);
    assert_true(info.frequency_hz > 1e5);
    assert_int_equal(info.cost_ns.validity, ASSAY_VALID);
    assert_true(info.cost_ns.value > 0 && info.cost_ns.value < 1e6);
    info.struct_size = 4;
    assert_int_equal(assay_clock_describe(assay_clock_default(), &info), ASSAY_E_ARGUMENT);
}

enum { HANDOVERS = 200000 };
static _Atomic uint64_t latest;
static atomic_int backward_steps;

/* Each thread takes over where the other stopped: a reading made after seeing another's must not be
 * smaller. */
static void *pass_time_on(void *parity)
{
    const assay_clock *clock = assay_clock_default();
    for (int i = 0; i < HANDOVERS; i++) {
        uint64_t seen = atomic_load(&latest);
        uint64_t now = assay_clock_now_ns(clock);
        if (now < seen)
            atomic_fetch_add(&backward_steps, 1);
        while (now > seen && !atomic_compare_exchange_weak(&latest, &seen, now))
            continue;
    }
    return parity;
}

static void test_never_backwards_across_threads(void **state)
{
    (void)state;
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, pass_time_on, NULL), 0);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&backward_steps), 0);
}

static uint64_t read_variable(void *context)
{
    return *(uint64_t *)context;
}

static void test_an_injected_clock_is_obeyed(void **state)
{
    (void)state;
    uint64_t now = 5000;
    assay_clock *clock = NULL;
    assert_int_equal(assay_clock_new_injected(read_variable, &now, &clock), ASSAY_OK);
    assert_int_equal(assay_clock_now_ns(clock), 5000);
    now = 1500000000;
    assert_true(assay_clock_seconds(clock) == 1.5);
    assay_clock_free(clock);
    assert_int_equal(assay_clock_new_injected(NULL, NULL, &clock), ASSAY_E_ARGUMENT);
    assay_clock_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intervals_agree_with_the_system_clock),
        cmocka_unit_test(test_the_clock_describes_itself),
        cmocka_unit_test(test_never_backwards_across_threads),
        cmocka_unit_test(test_an_injected_clock_is_obeyed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
