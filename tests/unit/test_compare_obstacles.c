/* Obstacles that forbid a verdict however clear the difference is, circumstances that do not, and
 * the forecast of the samples that are needed. Runs that were not steady are tested in
 * test_compare_drift.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/compare_fixture.h"

static void check_forbidden(assay_record *record, bool known, const char *reason)
{
    const assay_record_comparison *it = compare(record, 0.01, false);
    assert_int_equal(it->verdict, ASSAY_VERDICT_INCONCLUSIVE);
    assert_string_equal(it->reason, reason);
    assert_int_equal(it->ratio.validity, known ? ASSAY_VALID : ASSAY_NOT_ENOUGH_DATA);
    assert_int_equal(it->low.validity, it->ratio.validity);
    assert_int_equal(it->decision_high.validity, it->ratio.validity);
    check_near(it->decision_level, 0.99, 1e-12);
    assay_record_free(record);
}

static void check_judged(assay_record *record)
{
    const assay_record_comparison *it = compare(record, 0.01, false);
    assert_int_equal(it->verdict, ASSAY_VERDICT_SLOWER);
    assert_null(it->reason);
    assay_record_free(record);
}

static void test_samples_that_say_nothing(void **state)
{
    (void)state;
    check_forbidden(with_sample(2e-3, 0), false, "the candidate has no samples");
    check_forbidden(with_sample(2e-3, 1), false,
                    "1 sample of the candidate: at least 20 are needed");
    check_forbidden(with_sample(2e-3, 19), true,
                    "19 samples of the candidate: at least 20 are needed");
    check_judged(with_sample(2e-3, 20));
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
    record = with_sample(2e-3, 2);
    ((double *)record->subjects[1].samples_seconds)[1] = 2e-3;
    check_forbidden(record, false,
                    "all 2 samples of the candidate are equal: the clock is too coarse");
    record = with_sample(2e-3, 1);
    record->subjects[1].source = "google-benchmark";
    check_forbidden(record, false,
                    "1 sample of the candidate: at least 20 are needed (--benchmark_repetitions)");
}

/* Not all equal, but equal in their logarithms: the difference is known exactly. */
static void test_noise_too_small_for_logarithms(void **state)
{
    (void)state;
    assay_record *record = with_sample(2e-3, MANY);
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < MANY; i++)
            ((double *)record->subjects[side].samples_seconds)[i] =
                i == 7 ? nextafter(1e-3 * (double)(side + 1), 1) : 1e-3 * (double)(side + 1);
    check_judged(record);
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
    record->subjects[1].rejected_samples = 2;
    const assay_record_comparison *it = compare(record, 0.01, false);
    assert_int_equal(it->verdict, ASSAY_VERDICT_SLOWER);
    assert_string_equal(it->reason,
                        "100 of 100 runs of the baseline failed and are timed all the same; "
                        "3 of 109 runs of the candidate failed and are timed all the same");
    record->subjects[0].failed_runs = 0; /* none did, though they were allowed to */
    record->subjects[1].failed_runs = 1;
    it = compare(record, 0.01, false);
    assert_string_equal(it->reason,
                        "1 of 109 runs of the candidate failed and are timed all the same");
    assay_record_free(record);
    record = with_sample(2e-3, 19);
    record->subjects[1].failed_runs = 3;
    record->subjects[1].failures_timed = true;
    check_forbidden(record, true,
                    "19 samples of the candidate: at least 20 are needed; "
                    "3 of 19 runs of the candidate failed and are timed all the same");
}

/* One measure more for each sample of a subject. */
static double *add_measure(assay_record *record, size_t at, const char *metric)
{
    assay_record_subject *subject = &record->subjects[at];
    assay_record_measure *all =
        assay_record_allocate(record, subject->measure_count + 1, sizeof *all);
    double *values = assay_record_allocate(record, subject->sample_count, sizeof *values);
    assert_true(all != NULL && values != NULL);
    for (size_t i = 0; i < subject->measure_count; i++)
        all[i] = subject->measures[i];
    all[subject->measure_count] = (assay_record_measure){
        .metric = metric, .samples = values, .sample_count = subject->sample_count};
    subject->measures = all;
    subject->measure_count++;
    return values;
}

/* Equals, but for `slow` pairs in which the candidate was slower by half; `marked` of those, and
 * as many of the baseline's samples as `baseline`, say that they were disturbed. */
static assay_record *disturbed(size_t slow, size_t marked, size_t baseline)
{
    assay_record *record = empty_record();
    add(record, "a", MANY, 1e-3, 0.01);
    add(record, "b", MANY, 1e-3, 0.01);
    interleave(record);
    double *one = add_measure(record, 0, "disturbed"), *other = add_measure(record, 1, "disturbed");
    for (size_t i = 0; i < MANY; i++) {
        size_t at = i * 37 % MANY; /* here and there */
        if (i < slow)
            ((double *)record->subjects[1].samples_seconds)[at] *= 1.5;
        other[at] = i < marked;
        one[at] = i >= MANY - baseline;
    }
    return record;
}

