/* Searches for a route, on networks small enough to know the answer, and compared with a search
 * without any shortcut. */
#include "tests/unit/road_scene.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "models/road/search.h"

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
static const int dead_end_roads[][2] = {{0, 1}, {1, 2}, {1, 3}, {3, 4}, {4, 5}, {5, 6}};

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

static void compare_with_naive(assay__next_road_shape shape)
{
    static const int64_t widths[] = {1, 3, 4, 6};
    int found = 0;
    scene self;
    open_scene(&self, 300, 40, 30, shape);
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
    assert_in_range(found, 40, 80);
    assay__road_searcher_free(searcher);
    close_scene(&self);
}

/* Sizes that fill no vector, and sizes that fill whole ones. */
static void test_search_without_shortcuts(void **state)
{
    (void)state;
    compare_with_naive((assay__next_road_shape){.embedding = 5, .hidden = 7, .scorer = 9});
    compare_with_naive((assay__next_road_shape){.embedding = 8, .hidden = 32, .scorer = 48});
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
        cmocka_unit_test(test_dead_end),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_search_without_shortcuts),
        cmocka_unit_test(test_hooks_and_refresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
