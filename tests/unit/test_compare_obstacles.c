/* What forbids a verdict, however clear the difference, and what does not; and what more samples
 * would do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compare_fixture.h"

static void check_forbidden(assay_record *record, bool known, const char *reason)
{
    const assay_record_comparison *it = compare(record, 0.01, false);
    assert_int_equal(it->verdict, ASSAY_VERDICT_INCONCLUSIVE);
    assert_string_equal(it->reason, reason);
    assert_int_equal(it->ratio.validity, known ? ASSAY_VALID : ASSAY_NOT_ENOUGH_DATA);
    assert_int_equal(it->low.validity, it->ratio.validity);
    assay_record_free(record);
}

static void test_samples_that_say_nothing(void **state)
{
    (void)state;
    check_forbidden(with_sample(2e-3, 0), false, "the candidate has no samples");
    check_forbidden(with_sample(2e-3, 1), false,
                    "1 sample of the candidate: at least 10 are needed");
    check_forbidden(with_sample(2e-3, 9), true,
                    "9 samples of the candidate: at least 10 are needed");
    check_forbidden(with_sample(NAN, MANY), false, "sample 1 of the candidate is not a number");
    check_forbidden(with_sample(INFINITY, MANY), false,
                    "sample 1 of the candidate is not a number");
    check_forbidden(with_sample(-1e-3, MANY), false,
                    "sample 1 of the candidate is a negative time");
    check_forbidden(with_sample(0, MANY), false,
                    "sample 1 of the candidate is 0 s: too short for the clock");
    assay_record *record = with_sample(2e-3, MANY);
    for (size_t i = 0; i < MANY; i++)
        ((double *)record->subjects[0].samples_seconds)[i] = 1e-3;
    check_forbidden(record, false,
                    "all 100 samples of the baseline are equal: the clock is too coarse");
    record = with_sample(2e-3, 1);
    record->subjects[1].source = "google-benchmark";
    check_forbidden(record, false,
                    "1 sample of the candidate: at least 10 are needed (--benchmark_repetitions)");
}

static void test_runs_that_failed(void **state)
{
    (void)state;
    assay_record *record = with_sample(2e-3, MANY);
    record->subjects[1].failed_runs = 3;
    check_forbidden(record, true, "3 of 103 runs of the candidate failed");
    record = with_sample(2e-3, 0);
    record->subjects[1].failed_runs = 5;
    check_forbidden(record, false, "5 of 5 runs of the candidate failed");
    record = with_sample(NAN, MANY);
    record->subjects[0].failed_runs = 1;
    check_forbidden(record, false, "1 of 101 runs of the baseline failed");
}

static void test_failures_that_were_asked_for(void **state)
{
    (void)state;
    assay_record *record = with_sample(2e-3, MANY);
    record->subjects[0].failed_runs = 100;
    record->subjects[0].failures_timed = true;
    record->subjects[1].failed_runs = 3;
    record->subjects[1].failures_timed = true;
    record->subjects[1].warmup_samples = 7;
    const assay_record_comparison *it = compare(record, 0.01, false);
    assert_int_equal(it->verdict, ASSAY_VERDICT_SLOWER);
    assert_string_equal(it->reason,
                        "100 of 100 runs of the baseline failed and are timed all the same; "
                        "3 of 107 runs of the candidate failed and are timed all the same");
    assay_record_free(record);
    record = with_sample(2e-3, 9);
    record->subjects[1].failed_runs = 3;
    record->subjects[1].failures_timed = true;
    check_forbidden(record, true,
                    "9 samples of the candidate: at least 10 are needed; "
                    "3 of 9 runs of the candidate failed and are timed all the same");
}

static void test_uneven_disturbances(void **state)
{
    (void)state;
    assay_record *record = with_sample(2e-3, MANY);
    interleave(record);
    record->subjects[0].rejected_samples = record->subjects[1].rejected_samples = 40;
    record->subjects[0].disturbed_samples = 8; /* runs half as long: chance does worse in 9 % */
    record->subjects[1].disturbed_samples = 32;
    assert_int_equal(compare(record, 0.01, false)->verdict, ASSAY_VERDICT_SLOWER);
    record->subjects[0].disturbed_samples = 3; /* in 0.02 % */
    record->subjects[1].disturbed_samples = 37;
    check_forbidden(
        record, true,
        "the candidate was disturbed clearly more often: 37 times, the baseline 3 times");
}

/* Two subjects of 40 samples with 16 disturbances or 17 of 20 on the baseline: chance, if both
 * could be disturbed equally, does worse in 1.2 % and in 0.26 %. */
