/* Bounds of quantiles, and outliers. */
#include "tests/unit/stats_fixture.h"

#include "stats/outliers.h"

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

static void outlier_classes(void **state)
{
    /* quartiles 3.5 and 8.5, so fences at -4, 16 and -11.5, 23.5 */
    double values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 24}, broken[] = {1, 2, INFINITY, 3};
    assay__outliers outliers;
    (void)state;
    assert_int_equal(assay__stats_outliers(values, 11, &outliers), ASSAY_OK);
    assert_int_equal(outliers.mild_high, 0); /* on the fence is inside */
    assert_int_equal(outliers.severe_high, 1);
    values[9] = 16.5;
    values[0] = -12;
    values[1] = -5;
    assert_int_equal(assay__stats_outliers(values, 11, &outliers), ASSAY_OK);
    assert_int_equal(outliers.mild_high, 1);
    assert_int_equal(outliers.mild_low, 1);
    assert_int_equal(outliers.severe_low, 1);
    values[0] = -11.5; /* on the outer fence: outside the inner one only */
    assert_int_equal(assay__stats_outliers(values, 11, &outliers), ASSAY_OK);
    assert_int_equal(outliers.mild_low, 2);
    assert_int_equal(outliers.severe_low, 0);
    values[1] = -4; /* on the inner fence: inside */
    values[10] = 23.5;
    assert_int_equal(assay__stats_outliers(values, 11, &outliers), ASSAY_OK);
    assert_int_equal(outliers.mild_low, 1);
    assert_int_equal(outliers.mild_high, 2);
    assert_int_equal(outliers.severe_high, 0);
    assert_int_equal(assay__stats_outliers(values, 4, &outliers), ASSAY_OK);
    assert_int_equal(assay__stats_outliers(values, 3, &outliers), ASSAY_E_DATA);
    assert_int_equal(assay__stats_outliers(broken, 4, &outliers), ASSAY_E_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantile_bounds),
        cmocka_unit_test(outlier_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
