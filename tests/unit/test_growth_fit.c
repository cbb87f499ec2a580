/* Curves and their tests compared with an independent computation of the same numbers: a
 * brute-force search in plain Python (shrinking grid of 400 cells over the ratio of offset and
 * coefficient, all values instead of means), with F tails by the midpoint rule. Then data from
 * which the fit can conclude little or nothing. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "assay/growth.h"
#include "stats/distribution.h"
#include "stats/fit.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* About 20 + n. */
static const double example_n[] = {10, 10, 20, 20, 50, 50, 100, 100, 200, 200, 500, 500};
static const double example_t[] = {33, 31, 39, 42, 71, 66, 118, 125, 201, 215, 478, 520};
enum { EXAMPLE = COUNT_OF(example_n), EXAMPLE_SIZES = EXAMPLE / 2 };

static void assert_close(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance * fabs(expected)))
        fail_msg("%.12g is not %.12g", value, expected);
}

static assay_growth *fit(const double *n, const double *t, size_t count)
{
    assay_error error = {0};
    assay_growth *growth = NULL;
    assay_status status = assay_growth_fit(n, t, count, &error, &growth);
    if (status != ASSAY_OK)
        fail_msg("%s", error.message);
    return growth;
}

static void curves_of_the_example(void **state)
{
    (void)state;
    static const struct {
        int index;
        double offset, coefficient, p;
    } known[] = {{ASSAY_GROWTH_LOG - 1, 0, 25.46348752, 1.88015e-07},
                 {ASSAY_GROWTH_LINEAR - 1, 22.09847551, 0.949894578, 0.747619},
                 {ASSAY_GROWTH_LINEAR_LOG - 1, 30.32697065, 0.1695202237, 0.0178288},
                 {ASSAY_GROWTH_QUADRATIC - 1, 46.93188106, 0.002831727572, 4.45614e-06}};
    assay_growth *growth = fit(example_n, example_t, EXAMPLE);
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        const assay_growth_candidate *candidate = &growth->candidates[known[i].index];
        assert_int_equal(candidate->p_value.validity, ASSAY_VALID);
        assert_close(candidate->p_value.value, known[i].p, 1e-4);
        assert_close(candidate->overhead_seconds, known[i].offset, 1e-4);
        assert_close(candidate->coefficient, known[i].coefficient, 1e-4);
        assert_int_equal(candidate->rejected, known[i].p < 0.01);
    }
    assert_int_equal(growth->growth_class, ASSAY_GROWTH_LINEAR);
    assert_close(growth->noise.value, sqrt(0.014840502733431696 / 6), 1e-9);
    assert_close(growth->exponent.value, 1.0027318, 1e-3);
    assert_int_equal(growth->value_count, EXAMPLE);
    assert_int_equal(growth->size_count, EXAMPLE_SIZES);
    assert_close(growth->sizes[1].median_seconds, 40.5, 1e-12);
    assert_close(growth->sizes[1].fitted_seconds, 22.09847551 + 20 * 0.949894578, 1e-4);
    assay_growth_free(growth);
}

static void power_law_and_its_range(void **state)
{
    (void)state;
    double x[EXAMPLE_SIZES], y[EXAMPLE_SIZES], weight[EXAMPLE_SIZES], scratch[EXAMPLE_SIZES];
    for (size_t i = 0; i < EXAMPLE_SIZES; i++) {
        x[i] = log(example_n[2 * i]);
        y[i] = 0.5 * (log(example_t[2 * i]) + log(example_t[2 * i + 1]));
        weight[i] = 2;
    }
    assay__fit_points points = {x, y, weight, EXAMPLE_SIZES};
    assay__fit_curve plain = assay__fit_power(&points);
    assert_close(plain.exponent, 0.7081705141807437, 1e-10);
    assert_close(plain.coefficient, 5.123792379525299, 1e-10);
    assert_close(plain.squares, 0.23566415566910887, 1e-9);
    assay__fit_curve curve = assay__fit_offset_power(&points, scratch);
    assert_close(curve.squares, 0.004784805544, 1e-6);
    assert_close(curve.exponent, 1.0027318, 1e-4);
    assert_close(curve.offset, 22.217478, 1e-3);
    assay__fit_range range = assay__fit_power_range(&points, &curve, curve.squares + 0.02, scratch);
    assert_true(range.has_low && range.has_high);
    assert_close(range.low, 0.9088809796, 1e-4);
    assert_close(range.high, 1.0990876752, 1e-4);
}

