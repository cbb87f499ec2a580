/* The encodings: eigenvectors compared with closed forms, with the definition and with the other
 * solver; return probabilities compared with dense powers and with values computed by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "models/graph/encoding.h"
#include "models/graph/spectrum.h"
#include "tests/reference/reference.h"

typedef struct fixture {
    assay__memory *memory;
    assay__graph graph;
    assay__encoder encoder;
} fixture;

static void set_up(fixture *f, int64_t nodes, int64_t edges, const int64_t *list,
                   const int64_t *graphs)
{
    *f = (fixture){.memory = assay__memory_new()};
    assert_non_null(f->memory);
    assay__graph_init(&f->graph, f->memory);
    assert_int_equal(assay__graph_set(&f->graph, nodes, edges, list, graphs, NULL), ASSAY_OK);
}

/* Random pairs, in one or both directions, the first of which make a tree. */
static int64_t *random_edges(int64_t nodes, int64_t pairs, bool both, uint64_t seed)
{
    int64_t edges = both ? 2 * pairs : pairs;
    int64_t *list = calloc(2 * (size_t)edges, sizeof *list);
    assert_non_null(list);
    assay__random random;
    assay__random_init(&random, seed);
    for (int64_t e = 0; e < pairs; e++) {
        int64_t a = e + 1 < nodes ? e + 1 : (int64_t)assay__random_below(&random, (uint64_t)nodes);
        int64_t bound = e + 1 < nodes ? e + 1 : nodes;
        int64_t b = (int64_t)assay__random_below(&random, (uint64_t)bound);
        list[e] = a;
        list[edges + e] = b;
        if (both) {
            list[pairs + e] = b;
            list[edges + pairs + e] = a;
        }
    }
    return list;
}

/* ---- Laplacian ---- */

/* |L v - lambda v|, lengths and products of the vectors, their order and signs, by definition. */
static void check_eigenvectors(const fixture *f, int64_t count, const float *y,
                               const double *values)
{
    const assay__adjacency *adjacency = &f->encoder.undirected;
    const int64_t n = f->graph.nodes;
    for (int64_t k = 0; k < count; k++) {
        assert_true(values[k] > 1e-12 && values[k] <= 2 + 1e-9);
        assert_true(k == 0 || values[k] >= values[k - 1]);
        double residual = 0;
        for (int64_t i = 0; i < n; i++) {
            double degree = (double)(adjacency->offsets[i + 1] - adjacency->offsets[i]);
            double sum = degree > 0 ? (double)y[i * count + k] : 0;
            for (int64_t e = adjacency->offsets[i]; e < adjacency->offsets[i + 1]; e++) {
                int64_t j = adjacency->neighbours[e];
                double other = (double)(adjacency->offsets[j + 1] - adjacency->offsets[j]);
                sum -= (double)y[j * count + k] / sqrt(degree * other);
            }
            residual += pow(sum - values[k] * (double)y[i * count + k], 2);
        }
        if (!(sqrt(residual) < 1e-6)) /* the vectors are rounded to float32 */
            fail_msg("vector %d: residual %g", (int)k, sqrt(residual));
        for (int64_t other = 0; other <= k; other++) {
            double product = 0;
            for (int64_t i = 0; i < n; i++)
                product += (double)y[i * count + k] * (double)y[i * count + other];
            assert_true(fabs(product - (other == k)) < 1e-6);
        }
    }
}

static void encode(fixture *f, int64_t count, float *y, double *values)
{
    assay_error error;
    assay_status status =
        assay__laplacian_eigenvectors(&f->encoder, &f->graph, count, y, count, values, &error);
    if (status != ASSAY_OK)
        fail_msg("%s", error.message);
}

static void check_random(int64_t nodes, int64_t pairs, int64_t count)
{
    fixture f;
    int64_t *list = random_edges(nodes, pairs, true, 3);
    set_up(&f, nodes, 2 * pairs, list, NULL);
    float *y = calloc((size_t)(nodes * count), sizeof *y);
    double *values = calloc((size_t)count, sizeof *values);
    encode(&f, count, y, values);
    check_eigenvectors(&f, count, y, values);
    assay__memory_free(f.memory);
    free(list);
    free(y);
    free(values);
}

static void test_random_graphs(void **unused)
{
    (void)unused;
    check_random(40, 80, 8);       /* dense */
    check_random(600, 2400, 16);   /* sparse, a wide gap */
    check_random(400, 399, 16);    /* a tree */
    check_random(300, 2000, 40);   /* many vectors */
    check_random(130, 4000, 10);   /* nearly complete */
    check_random(5000, 25000, 16); /* a high degree of the filter, far from the trivial vector */
}

