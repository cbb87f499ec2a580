/* Times that were measured once at each size. If they follow no class, the curve that they follow
 * is named; if they follow a class, the class stays. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "assay/growth.h"

enum { SIZES = 9 };

/* Deviations of about 1 % without a pattern. */
static const double deviations[SIZES] = {0.004, -0.012, 0.009,  0.002, -0.007,
                                         0.011, -0.003, -0.009, 0.006};

static double exponential(double n)
{
    return exp(n / 2000);
}

static double sum(double n)
{
    return n + n * n / 1000;
}

static double sum_and_overhead(double n)
{
    return 300 + n + n * n / 1000;
}

static double jump(double n)
{
    return n * log(n) * (n > 1500 ? 2 : 1);
}

static double bend(double n)
{
    return n < 700 ? n : n * n / 700;
}

static double linear(double n)
{
    return n;
}

static double cubic_and_overhead(double n)
{
    return 1e6 + n * n * n;
}

static assay_growth *fit(double (*shape)(double), int repeats)
{
    double sizes[3 * SIZES], seconds[3 * SIZES];
    assay_growth *growth = NULL;
    for (int i = 0; i < SIZES * repeats; i++) {
        sizes[i] = round(100 * pow(100, (double)(i / repeats) / (SIZES - 1)));
        seconds[i] = 1e-7 * shape(sizes[i]) * (1 + deviations[(5 * i + 1) % SIZES]);
    }
    assert_int_equal(assay_growth_fit(sizes, seconds, (size_t)(SIZES * repeats), NULL, &growth),
                     ASSAY_OK);
    return growth;
}

static void shapes_that_are_no_class_are_named(void **state)
{
    (void)state;
    static const struct {
        double (*shape)(double);
        const char *words;
    } cases[] = {
        {exponential, "an exponential fits better than n^3"},
        {sum, "a sum of n and n^2 fits better than a power"},
        {sum_and_overhead, "a sum of n and n^2 fits better than a power"},
        {jump, "a jump between the sizes 1000 and 1778 fits better than a power"},
        {bend, "a growth that changes near the size 749.7 fits better than n^2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_growth *growth = fit(cases[i].shape, 1);
        print_message("%s: %s\n", assay_growth_class_name(growth->growth_class), growth->reason);
        assert_false(growth->conclusive);
        assert_non_null(strstr(growth->reason, cases[i].words));
        assert_non_null(strstr(growth->reason, "measure every size at least three times"));
        assay_growth_free(growth);
    }
}

static void classes_and_repeats_are_left_alone(void **state)
{
    (void)state;
    assay_growth *growth = fit(linear, 1);
    assert_int_equal(growth->growth_class, ASSAY_GROWTH_LINEAR);
    assert_true(growth->conclusive);
    assay_growth_free(growth);
    growth = fit(cubic_and_overhead, 1);
    assert_int_equal(growth->growth_class, ASSAY_GROWTH_CUBIC);
    assert_true(growth->conclusive);
    assay_growth_free(growth);
    growth = fit(sum, 3);
    assert_false(growth->conclusive);
    assert_null(strstr(growth->reason, "repeats"));
    assay_growth_free(growth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_that_are_no_class_are_named),
        cmocka_unit_test(classes_and_repeats_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
