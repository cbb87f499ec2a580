/* KAN: splines compared with the recursion, the fast path with the reference, the reference with
 * central differences; training; and the description of the class. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "models/field/kan.h"
#include "models/field/spline.h"
#include "models/kernel/kernels.h"
#include "tests/reference/reference.h"
#include "tests/unit/field_check.h"

typedef struct trial {
    assay__kan_shape shape;
    int64_t rows;
} trial;

static const trial trials[] = {
    {{1, 1, 1, 0, 1, 1, false}, 1},  {{2, 8, 1, 1, 5, 3, true}, 1000},
    {{3, 7, 2, 2, 4, 2, true}, 257}, {{2, 5, 3, 1, 7, 1, false}, 63},
    {{2, 4, 2, 2, 3, 4, true}, 33},  {{1, 3, 1, 1, 20, 5, false}, 100},
    {{5, 1, 2, 1, 1, 3, true}, 40},  {{20, 60, 3, 1, 3, 3, true}, 50},
};

static assay__neural_net *make(const assay__kan_shape *shape, uint64_t seed)
{
    assay_error error = {0};
    assay__neural_net *kan = NULL;
    assert_int_equal(assay__kan_new(shape, seed, &error, &kan), ASSAY_OK);
    assay__parameters *parameters = &kan->parameters;
    if (shape->scaler) { /* as drawn they are all 1, where a mistake could hide */
        assay__random random;
        assay__random_init(&random, seed);
        for (size_t i = 2; i < parameters->count; i += 3)
            assay__parameters_uniform(parameters, i, 2, &random);
    }
    return kan;
}

static void check_against_reference(const trial *at)
{
    const assay__kan_shape *shape = &at->shape;
    assay__neural_net *kan = make(shape, 7);
    assay__parameters *parameters = &kan->parameters;
    size_t outputs = (size_t)(at->rows * shape->output);
    float *x = uniform_floats((size_t)(at->rows * shape->input), 1.9F, 1); /* and beyond the grid */
    float *target = uniform_floats(outputs, 1, 2);
    double *values = doubles_of(parameters->values, parameters->total);
    double *gradient = calloc(parameters->total, sizeof *gradient);
    double *truth = calloc(outputs, sizeof *truth), loss = 0;
    double expected = reference_kan(shape, values, at->rows, x, target, truth, gradient);

    const float *y = NULL;
    assert_int_equal(assay__neural_net_forward(kan, at->rows, x, NULL, &y), ASSAY_OK);
    double error = largest_error(y, truth, outputs);
    for (int again = 0; again < 2; again++) /* gradients are overwritten, not added to */
        assert_int_equal(assay__neural_net_gradient(kan, at->rows, x, target, NULL, &loss),
                         ASSAY_OK);
    double gradient_error = largest_gradient_error(parameters, gradient);
    if (!(error < 1e-5) || !(gradient_error < 3e-5)) {
        print_error("grid %d, order %d, rows %d: output differs by %g, gradients by %g\n",
                    (int)shape->grid, (int)shape->order, (int)at->rows, error, gradient_error);
    }
    assert_true(error < 1e-5 && gradient_error < 3e-5);
    assert_true(fabs(loss - expected) <= 1e-5 * expected);
    assay__neural_net_free(kan);
    free(x);
    free(target);
    free(values);
    free(gradient);
    free(truth);
}

static void test_fast_path_is_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
        check_against_reference(&trials[i]);
}

typedef struct problem {
    const trial *at;
    const float *x, *target;
    double *y;
} problem;

static double reference_loss(void *context, const double *values)
{
    problem *of = context;
    return reference_kan(&of->at->shape, values, of->at->rows, of->x, of->target, of->y, NULL);
}

/* From order 3 on: lower ones have kinks in their slope, which the difference would see. */
static void test_reference_gradient_is_the_derivative(void **state)
{
    (void)state;
    static const trial smooth[] = {{{2, 3, 2, 1, 4, 3, true}, 5},
                                   {{2, 3, 1, 2, 3, 3, false}, 5},
                                   {{1, 3, 2, 1, 3, 4, true}, 5},
                                   {{1, 3, 2, 1, 2, 5, true}, 5}};
    for (size_t i = 0; i < sizeof smooth / sizeof *smooth; i++) {
        assay__neural_net *kan = make(&smooth[i].shape, i);
        const assay__parameters *parameters = &kan->parameters;
        double y[64], *values = doubles_of(parameters->values, parameters->total);
        double *gradient = calloc(parameters->total, sizeof *gradient);
        problem of = {&smooth[i], uniform_floats(64, 1, 3), uniform_floats(64, 1, 4), y};
        reference_kan(&smooth[i].shape, values, smooth[i].rows, of.x, of.target, y, gradient);
        for (uint64_t seed = 0; seed < 4; seed++) {
            assert_true(direction_error(reference_loss, &of, values, gradient, parameters->total,
                                        1e-5, seed) < 1e-7);
        }
        assay__neural_net_free(kan);
        free((float *)of.x);
        free((float *)of.target);
        free(values);
        free(gradient);
    }
}

