/* The mean with its interval, and summaries. */
#include "tests/unit/stats_fixture.h"

#include "base/random.h"
#include "stats/autoregression.h"
#include "stats/mean.h"

/* Student's sleep data, drug 2 minus drug 1 (Student 1908; `sleep` in R). */
static const double sleep_difference[] = {1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4};

static void few_values_give_the_plain_t_interval(void **state)
{
    double mean, error, df;
    (void)state;
    /* R: t.test(sleep$extra ~ group, paired = TRUE): mean 1.58, t = 4.0621, df = 9 */
    assert_int_equal(assay__stats_mean_error(sleep_difference, 10, &mean, &error, &df), ASSAY_OK);
    assert_close(mean, 1.58, 1e-12);
    assert_close(mean / error, 4.0621, 1e-3);
    assert_close(df, 9, 1e-12);
}

static void a_remembering_series_pays_for_it(void **state)
{
    enum { COUNT = 2000 };
    static double series[COUNT];
    assay__random random;
    double mean, error, df, plain_error, level = 0;
    (void)state;
    assay__random_init(&random, 1);
    for (size_t i = 0; i < COUNT; i++)
        series[i] = assay__random_normal(&random);
    assert_int_equal(assay__stats_mean_error(series, COUNT, &mean, &plain_error, &df), ASSAY_OK);
    assert_close(plain_error, 1 / sqrt(COUNT), 0.1);
    for (size_t i = 0; i < COUNT; i++)
        series[i] = level = 0.8 * level + series[i];
    /* innovations of variance 1: the error of the mean is 1 / (1 - 0.8) / √count */
    assert_int_equal(assay__stats_mean_error(series, COUNT, &mean, &error, &df), ASSAY_OK);
    assert_close(error, 5 / sqrt(COUNT), 0.25);
    assert_true(df < COUNT / 8.0);
}

static void second_order_memory_is_found(void **state)
{
    enum { COUNT = 4000 };
    static double series[COUNT];
    assay__random random;
    assay__autoregression fit;
    (void)state;
    assay__random_init(&random, 2);
    for (size_t i = 0; i < COUNT; i++) {
        series[i] = assay__random_normal(&random);
        if (i > 1)
            series[i] += 0.3 * series[i - 1] + 0.4 * series[i - 2];
    }
    assay__autoregression_fit(series, COUNT, 0, &fit);
    assert_in_range(fit.order, 2, 4);
    assert_close(fit.coefficients[0], 0.3, 0.2);
    assert_close(fit.coefficients[1], 0.4, 0.2);
    assert_close(fit.coefficient_sum, 0.7, 0.1);
    assert_close(fit.innovation_variance, 1, 0.1);
}

/* The corrections written out once more, for the order that is chosen on nearly every series.
 * Returns how clearly memory shows. */
static double check_corrections(double memory)
{
    enum { COUNT = 39 };
    double series[COUNT], level = 0;
    assay__random random;
    assay__autoregression fit;
    assay__random_init(&random, 7);
    for (size_t i = 0; i < COUNT; i++)
        series[i] = level = memory * level + assay__random_normal(&random);
    double mean = 0;
    for (size_t i = 0; i < COUNT; i++)
        mean += series[i] / COUNT;
    assay__autoregression_fit(series, COUNT, mean, &fit);
    assert_int_equal(fit.order, 1);
    double square = 0, product = 0;
    for (size_t i = 0; i < COUNT; i++) {
        square += (series[i] - mean) * (series[i] - mean);
        product += i == 0 ? 0 : (series[i] - mean) * (series[i - 1] - mean);
    }
    double sum = (COUNT * product / square + 1) / (COUNT - 4);
    double error = sqrt((1 - sum * sum) / COUNT), clarity = fmin(sum / (2.75 * error), 1);
    sum += error * (1.6 * clarity - 0.9);
    assert_close(fit.coefficient_sum, sum, 1e-9);
    double rest = 1 - sum, wobble = 2 * clarity * (1 - sum * sum) / (rest * rest);
    assert_close(fit.degrees_of_freedom, fmax(1, (COUNT - 2) / (1 + wobble)), 1e-9);
    return clarity;
}