/* 9 sizes with as many values each as `weights` says, alternately 5 % above and below offset + n.
 */
static void make_weighted(double offset, double *x, double *y)
{
    static const int sign[9] = {1, -1, -1, 1, -1, 1, 1, -1, 1};
    for (int i = 0; i < 9; i++) {
        x[i] = log(1 << i);
        y[i] = log((offset + (1 << i)) * (1 + 0.05 * sign[i]));
    }
}

/* NumPy's weighted normal equations; with an offset scipy.optimize.least_squares. */
static void weights_count(void **state)
{
    (void)state;
    static const double weight[9] = {1, 2, 5, 1, 3, 4, 1, 2, 6};
    double x[9], y[9], scratch[9];
    assay__fit_points points = {x, y, weight, 9};
    make_weighted(0.5, x, y);
    assay__fit_curve curve = assay__fit_scale(&points, x);
    assert_close(curve.coefficient, 1.0704365148267574, 1e-10);
    assert_close(curve.squares, 0.22460213612863827, 1e-9);
    curve = assay__fit_power(&points);
    assert_close(curve.coefficient, 1.1729363304761082, 1e-10);
    assert_close(curve.exponent, 0.9713205505203303, 1e-10);
    assert_close(curve.squares, 0.15821226511883626, 1e-9);
    curve = assay__fit_offset_power(&points, scratch);
    assert_close(curve.offset, 0.5856654621196585, 1e-3);
    assert_close(curve.coefficient, 0.9108406703871088, 1e-3);
    assert_close(curve.exponent, 1.0248478839307704, 1e-4);
    assert_close(curve.squares, 0.04044230890151151, 1e-6);
    memcpy(scratch, x, sizeof scratch);
    curve = assay__fit_offset_scale(&points, scratch);
    assert_close(curve.offset, 0.41455366149090617, 1e-3);
    assert_close(curve.coefficient, 1.012040344380762, 1e-4);
    assert_close(curve.squares, 0.056549366394361776, 1e-6);
    make_weighted(0.15, x, y); /* little better than without one, but better */
    memcpy(scratch, x, sizeof scratch);
    curve = assay__fit_offset_scale(&points, scratch);
    assert_close(curve.offset, 0.09031757556623334, 1e-3);
}

/* From a hundredth of the smallest growth to a hundred times the largest. */
static void offsets_of_all_sizes(void **state)
{
    (void)state;
    double x[9], y[9], weight[9], log_g[9];
    assay__fit_points points = {x, y, weight, 9};
    for (double offset = 0.01; offset < 3e4; offset *= 10) {
        for (int i = 0; i < 9; i++) {
            log_g[i] = x[i] = log(1 << i);
            y[i] = log(offset + 3 * (1 << i));
            weight[i] = 1;
        }
        assay__fit_curve curve = assay__fit_offset_scale(&points, log_g);
        assert_close(curve.offset, offset, 1e-2);
        assert_close(curve.coefficient, 3, 1e-2);
    }
}

