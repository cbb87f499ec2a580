/* Runs that were not steady: a drift or a step within a run may be the whole difference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "assay/record_build.h"
#include "tests/unit/compare_fixture.h"

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

/* Two series that moved by 6 % each may differ by that, but hardly by 9 %. */
static void test_both_drifted(void **state)
{
    (void)state;
    for (int percent = 4; percent <= 9; percent += 5) {
        assay_record *record = empty_record();
        add(record, "a", MANY, 1e-3, 0.001);
        add(record, "b", MANY, 1e-3 * (1 + percent / 100.0), 0.001);
        for (size_t side = 0; side < 2; side++)
            for (size_t i = MANY / 2; i < MANY; i++)
                ((double *)record->subjects[side].samples_seconds)[i] *= 1.06;
        const assay_record_comparison *it = compare(record, 0.01, false);
        assert_int_equal(it->reason != NULL && strstr(it->reason, "drifted") != NULL, percent < 6);
        assay_record_free(record);
    }
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

/* The change between the means of the two halves, and the largest that their noise explains in 99
 * of 100 cases. */
static void compare_halves(const double *logs, size_t count, double *change, double *chance)
{
    double means[2], errors[2], freedoms[2];
    for (size_t half = 0; half < 2; half++)
        assert_int_equal(assay__stats_mean_error(logs + half * count / 2, count / 2, &means[half],
                                                 &errors[half], &freedoms[half]),
                         ASSAY_OK);
    *change = fabs(means[1] - means[0]);
    *chance = assay__stats_student_quantile(0.995, fmin(freedoms[0], freedoms[1])) *
              hypot(errors[0], errors[1]);
}

/* Slower and slower by `ramp`, without a step: forbidden if chance does not explain it, and it is
 * larger than the difference, and the two together are larger than the margin. */
static bool check_ramp(bool paired, double ramp, double difference, double margin)
{
    assay_record *record = empty_record();
    double logs[MANY], change, chance, mean = 0;
    char expected[80] = "";
    add(record, "a", MANY, 1e-3, 0.01);
    add(record, "b", MANY, 1e-3 * exp(difference), 0.01);
    if (paired)
        interleave(record);
    for (size_t i = 0; i < MANY; i++) {
        double *sample = (double *)&record->subjects[1].samples_seconds[i];
        *sample *= exp(ramp * ((double)i + 0.5) / MANY - ramp / 2);
        logs[i] = log(*sample / (paired ? record->subjects[0].samples_seconds[i] : 1e-3));
        mean += logs[i] / MANY;
    }
    compare_halves(logs, MANY, &change, &chance);
    const char *reason = compare(record, margin, false)->reason;
    check_near(log(record->comparisons[0].ratio.value), mean, 0.002);
    mean = log(record->comparisons[0].ratio.value);
    bool forbidden = change > chance && fabs(mean) < change && fabs(mean) + change > log1p(margin);
    snprintf(expected, sizeof expected, "%s by %g %% within",
             paired ? "the ratio changed" : "the candidate drifted",
             round(1000 * expm1(change)) / 10);
    assert_int_equal(reason != NULL && strstr(reason, expected) != NULL, forbidden);
    if (!forbidden && reason != NULL)
        assert_null(strstr(reason, "within"));
    assay_record_free(record);
    return forbidden;
}

static void test_a_slow_drift(void **state)
{
    (void)state;
    static const double differences[] = {0, 0.005, -0.01}, margins[] = {0, 0.003, 0.015};
    int forbidden = 0, cases = 0;
    for (int ramp = -14; ramp <= 14; ramp++)
        for (int paired = 0; paired < 2; paired++)
            for (int i = 0; i < 9; i++, cases++)
                forbidden += check_ramp(paired, 0.002 * ramp, differences[i / 3], margins[i % 3]);
    assert_in_range(forbidden, cases / 4, cases * 3 / 4);
}

/* An episode of less than an eighth of the run is left to the interval. */
static void test_an_episode(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        bool paired = i % 2, faster = i / 2 % 2;
        size_t length = i < 4 ? 12 : 13, from = faster ? 40 : 44;
        assay_record *record = empty_record();
        add(record, "a", MANY, 1e-3, paired ? 0.0005 : 0.005);
        add(record, "b", MANY, 1e-3, 0.005);
        if (paired)
            interleave(record);
        for (size_t k = from; k < from + length; k++)
            ((double *)record->subjects[1].samples_seconds)[k] *= faster ? 0.985 : 1.015;
        const assay_record_comparison *it = compare(record, 0.01, false);
        if (length == 12)
            assert_int_equal(it->verdict, ASSAY_VERDICT_SAME);
        else
            assert_non_null(strstr(it->reason, "within"));
        assay_record_free(record);
    }
}

/* Of a long run neighbours are looked at together: steps are seen as well, and as large. */
static void test_steps_in_a_long_run(void **state)
{
    (void)state;
    enum { COUNTS = 4 };
    static const size_t counts[COUNTS] = {128, 129, 300, 1000};
    for (size_t k = 0; k < 2 * COUNTS; k++) {
        size_t count = counts[k / 2], from = count * 3 / 4;
        bool baseline = k % 2; /* is the one that steps */
        assay_record *record = empty_record();
        for (uint64_t side = 0; side < 2; side++) {
            assay_record_subject *subject = add(record, side ? "b" : "a", MANY, 1e-3, 0.01);
            double *samples = assay_record_allocate(record, count, sizeof *samples);
            assert_non_null(samples);
            for (size_t i = 0; i < count; i++)
                samples[i] = subject->samples_seconds[(i + i / MANY * 7) % MANY] *
                             ((side == 0) == baseline && i >= from ? 1.2 : 1);
            subject->samples_seconds = samples;
            subject->sample_count = count;
        }
        const assay_record_comparison *it = compare(record, 0.01, false);
        double percent = 0;
        assert_non_null(it->reason);
        assert_int_equal(sscanf(it->reason,
                                baseline ? "the baseline drifted by %lf %% within"
                                         : "the candidate drifted by %lf %% within",
                                &percent),
                         1);
        check_near(percent, 20, 0.4);
        assay_record_free(record);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_drift_as_large_as_the_difference),
        cmocka_unit_test(test_both_drifted),
        cmocka_unit_test(test_a_ratio_that_changes_within_the_run),
        cmocka_unit_test(test_a_drift_within_the_margin),
        cmocka_unit_test(test_a_slow_drift),
        cmocka_unit_test(test_an_episode),
        cmocka_unit_test(test_steps_in_a_long_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