static void the_sum_is_corrected(void **state)
{
    (void)state;
    assert_true(check_corrections(0.5) == 1);
    double clarity = check_corrections(0.2);
    assert_true(clarity > 0.2 && clarity < 0.9);
}

static void skewness_moves_the_interval(void **state)
{
    enum { COUNT = 100 };
    double series[COUNT];
    assay__random random;
    assay_interval interval;
    (void)state;
    assay__random_init(&random, 3);
    for (size_t i = 0; i < COUNT; i++)
        series[i] = exp(assay__random_normal(&random));
    assert_int_equal(assay_stats_mean_interval(series, COUNT, 0.95, &interval), ASSAY_OK);
    assert_int_equal(interval.validity, ASSAY_VALID);
    assert_true(interval.high - interval.estimate > 1.2 * (interval.estimate - interval.low));
}

static void scale_and_offset_carry_through(void **state)
{
    enum { COUNT = 50 };
    double plain[COUNT], moved[COUNT];
    assay__random random;
    assay_interval a, b;
    (void)state;
    assay__random_init(&random, 4);
    for (size_t i = 0; i < COUNT; i++) {
        plain[i] = assay__random_normal(&random);
        moved[i] = 1e6 + 1e-3 * plain[i];
    }
    assert_int_equal(assay_stats_mean_interval(plain, COUNT, 0.95, &a), ASSAY_OK);
    assert_int_equal(assay_stats_mean_interval(moved, COUNT, 0.95, &b), ASSAY_OK);
    assert_close((b.low - 1e6) * 1e3, a.low, 1e-4);
    assert_close((b.high - 1e6) * 1e3, a.high, 1e-4);
}

static void mean_times_are_not_negative(void **state)
{
    double seconds[] = {1, 10};
    assay_interval plain, time;
    (void)state;
    assert_int_equal(assay_stats_mean_interval(seconds, 2, 0.95, &plain), ASSAY_OK);
    assert_int_equal(assay__stats_time_interval(seconds, 2, 0.95, &time), ASSAY_OK);
    assert_true(plain.low < 0 && time.low > 0 && time.low < 1);
    assert_true(time.estimate == plain.estimate && time.high == plain.high);
    seconds[0] = 9;
    assert_int_equal(assay_stats_mean_interval(seconds, 2, 0.5, &plain), ASSAY_OK);
    assert_int_equal(assay__stats_time_interval(seconds, 2, 0.5, &time), ASSAY_OK);
    assert_true(time.low == plain.low && time.high == plain.high);
}

/* Two values leave one degree of freedom: 9.5 ± 12.7062 × 0.5. */
static void two_values_have_one_degree_of_freedom(void **state)
{
    double values[] = {9, 10};
    assay_interval interval;
    (void)state;
    assert_int_equal(assay_stats_mean_interval(values, 2, 0.95, &interval), ASSAY_OK);
    assert_close(interval.low, 9.5 - 12.7062 * 0.5, 1e-5);
    assert_close(interval.high, 9.5 + 12.7062 * 0.5, 1e-5);
}

/* Autocorrelation that leaves no degrees of freedom: nothing is known, but no mean of times between
 * 68 and 203 ms is 0 or 400 ms. */
static void no_interval_is_wider_than_the_values(void **state)
{
    double ms[] = {68, 68, 70, 69, 72, 71, 75, 80, 190, 200, 203, 198, 201, 199, 202};
    assay_interval plain, time;
    (void)state;
    assert_int_equal(assay_stats_mean_interval(ms, 15, 0.95, &plain), ASSAY_OK);
    assert_true(plain.low < 68 && plain.high > 400);
    assert_int_equal(assay__stats_time_interval(ms, 15, 0.95, &time), ASSAY_OK);
    assert_true(time.low == 68 && time.high == 203);
}

