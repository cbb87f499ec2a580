/* The training of models: losses and optimizers compared with values computed by hand and with
 * finite differences; dropout and its seed within a profiling context. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "assay/profile.h"
#include "models/kernel/loss.h"

static void assert_close(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance * fmax(1, fabs(expected))))
        fail_msg("%.9g is not %.9g", value, expected);
}

/* torch.nn.functional on y = [[0.5, -1, 2], [0, 3, -0.25]], t = [[1, 0, 0], [0.25, 0.5, 0.25]] */
static void test_losses_are_those_of_pytorch(void **state)
{
    (void)state;
    const float y[] = {0.5F, -1, 2, 0, 3, -0.25F}, t[] = {1, 0, 0, 0.25F, 0.5F, 0.25F};
    float dy[6];
    assert_close(assay__loss(ASSAY_LOSS_MSE, 2, 3, y, t, dy), 1.96875, 1e-6);
    assert_close(assay__loss(ASSAY_LOSS_L1, 2, 3, y, t, dy), 1.125, 1e-6);
    assert_close(dy[1], -1.0 / 6, 1e-6);
    double bce = 0, rows = 0;
    for (int i = 0; i < 6; i++)
        bce += log(1 + exp(y[i])) - t[i] * y[i];
    assert_close(assay__loss(ASSAY_LOSS_BINARY_CROSS_ENTROPY, 2, 3, y, t, dy), bce / 6, 1e-6);
    assert_close(dy[4], (1 / (1 + exp(-3.0)) - 0.5) / 6, 1e-6);
    for (int r = 0; r < 2; r++) {
        double total = exp(y[3 * r]) + exp(y[3 * r + 1]) + exp(y[3 * r + 2]);
        for (int i = 0; i < 3; i++)
            rows -= t[3 * r + i] * (y[3 * r + i] - log(total));
    }
    assert_close(assay__loss(ASSAY_LOSS_CROSS_ENTROPY, 2, 3, y, t, dy), rows / 2, 1e-6);
    const float far[] = {800, -800}, none[] = {0, 0}, first[] = {1, 0};
    assert_close(assay__loss(ASSAY_LOSS_BINARY_CROSS_ENTROPY, 1, 2, far, none, dy), 400, 1e-6);
    assert_close(assay__loss(ASSAY_LOSS_CROSS_ENTROPY, 1, 2, far, first, dy), 0, 1e-6);
}

static void test_slopes_are_differences(void **state)
{
    (void)state;
    const float t[] = {1, 0, 0, 0.25F, 0.5F, 0.25F};
    for (int loss = ASSAY_LOSS_MSE; loss <= ASSAY_LOSS_CROSS_ENTROPY; loss++)
        for (int i = 0; i < 6; i++) {
            float y[] = {0.5F, -1, 2, 0, 3, -0.75F}, dy[6], scratch[6];
            assay__loss((assay_loss)loss, 2, 3, y, t, dy);
            const float at = y[i], step = 1e-2F;
            y[i] = at + step;
            double above = assay__loss((assay_loss)loss, 2, 3, y, t, scratch);
            y[i] = at - step;
            double below = assay__loss((assay_loss)loss, 2, 3, y, t, scratch);
            assert_close(dy[i], (above - below) / (2 * (double)step), 1e-3);
        }
}

typedef struct subject {
    assay_model *model;
    assay_tensor inputs[4], target;
    assay_profile_target profile;
} subject;

/* A small model of the class, whose option "dropout" is 0.5 where it has one. */
static void make(subject *made, const char *name)
{
    const assay_model_class *class_ = NULL;
    double settings[32];
    static const struct {
        const char *name;
        double value;
    } small[] = {{"hidden-dim", 8}, {"num-layers", 2}, {"num-heads", 2}, {"ffn-dim", 8},
                 {"num-nodes", 12}, {"num-edges", 24}, {"dropout", 0.5}, {"seq-len", 4},
                 {"batch-size", 3}, {"output-dim", 3}};
    *made = (subject){0};
    assert_int_equal(assay_model_find(name, NULL, &class_), ASSAY_OK);
    assert_true(class_->option_count <= 32 && class_->input_count <= 4);
    for (size_t i = 0; i < class_->option_count; i++) {
        settings[i] = class_->options[i].initial;
        for (size_t k = 0; k < sizeof small / sizeof *small; k++)
            if (strcmp(class_->options[i].name, small[k].name) == 0)
                settings[i] = small[k].value;
    }
    assert_int_equal(assay_model_new(class_, settings, 7, NULL, &made->model), ASSAY_OK);
    assert_int_equal(assay_model_example(made->model, 7, NULL, made->inputs, &made->target),
                     ASSAY_OK);
    made->profile = (assay_profile_target)ASSAY_PROFILE_TARGET_INIT;
    made->profile.model = made->model;
    made->profile.inputs = made->inputs;
    made->profile.target = &made->target;
}