/* In a network of two layers the gradient by the first layer's output is that by its input, so
 * central differences in float over x itself are the check of dx that shares nothing with it. */
static void test_backward_reaches_the_input(void **state)
{
    (void)state;
    for (int64_t order = 1; order <= ASSAY__KAN_MOST_ORDER; order++) {
        assay__kan_shape shape = {2, 6, 1, 1, 4, order, true};
        assay__neural_net *kan = make(&shape, 3);
        enum { ROWS = 40 };
        float *x = uniform_floats(ROWS * 2, 1, 5), dx[ROWS * 2], dy[ROWS], above[ROWS];
        for (int i = 0; i < ROWS; i++)
            dy[i] = 1;
        assert_int_equal(assay__neural_net_backward(kan, ROWS, x, dy, NULL, dx), ASSAY_OK);
        const float step = 1e-3F, *y = NULL;
        int close = 0;
        for (int i = 0; i < ROWS; i++)
            x[2 * i + 1] += step;
        assert_int_equal(assay__neural_net_forward(kan, ROWS, x, NULL, &y), ASSAY_OK);
        memcpy(above, y, sizeof above);
        for (int i = 0; i < ROWS; i++)
            x[2 * i + 1] -= 2 * step;
        assert_int_equal(assay__neural_net_forward(kan, ROWS, x, NULL, &y), ASSAY_OK);
        for (int i = 0; i < ROWS; i++)
            close += fabsf((above[i] - y[i]) / (2 * step) - dx[2 * i + 1]) < 5e-3F;
        assert_true(close >= (order == 1 ? ROWS - 4 : ROWS)); /* of order 1 some straddle a knot */
        assay__neural_net_free(kan);
        free(x);
    }
}

/* Inside [-1, 1] the functions add up to 1, their slopes to 0, wherever the value lies. */
static void test_splines_are_a_partition_of_one(void **state)
{
    (void)state;
    for (int64_t order = 1; order <= ASSAY__KAN_MOST_ORDER; order++) {
        for (int64_t grid = 1; grid <= 50; grid += 7) {
            assay__spline spline = {grid, order};
            enum { COUNT = 48 };
            float x[COUNT], basis[64 * COUNT], ones[64 * COUNT], slope[COUNT] = {0};
            for (int i = 0; i < COUNT; i++)
                x[i] = -1 + 2 * ((float)i + 0.37F) / COUNT;
            for (int i = 0; i < 64 * COUNT; i++)
                ones[i] = 1;
            assay__spline_basis(spline.order, spline.grid, COUNT, x, basis, COUNT);
            assay__spline_backward(spline.order, spline.grid, COUNT, x, ones, COUNT, slope);
            for (int i = 0; i < COUNT; i++) {
                float sum = 0;
                for (int64_t c = 0; c < assay__spline_functions(spline); c++) {
                    sum += basis[c * COUNT + i];
                    assert_true(basis[c * COUNT + i] >= -1e-6F);
                }
                assert_true(fabsf(sum - 1) < 2e-6F);
                assert_true(fabsf(slope[i]) < 1e-5F * (float)grid);
            }
        }
    }
}

static void test_far_away_only_the_base_is_left(void **state)
{
    (void)state;
    assay__spline spline = {5, 3};
    enum { COUNT = 16 };
    float x[COUNT] = {1e30F, -1e30F, INFINITY, -INFINITY, 2.3F, -2.3F, 2.201F, -2.201F, NAN};
    float basis[8 * COUNT], ones[8 * COUNT], slope[COUNT] = {0};
    for (int i = 9; i < COUNT; i++)
        x[i] = (float)i;
    for (int i = 0; i < 8 * COUNT; i++)
        ones[i] = 1;
    assay__spline_basis(spline.order, spline.grid, COUNT, x, basis, COUNT);
    assay__spline_backward(spline.order, spline.grid, COUNT, x, ones, COUNT, slope);
    for (int i = 0; i < 8 * COUNT; i++)
        assert_true(basis[i] == 0);
    for (int i = 0; i < COUNT; i++)
        assert_true(slope[i] == 0);
}

