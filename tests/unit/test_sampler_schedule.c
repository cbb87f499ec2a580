/* When the sampler takes its samples of a script: the shares of made-up programs, as the sampler's
 * schedule finds them without any clock. A program is a cycle of three functions that take 60, 30
 * and 10 % of its time. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "python/sampler/sampler.h"
#include "python/sampler/schedule.h"

enum { FUNCTIONS = 3, REPLICATIONS = 300 };
static const double shares[FUNCTIONS] = {0.6, 0.3, 0.1};
static const double seconds = 5, sample_ns = 45e3, late_ns = 6e4;

typedef struct found {
    double shares[FUNCTIONS];
    size_t samples;
} found;

static int function_at(double time_ns, double period_ns)
{
    double phase = fmod(time_ns, period_ns) / period_ns;
    return phase < shares[0] ? 0 : phase < shares[0] + shares[1] ? 1 : 2;
}

/* One run of a program that is always busy. The sampler wakes a little late. */
static found run(double period_ns, double rate_hz, double run_seconds, uint64_t seed)
{
    found f = {.samples = 0};
    schedule s;
    schedule_start(&s, rate_hz, true, seed * UINT64_C(0x9E3779B97F4A7C15));
    schedule_resume(&s, 1000000000);
    uint64_t start_ns = 1000000000, now_ns = start_ns;
    double sum = 0, offset_ns = schedule_random(&s) * period_ns;
    for (;;) {
        schedule_sample last = {.busy_ns = (double)(now_ns - start_ns), .cost_ns = sample_ns};
        now_ns =
            schedule_next(&s, now_ns, &last) + (uint64_t)(-log(1 - schedule_random(&s)) * late_ns);
        if ((double)(now_ns - start_ns) > run_seconds * 1e9)
            break;
        double weight_ns = schedule_cover(&s, s.end_ns);
        f.shares[function_at((double)(now_ns - start_ns) + offset_ns, period_ns)] += weight_ns;
        sum += weight_ns;
        f.samples++;
    }
    for (int i = 0; i < FUNCTIONS; i++)
        f.shares[i] /= sum;
    return f;
}

typedef struct quality {
    int misses;                             /* runs with a share that is off by 3 points */
    double bias[FUNCTIONS], rms[FUNCTIONS]; /* in points */
} quality;

static quality try_program(double period_ns, double rate_hz, double run_seconds)
{
    quality q = {.misses = 0};
    for (uint64_t seed = 1; seed <= REPLICATIONS; seed++) {
        found f = run(period_ns, rate_hz, run_seconds, seed);
        bool missed = false;
        for (int i = 0; i < FUNCTIONS; i++) {
            double off = 100 * (f.shares[i] - shares[i]);
            missed |= fabs(off) > 3;
            q.bias[i] += off / REPLICATIONS;
            q.rms[i] += off * off / REPLICATIONS;
        }
        q.misses += missed;
    }
    for (int i = 0; i < FUNCTIONS; i++)
        q.rms[i] = sqrt(q.rms[i]);
    print_message(
        "period %8.2f ms, rate %4.0f, %4.0f s: %d misses, bias %+.2f %+.2f %+.2f, rms %.2f "
        "%.2f %.2f\n",
        period_ns / 1e6, rate_hz, run_seconds, q.misses, q.bias[0], q.bias[1], q.bias[2], q.rms[0],
        q.rms[1], q.rms[2]);
    return q;
}

/* Short calls, long ones, and periods that are close to the strata, which last 1.5 ms at first. */
static const double periods_ns[] = {0.17e6, 1e6,  1.2e6, 1.5e6, 1.5001e6, 3e6,
                                    10e6,   12e6, 30e6,  100e6, 300e6};

static void test_five_seconds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof periods_ns / sizeof *periods_ns; i++) {
        quality q = try_program(periods_ns[i], 0, seconds);
        assert_true(q.misses <= REPLICATIONS / 100);
        for (int k = 0; k < FUNCTIONS; k++)
            assert_true(fabs(q.bias[k]) < 0.25 && q.rms[k] < 1.05);
    }
}

