/* Profiles of a made-up class under a clock that the test sets: passes, runs, modes, memory. */
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

typedef struct toy {
    uint64_t now_ns;
    unsigned forwards, gradients, updates;
    bool uneven; /* every other forward takes longer than a gradient */
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
    (void)inputs, (void)count, (void)output;
    toy *self = state;
    self->now_ns += self->forwards < 10 ? 50000000 : 10000000;
    self->now_ns += self->uneven && self->forwards % 2 == 1 ? 25000000 : 0;
    self->forwards++;
    if (self->fails && error != NULL)
        snprintf(error->message, sizeof error->message, "the toy is broken");
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

static toy the_toy; /* create() hands it out: the tests look at it */

static assay_status toy_create(const double *settings, uint64_t seed, assay_error *error,
                               void **state)
{
    (void)settings, (void)seed, (void)error;
    *state = &the_toy;
    return ASSAY_OK;
}

static void toy_destroy(void *state)
{
    (void)state;
}

static const assay_model_parameter *toy_parameters(void *state, size_t *count)
{
    (void)state;
    *count = 0;
    return NULL;
}

static const assay_model_input toy_input = {.name = "input", .help = "", .element = ASSAY_F32};

static const assay_model_class toy_class = {.abi = ASSAY_MODEL_ABI,
                                            .struct_size = sizeof(assay_model_class),
                                            .name = "toy",
                                            .summary = "a toy",
                                            .inputs = &toy_input,
                                            .input_count = 1,
                                            .create = toy_create,
                                            .destroy = toy_destroy,
                                            .parameters = toy_parameters,
                                            .forward = toy_forward,
                                            .gradient = toy_gradient,
                                            .update = toy_update,
                                            .set_training = toy_set_training,
                                            .memory = toy_memory};
static const assay_tensor wanted = {.element = ASSAY_F32};

typedef struct fixture {
    assay_clock *clock;
    assay_sampling_options options;
    assay_profile_target target;
} fixture;

static void set_up(fixture *self, const assay_model_class *class_)
{
    the_toy = (toy){.now_ns = 1000000000};
    *self = (fixture){.options = ASSAY_SAMPLING_OPTIONS_INIT, .target = ASSAY_PROFILE_TARGET_INIT};
    assert_int_equal(assay_model_new(class_, NULL, 1, NULL, &self->target.model), ASSAY_OK);
    self->target.target = &wanted;
    assert_int_equal(assay_clock_new_injected(toy_now, &the_toy, &self->clock), ASSAY_OK);
    self->options.clock = self->clock;
}

static void tear_down(fixture *self)
{
    assay_model_free(self->target.model);
    assay_clock_free(self->clock);
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
    set_up(&self, &toy_class);
    assay_pass_profile passes;
    assay_error error = {0};
    assert_int_equal(assay_profile_all(&self.target, &self.options, &error, &passes), ASSAY_OK);
    assert_near(passes.forward.mean_seconds, 0.010); /* the ten slow ones were warm-up */
    assert_near(passes.forward.max_seconds, 0.010);
    assert_near(passes.forward.std_seconds.value, 0);
    assert_near(passes.backward.mean_seconds, 0.020);
    assert_near(passes.training_step.mean_seconds, 0.035);
    assert_int_equal(passes.forward.count, 100);
    assert_int_equal(the_toy.forwards, 110); /* all passes take turns */
    assert_int_equal(the_toy.gradients, 110 + 110);
    assert_int_equal(the_toy.updates, 110);
    assert_near(the_toy.rate, 1e-3);
    tear_down(&self);
}

static void test_what_a_class_lacks(void **state)
{
    (void)state;
    fixture self;
    assay_model_class inference_only = toy_class;
    inference_only.gradient = NULL;
    set_up(&self, &inference_only);
    assay_timing stats;
    assay_error error = {0};
    assert_int_equal(assay_profile_backward(&self.target, &self.options, &error, &stats),
                     ASSAY_E_UNSUPPORTED);
    assert_string_equal(error.message, "model 'toy' has no backward pass to profile");
    assay_pass_profile passes;
    assert_int_equal(assay_profile_all(&self.target, &self.options, &error, &passes), ASSAY_OK);
    assert_int_equal(passes.forward.count, 100);
    assert_int_equal(passes.backward.count, 0);
    tear_down(&self);
    set_up(&self, &toy_class);
    self.target.target = NULL;
    assert_int_equal(assay_profile_training_step(&self.target, &self.options, &error, &stats),
                     ASSAY_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "without a target"));
    the_toy.fails = true;
    assert_int_equal(assay_profile_forward(&self.target, &self.options, &error, &stats),
                     ASSAY_E_DATA);
    assert_non_null(strstr(error.message, "the toy is broken"));
    tear_down(&self);
}

typedef struct kept {
    size_t forwards, gradients;
    double sum;
} kept;

static void keep(void *context, const char *subject, double seconds)
{
    kept *all = context;
    bool forward = strcmp(subject, "forward") == 0;
    assert_true(forward || strcmp(subject, "gradient") == 0);
    *(forward ? &all->forwards : &all->gradients) += 1;
    all->sum += forward ? -seconds : seconds;
}

