/* Speed-ups: ratios of single timings, and of repeated ones with a verdict. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "assay/record.h"
#include "assay/timers.h"
#include "tests/golden.h"

static void assert_reading(assay_reading reading, double expected)
{
    assert_int_equal(reading.validity, ASSAY_VALID);
    assert_true(fabs(reading.value - expected) < 1e-9);
}

static void assert_missing(assay_reading reading)
{
    assert_int_equal(reading.validity, ASSAY_NOT_ENOUGH_DATA);
}

static assay_timers *new_timers(void)
{
    assay_timers *timers = NULL;
    assert_int_equal(assay_timers_new(NULL, &timers), ASSAY_OK);
    return timers;
}

/* ---- single timings -------------------------------------------------------------------------- */

static void test_speedup_ratios(void **state)
{
    (void)state;
    assay_timers *timers = new_timers();
    assay_speedup ratios[4];
    size_t baseline = 9;
    assert_int_equal(assay_timers_set(timers, "MLP", 120.0), ASSAY_OK);
    assert_int_equal(assay_timers_set(timers, "SIREN", 90.0), ASSAY_OK);
    assert_int_equal(assay_timers_set_metric(timers, "KAN", "time", assay_reading_of(150.0)),
                     ASSAY_OK); /* nested */
    assert_int_equal(assay_speedup_ratios(timers, NULL, NULL, ratios, &baseline), ASSAY_OK);
    assert_int_equal(baseline, 2);
    assert_reading(ratios[0].ratio, 1.25);
    assert_reading(ratios[1].ratio, 150.0 / 90.0);
    assert_reading(ratios[2].ratio, 1.0);
    assert_int_equal(assay_timers_set(timers, "zero", 0.0), ASSAY_OK);
    assert_int_equal(assay_speedup_ratios(timers, "SIREN", NULL, ratios, NULL), ASSAY_OK);
    assert_reading(ratios[0].ratio, 0.75);
    assert_missing(ratios[3].ratio);
    assay_error error;
    assert_int_equal(assay_speedup_ratios(timers, "none", &error, ratios, NULL), ASSAY_E_NOT_FOUND);
    assert_non_null(strstr(error.message, "'none'"));
    assay_timers_free(timers);
}

/* Entries in any order: the slowest is the baseline, the fastest the best; of equals the first. */
static void test_slowest_and_fastest(void **state)
{
    (void)state;
    static const struct {
        double seconds[4];
        size_t slowest, fastest;
    } cases[] = {{{3, 1, 2, 4}, 3, 1},
                 {{4, 3, 2, 1}, 0, 3},
                 {{1, 4, 3, 2}, 1, 0},
                 {{2, 4, 4, 2}, 1, 0},
                 {{0, 5, 7, 6}, 2, 0}};
    static const char *const names[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_timers *timers = new_timers();
        assay_speedup ratios[4];
        size_t baseline = 9, best = 9;
        for (size_t k = 0; k < 4; k++)
            assert_int_equal(assay_timers_set(timers, names[k], cases[i].seconds[k]), ASSAY_OK);
        assert_int_equal(assay_speedup_ratios(timers, NULL, NULL, ratios, &baseline), ASSAY_OK);
        assert_int_equal(baseline, cases[i].slowest);
        assert_int_equal(assay_timers_best(timers, &best), ASSAY_OK);
        assert_int_equal(best, cases[i].fastest);
        assay_timers_free(timers);
    }
}

static void test_timers_without_a_time(void **state)
{
    (void)state;
    assay_timers *timers = new_timers();
    assay_speedup ratios[2];
    assay_error error = {0};
    size_t index = 9;
    assert_int_equal(assay_timers_best(timers, &index), ASSAY_E_DATA);
    assert_int_equal(assay_speedup_ratios(timers, NULL, &error, ratios, &index), ASSAY_E_DATA);
    assert_int_equal(assay_timers_set_metric(timers, "MLP", "loss", assay_reading_of(0.1)),
                     ASSAY_OK);
    assert_int_equal(assay_timers_best(timers, &index), ASSAY_E_DATA);
    assert_int_equal(assay_speedup_ratios(timers, NULL, &error, ratios, &index), ASSAY_E_DATA);
    assert_string_equal(error.message, "no timer has a time yet; measure something first");
    assert_int_equal(assay_speedup_ratios(timers, "MLP", &error, ratios, &index), ASSAY_E_DATA);
    assert_string_equal(error.message, "the baseline 'MLP' has no time yet; choose a finished one");
    assert_int_equal(index, 9);
    assert_int_equal(assay_timers_set(timers, "KAN", 2.0), ASSAY_OK);
    assert_int_equal(assay_timers_best(timers, &index), ASSAY_OK);
    assert_int_equal(index, 1);
    assert_int_equal(assay_speedup_ratios(timers, NULL, NULL, ratios, &index), ASSAY_OK);
    assert_int_equal(index, 1);
    assert_missing(ratios[0].ratio);
    assay_timers_free(timers);
}

