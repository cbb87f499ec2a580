/* Warm-up, convergence and batches judged from repeated measurements whose truth is known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "assay/training.h"
#include "stats/mean.h"
#include "tests/golden.h"

static void assert_reading(assay_reading reading, double expected)
{
    assert_int_equal(reading.validity, ASSAY_VALID);
    assert_true(fabs(reading.value - expected) < 1e-9);
}

static void assert_missing(assay_reading reading)
{
    assert_int_equal(reading.validity, ASSAY_NOT_ENOUGH_DATA);
}

/* Noise that repeats: uniform, of standard deviation `sigma`. */
static double noise(uint64_t *random, double sigma)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    double uniform = (double)(*random >> 11) / 9007199254740992.0;
    return (uniform - 0.5) * sqrt(12.0) * sigma;
}

/* ---- warm-up --------------------------------------------------------------------------------- */

/* The first eight of 60 epochs take 3 s, the rest 2 s: warm-up cost 8 s. */
static void fill_warmup(double *seconds, double unit)
{
    uint64_t random = 11;
    for (size_t i = 0; i < 60; i++)
        seconds[i] = unit * ((i < 8 ? 3.0 : 2.0) + noise(&random, 0.02));
}

/* What it cost is what the epochs took that as many steady ones would not have taken. */
static void test_warmup_costs(void **state)
{
    (void)state;
    double seconds[60], warm = 0.0;
    fill_warmup(seconds, 1e-3);
    for (size_t i = 0; i < 8; i++)
        warm += seconds[i];
    assay_warmup_detection found;
    assay_interval steady;
    assert_int_equal(assay_warmup_detect(seconds, 60, &found), ASSAY_OK);
    assert_int_equal(assay__stats_time_interval(seconds + 8, 52, 0.95, &steady), ASSAY_OK);
    assert_true(found.steady_seconds.level == 0.95 && found.overhead.level == 0.95);
    assert_true(fabs(found.steady_seconds.low - steady.low) < 1e-12);
    assert_true(fabs(found.steady_seconds.high - steady.high) < 1e-12);
    assert_true(fabs(found.overhead.estimate - (warm - 8 * steady.estimate)) < 1e-12);
    assert_true(fabs(found.overhead.low - (warm - 8 * steady.high)) < 1e-12);
    assert_true(fabs(found.overhead.high - (warm - 8 * steady.low)) < 1e-12);
    assert_reading(found.overhead_pct, 100.0 * (warm / steady.estimate - 8));
}

static void test_warmup_is_detected(void **state)
{
    (void)state;
    double seconds[60];
    fill_warmup(seconds, 1.0);
    assay_warmup_detection found;
    assert_int_equal(assay_warmup_detect(seconds, 60, &found), ASSAY_OK);
    assert_int_equal(found.state, ASSAY_STEADY);
    assert_int_equal(found.warmup_epochs, 8);
    assert_int_equal(found.steady_seconds.validity, ASSAY_VALID);
    assert_true(found.steady_seconds.low < 2.0 && found.steady_seconds.high > 2.0);
    assert_true(found.steady_seconds.high - found.steady_seconds.low < 0.05);
    assert_true(fabs(found.overhead.estimate - 8.0) < 0.3);
    assert_true(found.overhead.low < found.overhead.estimate &&
                found.overhead.estimate < found.overhead.high);
    assert_true(fabs(found.overhead_pct.value - 400.0) < 15.0);
}

static void test_steady_from_the_start(void **state)
{
    (void)state;
    double seconds[60];
    uint64_t random = 12;
    for (size_t i = 0; i < 60; i++)
        seconds[i] = 2.0 + noise(&random, 0.02);
    assay_warmup_detection found;
    assert_int_equal(assay_warmup_detect(seconds, 60, &found), ASSAY_OK);
    assert_int_equal(found.state, ASSAY_STEADY);
    assert_int_equal(found.warmup_epochs, 0);
    assert_true(found.overhead.estimate == 0.0);
}

/* Slower by `change` of 2 s from the first of `epochs` to the last. */
static void check_drift(size_t epochs, double change, double noise_seconds)
{
    double seconds[200];
    uint64_t random = 13;
    for (size_t i = 0; i < epochs; i++)
        seconds[i] =
            2.0 + 2.0 * change * (double)i / (double)epochs + noise(&random, noise_seconds);
    assay_warmup_detection found;
    assert_int_equal(assay_warmup_detect(seconds, epochs, &found), ASSAY_OK);
    assert_int_equal(found.state, ASSAY_STEADY_DRIFTS);
    assert_int_equal(found.steady_seconds.validity, ASSAY_NOT_ENOUGH_DATA);
    assert_missing(found.overhead_pct);
}