/* Backward is a difference of means: single runs of it were not timed, and some differences of
 * single runs are negative here. */
static void test_backward_has_a_mean_and_nothing_of_single_runs(void **state)
{
    (void)state;
    fixture self;
    set_up(&self, &toy_class);
    kept all = {0};
    assay_timing timing;
    self.options.num_runs = 8;
    self.options.no_warmup = true;
    self.options.sample = keep;
    self.options.sample_context = &all;
    the_toy.forwards = 10; /* warm */
    the_toy.uneven = true; /* 10 and 35 ms; a gradient takes 30 */
    assert_int_equal(assay_profile_backward(&self.target, &self.options, NULL, &timing), ASSAY_OK);
    assert_int_equal(all.forwards, 8);
    assert_int_equal(all.gradients, 8);
    assert_int_equal(timing.count, 8);
    assert_near(timing.mean_seconds, 0.030 - 0.0225);
    assert_near(timing.total_seconds, all.sum);
    assert_int_equal(timing.low_seconds.validity, ASSAY_VALID);
    assert_true(timing.low_seconds.value < timing.mean_seconds);
    assert_true(timing.high_seconds.value > timing.mean_seconds);
    assert_true(isnan(timing.min_seconds) && isnan(timing.max_seconds));
    const assay_reading missing[] = {timing.std_seconds, timing.p50_seconds, timing.p95_seconds,
                                     timing.p99_seconds, timing.steady_from};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        assert_int_equal(missing[i].validity, ASSAY_UNSUPPORTED);
    tear_down(&self);
}

static void test_context_restores_the_mode(void **state)
{
    (void)state;
    fixture self;
    set_up(&self, &toy_class);
    the_toy.training = true;
    assay_profiling_context context = assay_profiling_begin(self.target.model, true);
    assert_false(the_toy.training);
    assay_profiling_end(&context);
    assert_true(the_toy.training);
    assay_profiling_end(&context); /* twice does nothing */
    tear_down(&self);
}

static void test_breakdown(void **state)
{
    (void)state;
    fixture self;
    set_up(&self, &toy_class);
    assay_model_memory breakdown;
    assert_int_equal(assay_get_memory_breakdown(&self.target, NULL, &breakdown), ASSAY_OK);
    assert_int_equal(breakdown.parameters, 1 << 20);
    assert_int_equal(breakdown.gradients, 2 << 20);
    assert_int_equal(breakdown.optimizer, 3 << 20);
    assert_int_equal(breakdown.activations, 4 << 20);
    assert_int_equal(breakdown.workspace, 5 << 20);
    assert_int_equal(the_toy.updates, 1);
    assert_near(the_toy.rate, 0); /* the parameters did not move */
    tear_down(&self);
}

/* A subject runs its pass as often as it is told. */
static void test_models_as_subjects(void **state)
{
    (void)state;
    fixture self;
    set_up(&self, &toy_class);
    assay_subject subjects[2] = {ASSAY_SUBJECT_INIT, ASSAY_SUBJECT_INIT};
    assay_error error = {0};
    assert_int_equal(
        assay_profile_subject(&self.target, ASSAY_PASS_GRADIENT, "gradient", &error, &subjects[0]),
        ASSAY_OK);
    assert_int_equal(
        assay_profile_subject(&self.target, ASSAY_PASS_TRAINING_STEP, "step", &error, &subjects[1]),
        ASSAY_OK);
    assert_int_equal(subjects[1].run(subjects[1].context, 3), ASSAY_OK);
    assert_int_equal(the_toy.gradients, 3);
    assert_int_equal(the_toy.updates, 3);
    assert_int_equal(subjects[0].run(subjects[0].context, 2), ASSAY_OK);
    assert_int_equal(the_toy.gradients, 5);
    assert_int_equal(the_toy.updates, 3);
    self.target.target = NULL;
    assert_int_equal(
        assay_profile_subject(&self.target, ASSAY_PASS_GRADIENT, "gradient", &error, &subjects[0]),
        ASSAY_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "backward"));
    tear_down(&self);
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
    assert_int_equal(stats.reserved_bytes.validity, ASSAY_UNSUPPORTED);
    if (stats.peak_bytes.validity != ASSAY_VALID) {
        print_message("the kernel does not let the peak be reset\n");
        return;
    }
    assert_true(stats.peak_bytes.value >= (double)bytes);
    assert_true(stats.allocated_bytes.value <=
                stats.peak_bytes.value * 1.01); /* counted in batches */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes_add_up),
        cmocka_unit_test(test_what_a_class_lacks),
        cmocka_unit_test(test_backward_has_a_mean_and_nothing_of_single_runs),
        cmocka_unit_test(test_context_restores_the_mode),
        cmocka_unit_test(test_breakdown),
        cmocka_unit_test(test_memory_of_a_call),
        cmocka_unit_test(test_models_as_subjects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