/* Exact data without repeats: the class, and the coefficients to many digits. */
static void exact_data(void **state)
{
    (void)state;
    double n[9], t[9];
    for (int c = ASSAY_GROWTH_CONSTANT; c <= ASSAY_GROWTH_POWER; c++) {
        for (int i = 0; i < 9; i++) {
            n[i] = 16 << i;
            double shape[] = {0,
                              1,
                              log(n[i]),
                              n[i],
                              n[i] * log(n[i]),
                              n[i] * n[i],
                              n[i] * n[i] * n[i],
                              pow(n[i], 1.7)};
            t[i] = 3e-9 * shape[c] + (c == ASSAY_GROWTH_LINEAR ? 1e-6 : 0);
        }
        assay_growth *growth = fit(n, t, 9);
        assert_int_equal(growth->growth_class, c);
        assert_true(growth->conclusive);
        assert_close(growth->coefficient.value, 3e-9, 1e-3);
        assert_close(growth->overhead_seconds.value, c == ASSAY_GROWTH_LINEAR ? 1e-6 : 0, 1e-3);
        if (c == ASSAY_GROWTH_POWER)
            assert_close(growth->exponent.value, 1.7, 1e-4);
        assert_true(growth->low.value <= growth->exponent.value);
        assert_true(growth->exponent.value <= growth->high.value);
        assert_close(assay_growth_predict(growth, n[8]).value, t[8], 1e-3);
        assay_growth_free(growth);
    }
}

/* The order of the values does not matter, and the unit of time only scales the answer. */
static void order_and_unit(void **state)
{
    (void)state;
    double n[EXAMPLE], t[EXAMPLE];
    for (size_t i = 0; i < EXAMPLE; i++) {
        size_t from = i * 5 % EXAMPLE;
        n[i] = example_n[from];
        t[i] = example_t[from] * 1e-9;
    }
    assay_growth *plain = fit(example_n, example_t, EXAMPLE);
    assay_growth *other = fit(n, t, EXAMPLE);
    assert_int_equal(other->growth_class, plain->growth_class);
    assert_close(other->exponent.value, plain->exponent.value, 1e-6);
    assert_close(other->low.value, plain->low.value, 1e-5);
    assert_close(other->coefficient.value, plain->coefficient.value * 1e-9, 1e-6);
    assay_growth_free(plain);
    assay_growth_free(other);
}

/* Powers ever farther from n: it is rejected from p = 1 % on, and not before. */
static void rejected_below_one_percent(void **state)
{
    (void)state;
    static const double noise[] = {0.03, -0.04, 0.01, -0.02, 0.05, -0.01, 0.02};
    bool near = false;
    for (double exponent = 1; exponent < 1.3; exponent += 0.002) {
        double n[27], t[27];
        for (int i = 0; i < 27; i++) {
            n[i] = 100 << (i / 3);
            t[i] = pow(n[i], exponent) * (1 + noise[i % 7]);
        }
        assay_growth *growth = fit(n, t, 27);
        const assay_growth_candidate *linear = &growth->candidates[ASSAY_GROWTH_LINEAR - 1];
        assert_int_equal(linear->rejected, linear->p_value.value < 0.01);
        near = near || (linear->p_value.value > 0.003 && linear->p_value.value < 0.01);
        assay_growth_free(growth);
    }
    assert_true(near);
}

/* Repeats equal to the last digit: no clock is that good, and sizes that are off by half as much as
 * is believed of one do not refute a class. */
static void noise_has_a_least(void **state)
{
    (void)state;
    double n[27], t[27];
    for (int i = 0; i < 27; i++) {
        n[i] = 10 << (i / 3);
        t[i] = n[i] * (i / 3 % 2 == 0 ? 1.0003 : 0.9997);
    }
    assay_growth *growth = fit(n, t, 27);
    assert_close(growth->noise.value, 1e-3, 1e-12);
    assert_int_equal(growth->growth_class, ASSAY_GROWTH_LINEAR);
    assert_true(growth->conclusive);
    assay_growth_free(growth);
}

