/* Verdicts: the rule at its limits, pairs, and several comparisons that share their risk. Obstacles
 * to a verdict are tested in test_compare_obstacles.c and test_compare_drift.c, comparisons of
 * records in test_compare_records.c. tests/accuracy/test_verdicts.c measures how often verdicts are
 * wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "assay/record_build.h"
#include "tests/unit/compare_fixture.h"

static void test_the_rule(void **state)
{
    (void)state;
    static const struct {
        double ratio, deviation, margin;
        assay_verdict verdict;
    } cases[] = {
        {1.05, 0.02, 0.01, ASSAY_VERDICT_SLOWER},
        {0.95, 0.02, 0.01, ASSAY_VERDICT_FASTER},
        {1.05, 0.02, 0.10, ASSAY_VERDICT_SAME},
        {1.00, 0.02, 0.01, ASSAY_VERDICT_SAME},
        {1.00, 0.20, 0.01, ASSAY_VERDICT_INCONCLUSIVE},
        {1.05, 0.02, 0.05, ASSAY_VERDICT_INCONCLUSIVE},
        {1.01, 0.02, 0.00, ASSAY_VERDICT_SLOWER},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        assay_record *record = empty_record();
        double ratio = cases[i / 2].ratio, margin = cases[i / 2].margin;
        add(record, "a", MANY, 1e-3, cases[i / 2].deviation);
        add(record, "b", MANY, 1e-3 * ratio, cases[i / 2].deviation);
        if (i % 2 == 1)
            interleave(record);
        const assay_record_comparison *it = compare(record, margin, false);
        assert_int_equal(record->comparison_count, 1);
        assert_int_equal(it->verdict, cases[i / 2].verdict);
        assert_int_equal(it->reason != NULL, it->verdict == ASSAY_VERDICT_INCONCLUSIVE);
        assert_int_equal(it->paired, i % 2 == 1);
        assert_int_equal(it->pairs, i % 2 == 1 ? MANY : 0);
        check_near(it->ratio.value, ratio, 0.05 * cases[i / 2].deviation);
        assert_true(it->decision_low.value < it->low.value && it->low.value < ratio);
        assert_true(it->decision_high.value > it->high.value && it->high.value > ratio);
        check_near(it->decision_level, 0.99, 1e-12);
        check_near(it->margin, margin, 0);
        assay_record_free(record);
    }
}

/* Against Welch's interval, by hand: noise that shows no memory is paid for with little where there
 * are many samples, and with more where there are few that could show one. */
static void check_welch(const size_t counts[2], double most)
{
    assay_record *record = empty_record();
    add(record, "a", counts[0], 1e-3, 0.02);
    add(record, "b", counts[1], 1.2e-3, 0.04);
    double mean[2] = {0}, squares[2] = {0}, error[2];
    for (size_t side = 0; side < 2; side++) {
        const assay_record_subject *subject = &record->subjects[side];
        double n = (double)counts[side];
        for (size_t i = 0; i < counts[side]; i++)
            mean[side] += log(subject->samples_seconds[i]) / n;
        for (size_t i = 0; i < counts[side]; i++)
            squares[side] += pow(log(subject->samples_seconds[i]) - mean[side], 2);
        error[side] = sqrt(squares[side] / (n - 1) / n);
    }
    double variance = pow(error[0], 2) + pow(error[1], 2);
    double df =
        variance * variance /
        (pow(error[0], 4) / ((double)counts[0] - 1) + pow(error[1], 4) / ((double)counts[1] - 1));
    double reach = sqrt(variance) * assay__stats_student_quantile(0.975, df);
    const assay_record_comparison *it = compare(record, 0.01, false);
    double own = log(it->high.value / it->low.value) / 2;
    check_near(log(it->ratio.value), mean[1] - mean[0], reach / 4);
    if (!(own > 0.9 * reach && own < most * reach))
        fail_msg("%zu and %zu samples: %g times Welch's interval", counts[0], counts[1],
                 own / reach);
    assay_record_free(record);
}

static void test_the_interval_of_two_series(void **state)
{
    (void)state;
    check_welch((const size_t[]){MANY, 80}, 1.2);
    check_welch((const size_t[]){79, 60}, 1.25);
    check_welch((const size_t[]){40, 39}, 1.4);
    check_welch((const size_t[]){30, 20}, 2);
    check_welch((const size_t[]){10, MANY}, 2.5);
}

/* Against Student's interval of the log ratios; one pair in ten is an outlier, which counts as far
 * as it does not hide what the others say. */