static void test_disturbances_explain(void **state)
{
    (void)state;
    assay_record *record = disturbed(60, 60, 0);
    const assay_record_comparison *it = compare(record, 0.01, false);
    assert_int_equal(it->verdict, ASSAY_VERDICT_INCONCLUSIVE);
    assert_memory_equal(it->reason, "disturbed pairs make the difference: without them", 48);
    assay_record_free(record);
    record = disturbed(100, 30, 30); /* those left say the same */
    check_judged(record);
    record = disturbed(100, 100, 0); /* none is left: nothing speaks against it */
    check_judged(record);
    record = disturbed(100, 0, 97); /* too few are */
    check_judged(record);
}

/* The candidate waited for a processor for all the time that it took longer. */
static void test_waiting_explains(void **state)
{
    (void)state;
    for (int explained = 0; explained < 2; explained++) {
        assay_record *record = empty_record();
        add(record, "a", MANY, 1e-3, 0.01);
        add(record, "b", MANY, 1.2e-3, 0.01);
        interleave(record);
        double *one = add_measure(record, 0, "waited_seconds");
        double *other = add_measure(record, 1, "waited_seconds");
        for (size_t i = 0; i < MANY; i++) {
            one[i] = 0;
            other[i] = explained ? record->subjects[1].samples_seconds[i] / 6 : 0.01e-3;
        }
        const assay_record_comparison *it = compare(record, 0.01, false);
        assert_int_equal(it->verdict,
                         explained ? ASSAY_VERDICT_INCONCLUSIVE : ASSAY_VERDICT_SLOWER);
        if (explained)
            assert_memory_equal(it->reason, "time spent waiting for a processor makes", 40);
        assay_record_free(record);
    }
}

/* A subject of a sampling that was looked at several times while it went on shares the risk between
 * the looks. */
static void test_looks_share_the_risk(void **state)
{
    (void)state;
    static const double pairs[] = {25, 50, 100}, spent[] = {0.33, 0.67, 1};
    assay_record *record = with_sample(2e-3, MANY);
    interleave(record);
    assert_true(compare(record, 0.01, false)->decision_level == 0.99);
    record->subjects[0].look_pairs = pairs;
    record->subjects[0].look_spent = spent;
    record->subjects[0].look_count = 3;
    const assay_record_comparison *it = compare(record, 0.01, false);
    assert_true(it->decision_level > 0.993 && it->decision_level < 0.9967);
    record->subjects[0].rounds = NULL; /* not paired: not looked at */
    assert_true(compare(record, 0.01, false)->decision_level == 0.99);
    assay_record_free(record);
}

/* Forty samples that each keep the share `memory` of the deviation of the one before; around
 * `seconds`, or around those that are there if 0. */
static void remember(assay_record_subject *subject, double seconds, double memory)
{
    double value = 0, noise[MANY], *samples = (double *)subject->samples_seconds;
    fill_noise(noise, 1);
    subject->sample_count = 40;
    for (size_t i = 0; i < 40; i++) {
        value = memory * value + noise[i];
        samples[i] = (seconds > 0 ? seconds : samples[i]) * exp(0.02 * value);
    }
}

static void test_series_that_remember_too_well(void **state)
{
    (void)state;
    assay_record *record = empty_record();
    add(record, "a", 40, 1e-3, 0.02);
    add(record, "b", 40, 1.06e-3, 0.02);
    assert_int_equal(compare(record, 0.01, false)->verdict, ASSAY_VERDICT_SLOWER);
    remember(&record->subjects[0], 1e-3, 0.95);
    remember(&record->subjects[1], 1.06e-3, 0.95);
    assert_int_equal(compare(record, 0.01, false)->verdict, ASSAY_VERDICT_INCONCLUSIVE);
    assay_record_free(record);
}

/* A machine with two speeds 20 % apart, of which each series met both, but seldom. */
static void test_levels_that_change_seldom(void **state)
{
    (void)state;
    assay_record *record = empty_record();
    add(record, "a", 40, 1e-3, 0.01);
    add(record, "b", 40, 1e-3, 0.01);
    for (size_t i = 0; i < 40; i++) {
        ((double *)record->subjects[0].samples_seconds)[i] *= i / 5 % 4 == 1 ? 1.2 : 1;
        ((double *)record->subjects[1].samples_seconds)[i] *= i / 5 % 4 == 1 ? 1 : 1.2;
    }
    const assay_record_comparison *it = compare(record, 0.01, false);
    double percent = 0;
    assert_int_equal(it->verdict, ASSAY_VERDICT_INCONCLUSIVE);
    assert_int_equal(sscanf(it->reason, "the times jump between two levels %lf %% apart", &percent),
                     1);
    check_near(percent, 20, 1);
    interleave(record); /* who took turns met them alike */
    for (size_t i = 0; i < 40; i++)
        ((double *)record->subjects[1].samples_seconds)[i] =
            record->subjects[0].samples_seconds[i] * (i % 2 == 0 ? 1.051 : 1.049);
    assert_int_equal(compare(record, 0.01, false)->verdict, ASSAY_VERDICT_SLOWER);
    assay_record_free(record);
}