static void too_few_sizes(void **state)
{
    (void)state;
    static const double n[] = {10, 10, 20, 20}, t[] = {1, 1.1, 2, 2.1};
    for (size_t count = 0; count <= 4; count++) {
        assay_growth *growth = fit(n, t, count);
        assert_int_equal(growth->growth_class, ASSAY_GROWTH_UNKNOWN);
        assert_false(growth->conclusive);
        assert_non_null(strstr(growth->reason, "at least 3"));
        assert_int_equal(growth->exponent.validity, ASSAY_NOT_ENOUGH_DATA);
        assert_int_equal(assay_growth_predict(growth, 10).validity, ASSAY_NOT_ENOUGH_DATA);
        assert_null(assay_growth_class_name(growth->growth_class));
        for (int i = 0; i < ASSAY_GROWTH_CANDIDATES; i++) {
            assert_int_equal(growth->candidates[i].growth_class, i + 1);
            assert_int_equal(growth->candidates[i].p_value.validity, ASSAY_NOT_ENOUGH_DATA);
        }
        assay_growth_free(growth);
    }
}

/* Three or four sizes give a guess that says what it is. */
static void few_sizes_are_not_conclusive(void **state)
{
    (void)state;
    static const double n[] = {10, 100, 1000, 10000}, t[] = {1, 10.5, 98, 1010};
    for (size_t count = 3; count <= 4; count++) {
        assay_growth *growth = fit(n, t, count);
        assert_int_equal(growth->growth_class, ASSAY_GROWTH_LINEAR);
        assert_false(growth->conclusive);
        assert_non_null(strstr(growth->reason, "different sizes"));
        assert_close(growth->exponent.value, 1, 0.05);
        assert_int_equal(growth->low.validity, count == 3 ? ASSAY_NOT_ENOUGH_DATA : ASSAY_VALID);
        assert_int_equal(growth->high.validity, count == 3 ? ASSAY_NOT_ENOUGH_DATA : ASSAY_VALID);
        assay_growth_free(growth);
    }
}

/* Without growth it is the slope of the regression line of log t on log n, with Student's interval
 * at 97.5 %. */
static void exponent_of_no_growth(void **state)
{
    (void)state;
    static const double noise[] = {0.03, -0.04, 0.01, -0.02, 0.05, -0.01, 0.02};
    double n[18], t[18], x = 0, y = 0, xx = 0, xy = 0, squares = 0;
    for (int i = 0; i < 18; i++) {
        n[i] = 100 << (i / 2);
        t[i] = exp(noise[i % 7]);
        x += log(n[i]) / 18;
        y += log(t[i]) / 18;
    }
    for (int i = 0; i < 18; i++) {
        xx += pow(log(n[i]) - x, 2);
        xy += (log(n[i]) - x) * (log(t[i]) - y);
    }
    for (int i = 0; i < 18; i++)
        squares += pow(log(t[i]) - y - xy / xx * (log(n[i]) - x), 2);
    double reach = assay__stats_student_quantile(0.9875, 16) * sqrt(squares / 16 / xx);
    assay_growth *growth = fit(n, t, 18);
    assert_int_equal(growth->growth_class, ASSAY_GROWTH_CONSTANT);
    assert_close(growth->exponent.value, xy / xx, 1e-9);
    assert_close(growth->low.value, xy / xx - reach, 1e-9);
    assert_close(growth->high.value, xy / xx + reach, 1e-9);
    assert_close(growth->candidates[0].exponent + 1, 1, 0);
    assay_growth_free(growth);
}