/* What the adaptive rate promises: about the same error, however long the script runs. */
static void test_longer(void **state)
{
    (void)state;
    for (double run_seconds = 10; run_seconds <= 80; run_seconds *= 2)
        assert_true(try_program(0.17e6, 0, run_seconds).rms[0] < 0.85);
}

/* At a fixed rate strata are equal. A program in step with them is no worse than independent
 * samples, and one that is slower than they are is much better. */
static void test_fixed_rate(void **state)
{
    (void)state;
    double independent = 100 * sqrt(0.24 / (100 * seconds));
    assert_true(try_program(10e6, 100, seconds).rms[0] < 1.15 * independent);
    assert_true(try_program(10.001e6, 100, seconds).rms[0] < 1.15 * independent);
    assert_true(try_program(100e6, 100, seconds).rms[0] < 0.5 * independent);
}

static void test_rates(void **state)
{
    (void)state;
    assert_true(fabs((double)run(3e6, 100, 5, 1).samples - 500) < 3);
    assert_true(fabs((double)run(3e6, 1000, 5, 1).samples - 5000) < 10);
    size_t five = run(3e6, 0, 5, 1).samples, hundred = run(3e6, 0, 100, 1).samples;
    assert_true(five > 2500 && five < 5000);
    assert_true(hundred > 11000 && hundred < 15000); /* mostly at 100 a second */
}

/* Looks take their part of a processor, and no more. */
static void test_duty(void **state)
{
    (void)state;
    schedule s;
    for (int has_processor = 0; has_processor < 2; has_processor++) {
        schedule_start(&s, 0, has_processor, 7);
        schedule_resume(&s, 0);
        uint64_t now_ns = 0;
        size_t samples = 0;
        for (; now_ns < 1000000000; samples++)
            now_ns = schedule_next(&s, now_ns, &(schedule_sample){.cost_ns = 200e3});
        double most = has_processor ? 0.03 : 0.01;
        assert_true((double)samples * 200e3 / 1e9 < 1.1 * most);
        assert_true((double)samples * 200e3 / 1e9 > 0.8 * most);
    }
}

/* A script that waits is sampled less often, and a sample that comes late stands for what was
 * missed. */
static void test_idle_and_late(void **state)
{
    (void)state;
    schedule s;
    schedule_start(&s, 0, true, 7);
    schedule_resume(&s, 0);
    uint64_t now_ns = 0;
    for (int i = 0; i < 40; i++)
        now_ns = schedule_next(&s, now_ns, &(schedule_sample){.is_idle = true});
    assert_true(fabs(s.length_ns - 1e7) < 1);
    schedule_next(&s, now_ns, &(schedule_sample){.busy_ns = 1e8});
    assert_true(fabs(s.length_ns - 1e6) < 1);
    schedule_cover(&s, s.end_ns);
    uint64_t covered_ns = s.end_ns, late = s.end_ns + 500000000;
    assert_true(schedule_next(&s, late, &(schedule_sample){.busy_ns = 1e8}) >= late);
    assert_true(fabs(schedule_cover(&s, s.end_ns) - (double)(s.end_ns - covered_ns)) < 1);
    assert_true(s.end_ns >= late + 999999);
    assert_true(schedule_cover(&s, late) == 0); /* the last sample: all is covered */
}

/* Frames are read while their thread goes on: a freed one may hold any value as its caller. */
static void test_garbage_is_not_within_a_window(void **state)
{
    (void)state;
    static char window[64];
    assert_true(memory_within(window, 64, window, 64));
    assert_true(memory_within(window + 16, 48, window, 64));
    assert_false(memory_within(window + 17, 48, window, 64));
    assert_false(memory_within(window - 1, 8, window, 64));
    assert_false(memory_within(NULL, 8, window, 64));
    assert_false(memory_within((const void *)UINTPTR_MAX, 80, window, 64));
    assert_false(memory_within((const void *)(UINTPTR_MAX - 15), 80, window, 64));
    assert_false(memory_within(window, 8, NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_five_seconds),
        cmocka_unit_test(test_longer),
        cmocka_unit_test(test_fixed_rate),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_duty),
        cmocka_unit_test(test_idle_and_late),
        cmocka_unit_test(test_garbage_is_not_within_a_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
