/* Profiles of a made-up class under a clock that the test moves: passes, runs, modes, memory. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "assay/profile.h"

typedef struct toy {
    uint64_t now_ns;
    unsigned forwards, gradients, updates;
    bool training;
    bool fails;
    double rate;
} toy;

static uint64_t toy_now(void *context)
{
    return ((toy *)context)->now_ns;
}

static assay_status toy_forward(void *state, const assay_tensor *inputs, size_t count,
                                assay_error *error, assay_tensor *output)
{
    (void)inputs, (void)count, (void)error, (void)output;
    toy *self = state;
    self->now_ns += self->forwards < 10 ? 50000000 : 10000000;
    self->forwards++;
    return self->fails ? ASSAY_E_DATA : ASSAY_OK;
}

static assay_status toy_gradient(void *state, const assay_tensor *inputs, size_t count,
                                 const assay_tensor *target, assay_error *error, double *loss)
{
    (void)inputs, (void)count, (void)error, (void)target;
    toy *self = state;
    self->now_ns += 30000000;
    self->gradients++;
    *loss = 0;
    return ASSAY_OK;
}

static assay_status toy_update(void *state, double learning_rate, assay_error *error)
{
    (void)error;
    toy *self = state;
    self->now_ns += 5000000;
    self->updates++;
    self->rate = learning_rate;
    return ASSAY_OK;
}

static void toy_set_training(void *state, bool training)
{
    ((toy *)state)->training = training;
}

static void toy_memory(void *state, assay_model_memory *memory)
{
    (void)state;
    *memory = (assay_model_memory){1 << 20, 2 << 20, 3 << 20, 4 << 20, 5 << 20};
}

static const assay_model_class toy_class = {.abi = ASSAY_MODEL_ABI,
                                            .struct_size = sizeof(assay_model_class),
                                            .name = "toy",
                                            .forward = toy_forward,
                                            .gradient = toy_gradient,
                                            .update = toy_update,
                                            .set_training = toy_set_training,
                                            .memory = toy_memory};
static const assay_tensor wanted = {.element = ASSAY_F32};

typedef struct fixture {
    toy model;
    assay_clock *clock;
    assay_profile_options options;
    assay_profile_target target;
} fixture;

static void set_up(fixture *self)
{
    *self = (fixture){.model.now_ns = 1000000000,
                      .options = ASSAY_PROFILE_OPTIONS_INIT,
                      .target = {.struct_size = sizeof self->target,
                                 .class_ = &toy_class,
                                 .state = &self->model,
                                 .target = &wanted}};
    assert_int_equal(assay_clock_new_injected(toy_now, &self->model, &self->clock), ASSAY_OK);
    self->options.clock = self->clock;
}

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9))
        fail_msg("%.17g is not %.17g", value, expected);
}

static void test_passes_add_up(void **state)
{
    (void)state;
    fixture self;
    set_up(&self);
    assay_pass_profile passes;
    assay_error error = {0};
    assert_int_equal(assay_profile_all(&self.target, &self.options, &error, &passes), ASSAY_OK);
    assert_near(passes.forward.mean, 10); /* the ten slow ones were warm-up */
    assert_near(passes.forward.max, 10);
    assert_near(passes.forward.std, 0);
    assert_near(passes.backward.mean, 20);
    assert_near(passes.training_step.mean, 35);
    assert_int_equal(passes.forward.num_runs, 100);
    assert_int_equal(self.model.forwards, 110 + 110);
    assert_int_equal(self.model.gradients, 110 + 110);
    assert_int_equal(self.model.updates, 110);
    assert_near(self.model.rate, 1e-3);
    assay_clock_free(self.clock);
}

static void test_what_a_class_lacks(void **state)
{
    (void)state;
    fixture self;
    set_up(&self);
    assay_model_class inference_only = toy_class;
    inference_only.gradient = NULL;
    self.target.class_ = &inference_only;
    assay_runtime_stats stats;
    assay_error error = {0};
    assert_int_equal(assay_profile_backward(&self.target, &self.options, &error, &stats),
                     ASSAY_E_UNSUPPORTED);
    assert_string_equal(error.message, "model 'toy' has no backward pass to profile");
    assay_pass_profile passes;
    assert_int_equal(assay_profile_all(&self.target, &self.options, &error, &passes), ASSAY_OK);
    assert_int_equal(passes.forward.num_runs, 100);
    assert_int_equal(passes.backward.num_runs, 0);
    self.target.class_ = &toy_class;
    self.target.target = NULL;
    assert_int_equal(assay_profile_training_step(&self.target, &self.options, &error, &stats),
                     ASSAY_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "without a target"));
    self.model.fails = true;
    assert_int_equal(assay_profile_forward(&self.target, &self.options, &error, &stats),
                     ASSAY_E_DATA);
    self.options.num_runs = 1;
    assert_int_equal(assay_profile_forward(&self.target, &self.options, &error, &stats),
                     ASSAY_E_ARGUMENT);
    assay_clock_free(self.clock);
}

