/* Bootstrap, bounds of quantiles, autocorrelation, outliers. */
#include "tests/unit/stats_fixture.h"

#include "base/random.h"

/* A skewed sample of 25 response times made up for this test. */
static const double skewed[] = {8.26, 6.33, 10.4,  5.27, 5.35, 5.61, 6.12, 6.19, 5.2,
                                7.01, 8.74, 7.78,  7.02, 6,    6.5,  5.8,  5.12, 7.41,
                                6.52, 6.21, 12.28, 5.6,  5.38, 6.6,  8.74};

static double mean(const double *values, size_t count, void *context)
{
    double sum = 0;
    (void)context;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

static double undefined(const double *values, size_t count, void *context)
{
    (void)values, (void)count, (void)context;
    return NAN;
}

static void bootstrap_intervals(void **state)
{
    assay_bootstrap_options options = ASSAY_INIT(assay_bootstrap_options);
    assay_interval interval;
    (void)state;
    options.resamples = 200000;
    options.block_length = 1;
    /* scipy.stats.bootstrap, means of three times a million resamples */
    assert_int_equal(assay_stats_bootstrap(skewed, 25, 0.95, mean, NULL, &options, &interval),
                     ASSAY_OK);
    assert_close(interval.estimate, 6.8576, 1e-9);
    assert_close(interval.low, 6.2477, 0.001);
    assert_close(interval.high, 7.5720, 0.001);
    options.method = ASSAY_BOOTSTRAP_BCA;
    assert_int_equal(assay_stats_bootstrap(skewed, 25, 0.95, mean, NULL, &options, &interval),
                     ASSAY_OK);
    assert_close(interval.low, 6.3228, 0.001);
    assert_close(interval.high, 7.7120, 0.001);
}

static void blocks_keep_the_memory(void **state)
{
    enum { COUNT = 500 };
    static double series[COUNT];
    assay__random random;
    assay_bootstrap_options options = ASSAY_INIT(assay_bootstrap_options);
    assay_interval single, blocks, formula;
    double level = 0, length;
    (void)state;
    assay__random_init(&random, 21);
    for (size_t i = 0; i < COUNT; i++)
        series[i] = level = 0.7 * level + assay__random_normal(&random);
    /* (2 · 0.7 / (1 − 0.49))^(2/3) · 500^(1/3) = 15.6 at the true ρ */
    assert_int_equal(assay_stats_block_length(series, COUNT, &length), ASSAY_OK);
    assert_close(length, 15.6, 0.25);
    assert_int_equal(assay_stats_bootstrap(series, COUNT, 0.95, mean, NULL, NULL, &blocks),
                     ASSAY_OK);
    options.block_length = 1;
    assert_int_equal(assay_stats_bootstrap(series, COUNT, 0.95, mean, NULL, &options, &single),
                     ASSAY_OK);
    assert_int_equal(assay_stats_mean_interval(series, COUNT, 0.95, &formula), ASSAY_OK);
    double ratio = (blocks.high - blocks.low) / (single.high - single.low);
    assert_true(ratio > 1.7 && ratio < 2.6); /* √((1 + ρ) / (1 − ρ)) = 2.38, less the usual bias */
    assert_close(blocks.high - blocks.low, formula.high - formula.low, 0.35);
    assay_interval corrected;
    options.method = ASSAY_BOOTSTRAP_BCA; /* draws single values, whatever is asked for */
    options.block_length = 0;
    assert_int_equal(assay_stats_bootstrap(series, COUNT, 0.95, mean, NULL, &options, &corrected),
                     ASSAY_OK);
    assert_close(corrected.high - corrected.low, single.high - single.low, 0.1);
}

static void lengths_of_blocks(void **state)
{
    double turns[30], line[30], length;
    (void)state;
    for (int i = 0; i < 30; i++) {
        turns[i] = i % 2;
        line[i] = i;
    }
    assert_int_equal(assay_stats_block_length(turns, 30, &length), ASSAY_OK);
    assert_close(length, 1, 0);
    /* (2 · 0.9 / 0.19)^(2/3) · 30^(1/3) = 14; Politis and White take a third of the series at most
     */
    assert_int_equal(assay_stats_block_length(line, 30, &length), ASSAY_OK);
    assert_close(length, 10, 0);
    assert_int_equal(assay_stats_block_length(line, 2, &length), ASSAY_OK);
    assert_close(length, 1, 0);
    line[3] = NAN;
    assert_int_equal(assay_stats_block_length(line, 30, &length), ASSAY_E_ARGUMENT);
}

static double count_calls(const double *values, size_t count, void *context)
{
    ++*(size_t *)context;
    return mean(values, count, NULL);
}

/* Ten figures beyond either end, and 2000 at least; and the figure itself. */
static void as_many_resamples_as_the_level_needs(void **state)
{
    assay_interval interval;
    size_t calls = 0;
    (void)state;
    assert_int_equal(assay_stats_bootstrap(skewed, 25, 0.95, count_calls, &calls, NULL, &interval),
                     ASSAY_OK);
    assert_int_equal(calls, 2001);
    calls = 0;
    assert_int_equal(assay_stats_bootstrap(skewed, 25, 0.998, count_calls, &calls, NULL, &interval),
                     ASSAY_OK);
    assert_int_equal(calls, 10001);
    assert_true(interval.low > 5.12 && interval.low < 6.2 && interval.high > 7.6);
}

static void bootstrap_of_little(void **state)
{
    assay_bootstrap_options options = {0};
    double same[] = {2, 2, 2, 2};
    assay_interval interval;
    (void)state;
    assert_int_equal(assay_stats_bootstrap(same, 2, 0.95, mean, NULL, NULL, &interval), ASSAY_OK);
    assert_int_equal(interval.validity, ASSAY_NOT_ENOUGH_DATA);
    assert_int_equal(assay_stats_bootstrap(same, 3, 0.95, mean, NULL, NULL, &interval), ASSAY_OK);
    assert_int_equal(interval.validity, ASSAY_VALID);
    assert_int_equal(assay_stats_bootstrap(same, 4, 0.95, mean, NULL, NULL, &interval), ASSAY_OK);
    assert_true(interval.low == 2 && interval.high == 2);
    assert_int_equal(assay_stats_bootstrap(same, 4, 0.95, undefined, NULL, NULL, &interval),
                     ASSAY_E_DATA);
    assert_int_equal(assay_stats_bootstrap(same, 4, 0.95, NULL, NULL, NULL, &interval),
                     ASSAY_E_ARGUMENT);
    assert_int_equal(assay_stats_bootstrap(same, 4, 0.95, mean, NULL, &options, &interval),
                     ASSAY_E_ARGUMENT); /* no struct_size */
    options.struct_size = sizeof options;
    options.resamples = 39; /* a 95 % interval leaves none of them beyond either end */
    assert_int_equal(assay_stats_bootstrap(same, 4, 0.95, mean, NULL, &options, &interval),
                     ASSAY_E_ARGUMENT);
    options.resamples = 40;
    assert_int_equal(assay_stats_bootstrap(same, 4, 0.95, mean, NULL, &options, &interval),
                     ASSAY_OK);
    options.method = (assay_bootstrap_method)2;
    assert_int_equal(assay_stats_bootstrap(same, 4, 0.95, mean, NULL, &options, &interval),
                     ASSAY_E_ARGUMENT);
}

static void quantile_bounds(void **state)
{
    static double values[3688];
    assay_interval interval;
    (void)state;
    for (size_t i = 0; i < 3688; i++)
        values[i] = (double)((i * 1001) % 3688 + 1); /* 1 … 3688, mixed */
    /* scipy.stats.binom.ppf: ranks 3680 and 3688; one value less does not do */
    assert_int_equal(assay_stats_quantile_interval(values, 3688, 0.999, 0.95, &interval), ASSAY_OK);
    assert_int_equal(interval.validity, ASSAY_VALID);
    assert_close(interval.low, 3680, 0);
    assert_close(interval.high, 3688, 0);
    assert_int_equal(assay_stats_quantile_interval(values, 3687, 0.999, 0.95, &interval), ASSAY_OK);
    assert_int_equal(interval.validity, ASSAY_NOT_ENOUGH_DATA);
    /* the textbook's ranks 40 and 61 of 100 for the median */
    for (size_t i = 0; i < 100; i++)
        values[i] = (double)(100 - i);
    assert_int_equal(assay_stats_quantile_interval(values, 100, 0.5, 0.95, &interval), ASSAY_OK);
    assert_close(interval.estimate, 50.5, 1e-12);
    assert_close(interval.low, 40, 0);
    assert_close(interval.high, 61, 0);
    assert_int_equal(assay_stats_quantile_interval(values, 0, 0.5, 0.95, &interval), ASSAY_OK);
    assert_int_equal(interval.validity, ASSAY_NOT_ENOUGH_DATA);
    assert_int_equal(assay_stats_quantile_interval(values, 5, 0.5, 0.95, &interval), ASSAY_OK);
    assert_int_equal(interval.validity, ASSAY_NOT_ENOUGH_DATA); /* 2 · 0.5^5 > 5 % */
    assert_int_equal(assay_stats_quantile_interval(values, 6, 0.5, 0.95, &interval), ASSAY_OK);
    assert_int_equal(interval.validity, ASSAY_VALID); /* 2 · 0.5^6 < 5 %: both extremes */
    assert_true(interval.low == 95 && interval.high == 100);
    assert_int_equal(assay_stats_quantile_interval(values, 9, 1, 0.95, &interval),
                     ASSAY_E_ARGUMENT);
    assert_int_equal(assay_stats_quantile_interval(values, 9, 0, 0.95, &interval),
                     ASSAY_E_ARGUMENT);
    assert_int_equal(assay_stats_quantile_interval(values, 9, 0.5, 1, &interval), ASSAY_E_ARGUMENT);
    values[3] = NAN;
    assert_int_equal(assay_stats_quantile_interval(values, 9, 0.5, 0.95, &interval),
                     ASSAY_E_ARGUMENT);
}

static void autocorrelations(void **state)
{
    /* luteinizing hormone, `lh` in R: acf(lh) is 1, 0.576, 0.182, -0.145 */
    static const double lh[] = {2.4, 2.4, 2.4, 2.2, 2.1, 1.5, 2.3, 2.3, 2.5, 2.0, 1.9, 1.7,
                                2.2, 1.8, 3.2, 3.2, 2.7, 2.2, 2.2, 1.9, 1.9, 1.8, 2.7, 3.0,
                                2.3, 2.0, 2.0, 2.9, 2.9, 2.7, 2.7, 2.3, 2.6, 2.4, 1.8, 1.7,
                                1.5, 1.4, 2.1, 3.3, 3.5, 3.5, 3.1, 2.6, 2.1, 3.4, 3.0, 2.9};
    double correlations[4], same[] = {1, 1, 1};
    (void)state;
    assert_int_equal(assay_stats_autocorrelation(lh, 48, 3, correlations), ASSAY_OK);
    assert_close(correlations[0], 1, 1e-12);
    assert_close(correlations[1], 0.5755244755244756, 1e-12);
    assert_close(correlations[2], 0.18181818181818185, 1e-12);
    assert_close(correlations[3], -0.14475524475524473, 1e-12);
    assert_int_equal(assay_stats_autocorrelation(same, 3, 1, correlations), ASSAY_E_DATA);
    assert_int_equal(assay_stats_autocorrelation(lh, 2, 2, correlations), ASSAY_E_DATA);
    assert_int_equal(assay_stats_autocorrelation(NULL, 0, 0, correlations), ASSAY_E_DATA);
}

static void outlier_classes(void **state)
{
    /* quartiles 3.5 and 8.5, so fences at -4, 16 and -11.5, 23.5 */
    double values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 24}, broken[] = {1, 2, INFINITY, 3};
    double scores[11], same[] = {5, 5, 5, 5, 9};
    assay_outliers outliers;
    (void)state;
    assert_int_equal(assay_stats_outliers(values, 11, &outliers), ASSAY_OK);
    assert_close(outliers.quartile_low, 3.5, 1e-12);
    assert_close(outliers.quartile_high, 8.5, 1e-12);
    assert_int_equal(outliers.mild_high, 0); /* on the fence is inside */
    assert_int_equal(outliers.severe_high, 1);
    values[9] = 16.5;
    values[0] = -12;
    values[1] = -5;
    assert_int_equal(assay_stats_outliers(values, 11, &outliers), ASSAY_OK);
    assert_int_equal(outliers.mild_high, 1);
    assert_int_equal(outliers.mild_low, 1);
    assert_int_equal(outliers.severe_low, 1);
    values[0] = -11.5; /* on the outer fence: outside the inner one only */
    assert_int_equal(assay_stats_outliers(values, 11, &outliers), ASSAY_OK);
    assert_int_equal(outliers.mild_low, 2);
    assert_int_equal(outliers.severe_low, 0);
    values[1] = -4; /* on the inner fence: inside */
    values[10] = 23.5;
    assert_int_equal(assay_stats_outliers(values, 11, &outliers), ASSAY_OK);
    assert_int_equal(outliers.mild_low, 1);
    assert_int_equal(outliers.mild_high, 2);
    assert_int_equal(outliers.severe_high, 0);
    values[10] = 24;
    values[0] = -12;
    values[1] = -5;
    assert_int_equal(assay_stats_outliers(values, 4, &outliers), ASSAY_OK);
    assert_int_equal(assay_stats_outliers(values, 3, &outliers), ASSAY_E_DATA);
    assert_int_equal(assay_stats_outliers(broken, 4, &outliers), ASSAY_E_ARGUMENT);
    /* median 6, deviations 18 11 10.5 3 2 1 0 1 2 3 18: their median is 3 */
    assert_int_equal(assay_stats_robust_scores(values, 11, scores), ASSAY_OK);
    assert_close(scores[10], 18 / (1.4826 * 3), 1e-12);
    assert_close(scores[0], -18 / (1.4826 * 3), 1e-12);
    for (size_t i = 0; i < 11; i++)
        values[i] *= 1e-9; /* nanoseconds, in seconds */
    assert_int_equal(assay_stats_robust_scores(values, 11, scores), ASSAY_OK);
    assert_close(scores[10], 18 / (1.4826 * 3), 1e-12);
    assert_int_equal(assay_stats_robust_scores(broken, 4, scores), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_stats_robust_scores(same, 5, scores), ASSAY_E_DATA);
    assert_int_equal(assay_stats_robust_scores(NULL, 0, scores), ASSAY_E_DATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bootstrap_intervals),
        cmocka_unit_test(blocks_keep_the_memory),
        cmocka_unit_test(lengths_of_blocks),
        cmocka_unit_test(as_many_resamples_as_the_level_needs),
        cmocka_unit_test(bootstrap_of_little),
        cmocka_unit_test(quantile_bounds),
        cmocka_unit_test(autocorrelations),
        cmocka_unit_test(outlier_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
