/* The axes along which a model can be scaled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "studies/profile/axes.h"
#include "studies/profile/view.h"

static const assay_model_class *class_of(const char *name)
{
    const assay_model_class *class_ = NULL;
    assert_int_equal(assay_model_find(name, NULL, &class_), ASSAY_OK);
    return class_;
}

static void test_every_model_has_an_axis(void **state)
{
    (void)state;
    size_t count;
    const assay_model_class *const *classes = assay_model_classes(&count);
    for (size_t i = 0; i < count; i++) {
        assay__axis axes[ASSAY__AXES_MAX];
        assert_true(assay__axes_default(classes[i], axes) > 0);
    }
    assay__axis axes[ASSAY__AXES_MAX];
    assert_int_equal(assay__axes_default(class_of("graph_transformer"), axes), 3);
    assert_string_equal(axes[0].name, "nodes");
    assert_string_equal(axes[1].name, "layers");
    assert_string_equal(axes[2].name, "encodings");
}

static void test_names_and_mistakes(void **state)
{
    (void)state;
    assay_error error = {0};
    assert_int_equal(assay__axis_check(class_of("lstm"), "seq_len", &error), ASSAY_OK);
    assert_int_equal(assay__axis_check(class_of("lstm"), "hidden", &error), ASSAY_OK);
    assert_int_equal(assay__axis_check(class_of("lstm"), "encodings", &error), ASSAY_E_NOT_FOUND);
    assert_int_equal(assay__axis_check(class_of("lstm"), "layrs", &error), ASSAY_E_NOT_FOUND);
    assert_non_null(strstr(error.message, "did you mean 'layers'?"));
    /* A choice among words and a real number are no sizes. */
    assert_int_equal(assay__axis_check(class_of("mlp"), "activation", &error), ASSAY_E_NOT_FOUND);
    assert_int_equal(assay__axis_check(class_of("lstm"), "dropout", &error), ASSAY_E_NOT_FOUND);
}

static void test_names_of_one_axis(void **state)
{
    (void)state;
    const assay_model_class *class_ = class_of("graph_transformer");
    assert_true(assay__axis_same(class_, "nodes", "num_nodes"));
    assert_true(assay__axis_same(class_, "encodings", "encodings"));
    assert_false(assay__axis_same(class_, "nodes", "layers"));
    assert_false(assay__axis_same(class_, "nodes", "encodings"));
}

static void run_usual(double own, const double expected[5])
{
    assay_model_factory factory = ASSAY_MODEL_FACTORY_INIT;
    factory.class_ = class_of("mlp");
    double settings[64];
    for (size_t i = 0; i < factory.class_->option_count; i++)
        settings[i] = strcmp(factory.class_->options[i].name, "batch-size") == 0
                          ? own
                          : factory.class_->options[i].initial;
    factory.settings = settings;
    assay_scaling_options options = ASSAY_SCALING_OPTIONS_INIT;
    options.budget_seconds = 0.02;
    options.passes = 1;
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    assert_int_equal(
        assay__axis_run(&factory, &(assay__axis){.name = "batch"}, &options, NULL, record),
        ASSAY_OK);
    assay__axis_view axes[ASSAY__AXES_MAX];
    assert_int_equal(assay__axes_view(record, axes, ASSAY__AXES_MAX), 1);
    assert_string_equal(axes[0].name, "batch");
    size_t at = 0, count = 0;
    const assay_record_subject *subject;
    for (; (subject = assay__axis_next(record, &axes[0], &at)) != NULL; count++) {
        assert_true(strtod(assay__parameter_of(subject, "batch-size"), NULL) == expected[count]);
        assert_int_equal(subject->parameter_count, 1); /* settings are the model's */
        assert_true(subject->sample_count > 0);
        assert_string_equal(subject->model, "mlp");
    }
    assert_int_equal(count, 5);
    /* The growth can be fitted once more from the record alone. */
    assay_growth *growth = NULL;
    assert_int_equal(assay__axis_growth(record, &axes[0], &growth), ASSAY_OK);
    assert_int_equal(growth->value_count, 5);
    assert_true(growth->exponent.value == axes[0].scaling->exponent.value);
    assay_growth_free(growth);
    assay_record_free(record);
}

static void test_usual_sizes_hold_the_models_own(void **state)
{
    (void)state;
    run_usual(100, (const double[]){13, 25, 50, 100, 200});
    run_usual(6, (const double[]){1, 2, 3, 6, 12});
    run_usual(1, (const double[]){1, 2, 4, 8, 16});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_model_has_an_axis),
        cmocka_unit_test(test_names_and_mistakes),
        cmocka_unit_test(test_names_of_one_axis),
        cmocka_unit_test(test_usual_sizes_hold_the_models_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