/* Elsewhere by the profile of the power law, with its three parameters. */
static void interval_of_the_exponent(void **state)
{
    (void)state;
    double x[EXAMPLE_SIZES], y[EXAMPLE_SIZES], weight[EXAMPLE_SIZES], scratch[EXAMPLE_SIZES];
    double within = 0;
    for (size_t i = 0; i < EXAMPLE_SIZES; i++) {
        double both[] = {log(example_t[2 * i]), log(example_t[2 * i + 1])};
        x[i] = log(example_n[2 * i]);
        y[i] = 0.5 * (both[0] + both[1]);
        weight[i] = 2;
        within += 0.5 * pow(both[1] - both[0], 2);
    }
    assay__fit_points points = {x, y, weight, EXAMPLE_SIZES};
    assay__fit_curve curve = assay__fit_offset_power(&points, scratch);
    double variance = (curve.squares + within) / (EXAMPLE - 3);
    double limit = variance * pow(assay__stats_student_quantile(0.9875, EXAMPLE - 3), 2);
    assay__fit_range range =
        assay__fit_power_range(&points, &curve, curve.squares + limit, scratch);
    assay_growth *growth = fit(example_n, example_t, EXAMPLE);
    assert_close(growth->low.value, range.low, 1e-9);
    assert_close(growth->high.value, range.high, 1e-9);
    assay_growth_free(growth);
}

static void asking_for_nothing(void **state)
{
    (void)state;
    static const double three[] = {1, 2, 3};
    assay_growth *growth = fit(three, three, 3);
    assert_close(assay_growth_predict(growth, 0.5).value, 0.5, 1e-3);
    assert_int_equal(assay_growth_predict(growth, 0).validity, ASSAY_NOT_ENOUGH_DATA);
    assert_int_equal(assay_growth_predict(growth, -1).validity, ASSAY_NOT_ENOUGH_DATA);
    assay_growth_free(growth);
    assert_int_equal(assay_growth_fit(NULL, three, 3, NULL, &growth), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_growth_fit(three, NULL, 3, NULL, &growth), ASSAY_E_ARGUMENT);
    assert_int_equal(assay_growth_fit(three, three, 3, NULL, NULL), ASSAY_E_ARGUMENT);
    assert_null(assay_growth_class_name((assay_growth_class)-1));
    assert_null(assay_growth_class_name((assay_growth_class)(ASSAY_GROWTH_POWER + 1)));
    assert_string_equal(assay_growth_class_name(ASSAY_GROWTH_POWER), "power");
}

static void more_sizes_than_can_be_fitted(void **state)
{
    (void)state;
    enum { COUNT = ASSAY_GROWTH_MAX_SIZES + 1 };
    double *n = calloc(COUNT, sizeof *n);
    assert_non_null(n);
    for (size_t i = 0; i < COUNT; i++)
        n[i] = (double)i + 1;
    assay_error error = {0};
    assay_growth *growth = (assay_growth *)n; /* is not left alone */
    assert_int_equal(assay_growth_fit(n, n, COUNT, &error, &growth), ASSAY_E_LIMIT);
    assert_non_null(strstr(error.message, "16385 different sizes; at most 16384"));
    assert_null(growth);
    free(n);
}

static void times_that_are_none(void **state)
{
    (void)state;
    static const double bad[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        double good[] = {1, 2, 3}, broken[] = {1, bad[i], 3};
        assay_error error = {0};
        assay_growth *growth = NULL;
        assert_int_equal(assay_growth_fit(good, broken, 3, &error, &growth), ASSAY_E_ARGUMENT);
        assert_non_null(strstr(error.message, "time 1"));
        assert_int_equal(assay_growth_fit(broken, good, 3, &error, &growth), ASSAY_E_ARGUMENT);
        assert_non_null(strstr(error.message, "size 1"));
        assert_null(growth);
    }
}

/* Below n = 1 there is no log n; the others are fitted all the same. All times equal, all values
 * extreme: no NaN comes out. */
