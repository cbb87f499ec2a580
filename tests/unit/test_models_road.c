/* The next-road model, compared with its formula in double and with finite differences, and its
 * training. */
#include "tests/unit/road_scene.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "tests/reference/reference.h"

static double *doubles_of(const assay__next_road *model)
{
    double *values = calloc(model->parameters.total, sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < model->parameters.total; i++)
        values[i] = (double)model->parameters.values[i];
    return values;
}

static const assay__next_road_shape shapes[] = {{.embedding = 5, .hidden = 7, .scorer = 9},
                                                {.embedding = 1, .hidden = 1, .scorer = 1},
                                                {.embedding = 16, .hidden = 32, .scorer = 32}};

static void test_forward_is_the_formula(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        scene self;
        double loss, expected;
        open_scene(&self, 60, 6, i == 1 ? 2 : 12, shapes[i]);
        double *parameters = doubles_of(self.model);
        double *probability = calloc((size_t)self.batch.candidates, sizeof *probability);
        assert_non_null(probability);
        assert_int_equal(assay__next_road_gradient(self.model, &self.batch, &loss), ASSAY_OK);
        assert_int_equal(reference_next_road(&self.model->shape, parameters, &self.batch,
                                             probability, &expected),
                         ASSAY_OK);
        assert_true(fabs(loss - expected) < 1e-5 * expected);
        for (int64_t c = 0; c < self.batch.candidates; c++)
            assert_true(fabs((double)self.model->act.probability[c] - probability[c]) < 1e-5);
        free(parameters);
        free(probability);
        close_scene(&self);
    }
}

static void test_gradient_by_differences(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        scene self;
        double loss;
        assay__random random;
        assay__random_init(&random, 99);
        open_scene(&self, 40, 4, 8, shapes[i]);
        double *parameters = doubles_of(self.model);
        assert_int_equal(assay__next_road_gradient(self.model, &self.batch, &loss), ASSAY_OK);
        /* One direction within each parameter, so that none hides behind another. */
        for (size_t p = 0; p < self.model->parameters.count; p++) {
            size_t start = (size_t)(assay__parameters_value(&self.model->parameters, p) -
                                    self.model->parameters.values);
            size_t count = (size_t)assay_tensor_count(&self.model->parameters.list[p].value);
            double *direction = calloc(count, sizeof *direction);
            double slope = 0, size = 0, value[2];
            assert_non_null(direction);
            for (size_t j = 0; j < count; j++) {
                direction[j] = assay__random_normal(&random);
                double g = (double)self.model->parameters.gradients[start + j];
                slope += direction[j] * g;
                size += g * g;
            }
            const double h = 1e-6;
            for (int side = 0; side < 2; side++) {
                double step = side == 0 ? -h : h + h;
                for (size_t j = 0; j < count; j++)
                    parameters[start + j] += step * direction[j];
                assert_int_equal(reference_next_road(&self.model->shape, parameters, &self.batch,
                                                     NULL, &value[side]),
                                 ASSAY_OK);
            }
            for (size_t j = 0; j < count; j++)
                parameters[start + j] -= h * direction[j];
            double expected = (value[1] - value[0]) / (2 * h);
            if (!(fabs(slope - expected) <= 1e-4 * sqrt(size) + 1e-7)) {
                fail_msg("%s: %g, not %g", self.model->parameters.list[p].value.name, slope,
                         expected);
            }
            free(direction);
        }
        free(parameters);
        close_scene(&self);
    }
}

static void test_batches_skip_gaps(void **state)
{
    (void)state;
    assay__road_network *city = NULL;
    assay__trajectories drives;
    assay__road_batch batch;
    const int64_t which = 0;
    assert_int_equal(assay__city_new(100, 5, NULL, &city), ASSAY_OK);
    assay__trajectories_init(&drives);
    int32_t second = city->next[city->first[3]], third = city->next[city->first[second]];
    const int32_t driven[] = {3, second, third, 77, 77};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(assay__trajectories_drive(&drives, driven[i], (int64_t)i), ASSAY_OK);
    assert_int_equal(assay__trajectories_end(&drives), ASSAY_OK);
    assert_int_equal(assay__road_batch_init(&batch), ASSAY_OK);
    assert_int_equal(assay__road_batch_fill(&batch, city, &drives, &which, 1, 50), ASSAY_OK);
    assert_int_equal(batch.time, 5);
    assert_int_equal(batch.destinations[0], 77);
    assert_int_equal(batch.decisions, 2); /* onto 77 there is no link, nor from it to itself */
    assert_int_equal(batch.first[2], batch.candidates);
    assert_int_equal(batch.first[1], city->first[4] - city->first[3]);
    assert_int_equal(assay__road_batch_fill(&batch, city, &drives, &which, 1, 2), ASSAY_OK);
    assert_int_equal(batch.time, 2);
    assert_int_equal(batch.destinations[0], 77);
    assay__road_batch_release(&batch);
    assay__trajectories_release(&drives);
    assay__road_network_free(city);
}

