/* The two models of models/pde as classes: their examples, gradients and training. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "assay/model.h"
#include "models/pde/burgers_surrogate.h"
#include "models/pde/heat.h"

static assay_model *make(const char *name)
{
    const assay_model_class *class_ = NULL;
    assay_model *model = NULL;
    assay_error error;
    assert_int_equal(assay_model_find(name, &error, &class_), ASSAY_OK);
    assert_int_equal(assay_model_new(class_, NULL, 42, &error, &model), ASSAY_OK);
    return model;
}

/* The directional derivative along every single parameter of the first tensor, by differences. */
static void check_gradient(const char *name, float h, double tolerance)
{
    assay_model *model = make(name);
    assay_tensor input, target;
    assay_error error;
    double loss, up, down;
    assert_int_equal(assay_model_example(model, 3, &error, &input, &target), ASSAY_OK);
    assert_int_equal(assay_model_gradient(model, &input, 1, &target, &error, &loss), ASSAY_OK);
    size_t count;
    const assay_model_parameter *parameter = assay_model_parameters(model, &count);
    float *values = parameter[0].value.data, gradient[8];
    memcpy(gradient, parameter[0].gradient, sizeof gradient);
    float most = 0;
    for (int i = 0; i < 8; i++)
        most = fmaxf(most, fabsf(gradient[i]));
    for (int i = 0; i < 8; i++) {
        float kept = values[i];
        values[i] = kept + h;
        assert_int_equal(assay_model_gradient(model, &input, 1, &target, &error, &up), ASSAY_OK);
        values[i] = kept - h;
        assert_int_equal(assay_model_gradient(model, &input, 1, &target, &error, &down), ASSAY_OK);
        values[i] = kept;
        double slope = (up - down) / (2 * (double)h);
        assert_true(fabs(slope - (double)gradient[i]) <= tolerance * (double)most);
    }
    assay_model_free(model);
}

static void test_gradients_by_differences(void **state)
{
    (void)state;
    check_gradient("heat", 0x1p-10F, 1e-5);
    check_gradient("burgers_surrogate", 0x1p-6F, 2e-2);
}

/* Forward in training and in evaluation agree with the loss, and a step with shapes seen before
 * leaves the memory as it was. */
static void check_steps(const char *name, double rate, int steps, double fall)
{
    assay_model *model = make(name);
    assay_tensor input, target, output;
    assay_error error;
    double first = 0, loss = 0;
    assay_model_memory before, after;
    assert_int_equal(assay_model_example(model, 3, &error, &input, &target), ASSAY_OK);
    assert_int_equal(assay_model_forward(model, &input, 1, &error, &output), ASSAY_OK);
    assert_int_equal(assay_tensor_count(&output), assay_tensor_count(&target));
    double sum = 0;
    for (int64_t i = 0; i < assay_tensor_count(&output); i++) {
        double off = (double)((float *)output.data)[i] - (double)((float *)target.data)[i];
        sum += off * off / (double)assay_tensor_count(&output);
    }
    for (int i = 0; i < steps; i++) {
        assert_int_equal(assay_model_gradient(model, &input, 1, &target, &error, &loss), ASSAY_OK);
        assert_int_equal(assay_model_update(model, rate, &error), ASSAY_OK);
        if (i == 0) {
            first = loss;
            assert_int_equal(assay_model_memory_now(model, &error, &before), ASSAY_OK);
        }
    }
    assert_true(fabs(sum - first) <= 1e-5 * first);
    print_message("%s: loss %.2e, after %d steps %.2e\n", name, first, steps, loss);
    assert_true(loss < fall * first);
    assert_int_equal(assay_model_memory_now(model, &error, &after), ASSAY_OK);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(after.parameters, 4 * assay_model_parameter_count(model));
    assert_int_equal(after.optimizer, 2 * after.parameters);
    assay_model_free(model);
}

static void test_training(void **state)
{
    (void)state;
    check_steps("heat", 0.02, 300, 1e-3);
    check_steps("burgers_surrogate", 1e-3, 200, 0.05);
}