static void awkward_data(void **state)
{
    (void)state;
    static const double small[] = {0.1, 0.2, 0.5, 1, 2, 5, 10};
    static const double equal[] = {2, 2, 2, 2, 2, 2, 2};
    static const double huge[] = {1e-300, 1e-200, 1e-100, 1, 1e100, 1e200, 1e300};
    assay_growth *growth = fit(small, small, 7);
    assert_int_equal(growth->growth_class, ASSAY_GROWTH_LINEAR);
    const assay_growth_candidate *impossible = &growth->candidates[ASSAY_GROWTH_LOG - 1];
    assert_false(impossible->possible);
    assert_int_equal(impossible->p_value.validity, ASSAY_UNSUPPORTED);
    assert_true(impossible->relative_error == 0 && impossible->weight == 0);
    assay_growth_free(growth);
    growth = fit(small, equal, 7);
    assert_int_equal(growth->growth_class, ASSAY_GROWTH_CONSTANT);
    assert_close(growth->coefficient.value, 2, 1e-12);
    assert_true(growth->low.value <= 0 && 0 <= growth->high.value);
    assay_growth_free(growth);
    growth = fit(huge, huge, 7);
    assert_int_equal(growth->growth_class, ASSAY_GROWTH_LINEAR);
    assert_true(isfinite(growth->exponent.value));
    assay_growth_free(growth);
}

/* Time that falls with n is no class of growth, but a power of n it can be. */
static void falling_times(void **state)
{
    (void)state;
    double n[7], t[7];
    for (int i = 0; i < 7; i++) {
        n[i] = 1 << i;
        t[i] = 1 / n[i];
    }
    assay_growth *growth = fit(n, t, 7);
    assert_int_equal(growth->growth_class, ASSAY_GROWTH_POWER);
    assert_close(growth->exponent.value, -1, 1e-3);
    assay_growth_free(growth);
}

/* Two straight pieces: nothing fits, and the answer says so. */
static void growth_that_changes(void **state)
{
    (void)state;
    double n[30], t[30];
    for (int i = 0; i < 30; i++) {
        n[i] = 10 << (i / 3);
        t[i] = (n[i] < 300 ? n[i] : n[i] * n[i] / 300) * (1 + 0.01 * (i % 3));
    }
    assay_growth *growth = fit(n, t, 30);
    assert_false(growth->conclusive);
    assert_non_null(strstr(growth->reason, "no class fits"));
    assay_growth_free(growth);
}

/* Sizes that lie beside every curve: a free power would fit no better, so it is not the answer. */
static void nothing_fits_and_no_power_helps(void **state)
{
    (void)state;
    double n[27], t[27];
    for (int i = 0; i < 27; i++) {
        n[i] = 10 << (i / 3);
        t[i] = n[i] * (i / 3 % 2 == 0 ? 1.2 : 0.8) * (1 + 0.002 * (i % 3));
    }
    assay_growth *growth = fit(n, t, 27);
    assert_int_equal(growth->growth_class, ASSAY_GROWTH_LINEAR);
    assert_true(growth->candidates[ASSAY_GROWTH_LINEAR - 1].rejected);
    assert_false(growth->conclusive);
    assert_non_null(strstr(growth->reason, "no class fits, n comes nearest"));
    assay_growth_free(growth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_of_the_example),
        cmocka_unit_test(power_law_and_its_range),
        cmocka_unit_test(weights_count),
        cmocka_unit_test(offsets_of_all_sizes),
        cmocka_unit_test(exact_data),
        cmocka_unit_test(order_and_unit),
        cmocka_unit_test(rejected_below_one_percent),
        cmocka_unit_test(noise_has_a_least),
        cmocka_unit_test(too_few_sizes),
        cmocka_unit_test(few_sizes_are_not_conclusive),
        cmocka_unit_test(exponent_of_no_growth),
        cmocka_unit_test(interval_of_the_exponent),
        cmocka_unit_test(asking_for_nothing),
        cmocka_unit_test(more_sizes_than_can_be_fitted),
        cmocka_unit_test(times_that_are_none),
        cmocka_unit_test(awkward_data),
        cmocka_unit_test(falling_times),
        cmocka_unit_test(growth_that_changes),
        cmocka_unit_test(nothing_fits_and_no_power_helps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
