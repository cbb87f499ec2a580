/* The next-road model against its formula in double, against finite differences and at learning;
 * the searches on networks small enough to know the answer, and against a search without any
 * shortcut. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "road/city.h"
#include "road/next_road.h"
#include "road/search.h"

typedef struct scene {
    assay__road_network *city;
    assay__trajectories drives;
    assay__road_batch batch;
    assay__next_road *model;
} scene;

static void open_scene(scene *self, int64_t roads, int64_t drives, int64_t time,
                       assay__next_road_shape shape)
{
    int64_t *which = calloc((size_t)drives, sizeof *which);
    assert_non_null(which);
    for (int64_t i = 0; i < drives; i++)
        which[i] = i;
    shape.roads = roads;
    assert_int_equal(assay__city_new(roads, 5, NULL, &self->city), ASSAY_OK);
    assert_int_equal(assay__city_drive(self->city, drives, 6, NULL, &self->drives), ASSAY_OK);
    assert_int_equal(assay__road_batch_init(&self->batch), ASSAY_OK);
    assert_int_equal(
        assay__road_batch_fill(&self->batch, self->city, &self->drives, which, drives, time),
        ASSAY_OK);
    assert_int_equal(assay__next_road_new(&shape, 7, NULL, &self->model), ASSAY_OK);
    free(which);
}

static void close_scene(scene *self)
{
    assay__next_road_free(self->model);
    assay__road_batch_release(&self->batch);
    assay__trajectories_release(&self->drives);
    assay__road_network_free(self->city);
}

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
        assert_int_equal(assay__next_road_reference(&self.model->shape, parameters, &self.batch,
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
                assert_int_equal(assay__next_road_reference(&self.model->shape, parameters,
                                                            &self.batch, NULL, &value[side]),
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

static double train(scene *self, int steps, double rate)
{
    double loss = 0;
    for (int i = 0; i < steps; i++) {
        assert_int_equal(assay__next_road_gradient(self->model, &self->batch, &loss), ASSAY_OK);
        assert_int_equal(assay__next_road_update(self->model, rate), ASSAY_OK);
    }
    return loss;
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

/* ---- Searches ---- */

/* A network of straight roads between numbered places, (from, to) each; roads meet where one ends
 * and the other begins. */
static assay__road_network *roads_between(const assay__place *places, const int (*ends)[2],
                                          int64_t count)
{
    assay__road_network *network = NULL;
    assert_int_equal(assay__road_network_new(&network), ASSAY_OK);
    for (int64_t i = 0; i < count; i++) {
        assay__place points[] = {places[ends[i][0]], places[ends[i][1]]};
        assay__road road = {.id = i, .points = points, .point_count = 2};
        assert_int_equal(assay__road_network_add(network, &road, NULL), ASSAY_OK);
    }
    for (int64_t i = 0; i < count; i++) {
        for (int64_t j = 0; j < count; j++)
            if (ends[i][1] == ends[j][0])
                assert_int_equal(assay__road_network_link(network, i, j, NULL), ASSAY_OK);
    }
    assert_int_equal(assay__road_network_finish(network, NULL), ASSAY_OK);
    return network;
}

/* A model that looks at one feature alone: its logit is `scale` times it, but for a constant. */
static assay__next_road *one_feature(int64_t roads, int feature, float scale)
{
    assay__next_road *model = NULL;
    assay__next_road_shape shape = {roads, 2, 3, 2};
    assert_int_equal(assay__next_road_new(&shape, 1, NULL, &model), ASSAY_OK);
    memset(model->parameters.values, 0, model->parameters.total * sizeof(float));
    assay__parameters_value(&model->parameters, model->at.score)[3 + 4 + feature] = scale;
    assay__parameters_value(&model->parameters, model->at.score_bias)[0] = 100;
    assay__parameters_value(&model->parameters, model->at.out)[0] = 1;
    return model;
}