/* ---- repeated timings ------------------------------------------------------------------------ */

/* Noise that repeats: uniform, of standard deviation `sigma`. */
static double noise(uint64_t *random, double sigma)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    double uniform = (double)(*random >> 11) / 9007199254740992.0;
    return (uniform - 0.5) * sqrt(12.0) * sigma;
}

enum { TIMINGS = 100 };

/* Alternating timings; `shared` disturbs both of a pair alike. */
static assay_speedup_verdict speedup(double baseline, double candidate, double shared,
                                     bool alternating)
{
    double first[TIMINGS], second[TIMINGS];
    uint64_t random = 21;
    for (size_t i = 0; i < TIMINGS; i++) {
        double disturbance = 1.0 + noise(&random, shared);
        first[i] = baseline * (disturbance + noise(&random, 0.002));
        second[i] = candidate * (disturbance + noise(&random, 0.002));
    }
    assay_speedup_verdict found;
    assert_int_equal(assay_speedup_compare(first, TIMINGS, second, TIMINGS, alternating, &found),
                     ASSAY_OK);
    return found;
}

static void test_speedup_with_interval(void **state)
{
    (void)state;
    const assay_speedup_verdict found = speedup(0.5, 0.4, 0.01, true);
    assert_int_equal(found.verdict, ASSAY_VERDICT_FASTER);
    assert_true(found.low.value < 1.25 && found.high.value > 1.25);
    assert_true(found.low.value > 1.24 && found.high.value < 1.26);
    assert_true(fabs(found.ratio.value - 1.25) < 0.005);
    const assay_speedup_verdict large = speedup(0.9, 0.3, 0.01, true);
    assert_true(large.low.value < 3.0 && large.high.value > 3.0);
    assert_int_equal(speedup(0.4, 0.5, 0.01, true).verdict, ASSAY_VERDICT_SLOWER);
    assert_int_equal(speedup(0.5, 0.5, 0.002, true).verdict, ASSAY_VERDICT_SAME);
}

/* 3 % within noise of 20 %: told apart only if the pairs are known to be pairs. */
static void test_alternating_timings_are_paired(void **state)
{
    (void)state;
    assert_int_equal(speedup(0.515, 0.5, 0.2, true).verdict, ASSAY_VERDICT_FASTER);
    const assay_speedup_verdict unpaired = speedup(0.515, 0.5, 0.2, false);
    assert_int_equal(unpaired.verdict, ASSAY_VERDICT_INCONCLUSIVE);
    assert_true(unpaired.reason[0] != '\0');
}

static void test_speedup_bad_input(void **state)
{
    (void)state;
    const double seconds[] = {1.0, 2.0, NAN};
    assay_speedup_verdict found;
    assert_int_equal(assay_speedup_compare(seconds, 1, seconds, 1, false, &found), ASSAY_OK);
    assert_int_equal(found.verdict, ASSAY_VERDICT_INCONCLUSIVE);
    assert_true(found.reason[0] != '\0');
    assert_int_equal(assay_speedup_compare(NULL, 0, NULL, 0, true, &found), ASSAY_OK);
    assert_int_equal(found.verdict, ASSAY_VERDICT_INCONCLUSIVE);
    assert_int_equal(assay_speedup_compare(seconds, 3, seconds, 3, false, &found), ASSAY_OK);
    assert_int_equal(found.verdict, ASSAY_VERDICT_INCONCLUSIVE);
    assert_int_equal(assay_speedup_compare(seconds, 1, seconds, 2, true, &found), ASSAY_E_ARGUMENT);
}

static void test_speedup_lines(void **state)
{
    (void)state;
    golden_text text;
    FILE *stream = golden_open(&text);
    assay_speedup_verdict shown = {.ratio = assay_reading_of(1.25),
                                   .low = assay_reading_of(1.2),
                                   .high = assay_reading_of(1.3),
                                   .verdict = ASSAY_VERDICT_FASTER};
    assert_int_equal(assay_speedup_print(&shown, stream, "SIREN"), ASSAY_OK);
    shown = (assay_speedup_verdict){.ratio = assay_reading_of(0.8),
                                    .low = assay_reading_of(0.5),
                                    .high = assay_reading_of(1.25),
                                    .reason = "the interval is wider than the difference"};
    assert_int_equal(assay_speedup_print(&shown, stream, "KAN"), ASSAY_OK);
    const assay_reading none = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    shown =
        (assay_speedup_verdict){.ratio = none, .low = none, .high = none, .reason = "one timing"};
    assert_int_equal(assay_speedup_print(&shown, stream, "MLP"), ASSAY_OK);
    golden_check(&text, "speedup_verdict");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_speedup_ratios),
        cmocka_unit_test(test_slowest_and_fastest),
        cmocka_unit_test(test_timers_without_a_time),
        cmocka_unit_test(test_speedup_with_interval),
        cmocka_unit_test(test_alternating_timings_are_paired),
        cmocka_unit_test(test_speedup_bad_input),
        cmocka_unit_test(test_speedup_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