static void test_never_settles(void **state)
{
    (void)state;
    check_drift(200, 0.1, 0.02);
    /* epochs that differ by more than the noise are no staircase */
    check_drift(60, 0.2, 0.005);
    check_drift(60, 1.0, 0.002);
    check_drift(60, -0.5, 0.01);
}

static void test_warmup_bad_input(void **state)
{
    (void)state;
    const double seconds[] = {5.0, 3.0, 3.0, 3.0}, bad[] = {1.0, -1.0, NAN, INFINITY};
    assay_warmup_detection found;
    assert_int_equal(assay_warmup_detect(seconds, 4, &found), ASSAY_OK);
    assert_int_equal(found.state, ASSAY_STEADY_UNKNOWN);
    assert_int_equal(assay_warmup_detect(NULL, 0, &found), ASSAY_OK);
    assert_int_equal(found.state, ASSAY_STEADY_UNKNOWN);
    for (size_t i = 1; i < 4; i++) {
        assert_int_equal(assay_warmup_detect(bad + i, 1, &found), ASSAY_E_ARGUMENT);
        assert_int_equal(assay_warmup_detect(bad, i + 1, &found), ASSAY_E_ARGUMENT);
    }
}

/* ---- convergence ----------------------------------------------------------------------------- */

/* A training of epochs of one second each that gets to the threshold in epoch `reached`; 0: never.
 */
static assay_convergence training(size_t epochs, size_t reached)
{
    double losses[64], seconds[64];
    for (size_t i = 0; i < epochs; i++) {
        losses[i] = reached > 0 && i + 1 >= reached ? 0.01 : 1.0;
        seconds[i] = 1.0;
    }
    assay_convergence result;
    assert_int_equal(assay_convergence_analyze(losses, seconds, epochs, 0.1, &result), ASSAY_OK);
    return result;
}

static assay_convergence_summary summarize(const size_t *reached, size_t count, size_t epochs)
{
    assay_convergence trainings[32];
    assay_convergence_summary summary;
    for (size_t i = 0; i < count; i++)
        trainings[i] = training(epochs, reached[i]);
    assert_int_equal(assay_convergence_summarize(trainings, count, &summary), ASSAY_OK);
    return summary;
}

static void test_all_trainings_converge(void **state)
{
    (void)state;
    const assay_convergence_summary found =
        summarize((const size_t[]){12, 10, 14, 11, 13, 15, 9, 16, 8, 17}, 10, 20);
    assert_int_equal(found.trainings, 10);
    assert_int_equal(found.converged, 10);
    /* Wilson's interval of 10 out of 10 begins at 10 / (10 + 1.96^2). */
    assert_true(fabs(found.share_converged.low - 0.722467) < 1e-6);
    assert_true(found.share_converged.high == 1.0);
    assert_reading(found.seconds.mean, 12.5);
    assert_true(found.seconds.mean_low.value < 12.5 && found.seconds.mean_high.value > 12.5);
    assert_reading(found.seconds.median, 12.5);
    /* n = 10: the 2nd and the 9th of the sorted values hold the median with 97.9 %. */
    assert_reading(found.seconds.median_low, 9.0);
    assert_reading(found.seconds.median_high, 16.0);
    assert_reading(found.epochs.median, 12.5);
    assert_missing(found.seconds.median_at_least);
    const assay_convergence_summary two = summarize((const size_t[]){1, 19}, 2, 20);
    assert_reading(two.seconds.mean_low, 0.0); /* no time is less, however little is known */
    assert_reading(two.epochs.mean_low, 0.0);
}

/* Leaving out those that never got there would give a median of 11 and a mean of 11. */
static void test_trainings_that_never_converge_count(void **state)
{
    (void)state;
    const assay_convergence_summary found =
        summarize((const size_t[]){0, 10, 0, 12, 11, 0, 13, 9}, 8, 20);
    assert_int_equal(found.converged, 5);
    assert_missing(found.seconds.mean);
    assert_missing(found.seconds.mean_low);
    assert_reading(found.seconds.median, 12.5);
    assert_reading(found.seconds.median_low, 9.0); /* n = 8: the 1st and the 8th */
    assert_missing(found.seconds.median_high);     /* the 8th never got there */
    assert_true(found.share_converged.low > 0.3 && found.share_converged.low < 0.31);
    assert_true(found.share_converged.high > 0.86 && found.share_converged.high < 0.87);
}

