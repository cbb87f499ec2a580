/* Verdicts: the rule at its edges, pairs, several comparisons sharing their risk, and records held
 * against each other. What forbids a verdict is in test_compare_obstacles.c; how often verdicts are
 * wrong is measured in tests/accuracy/test_compare_simulated.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compare_fixture.h"

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
        check_near(it->ratio.value, ratio, 1e-9);
        assert_true(it->decision_low.value < it->low.value && it->low.value < ratio);
        assert_true(it->decision_high.value > it->high.value && it->high.value > ratio);
        check_near(it->decision_level, 0.99, 1e-12);
        check_near(it->margin, margin, 0);
        assay_record_free(record);
    }
}

/* Welch's interval, by hand from the errors of the two sides. */
static void test_the_interval_of_two_series(void **state)
{
    (void)state;
    assay_record *record = empty_record();
    add(record, "a", MANY, 1e-3, 0.02);
    add(record, "b", MANY - 20, 1.2e-3, 0.04);
    double mean[2], error[2], freedom[2], logs[MANY];
    for (size_t side = 0; side < 2; side++) {
        const assay_record_subject *subject = &record->subjects[side];
        for (size_t i = 0; i < subject->sample_count; i++)
            logs[i] = log(subject->samples_seconds[i]);
        assert_int_equal(assay_stats_mean_error(logs, subject->sample_count, &mean[side],
                                                &error[side], &freedom[side]),
                         ASSAY_OK);
    }
    double variance = pow(error[0], 2) + pow(error[1], 2);
    double df =
        variance * variance / (pow(error[0], 4) / freedom[0] + pow(error[1], 4) / freedom[1]);
    double reach = sqrt(variance) * assay_stats_student_quantile(0.975, df);
    const assay_record_comparison *it = compare(record, 0.01, false);
    check_near(log(it->ratio.value), mean[1] - mean[0], 1e-12);
    check_near(log(it->low.value), mean[1] - mean[0] - reach, 1e-12);
    check_near(log(it->high.value), mean[1] - mean[0] + reach, 1e-12);
    check_near(reach, 2 * hypot(0.002, 0.04 / sqrt(80)), 0.002);
    assay_record_free(record);
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
    assert_string_equal(it->reason, "0 pairs of samples: at least 10 are needed");
    assert_int_equal(it->ratio.validity, ASSAY_NOT_ENOUGH_DATA);
    assay_record_free(record);
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
    assay_record_free(record);
}

static void test_options_that_make_no_sense(void **state)
{
    (void)state;
    assay_record *record = with_sample(2e-3, MANY);
    assay_compare_options options;
    assay_compare_options_init(&options);
    for (size_t i = 0; i < 3; i++) {
        options.margin = (double[]){-0.01, 1, NAN}[i];
        assert_int_equal(assay_compare_record(record, &options), ASSAY_E_ARGUMENT);
    }
    assert_int_equal(assay_compare_record(record, NULL), ASSAY_OK);
    check_near(record->comparisons[0].margin, 0.01, 0);
    assay_record_free(record);
}

/* ---- between records ------------------------------------------------------------------------- */

static const char *const origins[] = {"before.json", "after.json", "later.json"};

static void test_records_are_matched_by_name(void **state)
{
    (void)state;
    assay_record *before = empty_record(), *after = empty_record(), *result = NULL;
    add(before, "sort", MANY, 1e-3, 0.02);
    add(before, "twice", MANY, 1e-3, 0.02);
    add(before, "twice", MANY, 2e-3, 0.02);
    add(before, "gone", MANY, 1e-3, 0.02);
    add(after, "new", MANY, 1e-3, 0.02);
    add(after, "twice", MANY, 1e-3, 0.02);
    add(after, "twice", MANY, 2e-3, 0.02);
    add(after, "sort", MANY, 1.2e-3, 0.02);
    interleave(before);
    interleave(after); /* rounds of two records are no pairs */
    const assay_record *records[] = {before, after};
    assay_error error = {0};
    if (assay_compare_records(records, origins, 2, NULL, &error, &result) != ASSAY_OK)
        fail_msg("%s", error.message);
    assay_record_free(before);
    assay_record_free(after);
    assert_string_equal(result->kind, "compare");
    assert_int_equal(result->subject_count, 8);
    assert_int_equal(result->comparison_count, 3);
    const assay_record_comparison *it = result->comparisons;
    assert_string_equal(it[0].baseline, "sort");
    assert_string_equal(it[0].baseline_origin, "before.json");
    assert_string_equal(it[0].candidate_origin, "after.json");
    assert_int_equal(it[0].verdict, ASSAY_VERDICT_SLOWER);
    assert_false(it[0].paired);
    check_near(it[1].ratio.value, 1, 1e-6);
    check_near(it[2].ratio.value, 1, 1e-6);
    assert_int_equal(result->difference_count, 2);
    assert_string_equal(result->differences[0].what, "benchmark gone");
    assert_string_equal(result->differences[0].candidate, "missing");
    assert_string_equal(assay_compare_missing(&result->differences[0]), "gone");
    assert_null(assay_compare_missing(&result->differences[1])); /* new, not gone */
    assert_string_equal(result->differences[1].what, "benchmark new");
    assert_string_equal(result->differences[1].baseline, "missing");
    assay_record_free(result);
}

