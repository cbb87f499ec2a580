/* Verdicts against a known truth, in short; in full: bench/compare_simulated.c. The counts are
 * those of fixed seeds, so a failure is a change of the method, not bad luck. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "assay/record_build.h"
#include "bench/compare_simulation.h"

enum { REPLICATIONS = 1000 };

static void check_identical(simulation it, size_t allowed)
{
    simulation_counts counts = simulation_run(&it, REPLICATIONS, 1);
    if (counts.faster + counts.slower > allowed)
        fail_msg("%zu of %d identical %s called different: %zu samples, correlation %.1f",
                 counts.faster + counts.slower, REPLICATIONS, it.paired ? "pairs" : "series",
                 it.samples, it.correlation);
}

static void test_identical_subjects_are_not_called_different(void **state)
{
    (void)state;
    for (int paired = 0; paired < 2; paired++) {
        check_identical((simulation){40, 0, 0.05, 0, paired}, 10);
        check_identical((simulation){40, 0.5, 0.05, 0, paired}, 10);
        check_identical((simulation){40, 0.8, 0.05, 0, paired}, 10);
        check_identical((simulation){100, 0.8, 0.05, 0, paired}, 10);
        check_identical((simulation){200, 0.8, 0.05, 0, paired}, 10);
        check_identical((simulation){20, 0.5, 0.05, 0, paired}, 10); /* few: widened */
        check_identical((simulation){20, 0.8, 0.05, 0, paired}, 18);
        check_identical((simulation){10, 0.3, 0.05, 0, paired}, 10);
        check_identical((simulation){10, 0.8, 0.05, 0, paired}, 18); /* cannot be seen in so few */
        check_identical((simulation){12, 0.8, 0.2, 0, paired}, 18); /* noise far above the margin */
    }
}

/* One of twenty candidates called different is a false alarm of the whole comparison. */
static void test_identical_subjects_of_a_large_comparison(void **state)
{
    (void)state;
    enum { SUBJECTS = 21, SAMPLES = 20, COMPARISONS = 100 };
    static double samples[SUBJECTS][SAMPLES];
    static const char *const names[SUBJECTS] = {"a", "b", "c", "d", "e", "f", "g",
                                                "h", "i", "j", "k", "l", "m", "n",
                                                "o", "p", "q", "r", "s", "t", "u"};
    const simulation it = {.samples = SAMPLES, .correlation = 0.8};
    uint32_t rounds[SAMPLES];
    uint64_t seed = 3;
    size_t alarms = 0;
    for (int k = 0; k < COMPARISONS; k++) {
        assay_record *record = NULL;
        assert_int_equal(assay_record_new(&record), ASSAY_OK);
        for (size_t i = 0; i < SUBJECTS; i++) {
            assay_record_subject subject;
            assay_record_subject_init(&subject);
            simulation_series(&it, &seed, samples[i]);
            for (size_t j = 0; j < SAMPLES; j++) {
                samples[i][j] = 1e-3 * exp(0.3 * samples[i][j]);
                rounds[j] = (uint32_t)j;
            }
            subject.name = names[i];
            subject.samples_seconds = samples[i];
            subject.sample_count = SAMPLES;
            subject.rounds = rounds;
            assert_int_equal(assay_record_add_subject(record, &subject), ASSAY_OK);
        }
        assert_int_equal(assay_record_compare(record, NULL), ASSAY_OK);
        bool alarm = false;
        for (size_t i = 0; i < record->comparison_count; i++)
            alarm |= record->comparisons[i].verdict != ASSAY_VERDICT_INCONCLUSIVE;
        alarms += alarm;
        assay_record_free(record);
    }
    assert_in_range(alarms, 0, 4);
}

static void test_a_slowdown_is_found(void **state)
{
    (void)state;
    const simulation slow = {1000, 0, 0.05, 0.02, true};
    assert_true(simulation_run(&slow, 200, 3).slower >= 180);
    const simulation few = {10, 0, 0.02, 0.5, false}; /* obvious in ten samples */
    assert_true(simulation_run(&few, 200, 4).slower >= 180);
    for (int paired = 0; paired < 2; paired++) { /* whatever memory they seem to have by chance */
        const simulation clear = {20, 0, 0.02, 0.3, paired};
        assert_true(simulation_run(&clear, 200, 4).slower >= 190);
    }
}

static void test_the_same_is_found(void **state)
{
    (void)state;
    const simulation same = {400, 0, 0.03, 0, true};
    simulation_counts counts = simulation_run(&same, 200, 5);
    assert_true(counts.same >= 180);
    assert_int_equal(counts.faster + counts.slower, 0);
}

/* At the margin itself either call is wrong. */
static void test_a_difference_at_the_margin_is_not_called(void **state)
{
    (void)state;
    const simulation edge = {200, 0, 0.02, 0.01, true};
    simulation_counts counts = simulation_run(&edge, REPLICATIONS, 6);
    assert_true(counts.slower <= 10);
    assert_true(counts.same <= 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identical_subjects_are_not_called_different),
        cmocka_unit_test(test_identical_subjects_of_a_large_comparison),
        cmocka_unit_test(test_a_slowdown_is_found),
        cmocka_unit_test(test_the_same_is_found),
        cmocka_unit_test(test_a_difference_at_the_margin_is_not_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