/* Epochs are counted, however long they take. */
static void test_time_and_epochs_that_never_converge(void **state)
{
    (void)state;
    double losses[20], seconds[20];
    assay_convergence trainings[7];
    assay_convergence_summary found;
    for (size_t i = 0; i < 20; i++) {
        losses[i] = 1.0;
        seconds[i] = 2.5;
    }
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(assay_convergence_analyze(losses, seconds, 20, 0.1, &trainings[i]),
                         ASSAY_OK);
    assert_int_equal(assay_convergence_summarize(trainings, 7, &found), ASSAY_OK);
    assert_reading(found.seconds.median_at_least, 50.0);
    assert_reading(found.epochs.median_at_least, 20.0);
    assert_reading(found.epochs.median_low, 20.0);
}

/* The ends are the k-th from either side, k by the binomial distribution (scipy.stats.binom.ppf).
 */
static void test_median_interval_of_many_trainings(void **state)
{
    (void)state;
    static const struct {
        size_t count, rank;
    } cases[] = {{5, 0}, {6, 1}, {100, 40}, {1000, 469}, {1001, 470}, {2000, 956}};
    static assay_convergence trainings[2000];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        size_t count = cases[k].count, rank = cases[k].rank;
        assay_convergence_summary found;
        for (size_t i = 0; i < count; i++)
            trainings[i] = (assay_convergence){
                .converged = true,
                .threshold = 0.1,
                .epochs = 5000,
                .epochs_to_converge = assay_reading_of((double)(i * 17 % count) + 1),
                .time_to_converge = assay_reading_missing(ASSAY_NOT_MEASURED),
                .total_seconds = assay_reading_missing(ASSAY_NOT_MEASURED)};
        assert_int_equal(assay_convergence_summarize(trainings, count, &found), ASSAY_OK);
        if (rank == 0)
            assert_missing(found.epochs.median_low);
        else
            assert_in_range((size_t)found.epochs.median_low.value, rank - (count > 1000), rank);
        if (rank > 0)
            assert_reading(found.epochs.median_high,
                           (double)(count + 1) - found.epochs.median_low.value);
    }
}

static void test_median_beyond_what_was_seen(void **state)
{
    (void)state;
    const assay_convergence_summary found =
        summarize((const size_t[]){10, 0, 0, 12, 0, 0, 0}, 7, 20);
    assert_missing(found.seconds.median);
    assert_reading(found.seconds.median_at_least, 20.0);
    assert_reading(found.epochs.median_at_least, 20.0);
    assert_reading(found.seconds.median_low, 10.0);
    assert_missing(found.seconds.median_high);
}

/* Stopped early, some because they went badly: their time is a lower end, not a result. */
static void test_trainings_stopped_at_different_times(void **state)
{
    (void)state;
    assay_convergence trainings[] = {training(20, 10), training(5, 0), training(20, 12),
                                     training(20, 14), training(30, 0)};
    assay_convergence_summary found;
    assert_int_equal(assay_convergence_summarize(trainings, 5, &found), ASSAY_OK);
    /* Sorted low ends 5 10 12 14 30, high ends 10 12 14 inf inf: between 12 and 14, not known. */
    assert_missing(found.seconds.median);
    assert_reading(found.seconds.median_at_least, 12.0);
    assert_missing(found.seconds.median_low); /* five are too few for an interval */
}

static void test_convergence_bad_input(void **state)
{
    (void)state;
    assay_convergence trainings[2] = {training(20, 10), training(20, 12)};
    assay_convergence_summary found;
    assert_int_equal(assay_convergence_summarize(trainings, 0, &found), ASSAY_E_DATA);
    trainings[1].threshold = 0.2;
    assert_int_equal(assay_convergence_summarize(trainings, 2, &found), ASSAY_E_ARGUMENT);
    const double losses[] = {1.0, 0.05};
    assert_int_equal(assay_convergence_analyze(losses, NULL, 2, 0.1, &trainings[1]), ASSAY_OK);
    assert_int_equal(assay_convergence_summarize(trainings, 2, &found), ASSAY_OK);
    assert_int_equal(found.seconds.median.validity, ASSAY_NOT_MEASURED);
    assert_reading(found.epochs.median, 6.0);
    assert_int_equal(assay_convergence_summarize(trainings, 1, &found), ASSAY_OK);
    assert_reading(found.seconds.mean, 10.0);
    assert_missing(found.seconds.mean_low);
}

