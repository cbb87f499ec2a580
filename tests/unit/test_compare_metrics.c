/* Which metric of a comparison leads, and how the metrics share the risk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/compare_fixture.h"

/* Two subjects that took turns on a busy machine: wall time is noisy, processor time `ratio` apart
 * and `share` of the time. */
static assay_record *busy(double ratio, double share)
{
    assay_record *record = empty_record();
    for (size_t k = 0; k < 2; k++) {
        assay_record_subject *subject = add(record, k == 0 ? "a" : "b", MANY, 1e-3, 0.4);
        double noise[MANY], *cpu = assay_record_allocate(record, MANY, sizeof *cpu);
        double *waited = assay_record_allocate(record, MANY, sizeof *waited);
        assay_record_measure *measures = assay_record_allocate(record, 2, sizeof *measures);
        assert_true(cpu != NULL && waited != NULL && measures != NULL);
        fill_noise(noise, 10 + k);
        for (size_t i = 0; i < MANY; i++) {
            cpu[i] = 0.3e-3 * (k == 1 ? ratio : 1) * exp(0.005 * noise[i]);
            waited[i] = share * subject->samples_seconds[i] - cpu[i];
        }
        measures[0] =
            (assay_record_measure){.metric = "cpu_seconds", .samples = cpu, .sample_count = MANY};
        measures[1] = (assay_record_measure){
            .metric = "waited_seconds", .samples = waited, .sample_count = MANY};
        subject->measures = measures;
        subject->measure_count = 2;
    }
    interleave(record);
    return record;
}

static void test_processor_time_leads_where_wall_time_cannot(void **state)
{
    (void)state;
    assay_record *record = busy(1.05, 1);
    const assay_record_comparison *it = compare(record, 0.01, false);
    assert_int_equal(record->comparison_count, 2); /* what a sample waited is no cost */
    assert_string_equal(it[0].metric, "cpu_seconds");
    assert_int_equal(it[0].verdict, ASSAY_VERDICT_SLOWER);
    assert_false(it[0].beside);
    assert_memory_equal(it[0].reason, "by processor time, since wall time does not decide: ", 52);
    check_near(it[0].ratio.value, 1.05, 0.005);
    assert_string_equal(it[1].metric, "wall_seconds");
    assert_int_equal(it[1].verdict, ASSAY_VERDICT_INCONCLUSIVE);
    assert_true(it[1].beside);
    assay_record_free(record);
    record = busy(1, 1);
    assert_int_equal(compare(record, 0.01, false)->verdict, ASSAY_VERDICT_SAME);
    assay_record_free(record);
}

/* Who sleeps or waits for a disk is not judged by the processor. */
static void test_not_of_who_is_not_bound_by_the_processor(void **state)
{
    (void)state;
    assay_record *record = busy(1.05, 0.8);
    const assay_record_comparison *it = compare(record, 0.01, false);
    assert_string_equal(it[0].metric, "wall_seconds");
    assert_int_equal(it[0].verdict, ASSAY_VERDICT_INCONCLUSIVE);
    assert_int_equal(it[1].verdict, ASSAY_VERDICT_SLOWER);
    assert_true(it[1].beside);
    assay_record_free(record);
}

/* Two witnesses share the risk of one; who is asked alone has it all. */
static void test_witnesses_share_the_risk(void **state)
{
    (void)state;
    assay_record *record = busy(1.05, 1);
    const assay_record_comparison *it = compare(record, 0.01, false);
    check_near(it[0].decision_level, 1 - 0.003, 1e-12);
    check_near(it[1].decision_level, 1 - 0.007, 1e-12);
    assay_compare_options options = ASSAY_COMPARE_OPTIONS_INIT;
    static const char *const asked[] = {"cpu_seconds", "wall_seconds"};
    for (size_t i = 0; i < 2; i++) {
        options.metric = asked[i];
        assert_int_equal(assay_record_compare(record, &options), ASSAY_OK);
        it = record->comparisons;
        assert_string_equal(it[0].metric, asked[i]);
        assert_false(it[0].beside);
        assert_true(it[1].beside);
        check_near(it[0].decision_level, 0.99, 1e-12);
    }
    assay_record_comparison one;
    options.metric = "cpu_seconds";
    assert_int_equal(
        assay_subjects_compare(record, &record->subjects[0], &record->subjects[1], &options, &one),
        ASSAY_OK);
    assert_int_equal(one.verdict, ASSAY_VERDICT_SLOWER);
    options.metric = "energy_joules"; /* nobody measured it */
    assert_int_equal(
        assay_subjects_compare(record, &record->subjects[0], &record->subjects[1], &options, &one),
        ASSAY_E_ARGUMENT);
    assay_record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_processor_time_leads_where_wall_time_cannot),
        cmocka_unit_test(test_not_of_who_is_not_bound_by_the_processor),
        cmocka_unit_test(test_witnesses_share_the_risk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