static void test_differences_are_pointed_out(void **state)
{
    (void)state;
    assay_record *before = empty_record(), *after = empty_record(), *result = NULL;
    add(before, "sort", MANY, 1e-3, 0.02)->iterations = 100;
    add(after, "sort", MANY, 1e-3, 0.02)->iterations = 1000;
    before->subjects[0].source = "assay";
    after->subjects[0].source = "hyperfine";
    before->clock.source = "tsc";
    after->clock.source = "clock-monotonic";
    assert_int_equal(assay_record_add_machine(before, "cpu", "Z80", ASSAY_VALID), ASSAY_OK);
    assert_int_equal(assay_record_add_machine(after, "cpu", "6502", ASSAY_VALID), ASSAY_OK);
    assert_int_equal(assay_record_add_machine(before, "load_average", "1", ASSAY_VALID), ASSAY_OK);
    assert_int_equal(assay_record_add_machine(after, "load_average", "2", ASSAY_VALID), ASSAY_OK);
    assert_int_equal(assay_record_add_machine(before, "governor", NULL, ASSAY_UNSUPPORTED),
                     ASSAY_OK);
    assert_int_equal(assay_record_add_machine(after, "governor", "powersave", ASSAY_VALID),
                     ASSAY_OK);
    assert_int_equal(assay_record_add_build(before, "compiler", "gcc 12", ASSAY_VALID), ASSAY_OK);
    assert_int_equal(assay_record_add_build(after, "compiler", "gcc 13", ASSAY_VALID), ASSAY_OK);
    const assay_record *records[] = {before, after};
    assert_int_equal(assay_compare_records(records, origins, 2, NULL, NULL, &result), ASSAY_OK);
    static const char *const expected[][3] = {{"cpu", "Z80", "6502"},
                                              {"compiler", "gcc 12", "gcc 13"},
                                              {"clock", "tsc", "clock-monotonic"},
                                              {"source of sort", "assay", "hyperfine"},
                                              {"iterations of sort", "100", "1000"}};
    assert_int_equal(result->difference_count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(result->differences[i].what, expected[i][0]);
        assert_string_equal(result->differences[i].baseline, expected[i][1]);
        assert_string_equal(result->differences[i].candidate, expected[i][2]);
        assert_string_equal(result->differences[i].candidate_origin, "after.json");
    }
    assay_record_free(result);
    assay_record_free(before);
    assay_record_free(after);
}

static void test_records_without_a_common_benchmark(void **state)
{
    (void)state;
    assay_record *a = empty_record(), *b = empty_record(), *c = empty_record(), *result = NULL;
    add(a, "sort", MANY, 1e-3, 0.02);
    add(b, "copy", MANY, 1e-3, 0.02);
    const assay_record *two[] = {a, b}, *with_empty[] = {a, c};
    assay_error error = {0};
    assert_int_equal(assay_compare_records(two, origins, 2, NULL, &error, &result), ASSAY_E_DATA);
    assert_null(result);
    assert_string_equal(error.message,
                        "no benchmark is in both before.json ('sort') and after.json ('copy')");
    add(c, "sort", MANY, 1e-3, 0.02); /* at a size is another benchmark, whichever comes first */
    assert_int_equal(assay_record_add_parameter(c, &c->subjects[0], "n", "1"), ASSAY_OK);
    const assay_record *sized[] = {a, c, a};
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(assay_compare_records(sized + i, origins, 2, NULL, &error, &result),
                         ASSAY_E_DATA);
    c->subject_count = 0;
    assert_int_equal(assay_compare_records(with_empty, origins, 2, NULL, &error, &result),
                     ASSAY_E_DATA);
    assert_string_equal(error.message,
                        "after.json: no benchmarks in it; `assay bench --json FILE` writes some");
    assert_int_equal(assay_compare_records(two, origins, 1, NULL, &error, &result),
                     ASSAY_E_ARGUMENT);
    assay_record_free(a);
    assay_record_free(b);
    assay_record_free(c);
}

static void test_three_records(void **state)
{
    (void)state;
    assay_record *records[3], *result = NULL;
    for (size_t i = 0; i < 3; i++) {
        records[i] = empty_record();
        add(records[i], "sort", MANY, 1e-3 * pow(1.1, (double)i), 0.02);
    }
    assay_compare_options options;
    assay_compare_options_init(&options);
    options.all_pairs = true;
    assert_int_equal(assay_compare_records((const assay_record *const *)records, origins, 3,
                                           &options, NULL, &result),
                     ASSAY_OK);
    assert_int_equal(result->comparison_count, 3);
    assert_string_equal(result->comparisons[2].baseline_origin, "after.json");
    check_near(result->comparisons[1].ratio.value, 1.21, 1e-9);
    assay_record_free(result);
    for (size_t i = 0; i < 3; i++)
        assay_record_free(records[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_rule),
        cmocka_unit_test(test_the_interval_of_two_series),
        cmocka_unit_test(test_pairs_cancel_what_they_share),
        cmocka_unit_test(test_only_common_rounds_are_pairs),
        cmocka_unit_test(test_several_share_the_risk),
        cmocka_unit_test(test_sweeps_are_compared_at_equal_parameters),
        cmocka_unit_test(test_options_that_make_no_sense),
        cmocka_unit_test(test_records_are_matched_by_name),
        cmocka_unit_test(test_differences_are_pointed_out),
        cmocka_unit_test(test_records_without_a_common_benchmark),
        cmocka_unit_test(test_three_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