static void test_the_interval_of_pairs(void **state)
{
    (void)state;
    static const size_t counts[] = {MANY, 40, 20, 10};
    for (size_t k = 0; k < 2 * sizeof counts / sizeof *counts; k++) {
        size_t count = counts[k / 2];
        bool spikes = k % 2;
        assay_record *record = empty_record();
        add(record, "a", count, 1e-3, 0.02);
        add(record, "b", count, 1.2e-3, 0.03);
        interleave(record);
        double mean = 0, squares = 0, logs[MANY], n = (double)count;
        for (size_t i = 0; i < count; i++) {
            logs[i] = log(record->subjects[1].samples_seconds[i] /
                          record->subjects[0].samples_seconds[i]);
            mean += logs[i] / n;
        }
        for (size_t i = 0; i < count; i++)
            squares += pow(logs[i] - mean, 2);
        for (size_t i = 0; i < count && spikes; i++)
            ((double *)record->subjects[1].samples_seconds)[i] *= i % 10 == 3 ? 3 : 1;
        double reach = sqrt(squares / (n - 1) / n) * assay__stats_student_quantile(0.975, n - 1);
        const assay_record_comparison *it = compare(record, 0.01, false);
        double own = log(it->high.value / it->low.value) / 2, most = spikes ? 1.9 : 1.35;
        check_near(log(it->ratio.value), mean, spikes ? 2 * reach : reach / 2);
        if (!(own > 0.8 * reach && own < most * reach))
            fail_msg("%zu pairs%s: %g times Student's interval", count,
                     spikes ? " with outliers" : "", own / reach);
        assay_record_free(record);
    }
}

/* A drift that both share hides a difference from two series, not from pairs. */
static void test_pairs_cancel_what_they_share(void **state)
{
    (void)state;
    assay_record *record = empty_record();
    add(record, "a", MANY, 1e-3, 0.005);
    add(record, "b", MANY, 1.03e-3, 0.005);
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < MANY; i++)
            ((double *)record->subjects[k].samples_seconds)[i] *= 1 + (double)i / MANY;
    assert_int_equal(compare(record, 0.01, false)->verdict, ASSAY_VERDICT_INCONCLUSIVE);
    interleave(record);
    assert_int_equal(compare(record, 0.01, false)->verdict, ASSAY_VERDICT_SLOWER);
    assay_record_free(record);
}

static void test_only_common_rounds_are_pairs(void **state)
{
    (void)state;
    assay_record *record = empty_record();
    add(record, "a", MANY, 1e-3, 0.01);
    add(record, "b", MANY, 1e-3, 0.01);
    interleave(record);
    uint32_t *rounds = assay_record_allocate(record, MANY, sizeof *rounds);
    assert_non_null(rounds);
    for (uint32_t i = 0; i < MANY; i++)
        rounds[i] = 3 * i;
    record->subjects[1].rounds = rounds;
    assert_int_equal(compare(record, 0.01, false)->pairs, 34); /* 0, 6, 12, … 198 */
    for (uint32_t i = 0; i < MANY; i++)
        rounds[i] = 2 * i + 1;
    const assay_record_comparison *it = compare(record, 0.01, false);
    assert_int_equal(it->pairs, 0);
    assert_string_equal(it->reason, "0 pairs of samples: at least 6 are needed");
    assert_int_equal(it->ratio.validity, ASSAY_NOT_ENOUGH_DATA);
    for (size_t i = 0; i < 2; i++) { /* whose rounds are known on one side only is no pair */
        record->subjects[i].rounds = NULL;
        record->subjects[1 - i].rounds = rounds;
        assert_false(compare(record, 0.01, false)->paired);
    }
    assay_record_free(record);
}

static void test_six_pairs_are_enough(void **state)
{
    (void)state;
    static const struct {
        uint32_t common;
        const char *reason;
    } cases[] = {{1, "1 pair of samples: at least 6 are needed"},
                 {5, "5 pairs of samples: at least 6 are needed"},
                 {6, NULL}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assay_record *record = empty_record();
        add(record, "a", MANY, 1e-3, 0.01);
        add(record, "b", MANY, 2e-3, 0.01);
        interleave(record);
        uint32_t *rounds = assay_record_allocate(record, MANY, sizeof *rounds);
        assert_non_null(rounds);
        for (uint32_t i = 0; i < MANY; i++)
            rounds[i] = 2 * i + (i >= cases[k].common);
        record->subjects[1].rounds = rounds;
        const assay_record_comparison *it = compare(record, 0.01, false);
        assert_int_equal(it->pairs, cases[k].common);
        assert_int_equal(it->baseline_samples, it->pairs);
        assert_int_equal(it->candidate_samples, it->pairs);
        assert_int_equal(it->verdict,
                         cases[k].reason ? ASSAY_VERDICT_INCONCLUSIVE : ASSAY_VERDICT_SLOWER);
        if (cases[k].reason)
            assert_string_equal(it->reason, cases[k].reason);
        assay_record_free(record);
    }
}