/* The interval of the median holds the true one at least as often as it says, whatever the
 * distribution and however many trainings are cut off. */
static void test_median_interval_covers(void **state)
{
    (void)state;
    uint64_t random = 88172645463325252u;
    size_t held = 0, trials = 2000;
    for (size_t t = 0; t < trials; t++) {
        assay_convergence trainings[9];
        assay_convergence_summary found;
        for (size_t i = 0; i < 9; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            size_t reached = 1 + random % 40; /* median between 20 and 21 */
            trainings[i] = training(30, reached <= 30 ? reached : 0);
        }
        assert_int_equal(assay_convergence_summarize(trainings, 9, &found), ASSAY_OK);
        held += found.epochs.median_low.value <= 20.5 &&
                (found.epochs.median_high.validity != ASSAY_VALID ||
                 found.epochs.median_high.value >= 20.5);
    }
    assert_true(held >= trials * 95 / 100);
    assert_true(held < trials);
}

/* ---- batches ----------------------------------------------------------------------------------
 */

static void test_batches_are_classified(void **state)
{
    (void)state;
    /* Quartiles 10 and 12: out beyond 7 and 15, far out beyond 4 and 18. */
    const double seconds[] = {10, 12, 10, 12, 11, 10, 12, 15.5, 6.5, 18.5, 11, 10, 12};
    assay_batch_variance found;
    assert_int_equal(assay_batch_variance_analyze(seconds, 13, &found), ASSAY_OK);
    assert_true(found.classified);
    assert_int_equal(found.above, 1);
    assert_int_equal(found.far_above, 1);
    assert_int_equal(found.below, 1);
    assert_int_equal(found.far_below, 0);
    assert_int_equal(found.slowest, 9);
    assert_reading(found.slowest_seconds, 18.5);
    assert_reading(found.median_seconds, 11);
    assert_reading(found.spread, 18.5 / 6.5);
    assert_false(found.first_only);
    const double two[] = {19, 12, 10, 12, 11, 10, 12, 10, 11, 18.5, 11, 10, 12};
    assert_int_equal(assay_batch_variance_analyze(two, 13, &found), ASSAY_OK);
    assert_int_equal(found.slowest, 0);
    assert_int_equal(found.far_above, 2);
    assert_false(found.first_only); /* the slowest, but not alone */
    const double both[] = {19, 12, 10, 12, 11, 3.5, 12, 10, 11, 10, 11, 10, 12};
    assert_int_equal(assay_batch_variance_analyze(both, 13, &found), ASSAY_OK);
    assert_int_equal(found.far_below, 1);
    assert_int_equal(found.far_above, 1);
    assert_true(found.first_only); /* alone far above, whatever is below */
}

static void test_slow_first_batch_is_warmup(void **state)
{
    (void)state;
    const double seconds[] = {0.5, 0.1, 0.11, 0.1, 0.12, 0.11, 0.1, 0.12, 0.11};
    assay_batch_variance found;
    assert_int_equal(assay_batch_variance_analyze(seconds, 9, &found), ASSAY_OK);
    assert_true(found.first_only);
    assert_int_equal(assay_batch_variance_analyze(seconds + 1, 8, &found), ASSAY_OK);
    assert_int_equal(found.far_above + found.above + found.below + found.far_below, 0);
    assert_int_equal(assay_batch_variance_analyze(seconds, 7, &found), ASSAY_OK);
    assert_false(found.classified);
    assert_reading(found.spread, 5.0);
}

static void test_batches_bad_input(void **state)
{
    (void)state;
    const double zero[] = {0.0, 1.0}, bad[] = {1.0, NAN}, negative[] = {-1.0};
    assay_batch_variance found;
    assert_int_equal(assay_batch_variance_analyze(zero, 0, &found), ASSAY_E_DATA);
    assert_int_equal(assay_batch_variance_analyze(bad, 2, &found), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_batch_variance_analyze(negative, 1, &found), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_batch_variance_analyze(zero, 2, &found), ASSAY_OK);
    assert_missing(found.spread);
    const double pair[] = {1.0, 3.0};
    assert_int_equal(assay_batch_variance_analyze(pair, 1, &found), ASSAY_OK);
    assert_missing(found.spread); /* one says nothing about how they differ */
    assert_int_equal(assay_batch_variance_analyze(pair, 2, &found), ASSAY_OK);
    assert_reading(found.spread, 3.0);
}