/* The example's variance is about 1/4, so this bound is below 1 % of it. */
static void test_training_learns_a_function(void **state)
{
    (void)state;
    SKIP_IF_EMULATED("hundreds of steps take long there; test_models_field compares twenty");
    double settings[] = {2, 8, 1, 1, 5, 3, 1, 500};
    assert_true(train(&assay__kan_class, settings, 800, 1e-2) < 1e-3);
    assert_true(train(&assay__kan_class, settings, 10, 1e-2) ==
                train(&assay__kan_class, settings, 10, 1e-2));
    assert_true(train(&assay__kan_class, (double[]){2, 8, 1, 2, 8, 2, 0, 500}, 800, 1e-2) < 2e-3);
}

static void test_class_describes_itself(void **state)
{
    (void)state;
    void *model = NULL;
    double settings[] = {2, 8, 1, 1, 5, 3, 1, 1000};
    assert_int_equal(assay__kan_class.create(settings, 1, NULL, &model), ASSAY_OK);
    assay_tensor input = {.name = "input", .element = ASSAY_F32, .rank = 2, .shape = {10, 2}};
    int64_t sums[64] = {0};
    assert_int_equal(assay__kan_class.describe(model, &input, 1, add_flops, sums, NULL), ASSAY_OK);
    assert_int_equal(sums[ASSAY_TERM_MATMUL], 2 * 10 * (2 * 9 * 8 + 8 * 9 * 1));
    assert_int_equal(sums[ASSAY_TERM_SPLINE], 10 * (2 + 8) * 8);
    assert_int_equal(sums[ASSAY_TERM_SIGMOID], 10 * (2 + 8));
    assert_int_equal(sums[ASSAY_TERM_ADD], 10 * (8 + 1));
    assert_int_equal(sums[ASSAY_TERM_MULTIPLY], 10 * (2 + 8) + (2 * 8 + 8) * 8);

    size_t count = 0;
    const assay_model_parameter *list = assay__kan_class.parameters(model, &count);
    assert_int_equal(count, 6);
    assert_string_equal(list[1].value.name, "layers.0.spline_weight");
    assert_string_equal(list[5].value.name, "layers.1.spline_scaler");
    assay_tensor weights[6];
    for (size_t i = 0; i < count; i++)
        weights[i] = list[i].value;
    double found[] = {9, 9, 9, 9, 9, 2, 0, 5};
    assert_int_equal(assay__kan_class.infer(weights, count, found, NULL), ASSAY_OK);
    double expected[] = {2, 8, 1, 1, 6, 2, 1, 5}; /* the order given stays, the grid follows it */
    assert_memory_equal(found, expected, sizeof expected);
    assay_tensor few = {"layers.0.spline_weight", ASSAY_F32, 3, {4, 2, 3}, NULL};
    assert_int_equal(assay__kan_class.infer(&few, 1, settings, NULL), ASSAY_OK);
    assert_true(settings[4] == 1 && settings[5] == 2); /* order 3 has at least 4 coefficients */
    assay_model_memory memory;
    assay__kan_class.memory(model, &memory);
    assert_int_equal(memory.parameters, 4 * (2 * 8 + 8) * 10);
    assay__kan_class.destroy(model);
}

static void test_bad_input_is_named(void **state)
{
    (void)state;
    assay_error error = {0};
    assay__neural_net *kan = NULL;
    assay__kan_shape shape = {2, 8, 1, 1, 5, 6, true};
    assert_int_equal(assay__kan_new(&shape, 1, &error, &kan), ASSAY_E_ARGUMENT);
    assert_non_null(strstr(error.message, "order 6"));
    shape.order = 3;
    shape.grid = 0;
    assert_int_equal(assay__kan_new(&shape, 1, &error, &kan), ASSAY_E_ARGUMENT);
    assert_non_null(strstr(error.message, "grid 0"));
    assay_tensor coefficients = {"layers.0.spline_weight", ASSAY_F32, 3, {4, 2, 1}, NULL};
    double settings[] = {2, 8, 1, 1, 5, 3, 1, 1000};
    assert_int_equal(assay__kan_class.infer(&coefficients, 1, settings, &error), ASSAY_E_FORMAT);
    assert_non_null(strstr(error.message, "holds 1 coefficients"));
    assert_int_equal(assay__kan_class.infer(&coefficients, 0, settings, &error), ASSAY_E_FORMAT);
    assert_non_null(strstr(error.message, "layers.0.spline_weight"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fast_path_is_the_reference),
        cmocka_unit_test(test_reference_gradient_is_the_derivative),
        cmocka_unit_test(test_backward_reaches_the_input),
        cmocka_unit_test(test_splines_are_a_partition_of_one),
        cmocka_unit_test(test_far_away_only_the_base_is_left),
        cmocka_unit_test(test_training_learns_a_function),
        cmocka_unit_test(test_class_describes_itself),
        cmocka_unit_test(test_bad_input_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