static assay_record *disturbed(uint64_t on_baseline)
{
    assay_record *record = empty_record();
    add(record, "a", 40, 1e-3, 0.02);
    add(record, "b", 40, 2e-3, 0.02);
    for (size_t i = 0; i < 2; i++) { /* as long as each other on the processor */
        record->subjects[i].user_seconds = assay_reading_of(1e-3);
        record->subjects[i].sys_seconds = assay_reading_of(0);
        record->subjects[i].iterations = 10;
        record->subjects[i].rejected_samples = 20;
    }
    record->subjects[0].disturbed_samples = on_baseline;
    record->subjects[1].disturbed_samples = 20 - on_baseline;
    return record;
}

static bool is_judged(assay_record *record)
{
    return compare(record, 0.01, false)->verdict == ASSAY_VERDICT_SLOWER;
}

static void test_chance_shares_out_disturbances(void **state)
{
    (void)state;
    assay_record *record = disturbed(16);
    assert_true(is_judged(record));
    assay_record_free(record);
    check_forbidden(disturbed(17), true,
                    "the baseline was disturbed clearly more often: 17 times, the candidate 3 "
                    "times");
}

/* A file may say anything: the judgement takes no longer for it. */
static void test_disturbances_beyond_counting(void **state)
{
    (void)state;
    const uint64_t many = 1000000000000;
    assay_record *record = disturbed(20);
    record->subjects[0].rejected_samples = record->subjects[1].rejected_samples = many;
    record->subjects[0].disturbed_samples = many;
    check_forbidden(record, true,
                    "the baseline was disturbed clearly more often: 1000000000000 times, the "
                    "candidate 0 times");
}

/* Who was exposed nine times as long is disturbed nine times as often: 18 of 20 is even then. */
static void test_exposure_excuses_disturbances(void **state)
{
    (void)state;
    assay_record *record = disturbed(18);
    assert_false(is_judged(record));
    record->subjects[0].user_seconds = assay_reading_of(9e-3);
    assert_true(is_judged(record));
    record->subjects[0].user_seconds = assay_reading_of(1e-3);
    record->subjects[0].iterations = 90;
    assert_true(is_judged(record));
    record->subjects[0].iterations = 10;
    record->subjects[0].rejected_samples = 9 * 60 - 40;
    assert_true(is_judged(record));
    record->subjects[0].rejected_samples = 20;
    record->subjects[0].sys_seconds = assay_reading_of(8e-3);
    assert_true(is_judged(record));
    record->subjects[1].sys_seconds = assay_reading_missing(ASSAY_NOT_MEASURED);
    assert_false(is_judged(record)); /* then by wall time, of which the candidate took more */
    assay_record_free(record);
}

static void test_series_that_remember_too_well(void **state)
{
    (void)state;
    assay_record *record = empty_record();
    add(record, "a", 40, 1e-3, 0.02);
    add(record, "b", 40, 1.15e-3, 0.02);
    double value = 0, noise[MANY];
    fill_noise(noise, 1);
    for (size_t i = 0; i < 40; i++) {
        value = 0.95 * value + noise[i];
        ((double *)record->subjects[0].samples_seconds)[i] = 1e-3 * exp(0.02 * value);
    }
    const assay_record_comparison *it = compare(record, 0.01, false);
    assert_int_equal(it->verdict, ASSAY_VERDICT_INCONCLUSIVE);
    assert_memory_equal(it->reason, "strongly autocorrelated: needs more samples of the baseline",
                        59);
    assay_record_free(record);
}

/* They were looked at, and others would not have been forbidden: the risk is shared with them. */
static void test_what_cannot_be_judged_shares_the_risk(void **state)
{
    (void)state;
    assay_record *record = empty_record();
    add(record, "a", 40, 1e-3, 0.02);
    add(record, "b", 40, 1.02e-3, 0.02);
    add(record, "c", 40, 1e-3, 0.02);
    double value = 0, noise[MANY];
    fill_noise(noise, 1);
    for (size_t i = 0; i < 40; i++) {
        value = 0.95 * value + noise[i];
        ((double *)record->subjects[2].samples_seconds)[i] = 1e-3 * exp(0.02 * value);
    }
    const assay_record_comparison *both = compare(record, 0.01, false);
    assert_memory_equal(both[1].reason, "strongly autocorrelated", 23);
    check_near(both[0].decision_level, 0.995, 1e-12);
    assay_record_free(record);
}

static void test_pairs_that_remember_too_well(void **state)
{
    (void)state;
    assay_record *record = empty_record();
    add(record, "a", 40, 1e-3, 0.02);
    add(record, "b", 40, 1.3e-3, 0.02);
    interleave(record);
    double value = 0, noise[MANY];
    fill_noise(noise, 1);
    for (size_t i = 0; i < 40; i++) {
        value = 0.95 * value + noise[i];
        double both = record->subjects[0].samples_seconds[i];
        ((double *)record->subjects[1].samples_seconds)[i] = both * exp(0.02 * value);
    }
    const assay_record_comparison *it = compare(record, 0.01, false);
    assert_int_equal(it->verdict, ASSAY_VERDICT_INCONCLUSIVE);
    assert_string_equal(it->reason, "strongly autocorrelated: needs more pairs than 40");
    assay_record_free(record);
}