/* Straight east leads into a dead end just before the destination; the way round goes by the north.
 *
 *        3 --- 4 --- 5
 *        |           |
 *  0 --- 1 --- 2     6      roads: 0: 0-1  1: 1-2  2: 1-3  3: 3-4  4: 4-5  5: 5-6
 */
static const assay__place dead_end_places[] = {
    {0, 0}, {0.001, 0}, {0.0025, 0}, {0.001, 0.001}, {0.002, 0.001}, {0.003, 0.001}, {0.003, 0}};
static const int dead_end_roads[][2] = {{0, 1}, {1, 2}, {1, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 6}};

static void test_dead_end(void **state)
{
    (void)state;
    assay__road_network *network = roads_between(dead_end_places, dead_end_roads, 6);
    assay__next_road *model = one_feature(6, 1, 2); /* whatever brings nearer */
    assay__road_searcher *searcher = NULL;
    assay__road_route route;
    assert_int_equal(assay__road_searcher_new(network, model, 4, 100, NULL, &searcher), ASSAY_OK);

    assert_int_equal(assay__road_search_greedy(searcher, 0, 5, NULL, &route), ASSAY_OK);
    assert_int_equal(route.outcome, ASSAY__ROUTE_LOST);
    assert_int_equal(route.count, 2); /* the nearest it came */
    assert_int_equal(route.roads[1], 1);
    assert_int_equal(route.forward_count, 1);
    assert_int_equal(route.candidate_count, 2);

    assert_int_equal(assay__road_search_beam(searcher, 0, 5, 2, NULL, &route), ASSAY_OK);
    assert_int_equal(route.outcome, ASSAY__ROUTE_FOUND);
    const int32_t expected[] = {0, 2, 3, 4, 5};
    assert_int_equal(route.count, 5);
    assert_memory_equal(route.roads, expected, sizeof expected);
    assert_int_equal(route.forward_count, 4);
    /* Only the first choice was one: two features, two logits. */
    float f[2][ASSAY__ROAD_FEATURES];
    assay__road_features(network, 0, 1, 5, f[0]);
    assay__road_features(network, 0, 2, 5, f[1]);
    double wrong = exp(2 * (double)f[0][1]), right = exp(2 * (double)f[1][1]);
    assert_true(fabs(route.log_probability - log(right / (right + wrong))) < 1e-5);

    assert_int_equal(assay__road_search_beam(searcher, 3, 3, 2, NULL, &route), ASSAY_OK);
    assert_int_equal(route.outcome, ASSAY__ROUTE_FOUND);
    assert_int_equal(route.count, 1);
    assert_true(route.log_probability == 0 && route.forward_count == 0);

    assert_int_equal(assay__road_search_beam(searcher, 3, 0, 2, NULL, &route), ASSAY_OK);
    assert_int_equal(route.outcome, ASSAY__ROUTE_UNREACHABLE);
    assert_string_equal(assay__route_outcome_name(route.outcome), "unreachable");

    assay_error error = {0};
    assert_int_equal(assay__road_search_beam(searcher, 3, 6, 2, &error, &route), ASSAY_E_ARGUMENT);
    assert_non_null(strstr(error.message, "road 6"));
    assert_int_equal(assay__road_search_beam(searcher, 3, 0, 5, &error, &route), ASSAY_E_ARGUMENT);
    assay__road_searcher_free(searcher);

    assert_int_equal(assay__road_searcher_new(network, model, 2, 3, NULL, &searcher), ASSAY_OK);
    assert_int_equal(assay__road_search_beam(searcher, 0, 5, 2, NULL, &route), ASSAY_OK);
    assert_int_equal(route.outcome, ASSAY__ROUTE_TOO_LONG);
    assert_int_equal(route.forward_count, 3);
    assay__road_searcher_free(searcher);
    assay__next_road_free(model);
    assay__road_network_free(network);
}