static double gradient(subject *made)
{
    double loss = 0;
    assay_error error = {0};
    if (assay_model_gradient(made->model, made->inputs,
                             assay_model_class_of(made->model)->input_count, &made->target, &error,
                             &loss) != ASSAY_OK)
        fail_msg("%s", error.message);
    return loss;
}

static const char *const classes[] = {"mlp", "siren", "kan", "lstm", "graph_transformer"};
enum { CLASSES = sizeof classes / sizeof *classes };

/* Along its own gradient the loss falls by the square of it. */
static void test_models_train_by_the_loss_that_is_set(void **state)
{
    (void)state;
    for (size_t c = 0; c < CLASSES; c++)
        for (int loss = ASSAY_LOSS_MSE; loss <= ASSAY_LOSS_CROSS_ENTROPY; loss++) {
            subject made;
            make(&made, classes[c]);
            assay_model_training *training = assay_model_training_of(made.model);
            assert_non_null(training);
            training->loss = (assay_loss)loss;
            training->optimizer = ASSAY_OPTIMIZER_SGD;
            double before = gradient(&made), square = 0;
            size_t count = 0;
            const assay_model_parameter *list = assay_model_parameters(made.model, &count);
            for (size_t p = 0; p < count; p++)
                for (int64_t i = 0; i < assay_tensor_count(&list[p].value); i++)
                    square += pow(((const float *)list[p].gradient)[i], 2);
            double rate = 1e-3 * fmin(1, fabs(before)) / (square + 1e-12);
            assert_int_equal(assay_model_update(made.model, rate, NULL), ASSAY_OK);
            double fell = before - gradient(&made);
            if (!(fell > 0.8 * rate * square && fell < 1.2 * rate * square))
                fail_msg("%s, loss %d: fell by %g, expected %g", classes[c], loss, fell,
                         rate * square);
            assay_model_free(made.model);
        }
}

static float first_value(const subject *made)
{
    size_t count = 0;
    return ((const float *)assay_model_parameters(made->model, &count)[0].value.data)[0];
}

static float first_gradient(const subject *made)
{
    size_t count = 0;
    return ((const float *)assay_model_parameters(made->model, &count)[0].gradient)[0];
}

static void test_optimizers_by_hand(void **state)
{
    (void)state;
    const double rate = 0.01;
    for (int optimizer = ASSAY_OPTIMIZER_ADAM; optimizer <= ASSAY_OPTIMIZER_MOMENTUM; optimizer++) {
        subject made;
        make(&made, "mlp");
        assay_model_training_of(made.model)->optimizer = (assay_optimizer)optimizer;
        double value = first_value(&made), velocity = 0;
        for (int step = 0; step < 2; step++) {
            gradient(&made);
            double g = first_gradient(&made);
            assert_true(fabs(g) > 1e-6);
            assert_int_equal(assay_model_update(made.model, rate, NULL), ASSAY_OK);
            velocity = 0.9 * velocity + g;
            if (optimizer == ASSAY_OPTIMIZER_SGD)
                assert_close(first_value(&made), value -= rate * g, 1e-6);
            if (optimizer == ASSAY_OPTIMIZER_MOMENTUM)
                assert_close(first_value(&made), value -= rate * velocity, 1e-6);
            if (optimizer == ASSAY_OPTIMIZER_ADAM && step == 0) /* its first step is the rate */
                assert_close(first_value(&made), value - copysign(rate, g), 1e-5);
            if (optimizer == ASSAY_OPTIMIZER_ADAMW && step == 0)
                assert_close(first_value(&made), value * (1 - 0.01 * rate) - copysign(rate, g),
                             1e-5);
        }
        assay_model_free(made.model);
    }
}

