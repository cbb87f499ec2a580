/* After set-up, a step of a model allocates nothing. The heap interposer counts this for every
 * built-in model that makes its own data, in inference, forecasting, training and fitting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "assay/memory.h"
#include "assay/model.h"
#include "tests/accuracy/preloaded.h"

enum { WARM_UP = 2, STEPS = 3, MAX_INPUTS = 16, FORECAST_STEPS = 5 };

typedef struct subject {
    assay_model *model;
    const assay_model_class *class_;
    assay_tensor inputs[MAX_INPUTS], target;
} subject;

typedef void (*step)(subject *s);

static void check(const subject *s, assay_status status, const assay_error *error)
{
    if (status != ASSAY_OK)
        fail_msg("%s: %s", s->class_->name, error->message);
}

static void infer(subject *s)
{
    assay_error error;
    assay_tensor output;
    check(s, assay_model_forward(s->model, s->inputs, s->class_->input_count, &error, &output),
          &error);
}

static void forecast(subject *s)
{
    assay_error error;
    assay_tensor output;
    check(s,
          assay_model_forecast(s->model, s->inputs, s->class_->input_count, FORECAST_STEPS, &error,
                               &output),
          &error);
}

static void train(subject *s)
{
    assay_error error;
    double loss;
    check(s,
          assay_model_gradient(s->model, s->inputs, s->class_->input_count, &s->target, &error,
                               &loss),
          &error);
    check(s, assay_model_update(s->model, 1e-3, &error), &error);
}

static void fit(subject *s)
{
    assay_error error;
    check(s, assay_model_fit(s->model, s->inputs, s->class_->input_count, &error), &error);
}

static uint64_t allocations(void)
{
    assay_heap_figures figures = {.struct_size = sizeof figures};
    assert_int_equal(assay_heap_read(&figures), ASSAY_OK);
    return figures.allocations;
}

static bool steady(subject *s, const char *what, step run)
{
    for (int i = 0; i < WARM_UP; i++)
        run(s);
    uint64_t before = allocations();
    for (int i = 0; i < STEPS; i++)
        run(s);
    uint64_t made = allocations() - before;
    if (made != 0)
        print_message("%s allocates in %s: %llu times in %d steps\n", s->class_->name, what,
                      (unsigned long long)made, STEPS);
    return made == 0;
}

static bool steady_class(const assay_model_class *class_)
{
    assay_error error = {0};
    subject s = {.class_ = class_};
    assert_true(class_->input_count <= MAX_INPUTS);
    check(&s, assay_model_new(class_, NULL, 1, &error, &s.model), &error);
    check(&s, assay_model_example(s.model, 1, &error, s.inputs, &s.target), &error);
    bool good = steady(&s, "inference", infer);
    if (class_->forecast != NULL)
        good &= steady(&s, "forecasting", forecast);
    if (class_->gradient != NULL && class_->update != NULL) {
        assay_model_set_training(s.model, true);
        good &= steady(&s, "training", train);
        assay_model_set_training(s.model, false);
        good &= steady(&s, "inference after training", infer);
    }
    if (class_->fit != NULL)
        good &= steady(&s, "fitting", fit);
    assay_model_free(s.model);
    return good;
}

static void test_steady_steps(void **state)
{
    (void)state;
    size_t count = 0, failed = 0;
    const assay_model_class *const *classes = assay_model_classes(&count);
    for (size_t i = 0; i < count; i++)
        if (classes[i]->example != NULL)
            failed += !steady_class(classes[i]);
    assert_true(count > 0);
    assert_int_equal(failed, 0);
}

/* The counter sees what models would do: a new model and its first step. */
static void test_counter_counts(void **state)
{
    (void)state;
    uint64_t before = allocations();
    assay_error error = {0};
    assay_model *model = NULL;
    size_t count = 0;
    assert_int_equal(assay_model_new(assay_model_classes(&count)[0], NULL, 1, &error, &model),
                     ASSAY_OK);
    assert_true(allocations() > before);
    assay_model_free(model);
}

int main(int argc, char **argv)
{
    (void)argc;
    int result = run_preloaded(argv);
    if (result >= 0)
        return result;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counter_counts),
        cmocka_unit_test(test_steady_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