static void test_stats(void **state)
{
    (void)state;
    const double seconds[] = {0.001, 0.003, 0.002, 0.004};
    assay_runtime_stats stats;
    assert_int_equal(assay_runtime_stats_of(seconds, 4, &stats), ASSAY_OK);
    assert_near(stats.mean, 2.5);
    assert_near(stats.std, 1.2909944487358056); /* statistics.stdev([1, 3, 2, 4]) */
    assert_near(stats.min, 1);
    assert_near(stats.max, 4);
    assert_true(stats.low < 2.5 && stats.high > 2.5);
    assert_int_equal(assay_runtime_stats_of(seconds, 1, &stats), ASSAY_E_DATA);
}

static void test_context_restores_the_mode(void **state)
{
    (void)state;
    fixture self;
    set_up(&self);
    self.model.training = true;
    assay_profiling_context context = assay_profiling_begin(&self.target, true);
    assert_false(self.model.training);
    assay_profiling_end(&context);
    assert_true(self.model.training);
    assay_profiling_end(&context); /* twice does nothing */
    assay_clock_free(self.clock);
}

static void test_breakdown(void **state)
{
    (void)state;
    fixture self;
    set_up(&self);
    assay_memory_breakdown breakdown;
    assert_int_equal(assay_get_memory_breakdown(&self.target, NULL, &breakdown), ASSAY_OK);
    assert_near(breakdown.parameters, 1);
    assert_near(breakdown.gradients, 2);
    assert_near(breakdown.optimizer_state, 3);
    assert_near(breakdown.forward_activations, 4);
    assert_near(breakdown.workspace, 5);
    assert_near(breakdown.total, 15);
    assert_near(self.model.rate, 0); /* the parameters did not move */
    assay_clock_free(self.clock);
}

/* A subject runs its pass as often as it is told. */
static void test_models_as_subjects(void **state)
{
    (void)state;
    fixture self;
    set_up(&self);
    assay_model_work work[] = {{.target = &self.target, .pass = ASSAY_PASS_GRADIENT},
                               {.target = &self.target, .pass = ASSAY_PASS_TRAINING_STEP}};
    assay_subject subjects[2] = {ASSAY_SUBJECT_INIT, ASSAY_SUBJECT_INIT};
    assay_error error = {0};
    assert_int_equal(assay_model_subject(&work[0], "gradient", &error, &subjects[0]), ASSAY_OK);
    assert_int_equal(assay_model_subject(&work[1], "step", &error, &subjects[1]), ASSAY_OK);
    assert_int_equal(subjects[1].run(subjects[1].context, 3), ASSAY_OK);
    assert_int_equal(self.model.gradients, 3);
    assert_int_equal(self.model.updates, 3);
    assert_int_equal(subjects[0].run(subjects[0].context, 2), ASSAY_OK);
    assert_int_equal(self.model.gradients, 5);
    assert_int_equal(self.model.updates, 3);
    self.target.target = NULL;
    assert_int_equal(assay_model_subject(&work[0], "gradient", &error, &subjects[0]),
                     ASSAY_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "backward"));
    assay_clock_free(self.clock);
}

static assay_status touch_memory(void *argument)
{
    size_t bytes = *(size_t *)argument;
    char *block = malloc(bytes);
    if (block == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < bytes; i += 4096)
        ((volatile char *)block)[i] = 1;
    free(block);
    return ASSAY_OK;
}

static void test_memory_of_a_call(void **state)
{
    (void)state;
    size_t bytes = 64u << 20;
    assay_memory_stats stats;
    assert_int_equal(assay_profile_memory_usage(touch_memory, &bytes, &stats), ASSAY_OK);
    assert_string_equal(stats.device, "cpu");
    assert_int_equal(stats.reserved_mb.validity, ASSAY_UNSUPPORTED);
    if (stats.peak_mb.validity != ASSAY_VALID) {
        print_message("the kernel does not let the peak be reset\n");
        return;
    }
    assert_true(stats.peak_mb.value >= 64);
    assert_true(stats.allocated_mb.value <= stats.peak_mb.value * 1.01); /* counted in batches */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes_add_up),
        cmocka_unit_test(test_what_a_class_lacks),
        cmocka_unit_test(test_stats),
        cmocka_unit_test(test_context_restores_the_mode),
        cmocka_unit_test(test_breakdown),
        cmocka_unit_test(test_memory_of_a_call),
        cmocka_unit_test(test_models_as_subjects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