/* A cycle of n: eigenvalues 1 - cos(2 pi k / n), each twice. */
static void test_cycle(void **unused)
{
    (void)unused;
    enum { NODES = 500, COUNT = 8 };
    static int64_t list[2 * NODES];
    for (int64_t i = 0; i < NODES; i++) {
        list[i] = i;
        list[NODES + i] = (i + 1) % NODES;
    }
    fixture f;
    set_up(&f, NODES, NODES, list, NULL);
    static float y[NODES * COUNT];
    double values[COUNT];
    encode(&f, COUNT, y, values);
    check_eigenvectors(&f, COUNT, y, values);
    for (int k = 0; k < COUNT; k++) {
        double expected = 1 - cos(2 * M_PI * (k / 2 + 1) / NODES);
        assert_true(fabs(values[k] - expected) < 1e-10);
    }
    assay__memory_free(f.memory);
}

/* The same graph by both solvers: eigenvalues, and the spaces the vectors span. */
static void test_solvers_agree(void **unused)
{
    (void)unused;
    enum { NODES = 240, COUNT = 12 };
    int64_t *list = random_edges(NODES, 700, true, 9);
    fixture f;
    set_up(&f, NODES, 1400, list, NULL);
    static float y[NODES * COUNT];
    double values[COUNT];
    encode(&f, COUNT, y, values); /* fills the adjacency */
    static double root[NODES], trivial[NODES];
    static int64_t part[NODES], connected[NODES];
    assay__spectrum spectrum = {.adjacency = &f.encoder.undirected,
                                .nodes = NODES,
                                .part = part,
                                .parts = 1,
                                .connected = connected,
                                .connected_count = NODES,
                                .trivial = trivial,
                                .root = root};
    for (int64_t i = 0; i < NODES; i++) {
        double degree =
            (double)(f.encoder.undirected.offsets[i + 1] - f.encoder.undirected.offsets[i]);
        root[i] = 1 / sqrt(degree);
        trivial[i] = sqrt(degree / (double)f.encoder.undirected.offsets[NODES]);
        connected[i] = i;
    }
    const int64_t width = assay__spectrum_width(COUNT);
    double *scratch[2] = {calloc(assay__spectrum_dense_scratch(NODES, COUNT), sizeof(double)),
                          calloc(assay__spectrum_sparse_scratch(NODES, width), sizeof(double))};
    double *vectors[2] = {calloc((size_t)(NODES * width), sizeof(double)),
                          calloc((size_t)(NODES * width), sizeof(double))};
    double found[2][COUNT];
    assert_int_equal(
        assay__spectrum_dense(&spectrum, COUNT, scratch[0], width, found[0], vectors[0]), ASSAY_OK);
    assert_int_equal(
        assay__spectrum_sparse(&spectrum, COUNT, scratch[1], width, found[1], vectors[1]),
        ASSAY_OK);
    for (int a = 0; a < COUNT; a++) {
        assert_true(fabs(found[0][a] - found[1][a]) < 1e-12);
        double product = 0;
        for (int64_t i = 0; i < NODES; i++)
            product += vectors[0][i * width + a] * vectors[1][i * width + a];
        assert_true(fabs(fabs(product) - 1) < 1e-9);
    }
    for (int i = 0; i < 2; i++) {
        free(scratch[i]);
        free(vectors[i]);
    }
    assay__memory_free(f.memory);
    free(list);
}

/* Parts and isolated nodes have trivial vectors of their own, which are left out; what is missing
 * is 0. The path 0 - 1 - 2 has eigenvalues 0, 1, 2; the pair 4 - 5 has 0 and 2. */
static void test_parts(void **unused)
{
    (void)unused;
    enum { NODES = 6, COUNT = 5 };
    const int64_t list[] = {0, 1, 4, /* to */ 1, 2, 5};
    fixture f;
    set_up(&f, NODES, 3, list, NULL);
    float y[NODES * COUNT];
    double values[COUNT];
    encode(&f, COUNT, y, values);
    const double expected[COUNT] = {1, 2, 2, 0, 0};
    for (int k = 0; k < COUNT; k++) {
        assert_true(fabs(values[k] - expected[k]) < 1e-12);
        assert_true(y[3 * COUNT + k] == 0); /* isolated */
    }
    const double half = sqrt(0.5);
    const double first[NODES] = {half, 0, -half, 0, 0, 0};
    for (int i = 0; i < NODES; i++) {
        assert_true(fabs((double)y[i * COUNT] - first[i]) < 1e-6);
        assert_true(y[i * COUNT + 3] == 0 && y[i * COUNT + 4] == 0);
    }
    assay__memory_free(f.memory);
}