static void test_features(void **state)
{
    (void)state;
    /* East 100 m, then north 100 m or back; 0.001 degrees are 111.195 m at the equator. */
    const double d = 100 / 111195.080;
    const assay__place corner[] = {{0, 0}, {d, 0}, {d, d}};
    assay__road_network *network = NULL;
    assert_int_equal(assay__road_network_new(&network), ASSAY_OK);
    for (int i = 0; i < 3; i++) {
        assay__place points[] = {corner[i == 1], corner[i == 1 ? 2 : 1 - i / 2]};
        if (i == 2) {
            points[0] = corner[1];
            points[1] = corner[0];
        }
        assay__road road = {.id = i, .points = points, .point_count = 2, .speed_mps = 50 / 3.6};
        assert_int_equal(assay__road_network_add(network, &road, NULL), ASSAY_OK);
    }
    assert_int_equal(assay__road_network_finish(network, NULL), ASSAY_OK);
    float f[ASSAY__ROAD_FEATURES];
    assay__road_features(network, 0, 1, 1, f);
    const double arrives[] = {0, 1, 1, 0, log(2), 0.5};
    for (size_t i = 0; i < ASSAY__ROAD_FEATURES; i++)
        assert_true(fabs((double)f[i] - arrives[i]) < 2e-5);
    assay__road_features(network, 0, 2, 1, f);
    const double turns[] = {log(1 + 0.1 * sqrt(2)), 1 - sqrt(2), 0, -1, log(2), 0.5};
    for (size_t i = 0; i < ASSAY__ROAD_FEATURES; i++)
        assert_true(fabs((double)f[i] - turns[i]) < 2e-5);
    assay__road_features(network, 1, 0, 1, f);
    assert_true(f[2] == 0);   /* already there: no direction */
    network->length_m[1] = 1; /* shorter than it can be */
    assay__road_features(network, 0, 1, 1, f);
    assert_true(f[1] == 2);
    assay__road_network_free(network);
}

static void test_it_learns(void **state)
{
    (void)state;
    scene self;
    assay_model_memory before, after;
    open_scene(&self, 200, 60, 30, shapes[2]);
    double first = train(&self, 2, 0.01);
    assay__memory_figures(self.model->memory, &before);
    double last = train(&self, 120, 0.01);
    assay__memory_figures(self.model->memory, &after);
    assert_true(first > 0.6 && last < 0.2 * first);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(before.parameters, 4 * self.model->parameters.total);
    assert_int_equal(before.gradients, 4 * self.model->parameters.total);
    assert_int_equal(before.optimizer, 8 * self.model->parameters.total);
    close_scene(&self);
}

static void test_distillation(void **state)
{
    (void)state;
    scene self;
    double hard, soft, mixed;
    open_scene(&self, 60, 5, 10, shapes[2]);
    assay__next_road *student = NULL;
    assay__next_road_shape small = {60, 4, 6, 8};
    assert_int_equal(assay__next_road_new(&small, 3, NULL, &student), ASSAY_OK);
    train(&self, 30, 0.01);
    size_t total = student->parameters.total;
    double *expected = calloc(total, sizeof *expected);
    assert_non_null(expected);

    /* At temperature 1 a teacher is nothing but other targets; what differs is its entropy. */
    assert_int_equal(assay__next_road_gradient(student, &self.batch, &hard), ASSAY_OK);
    for (size_t i = 0; i < total; i++)
        expected[i] = 0.25 * (double)student->parameters.gradients[i];
    float *targets = calloc((size_t)self.batch.candidates, sizeof *targets);
    assert_non_null(targets);
    memcpy(targets, self.batch.targets, (size_t)self.batch.candidates * sizeof *targets);
    assert_int_equal(assay__next_road_forward(self.model, &self.batch), ASSAY_OK);
    memcpy(self.batch.targets, self.model->act.probability,
           (size_t)self.batch.candidates * sizeof *targets);
    double entropy = 0;
    for (int64_t c = 0; c < self.batch.candidates; c++) {
        double q = (double)self.batch.targets[c];
        entropy -= q > 0 ? q * log(q) / (double)self.batch.decisions : 0;
    }
    assert_int_equal(assay__next_road_gradient(student, &self.batch, &soft), ASSAY_OK);
    for (size_t i = 0; i < total; i++)
        expected[i] += 0.75 * (double)student->parameters.gradients[i];
    memcpy(self.batch.targets, targets, (size_t)self.batch.candidates * sizeof *targets);
    assert_int_equal(assay__next_road_distill(student, self.model, &self.batch, 0.75, 1, &mixed),
                     ASSAY_OK);
    assert_true(fabs(mixed - (0.25 * hard + 0.75 * (soft - entropy))) < 1e-5);
    for (size_t i = 0; i < total; i++)
        assert_true(fabs((double)student->parameters.gradients[i] - expected[i]) < 1e-5);

    /* At another one, by differences along the gradient itself. */
    assert_int_equal(assay__next_road_distill(student, self.model, &self.batch, 0.5, 3, &mixed),
                     ASSAY_OK);
    double size = 0, value[2];
    for (size_t i = 0; i < total; i++) {
        expected[i] = (double)student->parameters.gradients[i];
        size += expected[i] * expected[i];
    }
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < total; i++)
            student->parameters.values[i] += (float)((side == 0 ? -1e-2 : 2e-2) * expected[i]);
        assert_int_equal(
            assay__next_road_distill(student, self.model, &self.batch, 0.5, 3, &value[side]),
            ASSAY_OK);
    }
    assert_true(fabs((value[1] - value[0]) / 2e-2 - size) < 0.01 * size);

    assert_int_equal(assay__next_road_distill(student, self.model, &self.batch, 1.5, 1, &mixed),
                     ASSAY_E_ARGUMENT);
    assert_int_equal(assay__next_road_distill(student, self.model, &self.batch, 0.5, 0, &mixed),
                     ASSAY_E_ARGUMENT);
    free(expected);
    free(targets);
    assay__next_road_free(student);
    close_scene(&self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forward_is_the_formula),
        cmocka_unit_test(test_gradient_by_differences),
        cmocka_unit_test(test_batches_skip_gaps),
        cmocka_unit_test(test_features),
        cmocka_unit_test(test_it_learns),
        cmocka_unit_test(test_distillation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
