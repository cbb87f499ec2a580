/* Comparisons of runs whose samples have inputs of their own: each input is compared with itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/append.h"
#include "tests/unit/compare_fixture.h"

enum { INPUTS = 2 };
static const char *const names[INPUTS] = {"100 pairs, a", "100 pairs, b"};

/* A run over MANY inputs whose times lie between 0.1 and 10 ms, on a machine that is `machine(i)`
 * times as slow for sample i. A yardstick is beside the samples if `with_yardstick`. */
static assay_record *run(double own, const char *inputs, double (*machine)(size_t i),
                         bool with_yardstick)
{
    assay_record *record = empty_record();
    record->kind = "study";
    assay_record_subject *subject = add(record, "search", MANY, own * 1e-3, 0.02);
    double *times = (double *)(uintptr_t)subject->samples_seconds;
    double *yardstick = assay_record_allocate(record, MANY, sizeof *yardstick);
    assay_record_measure *measure = assay_record_allocate(record, 1, sizeof *measure);
    assert_true(yardstick != NULL && measure != NULL);
    for (size_t i = 0; i < MANY; i++) {
        double speed = machine != NULL ? machine(i) : 1;
        times[i] *= speed * pow(10, (double)(i * 37 % 21) / 10 - 1);
        yardstick[i] = 2e-5 * speed;
    }
    *measure = (assay_record_measure){
        .metric = "yardstick_seconds", .samples = yardstick, .sample_count = MANY};
    subject->inputs = inputs;
    subject->measures = measure;
    subject->measure_count = with_yardstick;
    return record;
}

static void check(assay_record *before, assay_record *after, assay_verdict expected,
                  const char *reason)
{
    assay_record *result = NULL;
    const assay_record_comparison *it = compare_runs(before, after, &result);
    assert_int_equal(it->verdict, expected);
    if (reason != NULL && (it->reason == NULL || strstr(it->reason, reason) == NULL))
        fail_msg("'%s' does not say '%s'", it->reason != NULL ? it->reason : "", reason);
    assay_record_free(result);
}

/* The times of the inputs differ by a factor of 100, so a difference of 30 % shows only where each
 * input is compared with itself. */
static void test_each_input_with_itself(void **state)
{
    (void)state;
    check(run(1, names[0], NULL, false), run(1.3, names[0], NULL, false), ASSAY_VERDICT_SLOWER,
          NULL);
    check(run(1, names[0], NULL, false), run(1 / 1.3, names[0], NULL, false), ASSAY_VERDICT_FASTER,
          NULL);
    check(run(1, names[0], NULL, false), run(1, names[0], NULL, false), ASSAY_VERDICT_SAME, NULL);
    check(run(1, names[0], NULL, false), run(1.3, names[1], NULL, false),
          ASSAY_VERDICT_INCONCLUSIVE, NULL);
    check(run(1, names[0], NULL, false), run(1.3, NULL, NULL, false), ASSAY_VERDICT_INCONCLUSIVE,
          NULL);
}

static void test_too_few_inputs(void **state)
{
    (void)state;
    assay_record *before = run(1, names[0], NULL, false), *after = run(2, names[0], NULL, false);
    before->subjects[0].sample_count = after->subjects[0].sample_count = 39;
    check(before, after, ASSAY_VERDICT_INCONCLUSIVE, "39 inputs on both sides: at least 40");
    before = run(1, names[0], NULL, false);
    after = run(2, names[0], NULL, false);
    before->subjects[0].sample_count = after->subjects[0].sample_count = 40;
    check(before, after, ASSAY_VERDICT_SLOWER, NULL);
}

static double half_slow(size_t i)
{
    return i % 2 == 0 ? 1.6 : 1;
}

static double always_slow(size_t i)
{
    (void)i;
    return 1.6;
}

/* The machine was slower for half of the candidate's inputs. The other half decides. */
static void test_inputs_at_equal_speed_count(void **state)
{
    (void)state;
    check(run(1, names[0], NULL, true), run(1.3, names[0], half_slow, true), ASSAY_VERDICT_SLOWER,
          NULL);
    check(run(1, names[0], NULL, true), run(1, names[0], half_slow, true),
          ASSAY_VERDICT_INCONCLUSIVE, NULL); /* the times themselves differ by a quarter */
    check(run(1, names[0], NULL, true), run(1, names[0], always_slow, true),
          ASSAY_VERDICT_INCONCLUSIVE, NULL);
}

/* Without the yardstick of one side an input is left out on both, so that the others stay beside
 * their partners. Partners that do not belong together differ by a factor of up to 100. */
static void test_a_missing_yardstick_shifts_no_partners(void **state)
{
    (void)state;
    assay_record *before = run(1, names[0], NULL, true), *result = NULL;
    assay_record *after = run(1, names[0], always_slow, true);
    ((double *)(uintptr_t)before->subjects[0].measures[0].samples)[0] = NAN;
    ((double *)(uintptr_t)after->subjects[0].measures[0].samples)[MANY - 1] = NAN;
    const assay_record_comparison *it = compare_runs(before, after, &result);
    assert_int_equal(it->verdict, ASSAY_VERDICT_INCONCLUSIVE);
    assert_true(it->decision_high.value / it->decision_low.value < 2.5);
    assay_record_free(result);
}

/* A machine that is slower for a stretch of one run explains as much as it lasted. */
static double slow_stretch(size_t i)
{
    return i >= 50 ? 1.5 : 1;
}

static void test_drift_is_an_obstacle(void **state)
{
    (void)state;
    check(run(1, names[0], NULL, false), run(1.1, names[0], slow_stretch, false),
          ASSAY_VERDICT_INCONCLUSIVE, "may");
}

/* Several runs of each side: each run is one observation, as without inputs. */
static void test_runs_are_observations(void **state)
{
    (void)state;
    assay_record *runs[6], *result = NULL;
    for (size_t i = 0; i < 6; i++)
        runs[i] = run((i < 3 ? 1 : 1.4) * (1 + 0.01 * (double)(i % 3)), names[0], NULL, false);
    const assay_compare_side sides[] = {
        {sizeof *sides, "before", (const assay_record *const *)runs, 3},
        {sizeof *sides, "after", (const assay_record *const *)runs + 3, 3}};
    assert_int_equal(assay_records_compare(sides, 2, NULL, NULL, &result), ASSAY_OK);
    assert_int_equal(result->comparisons[0].baseline_samples, 3);
    assert_int_equal(result->comparisons[0].verdict, ASSAY_VERDICT_SLOWER);
    assay_record_free(result);
    for (size_t i = 0; i < 6; i++)
        assay_record_free(runs[i]);
}

/* A time that has no logarithm is an obstacle, as without inputs. */
static void test_input_without_a_time(void **state)
{
    (void)state;
    assay_record *before = run(1, names[0], NULL, false), *after = run(1.3, names[0], NULL, false);
    ((double *)(uintptr_t)before->subjects[0].samples_seconds)[7] = 0;
    check(before, after, ASSAY_VERDICT_INCONCLUSIVE, "sample 8 of the baseline is 0 s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_input_with_itself),
        cmocka_unit_test(test_too_few_inputs),
        cmocka_unit_test(test_inputs_at_equal_speed_count),
        cmocka_unit_test(test_a_missing_yardstick_shifts_no_partners),
        cmocka_unit_test(test_drift_is_an_obstacle),
        cmocka_unit_test(test_runs_are_observations),
        cmocka_unit_test(test_input_without_a_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
