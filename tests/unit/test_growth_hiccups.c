/* Disturbances of the machine: which repeats the growth fit sets aside. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "assay/growth.h"

static assay_growth *fit(const double *n, const double *t, size_t count)
{
    assay_growth *growth = NULL;
    assert_int_equal(assay_growth_fit(n, t, count, NULL, &growth), ASSAY_OK);
    return growth;
}

/* One repeat of each size in ten times its time: a hiccup, not a growth. */
static void hiccups_are_set_aside(void **state)
{
    (void)state;
    double n[40], t[40];
    for (int i = 0; i < 40; i++) {
        n[i] = 10 << (i / 5);
        t[i] = 1e-6 * n[i] * (1 + 0.01 * (i % 5)) * (i == 4 || i == 18 || i == 39 ? 10 : 1);
    }
    assay_growth *growth = fit(n, t, 40);
    assert_int_equal(growth->growth_class, ASSAY_GROWTH_LINEAR);
    assert_int_equal(growth->outlier_count, 3);
    assert_true(growth->conclusive);
    assert_true(growth->low.value < 1 && 1 < growth->high.value);
    assert_true(growth->high.value - growth->low.value < 0.02);
    assay_growth_free(growth);
}

/* Eight sizes five times each, 1 % to either side of n; the last `far` repeats of the sizes, one of
 * each and then a second one, are off by `distance`. Five standard deviations are 0.074. */
static size_t outliers(size_t far, double distance)
{
    static const double calm[] = {-0.01, 0, 0.01, -0.01, 0.01};
    double n[40], t[40];
    for (size_t i = 0; i < 40; i++) {
        n[i] = 10 << (i / 5);
        t[i] = n[i] * exp(calm[i % 5]);
    }
    for (size_t i = 0; i < far; i++)
        t[i % 8 * 5 + 4 - i / 8] = n[i % 8 * 5] * exp(distance);
    assay_growth *growth = fit(n, t, 40);
    size_t count = growth->outlier_count;
    assay_growth_free(growth);
    return count;
}

static void hiccups_are_few_and_far(void **state)
{
    (void)state;
    assert_int_equal(outliers(1, 0.065), 0);
    assert_int_equal(outliers(1, 0.090), 1);
    assert_int_equal(outliers(10, 0.5), 10);
    assert_int_equal(outliers(11, 0.5), 0); /* more than a quarter: that is the noise */
    double n[27], t[27];
    for (int i = 0; i < 27; i++) {
        n[i] = 10 << (i / 3);
        t[i] = n[i] * exp((i / 3 == 4 ? 0.7 : 0.01) * (i % 3 - 1)); /* one size scatters */
    }
    assay_growth *growth = fit(n, t, 27);
    assert_int_equal(growth->outlier_count, 0);
    assay_growth_free(growth);
}

/* Eight sizes; `repeats` of each deviate by `calm`, the first of them at the fifth size by `far`.
 */
static size_t outliers_at_one_size(const double *calm, size_t repeats, double far)
{
    double n[64], t[64];
    for (size_t i = 0; i < 8 * repeats; i++) {
        n[i] = 10 << (i / repeats);
        t[i] = n[i] * exp(i == 4 * repeats ? far : calm[i % repeats]);
    }
    assay_growth *growth = fit(n, t, 8 * repeats);
    size_t count = growth->outlier_count;
    assay_growth_free(growth);
    return count;
}

/* Five times 1.4826 of the median deviation, of all sizes and of its own; the median of an odd
 * number of repeats is none of the deviations, of an even number both middle ones are. */
static void distance_of_a_hiccup(void **state)
{
    (void)state;
    static const double three[] = {-0.01, 0, 0.01}, four[] = {-0.03, -0.01, 0.01, 0.03};
    static const double five[] = {-0.02, -0.01, 0, 0.01, 0.02};
    static const double seven[] = {-0.03, -0.02, -0.01, 0, 0.01, 0.02, 0.03};
    assert_int_equal(outliers_at_one_size(three, 3, 0.08), 0); /* median 0.01, off by 0.07 */
    assert_int_equal(outliers_at_one_size(three, 3, 0.09), 1);
    assert_int_equal(outliers_at_one_size(four, 4, 0.155), 0); /* median 0.02, off by 0.135 */
    assert_int_equal(outliers_at_one_size(four, 4, 0.175), 1);
    assert_int_equal(outliers_at_one_size(five, 5, 0.115), 0); /* median 0.01, off by 0.105 */
    assert_int_equal(outliers_at_one_size(five, 5, 0.130), 1);
    assert_int_equal(outliers_at_one_size(seven, 7, 0.155), 0); /* median 0.01, off by 0.145 */
    assert_int_equal(outliers_at_one_size(seven, 7, 0.165), 1);
    for (int i = 0; i < 2; i++) { /* one size scatters five times as much, and one value further */
        static const double calm[] = {-0.01, 0, 0.01, -0.01, 0.01};
        double n[40], t[40];
        for (size_t k = 0; k < 40; k++) {
            n[k] = 10 << (k / 5);
            t[k] = n[k] * exp(calm[k % 5] * (k / 5 == 4 ? 5 : 1));
        }
        t[24] = n[24] * exp(i == 0 ? 0.35 : 0.39); /* 5 × 1.4826 × 0.05 = 0.37 */
        assay_growth *growth = fit(n, t, 40);
        assert_int_equal(growth->outlier_count, i);
        assay_growth_free(growth);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hiccups_are_set_aside),
        cmocka_unit_test(hiccups_are_few_and_far),
        cmocka_unit_test(distance_of_a_hiccup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