static void too_little_or_broken_input(void **state)
{
    double values[] = {3, 3, 3, 3}, mean, error, df;
    double broken[] = {1, NAN, 2}, infinite[] = {1, INFINITY};
    assay_interval interval;
    (void)state;
    assert_int_equal(assay_stats_mean_interval(values, 0, 0.95, &interval), ASSAY_OK);
    assert_int_equal(interval.validity, ASSAY_NOT_ENOUGH_DATA);
    assert_int_equal(assay_stats_mean_interval(NULL, 0, 0.95, &interval), ASSAY_OK);
    assert_int_equal(interval.validity, ASSAY_NOT_ENOUGH_DATA);
    assert_int_equal(assay_stats_mean_interval(values, 1, 0.95, &interval), ASSAY_OK);
    assert_int_equal(interval.validity, ASSAY_NOT_ENOUGH_DATA);
    assert_int_equal(assay_stats_mean_interval(values, 4, 0.95, &interval), ASSAY_OK);
    assert_int_equal(interval.validity, ASSAY_VALID);
    assert_true(interval.low == 3 && interval.high == 3 && interval.estimate == 3);
    assert_int_equal(assay_stats_mean_interval(values, 4, 1, &interval), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_stats_mean_interval(broken, 3, 0.95, &interval), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_stats_mean_interval(infinite, 2, 0.95, &interval), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_stats_mean_interval(NULL, 2, 0.95, &interval), ASSAY_E_ARGUMENT);
    assert_int_equal(assay__stats_mean_error(values, 1, &mean, &error, &df), ASSAY_E_DATA);
    assert_int_equal(assay__stats_mean_error(values, 4, &mean, &error, &df), ASSAY_OK);
    assert_true(mean == 3 && error == 0 && df == 3);
}

/* A straight line is the hardest series for a model of memory: wide, but still a number. */
static void a_line_gives_a_wide_interval(void **state)
{
    enum { COUNT = 60 };
    double line[COUNT];
    assay_interval interval;
    (void)state;
    for (size_t count = 2; count <= COUNT; count++) {
        for (size_t i = 0; i < count; i++)
            line[i] = (double)i;
        assert_int_equal(assay_stats_mean_interval(line, count, 0.95, &interval), ASSAY_OK);
        assert_true(isfinite(interval.low) && isfinite(interval.high));
        assert_true(interval.low < interval.high);
    }
    assert_true(interval.high - interval.low > COUNT / 3.0);
}

/* Squares of these leave the range of a double one way or the other. */
static void extreme_sizes(void **state)
{
    enum { COUNT = 40 };
    double huge[] = {1e200, -1e200, 3e200}, large[COUNT], tiny[COUNT];
    assay_interval interval;
    (void)state;
    assert_int_equal(assay_stats_mean_interval(huge, 3, 0.95, &interval), ASSAY_E_ARGUMENT);
    for (int i = 0; i < COUNT; i++) {
        large[i] = ((i * 7) % 11 - 5) * 1e99;
        tiny[i] = ((i * 7) % 11) * 1e-200;
    }
    assert_int_equal(assay_stats_mean_interval(large, COUNT, 0.95, &interval), ASSAY_OK);
    assert_true(isfinite(interval.low) && interval.low < interval.high && isfinite(interval.high));
    assert_int_equal(assay_stats_mean_interval(tiny, COUNT, 0.95, &interval), ASSAY_OK);
    assert_true(isfinite(interval.low) && interval.low <= interval.high);
}

static void summaries(void **state)
{
    /* R: quantile(1:20, .9) = 18.1, quantile(1:20, .95) = 19.05, mad(1:20, constant = 1) = 5,
     * sd(1:20) = 5.91608 */
    double values[20];
    assay_summary summary;
    (void)state;
    for (int i = 0; i < 20; i++)
        values[i] = (i * 7) % 20 + 1;
    assert_int_equal(assay_stats_summarize(values, 20, &summary), ASSAY_OK);
    assert_int_equal(summary.count, 20);
    assert_close(summary.mean.value, 10.5, 1e-12);
    assert_close(summary.std.value, 5.9160797830996161, 1e-12);
    assert_close(summary.median.value, 10.5, 1e-12);
    assert_close(summary.mad.value, 5, 1e-12);
    assert_close(summary.p25.value, 5.75, 1e-12);
    assert_close(summary.p75.value, 15.25, 1e-12);
    assert_close(summary.p90.value, 18.1, 1e-12);
    assert_close(summary.p95.value, 19.05, 1e-12);
    assert_close(summary.min.value, 1, 0);
    assert_close(summary.max.value, 20, 0);
    assert_int_equal(summary.p99.validity, ASSAY_NOT_ENOUGH_DATA);
    assert_true(values[0] == 1 && values[1] == 8); /* not sorted in place */
    double hundred[100];
    for (int i = 0; i < 100; i++)
        hundred[i] = 100 - i;
    assert_int_equal(assay_stats_summarize(hundred, 100, &summary), ASSAY_OK);
    assert_close(summary.p99.value, 99.01, 1e-12);
}