static void test_several_share_the_risk(void **state)
{
    (void)state;
    assay_record *record = empty_record();
    add(record, "a", MANY, 1e-3, 0.02);
    add(record, "b", MANY, 1.00e-3, 0.02);
    add(record, "c", MANY, 1.10e-3, 0.02);
    add(record, "d", MANY, 0.90e-3, 0.02);
    add(record, "e", MANY, 1.00e-3, 0.02);
    const assay_record_comparison *it = compare(record, 0.01, false);
    assert_int_equal(record->comparison_count, 4);
    assert_int_equal(it[1].verdict, ASSAY_VERDICT_SLOWER);
    assert_int_equal(it[2].verdict, ASSAY_VERDICT_FASTER);
    check_near(it[1].decision_level, 1 - 0.01 / 4, 1e-12); /* decided at the first step */
    check_near(it[0].decision_level, 1 - 0.01 / 2, 1e-12); /* two were left */
    check_near(it[3].decision_level, 1 - 0.01 / 2, 1e-12);
    assert_string_equal(it[2].baseline, "a");
    assert_string_equal(it[2].candidate, "d");
    record->subject_count = 3; /* the one that is left is tried as if it were alone */
    it = compare(record, 0.01, false);
    check_near(it[1].decision_level, 1 - 0.01 / 2, 1e-12);
    check_near(it[0].decision_level, 0.99, 1e-12);
    record->subject_count = 5;
    it = compare(record, 0.01, true);
    assert_int_equal(record->comparison_count, 10);
    assert_string_equal(it[9].baseline, "d");
    assert_string_equal(it[9].candidate, "e");
    assay_record_free(record);
}

static void test_sweeps_are_compared_at_equal_parameters(void **state)
{
    (void)state;
    assay_record *record = empty_record();
    for (int i = 0; i < 4; i++) {
        assay_record_subject *it = add(record, i % 2 ? "b" : "a", MANY, 1e-3, 0.02);
        assert_int_equal(assay_record_add_parameter(record, it, "n", i < 2 ? "1" : "2"), ASSAY_OK);
    }
    compare(record, 0.01, false);
    assert_int_equal(record->comparison_count, 2);
    record->subject_count = 3; /* a(1), b(1), a(2): the last has nobody to compare with */
    compare(record, 0.01, true);
    assert_int_equal(record->comparison_count, 1);
    record->subjects[1] = record->subjects[2];
    record->subject_count = 2; /* a(1), a(2): the sweep itself is the question */
    compare(record, 0.01, false);
    assert_int_equal(record->comparison_count, 1);
    record->subject_count = 1;
    compare(record, 0.01, false);
    assert_int_equal(record->comparison_count, 0);
    assay_record_free(record);
}

/* A parameter that has no value is one as well. */
static void test_parameters_without_a_value(void **state)
{
    (void)state;
    assay_record *record = empty_record();
    for (int i = 0; i < 4; i++) {
        assay_record_subject *it = add(record, i % 2 ? "b" : "a", MANY, 1e-3, 0.02);
        assert_int_equal(assay_record_add_parameter(record, it, "n", i < 2 ? NULL : "1"), ASSAY_OK);
    }
    compare(record, 0.01, false);
    assert_int_equal(record->comparison_count, 2);
    assay_record_free(record);
}

static void test_more_subjects_than_can_be_compared(void **state)
{
    (void)state;
    assay_record *record = empty_record();
    for (size_t i = 0; i <= 4096; i++)
        add(record, "a", 2, 1e-3, 0.02);
    assert_int_equal(assay_record_compare(record, NULL), ASSAY_E_LIMIT);
    record->subject_count = 4096;
    assert_int_equal(assay_record_compare(record, NULL), ASSAY_OK);
    assert_int_equal(record->comparison_count, 4095);
    assay_record_free(record);
}

static void test_options_that_make_no_sense(void **state)
{
    (void)state;
    assay_record *record = with_sample(2e-3, MANY);
    assay_compare_options options = ASSAY_COMPARE_OPTIONS_INIT;
    for (size_t i = 0; i < 3; i++) {
        options.margin = (double[]){-0.01, 1, NAN}[i];
        assert_int_equal(assay_record_compare(record, &options), ASSAY_E_ARGUMENT);
        assay_record_comparison unused;
        assert_int_equal(assay_subjects_compare(record, &record->subjects[0], &record->subjects[1],
                                                &options, &unused),
                         ASSAY_E_ARGUMENT);
    }
    assert_int_equal(assay_record_compare(record, NULL), ASSAY_OK);
    check_near(record->comparisons[0].margin, 0.01, 0);
    assay_record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_rule),
        cmocka_unit_test(test_the_interval_of_two_series),
        cmocka_unit_test(test_the_interval_of_pairs),
        cmocka_unit_test(test_pairs_cancel_what_they_share),
        cmocka_unit_test(test_only_common_rounds_are_pairs),
        cmocka_unit_test(test_six_pairs_are_enough),
        cmocka_unit_test(test_several_share_the_risk),
        cmocka_unit_test(test_sweeps_are_compared_at_equal_parameters),
        cmocka_unit_test(test_parameters_without_a_value),
        cmocka_unit_test(test_more_subjects_than_can_be_compared),
        cmocka_unit_test(test_options_that_make_no_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