static void test_a_drift_as_large_as_the_difference(void **state)
{
    (void)state;
    assay_record *record = empty_record();
    add(record, "a", MANY, 1e-3, 0.001);
    add(record, "b", MANY, 1e-3, 0.001);
    for (size_t i = MANY / 2; i < MANY; i++)
        ((double *)record->subjects[1].samples_seconds)[i] *= 1.06;
    const assay_record_comparison *it = compare(record, 0.01, false);
    assert_int_equal(it->verdict, ASSAY_VERDICT_INCONCLUSIVE);
    assert_string_equal(it->reason, "the candidate drifted by 6 % within its own run, which may "
                                    "be the difference");
    for (size_t i = 0; i < MANY; i++) /* which it cannot be if that is larger */
        ((double *)record->subjects[1].samples_seconds)[i] *= 2;
    assert_int_equal(compare(record, 0.01, false)->verdict, ASSAY_VERDICT_SLOWER);
    assay_record_free(record);
}

/* Wherever the level steps: not only in the middle. */
static void test_a_ratio_that_changes_within_the_run(void **state)
{
    (void)state;
    for (int paired = 0; paired < 2; paired++) {
        assay_record *record = empty_record();
        add(record, "a", MANY, 1e-3, paired ? 0.005 : 0.01);
        add(record, "b", MANY, 1e-3, paired ? 0.005 : 0.01);
        if (paired)
            interleave(record);
        for (size_t i = 35; i < MANY; i++)
            ((double *)record->subjects[1].samples_seconds)[i] *= 1.2;
        const assay_record_comparison *it = compare(record, 0.01, false);
        assert_int_equal(it->verdict, ASSAY_VERDICT_INCONCLUSIVE);
        assert_non_null(
            strstr(it->reason, paired ? "the ratio changed by 19.9 %" : "drifted by 19.4 %"));
        assay_record_free(record);
    }
}

static void test_a_drift_within_the_margin(void **state)
{
    (void)state;
    for (int paired = 0; paired < 2; paired++) {
        assay_record *record = empty_record();
        add(record, "a", MANY, 1e-3, 0.002);
        add(record, "b", MANY, 1e-3, 0.002);
        if (paired)
            interleave(record);
        for (size_t i = MANY / 2; i < MANY; i++)
            ((double *)record->subjects[1].samples_seconds)[i] *= 1.003;
        assert_int_equal(compare(record, 0.01, false)->verdict, ASSAY_VERDICT_SAME);
        assay_record_free(record);
    }
}

static void test_how_many_more(void **state)
{
    (void)state;
    assay_record *record = empty_record();
    add(record, "a", MANY, 1e-3, 0.05);
    add(record, "b", MANY, 1.02e-3, 0.05);
    const assay_record_comparison *it = compare(record, 0.01, false);
    assert_int_equal(it->verdict, ASSAY_VERDICT_INCONCLUSIVE);
    int more = 0; /* (2.6 × √2 × 0.05 / 10)² / 0.0098² = 3.5 times the samples */
    assert_int_equal(sscanf(it->reason, "the interval is too wide: about %d more samples", &more),
                     1);
    assert_in_range(more, 220, 290);
    assay_record_free(record);
    record = empty_record();
    add(record, "a", 12, 1e-3, 0.02);
    add(record, "b", 12, 1.05e-3, 0.02);
    it = compare(record, 0.01, false);
    /* 12 × (2.8 × √2 × 0.02 / √12 / 0.039)², were nothing added for few samples: 0.3 times as many
     */
    assert_int_equal(sscanf(it->reason, "the interval is too wide: about %d more samples", &more),
                     1);
    assert_in_range(more, 1, 12);
    assay_record_free(record);
    record = empty_record();
    add(record, "a", MANY, 1e-3, 0.05);
    add(record, "b", MANY, 1.01e-3, 0.05);
    it = compare(record, 0.01, false);
    assert_string_equal(
        it->reason, "the interval is too wide: deciding would take more than 50 times the samples");
    assay_record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_that_say_nothing),
        cmocka_unit_test(test_runs_that_failed),
        cmocka_unit_test(test_failures_that_were_asked_for),
        cmocka_unit_test(test_uneven_disturbances),
        cmocka_unit_test(test_chance_shares_out_disturbances),
        cmocka_unit_test(test_exposure_excuses_disturbances),
        cmocka_unit_test(test_disturbances_beyond_counting),
        cmocka_unit_test(test_series_that_remember_too_well),
        cmocka_unit_test(test_what_cannot_be_judged_shares_the_risk),
        cmocka_unit_test(test_pairs_that_remember_too_well),
        cmocka_unit_test(test_a_drift_as_large_as_the_difference),
        cmocka_unit_test(test_a_ratio_that_changes_within_the_run),
        cmocka_unit_test(test_a_drift_within_the_margin),
        cmocka_unit_test(test_how_many_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