static void summaries_of_little(void **state)
{
    double values[] = {7, 7, NAN}, low[] = {1, 1, 10}, high[] = {1, 10, 10};
    assay_summary summary;
    (void)state;
    assert_int_equal(assay_stats_summarize(NULL, 0, &summary), ASSAY_OK);
    assert_int_equal(summary.mean.validity, ASSAY_NOT_ENOUGH_DATA);
    assert_int_equal(summary.p99.validity, ASSAY_NOT_ENOUGH_DATA);
    assert_int_equal(assay_stats_summarize(values, 1, &summary), ASSAY_OK);
    assert_int_equal(summary.std.validity, ASSAY_NOT_ENOUGH_DATA);
    assert_close(summary.median.value, 7, 0);
    assert_int_equal(assay_stats_summarize(values, 2, &summary), ASSAY_OK);
    assert_int_equal(summary.std.validity, ASSAY_VALID);
    assert_close(summary.std.value, 0, 0);
    assert_int_equal(assay_stats_summarize(values, 3, &summary), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_stats_summarize(low, 3, &summary), ASSAY_OK);
    assert_close(summary.mean.value, 4, 1e-12);
    assert_int_equal(assay_stats_summarize(high, 3, &summary), ASSAY_OK);
    assert_close(summary.mean.value, 7, 1e-12);
}

static void a_quantile_needs_values_beyond_it(void **state)
{
    static double values[1000];
    assay_reading reading;
    (void)state;
    for (size_t i = 0; i < 1000; i++)
        values[i] = (double)i;
    assert_int_equal(assay_stats_quantile(values, 999, 0.999, &reading), ASSAY_OK);
    assert_int_equal(reading.validity, ASSAY_NOT_ENOUGH_DATA);
    assert_int_equal(assay_stats_quantile(values, 1000, 0.999, &reading), ASSAY_OK);
    assert_close(reading.value, 998.001, 1e-12);
    assert_int_equal(assay_stats_quantile(values, 3, 0.5, &reading), ASSAY_OK);
    assert_close(reading.value, 1, 0);
    assert_int_equal(assay_stats_quantile(values, 3, 1, &reading), ASSAY_OK);
    assert_close(reading.value, 2, 0);
    assert_int_equal(assay_stats_quantile(values, 3, 0, &reading), ASSAY_OK);
    assert_int_equal(reading.validity, ASSAY_VALID);
    assert_close(reading.value, 0, 0);
    assert_int_equal(assay_stats_quantile(values, 3, 0.25, &reading), ASSAY_OK);
    assert_int_equal(reading.validity, ASSAY_NOT_ENOUGH_DATA);
    assert_int_equal(assay_stats_quantile(values, 1, 0.5, &reading), ASSAY_OK);
    assert_int_equal(reading.validity, ASSAY_VALID);
    assert_int_equal(assay_stats_quantile(values, 3, 1.5, &reading), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_stats_quantile(values, 3, -0.5, &reading), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_stats_quantile(NULL, 0, 0.5, &reading), ASSAY_OK);
    assert_int_equal(reading.validity, ASSAY_NOT_ENOUGH_DATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_values_give_the_plain_t_interval),
        cmocka_unit_test(a_remembering_series_pays_for_it),
        cmocka_unit_test(second_order_memory_is_found),
        cmocka_unit_test(the_sum_is_corrected),
        cmocka_unit_test(skewness_moves_the_interval),
        cmocka_unit_test(scale_and_offset_carry_through),
        cmocka_unit_test(mean_times_are_not_negative),
        cmocka_unit_test(two_values_have_one_degree_of_freedom),
        cmocka_unit_test(no_interval_is_wider_than_the_values),
        cmocka_unit_test(too_little_or_broken_input),
        cmocka_unit_test(a_line_gives_a_wide_interval),
        cmocka_unit_test(extreme_sizes),
        cmocka_unit_test(summaries),
        cmocka_unit_test(summaries_of_little),
        cmocka_unit_test(a_quantile_needs_values_beyond_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
