/* MLP and SIREN: the fast path compared with the reference, the reference with central differences;
 * the smallest shapes; training; and the description of the classes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "models/field/mlp.h"
#include "models/field/siren.h"
#include "tests/reference/reference.h"
#include "tests/unit/field_check.h"

typedef struct trial {
    assay__mlp_shape shape;
    int64_t rows;
} trial;

/* Rows around the block (244 / 48 / 192 at hidden 64 / 128 / 200), widths that no vector divides.
 */
static const trial trials[] = {
    {{1, 1, 1, 1, ASSAY__TANH, 0, 0}, 1},     {{2, 64, 1, 3, ASSAY__TANH, 0, 0}, 1000},
    {{2, 64, 1, 3, ASSAY__RELU, 0, 0}, 241},  {{3, 7, 2, 2, ASSAY__GELU, 0, 0}, 63},
    {{3, 7, 2, 1, ASSAY__SILU, 0, 0}, 64},    {{5, 33, 4, 4, ASSAY__SIGMOID, 0, 0}, 257},
    {{2, 128, 3, 2, ASSAY__GELU, 0, 0}, 97},  {{2, 200, 1, 2, ASSAY__SILU, 0, 0}, 193},
    {{40, 3, 50, 2, ASSAY__TANH, 0, 0}, 17},  {{2, 16, 1, 2, ASSAY__IDENTITY, 0, 0}, 300},
    {{2, 64, 1, 3, ASSAY__SINE, 30, 30}, 99}, {{1, 9, 3, 2, ASSAY__SINE, 12, 5}, 300},
};

static assay__neural_net *make(const assay__mlp_shape *shape, uint64_t seed)
{
    assay_error error = {0};
    assay__neural_net *mlp = NULL;
    if (shape->activation == ASSAY__SINE) {
        assay__siren_shape siren = {shape->input,         shape->hidden,      shape->output,
                                    shape->hidden_layers, shape->first_scale, shape->hidden_scale};
        assert_int_equal(assay__siren_new(&siren, seed, &error, &mlp), ASSAY_OK);
    } else {
        assert_int_equal(assay__mlp_new(shape, seed, &error, &mlp), ASSAY_OK);
    }
    return mlp;
}

static void check_against_reference(const trial *at)
{
    const assay__mlp_shape *shape = &at->shape;
    assay__neural_net *mlp = make(shape, 7);
    assay__parameters *parameters = &mlp->parameters;
    size_t outputs = (size_t)(at->rows * shape->output);
    float *x = uniform_floats((size_t)(at->rows * shape->input), 1, 1);
    float *target = uniform_floats(outputs, 1, 2);
    double *values = doubles_of(parameters->values, parameters->total);
    double *gradient = calloc(parameters->total, sizeof *gradient);
    double *truth = calloc(outputs, sizeof *truth), loss = 0;
    double expected = reference_mlp(shape, values, at->rows, x, target, truth, gradient);

    const float *y = NULL;
    assert_int_equal(assay__neural_net_forward(mlp, at->rows, x, NULL, &y), ASSAY_OK);
    assert_true(largest_error(y, truth, outputs) < 1e-5);
    for (int again = 0; again < 2; again++) /* gradients are overwritten, not added to */
        assert_int_equal(assay__neural_net_gradient(mlp, at->rows, x, target, NULL, &loss),
                         ASSAY_OK);
    assert_true(fabs(loss - expected) <= 1e-5 * expected);
    double error = largest_gradient_error(parameters, gradient);
    if (!(error < 3e-5)) {
        print_error("hidden %d, rows %d: gradients differ by %g\n", (int)shape->hidden,
                    (int)at->rows, error);
    }
    assert_true(error < 3e-5);
    assay__neural_net_free(mlp);
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
    return reference_mlp(&of->at->shape, values, of->at->rows, of->x, of->target, of->y, NULL);
}

/* Smooth activations only: a kink within the step would show in the difference. */
static void test_reference_gradient_is_the_derivative(void **state)
{
    (void)state;
    static const trial smooth[] = {{{3, 7, 2, 3, ASSAY__TANH, 0, 0}, 5},
                                   {{2, 5, 1, 2, ASSAY__GELU, 0, 0}, 4},
                                   {{2, 5, 2, 2, ASSAY__SILU, 0, 0}, 4},
                                   {{2, 5, 1, 2, ASSAY__SIGMOID, 0, 0}, 4},
                                   {{2, 6, 2, 2, ASSAY__SINE, 3, 2}, 4}};
    for (size_t i = 0; i < sizeof smooth / sizeof *smooth; i++) {
        const assay__mlp_shape *shape = &smooth[i].shape;
        assay__neural_net *mlp = make(shape, i);
        const assay__parameters *parameters = &mlp->parameters;
        double y[64], *values = doubles_of(parameters->values, parameters->total);
        double *gradient = calloc(parameters->total, sizeof *gradient);
        problem of = {&smooth[i], uniform_floats(64, 1, 3), uniform_floats(64, 1, 4), y};
        reference_mlp(shape, values, smooth[i].rows, of.x, of.target, y, gradient);
        for (uint64_t seed = 0; seed < 4; seed++) {
            double error = direction_error(reference_loss, &of, values, gradient, parameters->total,
                                           1e-5, seed);
            assert_true(error < 1e-8);
        }
        assay__neural_net_free(mlp);
        free((float *)of.x);
        free((float *)of.target);
        free(values);
        free(gradient);
    }
}

