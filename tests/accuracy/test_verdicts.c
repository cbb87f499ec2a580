/* Verdicts compared with a known truth; bench/verdicts.c is the long form. The counts are those of
 * fixed seeds, so a failure is a change of the method and not bad luck. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/verdict_simulation.h"

static size_t called_different(const simulation *it, size_t replications)
{
    simulation_counts counts = simulation_run(it, replications, 1);
    return counts.verdicts[ASSAY_VERDICT_FASTER] + counts.verdicts[ASSAY_VERDICT_SLOWER];
}

static void check_equals(simulation it, size_t replications, size_t allowed)
{
    size_t different = called_different(&it, replications);
    if (different > allowed)
        fail_msg("%zu of %zu equals called different: %s, %zu samples%s", different, replications,
                 noise_names[it.kind], it.samples,
                 it.order == TAKING_TURNS ? " that took turns" : "");
}

static void test_equals_that_took_turns(void **state)
{
    (void)state;
    for (int kind = 0; kind < NOISE_KINDS; kind++) {
        check_equals((simulation){(noise_kind)kind, 20, 0.05, 0, TAKING_TURNS, 0}, 300, 4);
        check_equals((simulation){(noise_kind)kind, 20, 0.3, 0, TAKING_TURNS, 0}, 300, 6);
        check_equals((simulation){(noise_kind)kind, 60, 0.05, 0, TAKING_TURNS, 0}, 200, 3);
        check_equals((simulation){(noise_kind)kind, 0, 0.05, 0, TAKING_TURNS, 80}, 200, 4);
    }
}

static void test_equals_one_after_the_other(void **state)
{
    (void)state;
    for (int kind = 0; kind < NOISE_KINDS; kind++) {
        size_t more = kind == NOISE_MIXTURE ? 9 : 0;
        check_equals((simulation){(noise_kind)kind, 20, 0.05, 0, IN_SERIES, 0}, 300, 5 + more);
        check_equals((simulation){(noise_kind)kind, 80, 0.05, 0, IN_SERIES, 0}, 200, 4);
    }
}

static void test_equals_input_by_input(void **state)
{
    (void)state;
    for (int kind = 0; kind < NOISE_KINDS; kind++) {
        size_t more = kind == NOISE_MIXTURE || kind == NOISE_STICKY ? 4 : 0;
        check_equals((simulation){(noise_kind)kind, 40, 0.05, 0, INPUT_BY_INPUT, 0}, 300, 5 + more);
        check_equals((simulation){(noise_kind)kind, 80, 0.05, 0, INPUT_BY_INPUT, 0}, 200, 4);
    }
}

/* The times of inputs differ by a factor of e: what is found in series of equal inputs would take
 * thousands of samples to find otherwise. */
static void test_power_input_by_input(void **state)
{
    (void)state;
    simulation slow = {NOISE_AR3, 60, 0.05, 0.1, INPUT_BY_INPUT, 0};
    simulation_counts counts = simulation_run(&slow, 100, 3);
    assert_in_range(counts.verdicts[ASSAY_VERDICT_SLOWER], 90, 100);
}

/* The memory that belongs to a subject, and not to the time when it ran, is not taken for a
 * difference either once it shows. */
static void test_pairs_that_remember(void **state)
{
    (void)state;
    enum { PAIRS = 80, RUNS = 300 };
    double times[2][PAIRS];
    uint32_t rounds[PAIRS];
    size_t different = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        assay_record *record = NULL;
        assay_record_subject subjects[2];
        assay_record_comparison comparison;
        assert_int_equal(assay_record_new(&record), ASSAY_OK);
        for (uint64_t i = 0; i < 2; i++) {
            noise source = noise_begin(NOISE_AR8, 2 * run + i);
            for (uint32_t k = 0; k < PAIRS; k++) {
                times[i][k] = 1e-3 * exp(0.05 * noise_next(&source));
                rounds[k] = k;
            }
            assay_record_subject_init(&subjects[i]);
            subjects[i].name = i == 0 ? "baseline" : "candidate";
            subjects[i].samples_seconds = times[i];
            subjects[i].sample_count = PAIRS;
            subjects[i].rounds = rounds;
        }
        assert_int_equal(
            assay_subjects_compare(record, &subjects[0], &subjects[1], NULL, &comparison),
            ASSAY_OK);
        different += comparison.verdict != ASSAY_VERDICT_INCONCLUSIVE;
        assay_record_free(record);
    }
    assert_in_range(different, 0, 6);
}

