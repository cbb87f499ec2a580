/* What forbids a verdict, however clear the difference, and what does not; and what more samples
 * would do. Runs that were not steady are in test_compare_drift.c. */
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
                    "1 sample of the candidate: at least 10 are needed");
    check_forbidden(with_sample(2e-3, 9), true,
                    "9 samples of the candidate: at least 10 are needed");
    check_judged(with_sample(2e-3, 10));
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
                    "1 sample of the candidate: at least 10 are needed (--benchmark_repetitions)");
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

/* Two subjects of 40 samples, as long as each other on the processor, with `total` disturbances. */
static assay_record *disturbed(uint64_t on_baseline, uint64_t total)
{
    assay_record *record = empty_record();
    add(record, "a", 40, 1e-3, 0.02);
    add(record, "b", 40, 2e-3, 0.02);
    for (size_t i = 0; i < 2; i++) {
        record->subjects[i].user_seconds = assay_reading_of(1e-3);
        record->subjects[i].sys_seconds = assay_reading_of(0);
        record->subjects[i].iterations = 10;
        record->subjects[i].rejected_samples = 20;
    }
    record->subjects[0].disturbed_samples = on_baseline;
    record->subjects[1].disturbed_samples = total - on_baseline;
    return record;
}

static bool is_judged(assay_record *record)
{
    return compare(record, 0.01, false)->verdict == ASSAY_VERDICT_SLOWER;
}

/* Chance, if both could be disturbed equally, does worse than 16 of 20 in 1.2 % and than 17 in
 * 0.26 %; than 541 of 1000 in 1.04 % and than 542 in 0.86 % (scipy.stats.binom). */
static void test_chance_shares_out_disturbances(void **state)
{
    (void)state;
    static const uint64_t judged[][2] = {{16, 20}, {541, 1000}, {459, 1000}};
    for (size_t i = 0; i < sizeof judged / sizeof *judged; i++) {
        assay_record *record = disturbed(judged[i][0], judged[i][1]);
        assert_true(is_judged(record));
        assay_record_free(record);
    }
    check_forbidden(disturbed(17, 20), true,
                    "the baseline was disturbed clearly more often: 17 times, the candidate 3 "
                    "times");
    check_forbidden(disturbed(458, 1000), true,
                    "the candidate was disturbed clearly more often: 542 times, the baseline 458 "
                    "times");
}

/* A file may say anything: the judgement takes no longer for it. */
static void test_disturbances_beyond_counting(void **state)
{
    (void)state;
    const uint64_t many = 1000000000000;
    assay_record *record = disturbed(20, 20);
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
    assay_record *record = disturbed(18, 20);
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
    record->subjects[0].user_seconds = assay_reading_of(5e-3);
    record->subjects[0].sys_seconds = assay_reading_of(4e-3);
    assert_true(is_judged(record));
    record->subjects[1].sys_seconds = assay_reading_missing(ASSAY_NOT_MEASURED);
    assert_false(is_judged(record)); /* then by wall time, of which the candidate took more */
    assay_record_free(record);
}

/* By wall time it is the length of a sample that counts, times how many were tried: here both are
 * exposed alike, though half of the candidate's samples were rejected and its iterations, one in
 * each sample, are not known. */
static void test_exposure_by_wall_time(void **state)
{
    (void)state;
    for (uint64_t on_baseline = 16; on_baseline <= 17; on_baseline++) {
        assay_record *record = disturbed(on_baseline, 20);
        for (size_t i = 0; i < 2; i++)
            record->subjects[i].user_seconds = assay_reading_missing(ASSAY_NOT_MEASURED);
        for (size_t i = 0; i < 40; i++)
            ((double *)record->subjects[0].samples_seconds)[i] *= 2;
        record->subjects[0].iterations = 1;
        record->subjects[1].iterations = 0;
        record->subjects[1].sample_count = 20;
        record->subjects[1].rejected_samples = 40;
        const char *reason = compare(record, 0.01, false)->reason;
        assert_int_equal(reason != NULL && strstr(reason, "disturbed") != NULL, on_baseline == 17);
        assay_record_free(record);
    }
}