/* A model that knows nothing: all successors equally likely, so the lower road goes first. */
static void test_ties(void **state)
{
    (void)state;
    static const assay__place places[] = {
        {0, 0}, {0.001, 0}, {0.002, 0.001}, {0.002, -0.001}, {0.003, 0}};
    static const int ends[][2] = {{0, 1}, {1, 3}, {1, 2}, {3, 4}, {2, 4}, {4, 0}};
    assay__road_network *network = roads_between(places, ends, 6);
    assay__next_road *model = one_feature(6, 1, 0);
    assay__road_searcher *searcher = NULL;
    assay__road_route route;
    assert_int_equal(assay__road_searcher_new(network, model, 2, 100, NULL, &searcher), ASSAY_OK);
    for (int64_t width = 1; width <= 2; width++) {
        assert_int_equal(assay__road_search_beam(searcher, 0, 5, width, NULL, &route), ASSAY_OK);
        const int32_t expected[] = {0, 1, 3, 5};
        assert_int_equal(route.count, 4);
        assert_memory_equal(route.roads, expected, sizeof expected);
        assert_true(fabs(route.log_probability - log(0.5)) < 1e-6);
    }
    assay__road_searcher_free(searcher);
    assay__next_road_free(model);
    assay__road_network_free(network);
}

/* ---- The same search without a shortcut: whole routes through the whole model at every step ----
 */

enum { NAIVE_WIDTH = 8, NAIVE_STEPS = 64 };

typedef struct naive_route {
    int32_t roads[NAIVE_STEPS + 1];
    int64_t count;
    double log_probability;
} naive_route;

static bool naive_search(assay__next_road *model, const assay__road_network *network,
                         assay__road_batch *batch, int32_t origin, int32_t destination,
                         int64_t width, naive_route *best)
{
    static naive_route beam[NAIVE_WIDTH], options[NAIVE_WIDTH * 16];
    bool *expanded = calloc((size_t)network->roads, sizeof *expanded);
    bool found = false;
    int64_t held = 1;
    assert_non_null(expanded);
    beam[0] = (naive_route){.roads = {origin}, .count = 1};
    for (int64_t step = 1; step <= NAIVE_STEPS && held > 0 && !found; step++) {
        int64_t count = 0;
        for (int64_t i = 0; i < held; i++)
            expanded[beam[i].roads[step - 1]] = true;
        for (int64_t i = 0; i < held; i++) {
            int32_t from = beam[i].roads[step - 1];
            int64_t first = network->first[from], end = network->first[from + 1];
            assert_int_equal(assay__road_batch_reserve(batch, 1, step, end - first), ASSAY_OK);
            memcpy(batch->roads, beam[i].roads, (size_t)step * sizeof *batch->roads);
            memset(batch->first, 0, (size_t)step * sizeof *batch->first);
            batch->first[step] = batch->candidates = end - first;
            batch->destinations[0] = destination;
            for (int64_t k = first; k < end; k++) {
                batch->choices[k - first] = network->next[k];
                assay__road_features(network, from, network->next[k], destination,
                                     batch->features + (k - first) * ASSAY__ROAD_FEATURES);
            }
            assert_int_equal(assay__next_road_forward(model, batch), ASSAY_OK);
            for (int64_t k = first; k < end; k++) {
                if (expanded[network->next[k]])
                    continue;
                naive_route option = beam[i];
                option.roads[option.count++] = network->next[k];
                option.log_probability += log((double)model->act.probability[k - first]);
                options[count++] = option;
            }
        }
        held = 0;
        while (held < width) {
            int64_t most = -1;
            for (int64_t i = 0; i < count; i++) {
                bool taken = options[i].log_probability == -INFINITY;
                for (int64_t j = 0; j < held; j++)
                    taken = taken || beam[j].roads[step] == options[i].roads[step];
                if (!taken &&
                    (most < 0 || options[i].log_probability > options[most].log_probability))
                    most = i;
            }
            if (most < 0)
                break;
            beam[held++] = options[most];
            options[most].log_probability = -INFINITY;
        }
        for (int64_t i = 0; i < held && !found; i++) {
            found = beam[i].roads[step] == destination;
            *best = beam[i];
        }
    }
    free(expanded);
    return found;
}