/* Trained on its example, the heat model finds the conductivity the example was made with. */
static void test_heat_finds_its_example(void **state)
{
    (void)state;
    assay_model *model = make("heat");
    assay_tensor input, target;
    assay_error error;
    double loss;
    assert_int_equal(assay_model_example(model, 3, &error, &input, &target), ASSAY_OK);
    for (int i = 0; i < 1500; i++) {
        assert_int_equal(assay_model_gradient(model, &input, 1, &target, &error, &loss), ASSAY_OK);
        assert_int_equal(assay_model_update(model, i < 1000 ? 0.02 : 0.002, &error), ASSAY_OK);
    }
    size_t count;
    const float *found = assay_model_parameters(model, &count)[0].value.data;
    for (int i = 0; i < 8; i++)
        assert_true(fabs((double)found[i] - 0.5 * sin(2 * M_PI * i / 7)) < 0.01);
    assay_model_free(model);
}

static void add_operations(void *context, const assay_term *operation)
{
    int64_t *total = context;
    int64_t each = operation->kind == ASSAY_TERM_MATMUL
                       ? 2 * operation->m * operation->k * operation->n
                       : operation->m * operation->n * (operation->k == 0 ? 1 : operation->k);
    *total += operation->count * each;
}

static void test_descriptions(void **state)
{
    (void)state;
    const struct {
        const char *name;
        int64_t operations;
    } cases[] = {
        {"heat", 13 * 65 + 40 * 16 * 64 * 9},
        /* 64 rows: three matrix products, three biases, two activations */
        {"burgers_surrogate", 64 * (2 * (64 * 128 + 128 * 128 + 128 * 64) + 128 + 128 + 64 + 256)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_model *model = make(cases[i].name);
        assay_tensor input, target;
        assay_error error;
        int64_t total = 0;
        assert_int_equal(assay_model_example(model, 3, &error, &input, &target), ASSAY_OK);
        assert_int_equal(assay_model_describe(model, &input, 1, add_operations, &total, &error),
                         ASSAY_OK);
        assert_int_equal(total, cases[i].operations);
        assay_model_free(model);
    }
}

static void test_wrong_shapes_are_named(void **state)
{
    (void)state;
    const char *const names[] = {"heat", "burgers_surrogate"};
    for (int i = 0; i < 2; i++) {
        assay_model *model = make(names[i]);
        float data[63 * 2] = {0};
        assay_tensor input = {.element = ASSAY_F32, .rank = 2, .shape = {2, 63}, .data = data};
        assay_tensor output, target;
        assay_error error;
        double loss;
        assert_int_equal(assay_model_forward(model, &input, 1, &error, &output), ASSAY_E_ARGUMENT);
        assert_non_null(strstr(error.message, "63"));
        assert_int_equal(assay_model_example(model, 3, &error, &input, &target), ASSAY_OK);
        target.shape[0]--;
        assert_int_equal(assay_model_gradient(model, &input, 1, &target, &error, &loss),
                         ASSAY_E_ARGUMENT);
        assert_non_null(strstr(error.message, "target"));
        assay_model_free(model);
    }
}

/* The study's interface: held-out data are learnt too, and the same seed gives the same numbers. */
static void test_surrogate_learns_the_solver(void **state)
{
    (void)state;
    const assay__burgers_surrogate_shape shape = {.data = {32, 3, 1, 0.02, 0.2},
                                                  .hidden = 64,
                                                  .hidden_layers = 2,
                                                  .samples = 500,
                                                  .held_out = 100,
                                                  .batch = 50};
    double held_out[2], start, relative;
    for (int twice = 0; twice < 2; twice++) {
        assay__burgers_surrogate *surrogate = NULL;
        assay_error error;
        assert_int_equal(assay__burgers_surrogate_new(&shape, 1, &error, &surrogate), ASSAY_OK);
        for (int64_t i = 0; i < shape.samples + shape.held_out; i++)
            assay__burgers_surrogate_make(surrogate, i);
        assert_int_equal(assay__burgers_surrogate_batches(surrogate), 10);
        assert_int_equal(assay__burgers_surrogate_evaluate(surrogate, &error, &start, &relative),
                         ASSAY_OK);
        assert_true(relative > 0.8);
        for (int epoch = 0; epoch < 30; epoch++) {
            assay__burgers_surrogate_shuffle(surrogate);
            for (int64_t b = 0; b < 10; b++) {
                double loss;
                assert_int_equal(assay__burgers_surrogate_train(surrogate, b, 2e-3, &error, &loss),
                                 ASSAY_OK);
            }
        }
        assert_int_equal(
            assay__burgers_surrogate_evaluate(surrogate, &error, &held_out[twice], &relative),
            ASSAY_OK);
        print_message("held out: %.2e, relative %.3f\n", held_out[twice], relative);
        assert_true(relative < 0.15);
        assay__burgers_surrogate_free(surrogate);
    }
    assert_true(held_out[0] == held_out[1]);
    assay__burgers_surrogate_free(NULL);
}

/* A net of zeros answers 0 to everything, and at a rate of 0 it stays so: an epoch's losses are the
 * mean squares of all samples, each once, whatever their order and however they are turned. */
static void test_an_epoch_sees_every_sample_once(void **state)
{
    (void)state;
    const assay__burgers_surrogate_shape shape = {{16, 3, 1, 0.02, 0.2}, 8, 1, 40, 1, 5};
    assay__burgers_surrogate *surrogate = NULL;
    assay_error error;
    assert_int_equal(assay__burgers_surrogate_new(&shape, 1, &error, &surrogate), ASSAY_OK);
    for (int64_t i = 0; i < shape.samples + shape.held_out; i++)
        assay__burgers_surrogate_make(surrogate, i);
    assay__parameters *weights = &assay__burgers_surrogate_net(surrogate)->parameters;
    memset(weights->values, 0, weights->total * sizeof *weights->values);
    double sums[3] = {0}, first[3];
    for (int epoch = 0; epoch < 3; epoch++) {
        for (int64_t b = 0; b < assay__burgers_surrogate_batches(surrogate); b++) {
            double loss;
            assert_int_equal(assay__burgers_surrogate_train(surrogate, b, 0, &error, &loss),
                             ASSAY_OK);
            sums[epoch] += loss;
            first[epoch] = b == 0 ? loss : first[epoch];
        }
        assay__burgers_surrogate_shuffle(surrogate);
    }
    assert_true(fabs(sums[1] / sums[0] - 1) < 1e-6 && fabs(sums[2] / sums[0] - 1) < 1e-6);
    assert_true(first[0] != first[1] && first[1] != first[2]);
    assay__burgers_surrogate_free(surrogate);
}

static void test_surrogate_settings_are_checked(void **state)
{
    (void)state;
    const assay__burgers_surrogate_shape good = {{32, 3, 1, 0.02, 0.2}, 8, 1, 10, 5, 5};
    assay__burgers_surrogate_shape bad[5] = {good, good, good, good, good};
    const char *const named[5] = {"snapshot", "held-out", "batch", "viscosity", "hidden"};
    bad[0].data.snapshots = 2;
    bad[1].held_out = 0;
    bad[2].batch = 11;
    bad[3].data.viscosity = 0;
    bad[4].hidden = 0;
    for (int i = 0; i < 5; i++) {
        assay__burgers_surrogate *surrogate = NULL;
        assay_error error;
        assert_int_equal(assay__burgers_surrogate_new(&bad[i], 1, &error, &surrogate),
                         ASSAY_E_ARGUMENT);
        assert_non_null(strstr(error.message, named[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients_by_differences),
        cmocka_unit_test(test_training),
        cmocka_unit_test(test_heat_finds_its_example),
        cmocka_unit_test(test_descriptions),
        cmocka_unit_test(test_wrong_shapes_are_named),
        cmocka_unit_test(test_surrogate_learns_the_solver),
        cmocka_unit_test(test_an_epoch_sees_every_sample_once),
        cmocka_unit_test(test_surrogate_settings_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