static double share_slower(const simulation *it, size_t runs, double *pairs)
{
    simulation_counts counts = simulation_run(it, runs, 3);
    if (pairs != NULL)
        *pairs = counts.pairs;
    return simulation_share(&counts, ASSAY_VERDICT_SLOWER);
}

static void test_a_slowdown_is_found(void **state)
{
    (void)state;
    double pairs;
    const simulation tenth = {NOISE_INDEPENDENT, 0, 0.05, 0.1, TAKING_TURNS, 1000};
    assert_true(share_slower(&tenth, 100, &pairs) >= 0.99);
    assert_true(pairs <= 40);
    const simulation small = {NOISE_AR5, 0, 0.05, 0.02, TAKING_TURNS, 2000};
    assert_true(share_slower(&small, 40, NULL) >= 0.9);
    const simulation series = {NOISE_AR5, 80, 0.05, 0.1, IN_SERIES, 0};
    assert_true(share_slower(&series, 100, NULL) >= 0.9);
    const simulation heavy = {NOISE_T3, 40, 0.05, 0.1, IN_SERIES, 0};
    assert_true(share_slower(&heavy, 100, NULL) >= 0.9);
}

/* More samples never make it harder. */
static void test_power_rises(void **state)
{
    (void)state;
    static const size_t sizes[] = {10, 20, 40, 80, 160};
    for (int kind = 0; kind < NOISE_KINDS; kind++) {
        double before = 0;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            const simulation it = {(noise_kind)kind, sizes[i], 0.05, 0.2, IN_SERIES, 0};
            double power = share_slower(&it, 60, NULL);
            if (power < before - 0.15)
                fail_msg("%s: found %.2f of 60 with %zu samples, %.2f with fewer",
                         noise_names[kind], power, sizes[i], before);
            before = power;
        }
    }
}

static void test_the_same_is_found(void **state)
{
    (void)state;
    const simulation same = {NOISE_INDEPENDENT, 0, 0.02, 0, TAKING_TURNS, 400};
    simulation_counts counts = simulation_run(&same, 60, 5);
    assert_true(counts.verdicts[ASSAY_VERDICT_SAME] >= 57);
    assert_int_equal(counts.verdicts[ASSAY_VERDICT_FASTER] + counts.verdicts[ASSAY_VERDICT_SLOWER],
                     0);
}

/* At the margin itself either call is wrong. */
static void test_a_difference_at_the_margin_is_not_called(void **state)
{
    (void)state;
    const simulation edge = {NOISE_AR5, 0, 0.02, 0.01, TAKING_TURNS, 200};
    simulation_counts counts = simulation_run(&edge, 300, 6);
    assert_in_range(counts.verdicts[ASSAY_VERDICT_SLOWER], 0, 5);
    assert_in_range(counts.verdicts[ASSAY_VERDICT_SAME], 0, 15);
}

/* In full: bench/one_run.c. A slowdown of 25 % is 4.6 errors of such a run. */
static void test_one_run_against_several(void **state)
{
    (void)state;
    enum { RUNS = 5, REPLICATIONS = 1000 };
    uint64_t seed = 1;
    size_t different = 0, named = 0;
    for (size_t i = 0; i < REPLICATIONS; i++) {
        assay_verdict equal = simulate_one_run(NOISE_INDEPENDENT, RUNS, 0.05, 0, &seed);
        different += equal == ASSAY_VERDICT_FASTER || equal == ASSAY_VERDICT_SLOWER;
        named +=
            simulate_one_run(NOISE_INDEPENDENT, RUNS, 0.05, 0.25, &seed) == ASSAY_VERDICT_SLOWER;
    }
    assert_in_range(different, 0, 16);
    assert_in_range(named, 350, REPLICATIONS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equals_that_took_turns),
        cmocka_unit_test(test_equals_one_after_the_other),
        cmocka_unit_test(test_equals_input_by_input),
        cmocka_unit_test(test_power_input_by_input),
        cmocka_unit_test(test_pairs_that_remember),
        cmocka_unit_test(test_a_slowdown_is_found),
        cmocka_unit_test(test_power_rises),
        cmocka_unit_test(test_the_same_is_found),
        cmocka_unit_test(test_a_difference_at_the_margin_is_not_called),
        cmocka_unit_test(test_one_run_against_several),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