/* Two short series, each on a level of its own, where one sample of the candidate is `at` times the
 * baseline's level. */
static assay_verdict verdict_with_visitor(size_t count, double at, bool *levels)
{
    assay_record *record = empty_record();
    add(record, "a", count, 1e-3, 0.01);
    add(record, "b", count, 1.2e-3, 0.01);
    ((double *)record->subjects[1].samples_seconds)[count / 2] = 1e-3 * at;
    const assay_record_comparison *it = compare(record, 0.01, false);
    assay_verdict verdict = it->verdict;
    *levels = it->reason != NULL && strstr(it->reason, "jump between two levels") != NULL;
    assay_record_free(record);
    return verdict;
}

static void test_a_single_visit_to_the_other_level(void **state)
{
    (void)state;
    bool levels;
    assert_int_equal(verdict_with_visitor(20, 1, &levels), ASSAY_VERDICT_INCONCLUSIVE);
    assert_true(levels);
    assert_int_equal(verdict_with_visitor(20, 1.4, &levels), ASSAY_VERDICT_SLOWER); /* an outlier */
    assert_int_equal(verdict_with_visitor(40, 1, &levels), ASSAY_VERDICT_SLOWER);
}

/* They were looked at, and others would not have been forbidden: the risk is shared with them. */
static void test_what_cannot_be_judged_shares_the_risk(void **state)
{
    (void)state;
    assay_record *record = empty_record();
    add(record, "a", 40, 1e-3, 0.02);
    add(record, "b", 40, 1.02e-3, 0.02);
    add(record, "c", 40, 1e-3, 0.02);
    for (size_t i = 20; i < 40; i++)
        ((double *)record->subjects[2].samples_seconds)[i] *= 1.3;
    const assay_record_comparison *both = compare(record, 0.01, false);
    assert_memory_equal(both[1].reason, "the candidate drifted by", 24);
    check_near(both[0].decision_level, 0.995, 1e-12);
    assay_record_free(record);
}

static void test_pairs_that_remember_too_well(void **state)
{
    (void)state;
    assay_record *record = empty_record();
    add(record, "a", 40, 1e-3, 0.02);
    add(record, "b", 40, 1.03e-3, 0.02);
    interleave(record);
    memcpy((double *)record->subjects[1].samples_seconds, record->subjects[0].samples_seconds,
           40 * sizeof(double));
    assert_int_equal(compare(record, 0.01, false)->verdict, ASSAY_VERDICT_SAME);
    remember(&record->subjects[1], 0, 0.8);
    const assay_record_comparison *it = compare(record, 0.01, false);
    assert_int_equal(it->verdict, ASSAY_VERDICT_INCONCLUSIVE);
    assert_true(it->high.value / it->low.value > 1.04); /* Student's would be 1.02 */
    assay_record_free(record);
}

static void test_how_many_more(void **state)
{
    (void)state;
    assay_record *record = empty_record();
    unsigned more = 0;
    add(record, "a", MANY, 1e-3, 0.05);
    add(record, "b", MANY, 1.02e-3, 0.05);
    const assay_record_comparison *it = compare(record, 0.01, false);
    assert_int_equal(sscanf(it->reason,
                            "the interval is too wide: about %u more samples of each may decide",
                            &more),
                     1);
    /* (2.6 × √2 × 0.05)² / 0.0098² = 350 would be half a chance; 5/6 of one takes more */
    assert_in_range(more, 250, 4000);
    assay_record_free(record);
    record = empty_record();
    add(record, "a", MANY, 1e-3, 0.1);
    add(record, "b", MANY, 1.0095e-3, 0.1); /* so near to the margin nothing decides soon */
    interleave(record);
    it = compare(record, 0.01, false);
    assert_string_equal(it->reason, "the interval is too wide: deciding would take more than 50 "
                                    "times the pairs");
    assay_record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_that_say_nothing),
        cmocka_unit_test(test_noise_too_small_for_logarithms),
        cmocka_unit_test(test_runs_that_failed),
        cmocka_unit_test(test_failures_that_were_asked_for),
        cmocka_unit_test(test_disturbances_explain),
        cmocka_unit_test(test_waiting_explains),
        cmocka_unit_test(test_looks_share_the_risk),
        cmocka_unit_test(test_series_that_remember_too_well),
        cmocka_unit_test(test_levels_that_change_seldom),
        cmocka_unit_test(test_a_single_visit_to_the_other_level),
        cmocka_unit_test(test_what_cannot_be_judged_shares_the_risk),
        cmocka_unit_test(test_pairs_that_remember_too_well),
        cmocka_unit_test(test_how_many_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