/* A profile takes its loss and its optimizer, and leaves the model with its own. */
static void test_profiles_choose(void **state)
{
    (void)state;
    subject made;
    assay_model_memory memory;
    assay_sampling_options few = ASSAY_SAMPLING_OPTIONS_INIT;
    few.runs = 3;
    for (int optimizer = ASSAY_OPTIMIZER_ADAM; optimizer <= ASSAY_OPTIMIZER_MOMENTUM; optimizer++) {
        static const unsigned kept[] = {2, 2, 0, 1};
        make(&made, "graph_transformer");
        made.profile.loss = ASSAY_LOSS_BINARY_CROSS_ENTROPY;
        made.profile.optimizer = (assay_optimizer)optimizer;
        assert_int_equal(assay_get_memory_breakdown(&made.profile, NULL, &memory), ASSAY_OK);
        assert_int_equal(memory.optimizer, kept[optimizer] * memory.parameters);
        assay_pass_profile passes;
        assert_int_equal(assay_profile_all(&made.profile, &few, NULL, &passes), ASSAY_OK);
        assert_int_equal(passes.training_step.count, 3);
        assert_int_equal(assay_model_training_of(made.model)->loss, ASSAY_LOSS_MSE);
        assert_int_equal(assay_model_training_of(made.model)->optimizer, ASSAY_OPTIMIZER_ADAM);
        assay_memory_stats stats;
        assert_int_equal(
            assay_profile_pass_memory(&made.profile, ASSAY_PASS_TRAINING_STEP, NULL, &stats),
            ASSAY_OK);
        assert_true(stats.allocated_bytes.value > 0);
        assert_string_equal(stats.device, "cpu");
        assay_model_free(made.model);
    }
    make(&made, "heat");
    made.profile.optimizer = ASSAY_OPTIMIZER_SGD;
    assay_error error = {0};
    assay_timing timing;
    assert_int_equal(assay_profile_training_step(&made.profile, &few, &error, &timing),
                     ASSAY_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "'heat' leaves no choice of loss or optimizer"));
    assay_model_free(made.model);
}

static double loss_within(subject *made, const assay_profiling_options *options)
{
    assay_profiling_context context = assay_profiling_begin_with(made->model, true, options);
    double loss = gradient(made);
    assay_profiling_end(&context);
    return loss;
}

/* By field: a copy of the struct need not have the bytes of its padding. */
static void assert_same_training(const assay_model_training *a, const assay_model_training *b)
{
    assert_int_equal(a->loss, b->loss);
    assert_int_equal(a->optimizer, b->optimizer);
    assert_int_equal(a->no_dropout, b->no_dropout);
    assert_true(a->seed == b->seed && a->passes == b->passes);
    assert_memory_equal(a->reserved, b->reserved, sizeof a->reserved);
}

static void test_mode_dropout_and_seed_are_apart(void **state)
{
    (void)state;
    static const char *const dropping[] = {"lstm", "graph_transformer"};
    for (size_t c = 0; c < 2; c++) {
        subject made;
        make(&made, dropping[c]);
        assay_model_training *training = assay_model_training_of(made.model);
        double plain = gradient(&made);
        assay_model_set_training(made.model, true);
        assay_profiling_options options = ASSAY_PROFILING_OPTIONS_INIT;
        options.keep_mode = true;
        assert_close(loss_within(&made, &options), plain, 1e-6);
        options.keep_dropout = true;
        options.seeded = true;
        options.seed = 42;
        assay_model_training before = *training;
        double first = loss_within(&made, &options);
        assert_same_training(&before, training);
        assert_true(fabs(first - plain) > 1e-6);
        assert_true(loss_within(&made, &options) == first);
        options.seed = 43;
        assert_true(loss_within(&made, &options) != first);
        assert_true(gradient(&made) != plain); /* training mode is back, and drops */
        assay_model_free(made.model);
    }
}

static void test_stats_print(void **state)
{
    (void)state;
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assay_timing timing = {.count = 100,
                           .mean_seconds = 0.0105,
                           .min_seconds = 0.0098,
                           .max_seconds = 0.0141,
                           .std_seconds = assay_reading_of(0.0012)};
    assay_runtime_stats_print(&timing, stream);
    timing.min_seconds = NAN;
    timing.std_seconds = assay_reading_missing(ASSAY_UNSUPPORTED);
    assay_runtime_stats_print(&timing, stream);
    fclose(stream);
    assert_string_equal(text, "10.50 ± 1.20 ms (min 9.80, max 14.10, 100 runs)10.50 ms (100 runs)");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_losses_are_those_of_pytorch),
        cmocka_unit_test(test_slopes_are_differences),
        cmocka_unit_test(test_models_train_by_the_loss_that_is_set),
        cmocka_unit_test(test_optimizers_by_hand),
        cmocka_unit_test(test_profiles_choose),
        cmocka_unit_test(test_mode_dropout_and_seed_are_apart),
        cmocka_unit_test(test_stats_print),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
