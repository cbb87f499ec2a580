/* Comparisons of single runs of a study: the influence of the machine must not be taken for a
 * difference of the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "record/append.h"
#include "stats/location.h"
#include "tests/unit/compare_fixture.h"

static double *give(assay_record *record, assay_record_subject *subject, const char *metric)
{
    assay_record_measure *measures =
        assay_record_allocate(record, subject->measure_count + 1, sizeof *measures);
    double *samples = assay_record_allocate(record, MANY, sizeof *samples);
    assert_true(measures != NULL && samples != NULL);
    for (size_t i = 0; i < subject->measure_count; i++)
        measures[i] = subject->measures[i];
    measures[subject->measure_count++] =
        (assay_record_measure){.metric = metric, .samples = samples, .sample_count = MANY};
    subject->measures = measures;
    return samples;
}

/* One run of a study. Its work takes `own` ms of processor time where the machine has its usual
 * speed; the machine is `machine` times as slow, and the work waits for `waits` times as long as it
 * runs. */
static assay_record *study(double own, double machine, double waits)
{
    assay_record *record = empty_record();
    record->kind = "study";
    assay_record_subject *subject = add(record, "LSTM", MANY, own * machine * 1e-3, 0.01);
    double *cpu = give(record, subject, "cpu_seconds");
    double *waited = give(record, subject, "waited_seconds");
    double *yardstick = give(record, subject, "yardstick_seconds");
    double *wall = (double *)(uintptr_t)subject->samples_seconds;
    for (size_t i = 0; i < MANY; i++) {
        cpu[i] = wall[i];
        waited[i] = waits * wall[i];
        wall[i] += waited[i];
        yardstick[i] = machine * 2e-5 * (1 + 0.001 * (double)(i % 7));
    }
    return record;
}

/* The candidate had to share its processor: wall time says nothing, processor time does. */
static void test_waiting_is_no_difference(void **state)
{
    (void)state;
    assay_record *result = NULL;
    const assay_record_comparison *it = compare_runs(study(1, 1, 0), study(1, 1, 1), &result);
    assert_int_equal(it[0].verdict, ASSAY_VERDICT_SAME);
    assert_string_equal(it[0].metric, "cpu_seconds");
    assert_non_null(strstr(it[0].reason, "time spent waiting for a processor makes the difference: "
                                         "without it the ratio is 1.000"));
    assert_int_equal(it[1].verdict, ASSAY_VERDICT_INCONCLUSIVE);
    check_near(it[1].ratio.value, 2, 0.01);
    assay_record_free(result);
    /* A difference that remains without the waiting is one. */
    it = compare_runs(study(1, 1, 0), study(1.4, 1, 1), &result);
    assert_int_equal(it[0].verdict, ASSAY_VERDICT_SLOWER);
    assert_string_equal(it[0].metric, "wall_seconds");
    assay_record_free(result);
}

