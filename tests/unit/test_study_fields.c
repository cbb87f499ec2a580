/* The study "fields": its functions, points and steps. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "studies/common/results.h"
#include "studies/fields/measure.h"

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

/* ---- steps ---- */

enum { EPOCHS = 4, ROUNDS = 12 };

/* A study of one open step, and points of the saddle. */
typedef struct bench {
    char folder[32];
    volatile sig_atomic_t stop;
    assay__study_step step;
    assay__study *study;
    assay__fields_points points;
    assay_record *found;
} bench;

static assay__fields_step open_bench(bench *self)
{
    memset(self, 0, sizeof *self);
    strcpy(self->folder, "/tmp/assay-fields-XXXXXX");
    assert_non_null(mkdtemp(self->folder));
    self->step = (assay__study_step){"MLP on saddle", 1};
    const assay__study_plan plan = {.study = "fields",
                                    .experiment = "fields",
                                    .folder = self->folder,
                                    .settings = "",
                                    .steps = &self->step,
                                    .step_count = 1,
                                    .stop = &self->stop};
    assert_int_equal(assay__study_open(&plan, NULL, &self->study), ASSAY_OK);
    assay__study_begin(self->study, 0);
    assert_int_equal(assay__fields_points_init(&self->points, 300, 1, NULL), ASSAY_OK);
    assay__fields_points_evaluate(&self->points, function("saddle"));
    assert_int_equal(assay__study_findings(self->study, NULL, &self->found), ASSAY_OK);
    return (assay__fields_step){self->study, &self->points, 7, self->found};
}

static void close_bench(bench *self)
{
    static const char *const left[] = {"/.study/MLP_on_saddle.json", "/.study/study.json",
                                       "/.study", ""};
    assay_record_free(self->found);
    assay__fields_points_release(&self->points);
    assay__study_free(self->study);
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        char path[96];
        snprintf(path, sizeof path, "%s%s", self->folder, left[i]);
        remove(path);
    }
}

static const char *setting(const assay_record_model *model, const char *key)
{
    for (size_t i = 0; i < model->setting_count; i++)
        if (strcmp(model->settings[i].key, key) == 0)
            return model->settings[i].value;
    fail_msg("no setting %s", key);
    return NULL;
}

static void valid(const assay_record *record, const char *name, const char *of, double low,
                  double high)
{
    assay_reading figure = assay__record_figure(record, name, of);
    assert_int_equal(figure.validity, ASSAY_VALID);
    if (!(figure.value >= low && figure.value <= high))
        fail_msg("%s is %g", name, figure.value);
}

/* Every epoch counts; what comes of the training does not depend on what ran before. */
static void test_a_training_is_a_record(void **state)
{
    (void)state;
    bench self;
    const assay__fields_step step = open_bench(&self);
    assay_record *kept = NULL;
    assert_int_equal(assay__fields_train(&step, 0, 0, EPOCHS, NULL), ASSAY_OK);
    assert_int_equal(assay__study_keep(self.study, 0, self.found, NULL), ASSAY_OK);
    assert_int_equal(assay__study_recall(self.study, 0, NULL, &kept), ASSAY_OK);
    const assay_record_model *model = assay__record_find_model(kept, "MLP");
    const assay_record_series *losses = assay__record_find_series(kept, "loss", "MLP on saddle");
    const assay_record_series *seconds =
        assay__record_find_series(kept, "epoch_time", "MLP on saddle");
    assert_true(model != NULL && losses != NULL && seconds != NULL);
    same(model->parameters.value, 8577, 0);
    assert_string_equal(setting(model, "hidden-dim"), "64");
    assert_string_equal(setting(model, "activation"), "gelu");
    assert_string_equal(setting(model, "learning_rate"), "0.01");
    assert_int_equal(losses->count, EPOCHS);
    assert_true(losses->values[EPOCHS - 1] > 0 && losses->values[EPOCHS - 1] < losses->values[0]);
    assert_int_equal(seconds->count, EPOCHS);
    assert_string_equal(seconds->unit, "s");
    assert_true(seconds->values[0] > 0 && seconds->values[EPOCHS - 1] > 0);
    assert_int_equal(kept->subject_count, 0);
    valid(kept, "rmse", "MLP on saddle", 1e-6, 1);
    valid(kept, "r2", "MLP on saddle", -1, 1);
    valid(kept, "largest_error", "MLP on saddle", 1e-6, 3);
    assay__fields_points_evaluate(&self.points, function("saddle"));
    assert_int_equal(assay__fields_train(&step, 0, 0, EPOCHS, NULL), ASSAY_OK);
    assert_int_equal(self.found->series_count, 4);
    assert_memory_equal(self.found->series[2].values, losses->values, EPOCHS * sizeof(double));
    assay_record_free(kept);
    close_bench(&self);
}