/* Many isolated nodes leave less room than the sparse solver needs. */
static void test_mostly_isolated(void **unused)
{
    (void)unused;
    enum { NODES = 2000, COUNT = 4 };
    const int64_t list[] = {5, 700, 1999, /* to */ 700, 1999, 5}; /* a triangle: 0, 1.5, 1.5 */
    fixture f;
    set_up(&f, NODES, 3, list, NULL);
    static float y[NODES * COUNT];
    double values[COUNT];
    encode(&f, COUNT, y, values);
    assert_true(fabs(values[0] - 1.5) < 1e-12 && fabs(values[1] - 1.5) < 1e-12);
    assert_true(values[2] == 0 && values[3] == 0);
    assay__memory_free(f.memory);
}

/* A graph of a batch gets what it would get alone. */
static void test_batch(void **unused)
{
    (void)unused;
    enum { FIRST = 30, SECOND = 150, NODES = FIRST + SECOND, COUNT = 4, STRIDE = 7 };
    int64_t *one = random_edges(FIRST, 60, true, 1), *two = random_edges(SECOND, 500, true, 2);
    int64_t list[2 * 1120], graphs[NODES];
    for (int64_t e = 0; e < 120; e++) {
        list[e] = one[e];
        list[1120 + e] = one[120 + e];
    }
    for (int64_t e = 0; e < 1000; e++) {
        list[120 + e] = FIRST + two[e];
        list[1120 + 120 + e] = FIRST + two[1000 + e];
    }
    for (int64_t i = 0; i < NODES; i++)
        graphs[i] = i >= FIRST;
    fixture both, alone;
    set_up(&both, NODES, 1120, list, graphs);
    set_up(&alone, SECOND, 1000, two, NULL);
    float y[NODES * STRIDE], expected[SECOND * STRIDE];
    memset(y, 0, sizeof y);
    memset(expected, 0, sizeof expected);
    assay_error error;
    assert_int_equal(assay__encode_laplacian(&both.encoder, &both.graph, COUNT, y, STRIDE, &error),
                     ASSAY_OK);
    assert_int_equal(
        assay__encode_laplacian(&alone.encoder, &alone.graph, COUNT, expected, STRIDE, &error),
        ASSAY_OK);
    assert_int_equal(assay__encode_walk(&both.encoder, &both.graph, 3, y + COUNT, STRIDE, &error),
                     ASSAY_OK);
    assert_int_equal(
        assay__encode_walk(&alone.encoder, &alone.graph, 3, expected + COUNT, STRIDE, &error),
        ASSAY_OK);
    assert_memory_equal(y + FIRST * STRIDE, expected, sizeof expected);
    assay__memory_free(both.memory);
    assay__memory_free(alone.memory);
    free(one);
    free(two);
}

/* ---- Random walks ---- */

static void check_walk(int64_t nodes, int64_t pairs, bool both, int64_t steps)
{
    int64_t *list = random_edges(nodes, pairs, both, 4);
    fixture f;
    set_up(&f, nodes, both ? 2 * pairs : pairs, list, NULL);
    float *y = calloc((size_t)(nodes * steps), sizeof *y);
    double *expected = calloc((size_t)(nodes * steps), sizeof *expected);
    assay_error error;
    assert_int_equal(assay__encode_walk(&f.encoder, &f.graph, steps, y, steps, &error), ASSAY_OK);
    assert_int_equal(reference_encode_walk(&f.graph, steps, expected), ASSAY_OK);
    for (int64_t i = 0; i < nodes * steps; i++)
        assert_true(fabs((double)y[i] - expected[i]) < 1e-6);
    assay__memory_free(f.memory);
    free(list);
    free(y);
    free(expected);
}

static void test_walk(void **unused)
{
    (void)unused;
    check_walk(50, 120, true, 9);
    check_walk(50, 120, true, 8);
    check_walk(50, 300, false, 9);
    check_walk(130, 129, true, 16);
    check_walk(1, 0, true, 3);
}

/* 0 -> 1 -> 0 with a chance of a half to be lost to 2, from where nothing leads. */
static void test_walk_by_hand(void **unused)
{
    (void)unused;
    const int64_t list[] = {0, 1, 1, /* to */ 1, 0, 2};
    fixture f;
    set_up(&f, 3, 3, list, NULL);
    float y[3 * 4];
    assay_error error;
    assert_int_equal(assay__encode_walk(&f.encoder, &f.graph, 4, y, 4, &error), ASSAY_OK);
    const float expected[] = {0, 0.5F, 0, 0.25F, 0, 0.5F, 0, 0.25F, 0, 0, 0, 0};
    assert_memory_equal(y, expected, sizeof expected);
    assay__memory_free(f.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_cycle),
        cmocka_unit_test(test_solvers_agree),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_mostly_isolated),
        cmocka_unit_test(test_batch),
        cmocka_unit_test(test_walk),
        cmocka_unit_test(test_walk_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