/* Processor time grows on a slow machine as wall time does. */
static void test_processor_time_is_relative_to_the_yardstick(void **state)
{
    (void)state;
    assay_record *result = NULL;
    const assay_record_comparison *it = compare_runs(study(1, 1, 0), study(1, 1.6, 0), &result);
    assert_int_equal(result->comparison_count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(it[i].verdict, ASSAY_VERDICT_INCONCLUSIVE);
    assay_record_free(result);
}

/* The same while somebody else computes on the other thread of the core, for `percent` of the
 * samples: the yardstick then takes 1.7 times as long, and the work only 1.2 times. */
static assay_record *study_beside_others(double own, size_t percent)
{
    assay_record *record = study(own, 1, 0);
    assay_record_subject *subject = &record->subjects[0];
    for (size_t i = 0; i < MANY; i++) {
        if (i * 37 % 100 >= percent)
            continue;
        ((double *)(uintptr_t)subject->samples_seconds)[i] *= 1.2;
        ((double *)(uintptr_t)subject->measures[0].samples)[i] *= 1.2;
        ((double *)(uintptr_t)subject->measures[2].samples)[i] *= 1.7;
    }
    return record;
}

/* Samples that met the same speed are compared, so that the yardstick has nothing to make up for.
 * Over the yardstick, all samples together would show a third of the difference. */
static void test_samples_of_a_common_speed_count(void **state)
{
    (void)state;
    static const struct {
        double own;
        size_t before, after; /* percent of the samples beside others */
        assay_verdict expected;
    } cases[] = {{1, 5, 50, ASSAY_VERDICT_SAME},
                 {1.3, 5, 50, ASSAY_VERDICT_SLOWER},
                 {1 / 1.3, 50, 5, ASSAY_VERDICT_FASTER}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_record *result = NULL;
        const assay_record_comparison *it =
            compare_runs(study_beside_others(1, cases[i].before),
                         study_beside_others(cases[i].own, cases[i].after), &result);
        assert_int_equal(it->verdict, cases[i].expected);
        assay_record_free(result);
    }
}

/* The same where others use the memory for `percent` of the samples, which the yardstick does not
 * see: the work takes 1.3 times as long. */
static assay_record *study_beside_memory(double own, size_t percent)
{
    assay_record *record = study(own, 1, 0);
    assay_record_subject *subject = &record->subjects[0];
    for (size_t i = 0; i < MANY; i++)
        if (i * 37 % 100 < percent) {
            ((double *)(uintptr_t)subject->samples_seconds)[i] *= 1.3;
            ((double *)(uintptr_t)subject->measures[0].samples)[i] *= 1.3;
        }
    return record;
}

/* What others do to a sample only adds to it, so that the quickest samples tell. */
static void test_the_quickest_samples_count(void **state)
{
    (void)state;
    static const struct {
        double own;
        size_t before, after; /* percent of the samples beside others */
        assay_verdict expected;
    } cases[] = {{1, 0, 70, ASSAY_VERDICT_INCONCLUSIVE}, /* the times themselves say 1.2 */
                 {1, 20, 40, ASSAY_VERDICT_SAME},
                 {1.35, 70, 0, ASSAY_VERDICT_SLOWER}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_record *result = NULL;
        const assay_record_comparison *it =
            compare_runs(study_beside_memory(1, cases[i].before),
                         study_beside_memory(cases[i].own, cases[i].after), &result);
        assert_int_equal(it->verdict, cases[i].expected);
        assay_record_free(result);
    }
}

/* Samples that agree to 1 % do not show what the addresses of a process cost: 20 % may be that, and
 * 35 % is not. Several runs a side show it themselves. */
static void test_one_run_of_each_is_not_exact(void **state)
{
    (void)state;
    static const double ratios[] = {1.05, 1.2, 1.35};
    static const assay_verdict expected[] = {ASSAY_VERDICT_SAME, ASSAY_VERDICT_INCONCLUSIVE,
                                             ASSAY_VERDICT_SLOWER};
    for (size_t i = 0; i < 3; i++) {
        assay_record *result = NULL;
        const assay_record_comparison *it =
            compare_runs(study(1, 1, 0), study(ratios[i], 1, 0), &result);
        assert_int_equal(it->verdict, expected[i]);
        assert_true(it->high.value / it->low.value > exp(4 * 0.019));
        if (i == 1)
            assert_non_null(strstr(it->reason, "too wide for one run of each"));
        assay_record_free(result);
    }
}

/* A benchmark of functions with a yardstick is one process as a study is; without, each sample is
 * taken to be one of its own, as those of `assay bench` are. */
static void test_a_yardstick_says_that_it_is_one_process(void **state)
{
    (void)state;
    for (int with = 0; with < 2; with++) {
        assay_record *before = study(1, 1, 0), *after = study(1.05, 1, 0), *result = NULL;
        before->kind = after->kind = "bench";
        if (!with)
            before->subjects[0].measure_count = after->subjects[0].measure_count = 2;
        const assay_record_comparison *it = compare_runs(before, after, &result);
        assert_int_equal(it->verdict, with ? ASSAY_VERDICT_SAME : ASSAY_VERDICT_SLOWER);
        check_near(it->margin, with ? 0.15 : 0.01, 1e-9);
        assay_record_free(result);
    }
}

/* A process that was stopped for minutes is bound by the processor all the same. */
static void test_one_stop_does_not_count(void **state)
{
    (void)state;
    assay_record *before = study(1, 1, 0), *after = study(1, 1, 1), *result = NULL;
    ((double *)(uintptr_t)after->subjects[0].samples_seconds)[40] += 100;
    const assay_record_comparison *it = compare_runs(before, after, &result);
    assert_string_equal(it->metric, "cpu_seconds");
    assert_int_equal(it->verdict, ASSAY_VERDICT_SAME);
    assay_record_free(result);
}

/* Only what every part has measured belongs to the whole. */
static void test_measures_of_parts_are_joined(void **state)
{
    (void)state;
    assay_record *record = empty_record();
    assay_record_subject parts[2], whole;
    static const double seconds[] = {1, 2}, first[] = {3, 4}, second[] = {5, 6};
    assay_record_measure measures[2][2] = {
        {{.metric = "cpu_seconds", .samples = first, .sample_count = 2},
         {.metric = "disturbed", .samples = first, .sample_count = 2}},
        {{.metric = "cpu_seconds", .samples = second, .sample_count = 2}}};
    for (size_t i = 0; i < 2; i++) {
        assay_record_subject_init(&parts[i]);
        parts[i].samples_seconds = seconds;
        parts[i].sample_count = 2;
        parts[i].measures = measures[i];
        parts[i].measure_count = 2 - i;
    }
    assay_record_subject_init(&whole);
    whole.sample_count = 4;
    const assay_record_subject *const list[] = {&parts[0], &parts[1]};
    assert_int_equal(assay__record_join_measures(record, list, 2, &whole), ASSAY_OK);
    assert_int_equal(whole.measure_count, 1);
    assert_string_equal(whole.measures[0].metric, "cpu_seconds");
    for (size_t i = 0; i < 4; i++)
        check_near(whole.measures[0].samples[i], 3 + (double)i, 0);
    assay_record_free(record);
}

/* An error that is known exactly adds as a variance, and takes the doubt about the other's size. */
static void test_a_known_error_widens(void **state)
{
    (void)state;
    assay__location location;
    static const double values[] = {-1, 1, -1, 1, -1, 1};
    assay__location_of_independent(values, 6, &location);
    double before = location.terms[0].error;
    assay__location_widen(&location, before);
    check_near(location.terms[0].error, before * sqrt(2), 1e-12);
    check_near(location.terms[0].degrees_of_freedom, 4 * 5, 1e-9);
    assay__location_widen(&location, 1e6);
    check_near(assay__location_quantile(&location, 0.975), 1.96e6, 1e3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waiting_is_no_difference),
        cmocka_unit_test(test_processor_time_is_relative_to_the_yardstick),
        cmocka_unit_test(test_samples_of_a_common_speed_count),
        cmocka_unit_test(test_the_quickest_samples_count),
        cmocka_unit_test(test_one_run_of_each_is_not_exact),
        cmocka_unit_test(test_a_yardstick_says_that_it_is_one_process),
        cmocka_unit_test(test_one_stop_does_not_count),
        cmocka_unit_test(test_measures_of_parts_are_joined),
        cmocka_unit_test(test_a_known_error_widens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