/* Too little processor time to be seen says nothing about who had to be disturbed. */
static void test_no_exposure_accuses_nobody(void **state)
{
    (void)state;
    for (size_t side = 0; side < 2; side++) {
        assay_record *record = disturbed(10, 20);
        record->subjects[side].user_seconds = assay_reading_of(0);
        assert_true(is_judged(record));
        assay_record_free(record);
    }
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
    add(record, "b", 40, 1.15e-3, 0.02);
    remember(&record->subjects[0], 1e-3, 0.95);
    const assay_record_comparison *it = compare(record, 0.01, false);
    assert_int_equal(it->verdict, ASSAY_VERDICT_INCONCLUSIVE);
    assert_memory_equal(it->reason, "strongly autocorrelated: needs more samples of the baseline",
                        59);
    assay_record_free(record);
}

typedef struct moments {
    double mean, spread, worth; /* of logs; how many independent ones the mean is as good as */
} moments;

static moments find_moments(const double *logs, size_t count)
{
    double mean, error, freedom, squares = 0;
    assert_int_equal(assay__stats_mean_error(logs, count, &mean, &error, &freedom), ASSAY_OK);
    for (size_t i = 0; i < count; i++)
        squares += pow(logs[i] - mean, 2);
    double variance = squares / (double)(count - 1);
    return (moments){mean, sqrt(variance), variance / (error * error)};
}

static bool is_called_autocorrelated(assay_record *record)
{
    const char *reason = compare(record, 0.01, false)->reason;
    return reason != NULL && strncmp(reason, "strongly autocorrelated", 23) == 0;
}

/* In the reason; whole ones. */
static int worth_told(const assay_record *record)
{
    int told = -1;
    assert_int_equal(sscanf(record->comparisons[0].reason,
                            "strongly autocorrelated: needs more samples of the candidate than 40, "
                            "which are worth %d",
                            &told),
                     1);
    return told;
}

/* A series must be worth eight independent samples, unless the difference is one of more than four
 * standard deviations of a single one; whatever the memory, alone and in pairs. */
static void test_what_a_series_must_be_worth(void **state)
{
    (void)state;
    int forbidden[2] = {0}, excused[2] = {0}, allowed[2] = {0};
    for (int i = 0; i < 2 * 20 * 10; i++) {
        bool paired = i % 2;
        double ratio = exp(0.04 * (i / 2 % 10)), memory = 0.05 * (i / 20), logs[3][40];
        assay_record *record = empty_record();
        add(record, "a", 40, 1e-3, 0.01);
        add(record, "b", 40, 1e-3 * ratio, 0.01);
        if (paired)
            interleave(record);
        remember(&record->subjects[1], 1e-3 * ratio, memory);
        for (size_t k = 0; k < 40; k++) {
            logs[0][k] = log(record->subjects[0].samples_seconds[k]);
            logs[1][k] = log(record->subjects[1].samples_seconds[k]);
            logs[2][k] = logs[1][k] - logs[0][k];
        }
        moments baseline = find_moments(logs[0], 40), candidate = find_moments(logs[1], 40);
        moments pairs = find_moments(logs[2], 40);
        double worth = paired ? pairs.worth : fmin(baseline.worth, candidate.worth);
        double spread = paired ? pairs.spread : hypot(baseline.spread, candidate.spread);
        bool clear = fabs(candidate.mean - baseline.mean) > 4 * spread;
        assert_int_equal(is_called_autocorrelated(record), worth < 8 && !clear);
        if (!paired && worth < 8 && !clear)
            assert_int_equal(worth_told(record), worth);
        forbidden[paired] += worth < 8 && !clear;
        excused[paired] += worth < 8 && clear;
        allowed[paired] += worth >= 8;
        assay_record_free(record);
    }
    for (int paired = 0; paired < 2; paired++)
        assert_true(forbidden[paired] >= 10 && excused[paired] >= 10 && allowed[paired] >= 10);
}

/* They were looked at, and others would not have been forbidden: the risk is shared with them. */
static void test_what_cannot_be_judged_shares_the_risk(void **state)
{
    (void)state;
    assay_record *record = empty_record();
    add(record, "a", 40, 1e-3, 0.02);
    add(record, "b", 40, 1.02e-3, 0.02);
    add(record, "c", 40, 1e-3, 0.02);
    remember(&record->subjects[2], 1e-3, 0.95);
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
    add(record, "b", 40, 1e-3, 0.02);
    interleave(record);
    memcpy((double *)record->subjects[1].samples_seconds, record->subjects[0].samples_seconds,
           40 * sizeof(double));
    remember(&record->subjects[1], 0, 0.95);
    const assay_record_comparison *it = compare(record, 0.01, false);
    assert_int_equal(it->verdict, ASSAY_VERDICT_INCONCLUSIVE);
    assert_string_equal(it->reason, "strongly autocorrelated: needs more pairs than 40");
    assay_record_free(record);
}