/* Shifting a row of x by d is the same as adding W_0 d to the first bias, so for one row
 * dx = W_0^T dbias_0; and rows do not touch each other. */
static void test_backward_reaches_the_input(void **state)
{
    (void)state;
    assay__mlp_shape shape = {3, 20, 2, 2, ASSAY__TANH, 0, 0};
    assay__neural_net *mlp = make(&shape, 3);
    enum { ROWS = 250 };
    float *x = uniform_floats(ROWS * 3, 1, 5), *dy = uniform_floats(ROWS * 2, 1, 6);
    float *dx = calloc(ROWS * 3, sizeof *dx);
    assert_int_equal(assay__neural_net_backward(mlp, ROWS, x, dy, NULL, dx), ASSAY_OK);
    const assay__parameters *parameters = &mlp->parameters;
    const float *weight = assay__parameters_value(parameters, 0);
    const float *dbias = assay__parameters_gradient(parameters, 1);
    for (int row = 0; row < ROWS; row += 83) {
        assert_int_equal(assay__neural_net_backward(mlp, 1, x + 3 * row, dy + 2 * row, NULL, NULL),
                         ASSAY_OK);
        for (int i = 0; i < 3; i++) {
            double expected = 0;
            for (int h = 0; h < 20; h++)
                expected += (double)weight[h * 3 + i] * (double)dbias[h];
            assert_true(fabs((double)dx[row * 3 + i] - expected) < 1e-5);
        }
    }
    assay__neural_net_free(mlp);
    free(x);
    free(dy);
    free(dx);
}

static void test_backward_of_the_squared_error_is_gradient(void **state)
{
    (void)state;
    assay__mlp_shape shape = {2, 17, 3, 2, ASSAY__GELU, 0, 0};
    assay__neural_net *mlp = make(&shape, 3);
    enum { ROWS = 300 };
    float *x = uniform_floats(ROWS * 2, 1, 5), *target = uniform_floats(ROWS * 3, 1, 6);
    float dy[ROWS * 3];
    double loss = 0;
    assert_int_equal(assay__neural_net_gradient(mlp, ROWS, x, target, NULL, &loss), ASSAY_OK);
    const assay__parameters *parameters = &mlp->parameters;
    double *gradient = doubles_of(parameters->gradients, parameters->total);
    const float *y = NULL;
    assert_int_equal(assay__neural_net_forward(mlp, ROWS, x, NULL, &y), ASSAY_OK);
    for (int i = 0; i < ROWS * 3; i++)
        dy[i] = 2 * (y[i] - target[i]) / (ROWS * 3);
    assert_int_equal(assay__neural_net_backward(mlp, ROWS, x, dy, NULL, NULL), ASSAY_OK);
    assert_true(largest_gradient_error(parameters, gradient) < 1e-5);
    assay__neural_net_free(mlp);
    free(x);
    free(target);
    free(gradient);
}

/* The example's variance is about 1/4, so these bounds are below 1 % of it. */
static void test_training_learns_a_function(void **state)
{
    (void)state;
    SKIP_IF_EMULATED("hundreds of steps take long there; test_models_field compares twenty");
    assert_true(train(&assay__mlp_class, (double[]){2, 32, 2, 1, 1, 500}, 800, 5e-3) < 1e-3);
    assert_true(train(&assay__mlp_class, (double[]){3, 32, 2, 2, 2, 500}, 800, 5e-3) < 2.5e-3);
    assert_true(train(&assay__siren_class, (double[]){2, 32, 2, 1, 5, 5, 500}, 300, 1e-3) < 1e-3);
}

static void test_same_seed_same_numbers(void **state)
{
    (void)state;
    double settings[] = {2, 32, 2, 1, 1, 500};
    double once = train(&assay__mlp_class, settings, 20, 1e-3);
    assert_true(once == train(&assay__mlp_class, settings, 20, 1e-3));
}

/* U(-b, b) has variance b^2 / 3, and no draw lies outside. */
static void check_draw(const assay__parameters *parameters, size_t index, double bound)
{
    const float *value = assay__parameters_value(parameters, index);
    int64_t count = assay_tensor_count(&parameters->list[index].value);
    double square = 0;
    for (int64_t i = 0; i < count; i++) {
        assert_true(fabs((double)value[i]) <= bound * 1.0001);
        square += (double)value[i] * (double)value[i];
    }
    assert_true(fabs(square / (double)count / (bound * bound / 3) - 1) < 0.1);
}