static void test_search_without_shortcuts(void **state)
{
    (void)state;
    static const int64_t widths[] = {1, 3, 4, 6};
    int found = 0;
    scene self;
    open_scene(&self, 300, 40, 30, shapes[0]);
    train(&self, 40, 0.02);
    assay__road_searcher *searcher = NULL;
    assay__random random;
    assay__random_init(&random, 4);
    assert_int_equal(
        assay__road_searcher_new(self.city, self.model, NAIVE_WIDTH, NAIVE_STEPS, NULL, &searcher),
        ASSAY_OK);
    for (int i = 0; i < 80; i++) {
        int32_t origin = (int32_t)assay__random_below(&random, 300);
        int32_t destination = (int32_t)assay__random_below(&random, 300);
        int64_t width = widths[i % 4];
        naive_route expected = {0};
        assay__road_route route;
        if (origin == destination)
            continue;
        bool there =
            naive_search(self.model, self.city, &self.batch, origin, destination, width, &expected);
        assert_int_equal(
            assay__road_search_beam(searcher, origin, destination, width, NULL, &route), ASSAY_OK);
        assert_int_equal(route.outcome == ASSAY__ROUTE_FOUND, there);
        if (there) {
            found++;
            assert_int_equal(route.count, expected.count);
            assert_memory_equal(route.roads, expected.roads, (size_t)route.count * sizeof(int32_t));
            assert_true(fabs(route.log_probability - expected.log_probability) < 1e-4);
            assert_int_equal(route.forward_count, route.count - 1);
        }
    }
    assert_in_range(found, 50, 80);
    assay__road_searcher_free(searcher);
    close_scene(&self);
}

static void count_before(void *context)
{
    ((int *)context)[0]++;
}

static void count_after(void *context)
{
    ((int *)context)[1]++;
    assert_int_equal(((int *)context)[0], ((int *)context)[1]);
}

static void test_hooks_and_refresh(void **state)
{
    (void)state;
    assay__road_network *network = roads_between(dead_end_places, dead_end_roads, 6);
    assay__next_road *model = one_feature(6, 1, 2);
    assay__road_searcher *searcher = NULL;
    assay__road_route route;
    int calls[2] = {0, 0};
    assay__road_search_hook hook = {count_before, count_after, calls};
    assert_int_equal(assay__road_searcher_new(network, model, 1, 100, NULL, &searcher), ASSAY_OK);
    assay__road_searcher_set_hook(searcher, &hook);
    /* Away from the destination is the way there. */
    assay__parameters_value(&model->parameters, model->at.score)[3 + 4 + 1] = -2;
    assay__road_searcher_refresh(searcher);
    assert_int_equal(assay__road_search_greedy(searcher, 0, 5, NULL, &route), ASSAY_OK);
    assert_int_equal(route.outcome, ASSAY__ROUTE_FOUND);
    assert_int_equal(calls[1], route.forward_count);
    assay__road_searcher_free(searcher);
    assay__next_road_shape shape = {5, 2, 2, 2};
    assay__next_road_free(model);
    assay_error error = {0};
    assert_int_equal(assay__next_road_new(&shape, 1, NULL, &model), ASSAY_OK);
    assert_int_equal(assay__road_searcher_new(network, model, 1, 100, &error, &searcher),
                     ASSAY_E_ARGUMENT);
    assert_null(searcher);
    assay__next_road_free(model);
    assay__road_network_free(network);
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
        cmocka_unit_test(test_dead_end),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_search_without_shortcuts),
        cmocka_unit_test(test_hooks_and_refresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