/* As docs/comparing.md says how much wider the interval of few samples is made. */
static double widening(double count)
{
    return count >= 80   ? 1
           : count >= 40 ? 1.15 - 0.15 * (count - 40) / 40
           : count >= 20 ? 1.85 - 0.7 * (count - 20) / 20
                         : 3.5;
}

/* The count from which on the interval is narrow enough, if it is `excess` times too wide now, and
 * its width shrinks with the root of the count and with what is added for few; or just beyond 50
 * times the count. */
static size_t find_enough(size_t count, double excess)
{
    size_t enough = count;
    while (enough <= 50 * count && excess * widening((double)enough) / widening((double)count) *
                                           sqrt((double)count / (double)enough) >
                                       1)
        enough++;
    return enough;
}

/* How many times too wide the interval is: outside the margin the one that decides must not reach
 * it, inside the one shown must not leave it. */
static double excess_of(const assay_record_comparison *it)
{
    double at = log(it->ratio.value), up = log1p(it->margin), down = log1p(-it->margin);
    if (at > up || at < down)
        return log(it->decision_high.value / it->decision_low.value) / 2 /
               (at > up ? at - up : down - at);
    return log(it->high.value / it->low.value) / 2 / fmin(up - at, at - down);
}

static size_t check_how_many_more(const size_t counts[2], bool paired, double ratio, double noise)
{
    assay_record *record = empty_record();
    add(record, "a", counts[0], 1e-3, noise);
    add(record, "b", counts[1], ratio * 1e-3, noise);
    if (paired)
        interleave(record);
    const assay_record_comparison *it = compare(record, 0.01, false);
    size_t count = counts[0] < counts[1] ? counts[0] : counts[1], more = 0;
    if (it->reason != NULL && strncmp(it->reason, "the interval", 12) == 0) {
        size_t enough = find_enough(count, excess_of(it));
        char expected[120];
        more = enough > count ? enough - count : 1;
        snprintf(expected, sizeof expected, "about %zu more %s%s%s may decide", more,
                 paired ? "pair" : "sample", more == 1 ? "" : "s", paired ? "" : " of each");
        if (enough > 50 * count)
            snprintf(expected, sizeof expected, "deciding would take more than 50 times the %ss",
                     paired ? "pair" : "sample");
        assert_string_equal(strchr(it->reason, ':') + 2, expected);
    }
    assay_record_free(record);
    return more;
}

static void test_how_many_more(void **state)
{
    (void)state;
    static const size_t counts[][2] = {{12, 12},   {25, 25}, {50, 50},
                                       {100, 100}, {60, 90}, {90, 60}};
    static const double ratios[] = {0.96, 0.985, 0.995, 1.002, 1.02, 1.05};
    int told = 0, of_one = 0;
    for (size_t i = 0; i < 2 * 6 * 6; i++)
        for (double noise = 0.005; noise < 0.08; noise *= 1.4) {
            const size_t *both = counts[i / 2 % 6];
            if (i % 2 && both[0] != both[1])
                continue;
            size_t more = check_how_many_more(both, i % 2, ratios[i / 12], noise);
            told += more > 0;
            of_one += more == 1;
        }
    assert_true(told > 200 && of_one > 0);
    /* (2.6 × √2 × 0.05 / 10)² / 0.0098² = 3.5 times the samples */
    assert_in_range(check_how_many_more((const size_t[]){100, 100}, false, 1.02, 0.05), 220, 290);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_that_say_nothing),
        cmocka_unit_test(test_noise_too_small_for_logarithms),
        cmocka_unit_test(test_runs_that_failed),
        cmocka_unit_test(test_failures_that_were_asked_for),
        cmocka_unit_test(test_uneven_disturbances),
        cmocka_unit_test(test_chance_shares_out_disturbances),
        cmocka_unit_test(test_exposure_excuses_disturbances),
        cmocka_unit_test(test_exposure_by_wall_time),
        cmocka_unit_test(test_no_exposure_accuses_nobody),
        cmocka_unit_test(test_disturbances_beyond_counting),
        cmocka_unit_test(test_series_that_remember_too_well),
        cmocka_unit_test(test_what_a_series_must_be_worth),
        cmocka_unit_test(test_what_cannot_be_judged_shares_the_risk),
        cmocka_unit_test(test_pairs_that_remember_too_well),
        cmocka_unit_test(test_how_many_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