static void test_weights_are_drawn_as_documented(void **state)
{
    (void)state;
    assay__mlp_shape shape = {100, 200, 50, 2, ASSAY__TANH, 0, 0};
    assay__neural_net *mlp = make(&shape, 1);
    check_draw(&mlp->parameters, 0, 1 / sqrt(100));
    check_draw(&mlp->parameters, 2, 1 / sqrt(200));
    assay__neural_net_free(mlp);
    assay__mlp_shape sine = {100, 200, 50, 2, ASSAY__SINE, 10, 20};
    assay__neural_net *siren = make(&sine, 1);
    check_draw(&siren->parameters, 0, 1.0 / 100);
    check_draw(&siren->parameters, 2, sqrt(6.0 / 200) / 20);
    check_draw(&siren->parameters, 4, sqrt(6.0 / 200) / 20);
    assay__neural_net_free(siren);
}

static void test_class_describes_itself(void **state)
{
    (void)state;
    void *model = NULL;
    double settings[] = {2, 64, 3, 1, 30, 30, 1000};
    assert_int_equal(assay__siren_class.create(settings, 1, NULL, &model), ASSAY_OK);
    assay_tensor input = {.name = "input", .element = ASSAY_F32, .rank = 2, .shape = {10, 2}};
    int64_t sums[64] = {0};
    assert_int_equal(assay__siren_class.describe(model, &input, 1, add_flops, sums, NULL),
                     ASSAY_OK);
    assert_int_equal(sums[ASSAY_TERM_MATMUL], 2 * 10 * (2 * 64 + 2 * 64 * 64 + 64));
    assert_int_equal(sums[ASSAY_TERM_BIAS], 10 * (3 * 64 + 1));
    assert_int_equal(sums[ASSAY_TERM_SINE], 10 * 3 * 64);
    assert_int_equal(sums[ASSAY_TERM_MULTIPLY], 10 * 3 * 64);

    size_t count = 0;
    const assay_model_parameter *list = assay__siren_class.parameters(model, &count);
    assert_int_equal(count, 8);
    assert_string_equal(list[0].value.name, "layers.0.weight");
    assert_string_equal(list[7].value.name, "layers.3.bias");
    assay_tensor weights[8];
    for (size_t i = 0; i < count; i++)
        weights[count - 1 - i] = list[i].value; /* files hold them in any order */
    double found[] = {9, 9, 9, 9, 7, 8, 5};
    assert_int_equal(assay__siren_class.infer(weights, count, found, NULL), ASSAY_OK);
    assert_true(found[0] == 2 && found[1] == 64 && found[2] == 3 && found[3] == 1);
    assert_true(found[4] == 7 && found[5] == 8 && found[6] == 5);
    assay_model_memory memory;
    assay__siren_class.memory(model, &memory);
    assert_int_equal(memory.parameters, 4 * (2 * 64 + 64 + 2 * (64 * 64 + 64) + 64 + 1));
    assert_int_equal(memory.gradients, memory.parameters);
    assert_int_equal(memory.optimizer, 0);
    assay__siren_class.destroy(model);
}

static void test_bad_input_is_named(void **state)
{
    (void)state;
    assay_error error = {0};
    assay__neural_net *mlp = NULL;
    assert_int_equal(assay__mlp_new(&(assay__mlp_shape){.input = 2}, 1, &error, &mlp),
                     ASSAY_E_ARGUMENT);
    assert_non_null(strstr(error.message, "at least 1"));
    void *model = NULL;
    assert_int_equal(assay__mlp_class.create((double[]){2, 4, 1, 1, 1, 8}, 1, &error, &model),
                     ASSAY_OK);
    float data[8] = {0};
    assay_tensor input = {"input", ASSAY_F32, 2, {4, 3}, data}, output;
    assert_int_equal(assay__mlp_class.forward(model, &input, 1, &error, &output), ASSAY_E_ARGUMENT);
    assert_non_null(strstr(error.message, "'input' has 3 columns"));
    input.shape[0] = 0;
    input.shape[1] = 2;
    assert_int_equal(assay__mlp_class.forward(model, &input, 1, &error, &output), ASSAY_E_ARGUMENT);
    assert_non_null(strstr(error.message, "no rows"));
    input.shape[0] = 4;
    assay_tensor target = {"target", ASSAY_F32, 2, {4, 2}, data};
    double loss;
    assert_int_equal(assay__mlp_class.gradient(model, &input, 1, &target, &error, &loss),
                     ASSAY_E_ARGUMENT);
    assert_non_null(strstr(error.message, "(4, 1)"));
    assay_tensor foreign = {"fc.weight", ASSAY_F32, 2, {4, 2}, data};
    double settings[6];
    assert_int_equal(assay__mlp_class.infer(&foreign, 1, settings, &error), ASSAY_E_FORMAT);
    assert_non_null(strstr(error.message, "layers.0.weight"));
    assay__mlp_class.destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fast_path_is_the_reference),
        cmocka_unit_test(test_reference_gradient_is_the_derivative),
        cmocka_unit_test(test_backward_reaches_the_input),
        cmocka_unit_test(test_backward_of_the_squared_error_is_gradient),
        cmocka_unit_test(test_training_learns_a_function),
        cmocka_unit_test(test_same_seed_same_numbers),
        cmocka_unit_test(test_weights_are_drawn_as_documented),
        cmocka_unit_test(test_class_describes_itself),
        cmocka_unit_test(test_bad_input_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
