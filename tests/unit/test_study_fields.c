/* The study "fields": its functions, points and kept results. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "studies/fields/training.h"

static const assay__fields_function *function(const char *name)
{
    for (size_t i = 0; i < ASSAY__FIELDS_FUNCTIONS; i++)
        if (strcmp(assay__fields_functions[i].name, name) == 0)
            return &assay__fields_functions[i];
    fail_msg("no function %s", name);
    return NULL;
}

static void same(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void test_functions_stay_in_range(void **state)
{
    (void)state;
    for (size_t i = 0; i < ASSAY__FIELDS_FUNCTIONS; i++) {
        double low = INFINITY, high = -INFINITY;
        for (int a = 0; a <= 100; a++)
            for (int b = 0; b <= 100; b++) {
                double value = assay__fields_functions[i].value(a / 50.0 - 1, b / 50.0 - 1);
                low = fmin(low, value);
                high = fmax(high, value);
            }
        assert_true(low >= -1 && high <= 1);
        assert_true(high - low > 0.5);
    }
}

/* Values by hand; Franke's at his (0.5, 0.5) as NumPy gives it from the published formula. */
static void test_known_values(void **state)
{
    (void)state;
    same(function("saddle")->value(0.5, -1), -0.75, 1e-15);
    same(function("franke")->value(0, 0), 0.3257620892806842 / 1.25, 1e-12);
    same(function("waves")->value(0.25, 0.5), -1, 1e-15);
    same(function("chirp")->value(0, 0), 0, 1e-15);
    same(function("ripple")->value(0, 0), 1, 0);
    same(function("kink")->value(0.25, -0.25), -1, 0);
    same(function("front")->value(0.5, 0.4), 0, 1e-14);
    same(function("checkers")->value(-0.1, 0.1), -1, 0);
    same(function("spiral")->value(0, 0.5), cos(3.14159265358979323846 + 3), 1e-15);
}

static void test_points(void **state)
{
    (void)state;
    assay__fields_points points;
    double sum = 0, squares = 0;
    assert_int_equal(assay__fields_points_init(&points, 2000, 1, NULL), ASSAY_OK);
    for (int i = 0; i < 4000; i++) {
        assert_true(fabsf(points.x[i]) <= 1);
        sum += points.x[i];
        squares += points.x[i] * points.x[i];
    }
    assert_true(fabs(sum / 4000) < 0.05);
    assert_true(fabs(squares / 4000 - 1.0 / 3) < 0.03);
    assay__fields_points_evaluate(&points, function("kink"));
    for (int64_t i = 0; i < points.tests; i++)
        same(points.test_targets[i], fabsf(points.test_x[2 * i] + points.test_x[2 * i + 1]) - 1,
             1e-6);
    assay__fields_points_release(&points);
}

static void test_an_epoch_sees_every_point(void **state)
{
    (void)state;
    assay__fields_points points;
    assay_model *model = NULL;
    assay__random random;
    double loss = 0, seen = 0, given = 0;
    assay__random_init(&random, 3);
    assert_int_equal(assay__fields_points_init(&points, 300, 1, NULL), ASSAY_OK);
    assay__fields_points_evaluate(&points, function("saddle"));
    assert_int_equal(assay__fields_model_new(&assay__fields_models[0], 1, NULL, &model), ASSAY_OK);
    assert_int_equal(assay__fields_epoch(model, 1e-3, &points, &random, NULL, &loss), ASSAY_OK);
    for (int i = 0; i < 300; i++) {
        given += points.targets[i];
        seen += points.shuffled_y[i];
        same(function("saddle")->value(points.shuffled[2 * i], points.shuffled[2 * i + 1]),
             points.shuffled_y[i], 1e-6);
    }
    same(given, seen, 1e-4);
    assert_true(memcmp(points.targets, points.shuffled_y, 300 * sizeof(float)) != 0);
    assert_true(loss > 0 && isfinite(loss));
    assay_model_free(model);
    assay__fields_points_release(&points);
}

/* About as many parameters each: what the documentation says. */
static void test_parameter_counts(void **state)
{
    (void)state;
    static const uint64_t expected[] = {8577, 8577, 8424};
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS; m++) {
        assay_model *model = NULL;
        assert_int_equal(assay__fields_model_new(&assay__fields_models[m], 1, NULL, &model),
                         ASSAY_OK);
        assert_int_equal(assay_model_parameter_count(model), expected[m]);
        assay_model_free(model);
    }
}

static void test_results_are_kept(void **state)
{
    (void)state;
    char path[] = "/tmp/assay-fields-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    assay__fields_result result, again, longer;
    assert_int_equal(assay__fields_result_init(&result, 2, NULL), ASSAY_OK);
    assert_int_equal(assay__fields_result_init(&again, 2, NULL), ASSAY_OK);
    assert_int_equal(assay__fields_result_init(&longer, 3, NULL), ASSAY_OK);
    result.losses[0] = 0.1;
    result.losses[1] = 1.0 / 3;
    result.seconds[1] = 0.25;
    result.rmse = 0.5;
    result.parameters = 7;
    assert_int_equal(assay__fields_result_save(&result, path, NULL), ASSAY_OK);
    assert_int_equal(assay__fields_result_load(path, NULL, &again), ASSAY_OK);
    assert_memory_equal(again.losses, result.losses, 2 * sizeof(double));
    assert_memory_equal(again.seconds, result.seconds, 2 * sizeof(double));
    same(again.rmse, 0.5, 0);
    assert_int_equal(again.parameters, 7);
    assert_int_equal(assay__fields_result_load(path, NULL, &longer), ASSAY_E_FORMAT);
    assay__fields_result_release(&result);
    assay__fields_result_release(&again);
    assay__fields_result_release(&longer);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_stay_in_range),
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_an_epoch_sees_every_point),
        cmocka_unit_test(test_parameter_counts),
        cmocka_unit_test(test_results_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