/* ---- printed --------------------------------------------------------------------------------- */

static void test_convergence_table(void **state)
{
    (void)state;
    golden_text text;
    FILE *stream = golden_open(&text);
    const assay_convergence_summary summaries[] = {
        summarize((const size_t[]){12, 10, 14, 11, 13, 15, 9, 16, 8, 17}, 10, 20),
        summarize((const size_t[]){0, 10, 0, 12, 11, 0, 13, 9}, 8, 20),
        summarize((const size_t[]){10, 0, 0, 12, 0, 0, 0}, 7, 20),
        summarize((const size_t[]){10}, 1, 20)};
    for (size_t i = 0; i < sizeof summaries / sizeof *summaries; i++)
        assert_int_equal(assay_convergence_print(&summaries[i], stream, "MLP"), ASSAY_OK);
    golden_check(&text, "convergence_repeated");
}

static void test_batch_variance_lines(void **state)
{
    (void)state;
    golden_text text;
    FILE *stream = golden_open(&text);
    const double seconds[] = {0.538, 0.1, 0.11, 0.1, 0.12, 0.11, 0.1, 0.12, 0.11, 0.15, 0.06};
    const size_t counts[] = {11, 9, 3};
    assay_batch_variance found;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(assay_batch_variance_analyze(seconds, counts[i], &found), ASSAY_OK);
        assert_int_equal(assay_batch_variance_print(&found, stream), ASSAY_OK);
    }
    assert_int_equal(assay_batch_variance_analyze(seconds + 1, 8, &found), ASSAY_OK);
    assert_int_equal(assay_batch_variance_print(&found, stream), ASSAY_OK);
    golden_check(&text, "batch_variance");
}

static void test_warmup_lines(void **state)
{
    (void)state;
    golden_text text;
    FILE *stream = golden_open(&text);
    const double seconds[] = {5.2, 3.0, 3.04};
    const assay_interval known = {2.9, 2.8, 3.0, 0.95, ASSAY_VALID};
    assay_warmup warmup;
    assay_warmup_detection shown = {.epochs = 20,
                                    .state = ASSAY_STEADY,
                                    .warmup_epochs = 3,
                                    .steady_seconds = known,
                                    .overhead = known};
    assert_int_equal(assay_warmup_analyze(seconds, 3, &warmup), ASSAY_OK);
    assert_int_equal(assay_warmup_print(&warmup, &shown, stream, "MLP"), ASSAY_OK);
    shown.warmup_epochs = 0;
    assert_int_equal(assay_warmup_print(&warmup, &shown, stream, "MLP"), ASSAY_OK);
    const assay_steady_state unsettled[] = {ASSAY_STEADY_DRIFTS, ASSAY_STEADY_STEPS,
                                            ASSAY_STEADY_UNKNOWN};
    for (size_t i = 0; i < 3; i++) {
        shown.state = unsettled[i];
        shown.epochs = i == 2 ? 1 : 20;
        assert_int_equal(assay_warmup_print(&warmup, &shown, stream, "MLP"), ASSAY_OK);
    }
    golden_check(&text, "warmup_detected");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_warmup_is_detected),
        cmocka_unit_test(test_warmup_costs),
        cmocka_unit_test(test_steady_from_the_start),
        cmocka_unit_test(test_never_settles),
        cmocka_unit_test(test_warmup_bad_input),
        cmocka_unit_test(test_all_trainings_converge),
        cmocka_unit_test(test_trainings_that_never_converge_count),
        cmocka_unit_test(test_time_and_epochs_that_never_converge),
        cmocka_unit_test(test_median_interval_of_many_trainings),
        cmocka_unit_test(test_median_beyond_what_was_seen),
        cmocka_unit_test(test_trainings_stopped_at_different_times),
        cmocka_unit_test(test_convergence_bad_input),
        cmocka_unit_test(test_median_interval_covers),
        cmocka_unit_test(test_batches_are_classified),
        cmocka_unit_test(test_slow_first_batch_is_warmup),
        cmocka_unit_test(test_batches_bad_input),
        cmocka_unit_test(test_convergence_table),
        cmocka_unit_test(test_batch_variance_lines),
        cmocka_unit_test(test_warmup_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