static void test_turns_are_pairs(void **state)
{
    (void)state;
    static const char *const names[] = {"MLP epoch", "SIREN epoch", "KAN epoch"};
    bench self;
    const assay__fields_step step = open_bench(&self);
    assert_int_equal(assay__fields_take_turns(&step, ROUNDS, NULL), ASSAY_OK);
    assert_int_equal(self.found->subject_count, ASSAY__FIELDS_MODELS);
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS; m++) {
        const assay_record_subject *subject = &self.found->subjects[m];
        assert_string_equal(subject->name, names[m]);
        assert_string_equal(subject->model, assay__fields_models[m].label);
        assert_string_equal(subject->covers, "one epoch, in turns with the other models");
        assert_non_null(subject->rounds);
        assert_int_equal(subject->iterations, 1);
        assert_int_equal(subject->warmup_samples, 1);
        assert_int_equal(subject->sample_count + subject->rejected_samples, ROUNDS);
    }
    close_bench(&self);
}

/* Turns of several steps are one subject for each model; their rounds go on, and pairs stay pairs.
 */
static void test_turns_are_joined(void **state)
{
    (void)state;
    bench self;
    assay_record *whole = NULL;
    const assay__fields_step step = open_bench(&self);
    assert_int_equal(assay__fields_take_turns(&step, ROUNDS, NULL), ASSAY_OK);
    assert_int_equal(assay__fields_take_turns(&step, ROUNDS, NULL), ASSAY_OK);
    assert_int_equal(assay_record_new(&whole), ASSAY_OK);
    const assay_record_subject *turns = self.found->subjects;
    for (size_t m = 0; m < ASSAY__FIELDS_MODELS; m++) {
        const assay_record_subject *parts[] = {&turns[m], &turns[m + ASSAY__FIELDS_MODELS]};
        assert_int_equal(assay__found_joined(whole, parts, 2), ASSAY_OK);
        const assay_record_subject *joined = &whole->subjects[m];
        size_t first = parts[0]->sample_count, count = joined->sample_count;
        assert_string_equal(joined->name, parts[0]->name);
        assert_string_equal(joined->model, parts[0]->model);
        assert_string_equal(joined->covers, parts[0]->covers);
        assert_int_equal(count, first + parts[1]->sample_count);
        assert_int_equal(count + joined->rejected_samples, 2 * ROUNDS);
        assert_int_equal(joined->warmup_samples, 2);
        same(joined->samples_seconds[0], parts[0]->samples_seconds[0], 0);
        same(joined->samples_seconds[first], parts[1]->samples_seconds[0], 0);
        assert_int_equal(joined->mean_seconds.validity, ASSAY_VALID);
        for (size_t i = 1; i < count; i++)
            assert_true(joined->rounds[i] > joined->rounds[i - 1]);
        assert_memory_equal(joined->rounds, whole->subjects[0].rounds, count * sizeof(uint32_t));
    }
    assay_record_free(whole);
    close_bench(&self);
}

/* The user's wish to stop reaches the sampler, and its words are the study's. */
static void test_interruption(void **state)
{
    (void)state;
    bench self;
    assay_error error = {0};
    const assay__fields_step step = open_bench(&self);
    self.stop = 1;
    assert_int_equal(assay__fields_train(&step, 0, 0, EPOCHS, &error), ASSAY_E_STATE);
    assert_non_null(strstr(error.message, "interrupted after 0 of 1 steps"));
    assert_int_equal(assay__fields_take_turns(&step, ROUNDS, &error), ASSAY_E_STATE);
    assert_non_null(strstr(error.message, "interrupted after 0 of 1 steps"));
    assert_int_equal(self.found->subject_count, 0);
    close_bench(&self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_stay_in_range),
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_an_epoch_sees_every_point),
        cmocka_unit_test(test_parameter_counts),
        cmocka_unit_test(test_a_training_is_a_record),
        cmocka_unit_test(test_turns_are_pairs),
        cmocka_unit_test(test_turns_are_joined),
        cmocka_unit_test(test_interruption),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
