/* Graphs, attention and the graph transformer: against references, finite differences and counts
 * made by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "graph/attention.h"
#include "graph/encoding.h"
#include "graph/strip.h"
#include "graph/transformer.h"

/* ---- Graphs ---- */

typedef struct batch {
    int64_t nodes, edges;
    int64_t *list;   /* (2, edges) */
    int64_t *graphs; /* (nodes) */
} batch;

/* Two graphs of random directed edges, repetitions and loops among them; the last node is isolated.
 */
static batch random_batch(int64_t first, int64_t second, int64_t edges_each, uint64_t seed)
{
    batch b = {.nodes = first + second + 1, .edges = 2 * edges_each};
    b.list = calloc(2 * (size_t)b.edges, sizeof *b.list);
    b.graphs = calloc((size_t)b.nodes, sizeof *b.graphs);
    assert_non_null(b.list);
    assert_non_null(b.graphs);
    assay__random random;
    assay__random_init(&random, seed);
    for (int64_t e = 0; e < b.edges; e++) {
        int64_t start = e < edges_each ? 0 : first, size = e < edges_each ? first : second;
        b.list[e] = start + (int64_t)assay__random_below(&random, (uint64_t)size);
        b.list[b.edges + e] = start + (int64_t)assay__random_below(&random, (uint64_t)size);
    }
    for (int64_t i = first; i < b.nodes; i++) {
        b.graphs[i] = 1;
    }
    return b;
}

static void release(batch *b)
{
    free(b->list);
    free(b->graphs);
}

static void test_adjacency(void **unused)
{
    (void)unused;
    assay__memory *memory = assay__memory_new();
    assay__graph graph;
    assay__graph_init(&graph, memory);
    const int64_t list[] = {0, 2, 0, 1, 1, 2, /* to */ 1, 1, 1, 1, 0, 0};
    assert_int_equal(assay__graph_set(&graph, 4, 6, list, NULL, NULL), ASSAY_OK);
    assert_int_equal(graph.graphs, 1);
    assert_memory_equal(graph.in.offsets, ((int64_t[]){0, 2, 6, 6, 6}), 5 * sizeof(int64_t));
    assert_memory_equal(graph.in.neighbours, ((int32_t[]){1, 2, 0, 2, 0, 1}), 6 * sizeof(int32_t));
    assert_memory_equal(graph.out.offsets, ((int64_t[]){0, 2, 4, 6, 6}), 5 * sizeof(int64_t));
    assert_memory_equal(graph.out.neighbours, ((int32_t[]){1, 1, 1, 0, 1, 0}), 6 * sizeof(int32_t));
    assay__adjacency attended = {0}, undirected = {0};
    assert_int_equal(assay__graph_attended(&graph, &attended), ASSAY_OK);
    assert_memory_equal(attended.offsets, ((int64_t[]){0, 3, 6, 7, 8}), 5 * sizeof(int64_t));
    assert_memory_equal(attended.neighbours, ((int32_t[]){0, 1, 2, 0, 1, 2, 2, 3}),
                        8 * sizeof(int32_t));
    assert_int_equal(assay__graph_undirected(&graph, &undirected), ASSAY_OK);
    assert_memory_equal(undirected.offsets, ((int64_t[]){0, 2, 4, 6, 6}), 5 * sizeof(int64_t));
    assert_memory_equal(undirected.neighbours, ((int32_t[]){1, 2, 0, 2, 0, 1}),
                        6 * sizeof(int32_t));
    uint64_t version = graph.version;
    assert_int_equal(assay__graph_set(&graph, 4, 6, list, NULL, NULL), ASSAY_OK);
    assert_true(graph.version == version);
    assert_int_equal(assay__graph_set(&graph, 5, 6, list, NULL, NULL), ASSAY_OK);
    assert_true(graph.version != version);
    assay__memory_free(memory);
}

static void expect_refusal(int64_t nodes, int64_t edges, const int64_t *list, const int64_t *graphs,
                           const char *part)
{
    assay__memory *memory = assay__memory_new();
    assay__graph graph;
    assay__graph_init(&graph, memory);
    assay_error error = {0};
    assert_int_not_equal(assay__graph_set(&graph, nodes, edges, list, graphs, &error), ASSAY_OK);
    if (strstr(error.message, part) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error.message, part);
    }
    assay__memory_free(memory);
}

static void test_bad_graphs(void **unused)
{
    (void)unused;
    expect_refusal(3, 1, (int64_t[]){0, 3}, NULL, "edge 0 has node 3, which does not exist");
    expect_refusal(3, 2, (int64_t[]){0, -1, 1, 1}, NULL, "edge 1 has node -1");
    expect_refusal(3, 0, (int64_t[]){0}, (int64_t[]){0, 1, 0}, "node 2 belongs to graph 0");
    expect_refusal(3, 0, (int64_t[]){0}, (int64_t[]){0, 0, 2}, "node 2 belongs to graph 2");
    expect_refusal(2, 0, (int64_t[]){0}, (int64_t[]){1, 1}, "node 0 belongs to graph 1");
    expect_refusal(3, 1, (int64_t[]){0, 2}, (int64_t[]){0, 0, 1},
                   "of graph 0 to node 2 of graph 1");
    expect_refusal(0, 0, (int64_t[]){0}, NULL, "none");
    expect_refusal(INT64_C(1) << 31, 0, (int64_t[]){0}, NULL, "at most");
}

static void test_distances(void **unused)
{
    (void)unused;
    assay__memory *memory = assay__memory_new();
    assay__graph graph;
    assay__graph_init(&graph, memory);
    /* the path 0 -> 1 <- 2 -> 3, and 4 alone; then a graph of two nodes */
    const int64_t list[] = {0, 2, 2, 6, /* to */ 1, 1, 3, 5};
    const int64_t graphs[] = {0, 0, 0, 0, 0, 1, 1};
    assert_int_equal(assay__graph_set(&graph, 7, 4, list, graphs, NULL), ASSAY_OK);
    uint8_t *distances = NULL;
    assert_int_equal(assay__graph_distances(&graph, 2, &distances), ASSAY_OK);
    const uint8_t expected[] = {0, 1, 2, 3, 3, 1, 0, 1, 2, 3, 2, 1, 0, 1, 3,
                                3, 2, 1, 0, 3, 3, 3, 3, 3, 0, 0, 1, 1, 0};
    assert_memory_equal(distances, expected, sizeof expected);
    assay__memory_free(memory);
}

/* ---- Attention ---- */

typedef struct attention_case {
    int64_t first, second, edges; /* of two graphs */
    int64_t heads, width;
    bool sparse;
    int64_t limit; /* of the bias; 0: none */
} attention_case;

static float *normal_floats(size_t count, uint64_t seed)
{
    float *values = calloc(count, sizeof *values);
    assert_non_null(values);
    assay__random random;
    assay__random_init(&random, seed);
    for (size_t i = 0; i < count; i++) {
        values[i] = (float)assay__random_normal(&random);
    }
    return values;
}

/* The kernel for wide vectors against the library's product, with tiles of every width, both
 * layouts of the left operand, and values around the result that must stay. */
static void test_strip_product(void **unused)
{
    (void)unused;
    enum { M = 24, MOST_N = 112, K = 37, STRIDE = 120 };
    float *a = normal_floats((size_t)M * K, 1), *b = normal_floats((size_t)K * STRIDE, 2);
    for (int64_t n = 16; n <= MOST_N; n += 16) {
        for (int variant = 0; variant < 4; variant++) {
            assay__strip left =
                variant % 2 == 0 ? (assay__strip){a, K, 1} : (assay__strip){a, 1, M};
            bool add = variant >= 2;
            float *ours = normal_floats((size_t)M * STRIDE, 3);
            float *theirs = normal_floats((size_t)M * STRIDE, 3);
            assay__strip_product(M, n, K, left, b, STRIDE, add, ours, STRIDE);
            assay__strip_product_reference(M, n, K, left, b, STRIDE, add, theirs, STRIDE);
            for (int64_t i = 0; i < M * STRIDE; i++) {
                assert_true(fabsf(ours[i] - theirs[i]) < (i % STRIDE < n ? 1e-4F : 1e-30F));
            }
            free(ours);
            free(theirs);
        }
    }
    free(a);
    free(b);
}

static void check_attention(const attention_case *c)
{
    batch b = random_batch(c->first, c->second, c->edges, 7);
    assay__memory *memory = assay__memory_new();
    assay__graph graph;
    assay__adjacency attended = {0};
    uint8_t *distances = NULL;
    assay__graph_init(&graph, memory);
    assert_int_equal(assay__graph_set(&graph, b.nodes, b.edges, b.list, b.graphs, NULL), ASSAY_OK);
    assert_int_equal(assay__graph_attended(&graph, &attended), ASSAY_OK);
    assert_int_equal(assay__graph_distances(&graph, c->limit, &distances), ASSAY_OK);
    size_t hidden = (size_t)(c->heads * c->width), nodes = (size_t)b.nodes;
    float *bias = normal_floats((size_t)((c->limit + 2) * c->heads), 8);
    float *qkv = normal_floats(3 * hidden * nodes, 9);
    assay__attention attention = {.heads = c->heads,
                                  .head_width = c->width,
                                  .graph = &graph,
                                  .attended = c->sparse ? &attended : NULL,
                                  .buckets = c->limit > 0 ? c->limit + 2 : 0,
                                  .bias = bias,
                                  .distances = c->sparse ? NULL : distances};
    float *scratch = calloc(assay__attention_scratch(&attention), sizeof *scratch);
    float *output = calloc(hidden * nodes, sizeof *output);
    float *log_sum = calloc((size_t)c->heads * nodes, sizeof *log_sum);
    double *expected = calloc(hidden * nodes, sizeof *expected);
    assay__attention_forward(&attention, qkv, scratch, output, log_sum);
    assert_int_equal(assay__attention_reference(&attention, qkv, expected, NULL), ASSAY_OK);
    for (size_t i = 0; i < hidden * nodes; i++) {
        assert_true(fabs((double)output[i] - expected[i]) < 2e-6);
    }
    free(scratch);
    free(output);
    free(log_sum);
    free(expected);
    free(bias);
    free(qkv);
    release(&b);
    assay__memory_free(memory);
}

static void test_attention(void **unused)
{
    (void)unused;
    const attention_case cases[] = {{20, 9, 30, 3, 5, false, 0},    {129, 256, 400, 2, 8, false, 0},
                                    {300, 3, 900, 1, 4, false, 2},  {20, 9, 60, 3, 5, true, 0},
                                    {130, 40, 500, 2, 16, true, 3}, {2100, 1, 10, 1, 3, false, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_attention(&cases[i]);
    }
}

/* Large scores must not overflow, however the keys are cut into blocks. */
static void test_attention_is_stable(void **unused)
{
    (void)unused;
    enum { NODES = 1500 };
    assay__memory *memory = assay__memory_new();
    assay__graph graph;
    assay__graph_init(&graph, memory);
    assert_int_equal(assay__graph_set(&graph, NODES, 0, (int64_t[]){0}, NULL, NULL), ASSAY_OK);
    float *qkv = calloc((size_t)3 * NODES, sizeof *qkv);
    for (int i = 0; i < NODES; i++) {
        qkv[3 * i] = 1e3F;             /* query */
        qkv[3 * i + 1] = (float)i;     /* key: the last one wins by 1000 */
        qkv[3 * i + 2] = (float)i + 1; /* value */
    }
    assay__attention attention = {.heads = 1, .head_width = 1, .graph = &graph};
    float *scratch = calloc(assay__attention_scratch(&attention), sizeof *scratch);
    float *output = calloc((size_t)NODES, sizeof *output);
    float *log_sum = calloc((size_t)NODES, sizeof *log_sum);
    assay__attention_forward(&attention, qkv, scratch, output, log_sum);
    for (int i = 0; i < NODES; i++) {
        assert_true(output[i] == (float)NODES);
        assert_true(log_sum[i] == 1e3F * (NODES - 1));
    }
    free(qkv);
    free(scratch);
    free(output);
    free(log_sum);
    assay__memory_free(memory);
}

/* ---- The transformer ---- */

static const assay__graph_transformer_shape small = {
    .input = 3, .hidden = 8, .layers = 2, .heads = 2, .ffn = 12, .output = 2};

/* sum(output * direction) of a pass; linear in what comes back, so its gradient is `direction`. */
static double objective(assay__graph_transformer *model, const float *features,
                        const float *direction, size_t count, assay__graph_transformer_pass pass)
{
    const float *output = NULL;
    assay_error error;
    assert_int_equal(assay__graph_transformer_forward(model, features, pass, &error, &output),
                     ASSAY_OK);
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (double)output[i] * (double)direction[i];
    }
    return sum;
}

/* Directional derivatives of a pass along random directions in the space of all parameters, by
 * central differences, against the gradient. */
static void check_gradient(const assay__graph_transformer_shape *shape)
{
    batch b = random_batch(13, 8, 20, 3);
    assay__graph_transformer *model = NULL;
    assay_error error;
    assert_int_equal(assay__graph_transformer_new(shape, 5, &error, &model), ASSAY_OK);
    assert_int_equal(
        assay__graph_transformer_set_graph(model, b.nodes, b.edges, b.list, b.graphs, &error),
        ASSAY_OK);
    size_t count = (size_t)((shape->pooled ? 2 : b.nodes) * shape->output);
    float *features = normal_floats((size_t)(b.nodes * shape->input), 11);
    float *direction = normal_floats(count, 12);
    assay__parameters *parameters = assay__graph_transformer_parameters(model);
    float *saved = calloc(parameters->total, sizeof *saved);
    memcpy(saved, parameters->values, parameters->total * sizeof *saved);
    objective(model, features, direction, count, (assay__graph_transformer_pass){.keep = true});
    assert_int_equal(assay__graph_transformer_backward(model, direction, &error), ASSAY_OK);
    for (uint64_t trial = 0; trial < 4; trial++) {
        const double step = 3e-4; /* rounding and the kinks of relu against curvature */
        float *along = normal_floats(parameters->total, 20 + trial);
        double expected = 0, length = 0, sides[2];
        for (size_t i = 0; i < parameters->total; i++) {
            expected += (double)along[i] * (double)parameters->gradients[i];
            length += (double)parameters->gradients[i] * (double)parameters->gradients[i];
        }
        for (int side = 0; side < 2; side++) {
            for (size_t i = 0; i < parameters->total; i++) {
                parameters->values[i] = saved[i] + (float)(side == 0 ? step : -step) * along[i];
            }
            sides[side] = objective(model, features, direction, count,
                                    (assay__graph_transformer_pass){.keep = false});
        }
        double measured = (sides[0] - sides[1]) / (2 * step);
        if (!(fabs(measured - expected) < 0.015 * sqrt(length))) {
            fail_msg("direction %d: %.6f by differences, %.6f by backward, of %.3f", (int)trial,
                     measured, expected, sqrt(length));
        }
        memcpy(parameters->values, saved, parameters->total * sizeof *saved);
        free(along);
    }
    free(saved);
    free(direction);
    free(features);
    release(&b);
    assay__graph_transformer_free(model);
}

static void test_gradients(void **unused)
{
    (void)unused;
    assay__graph_transformer_shape shapes[6];
    for (size_t i = 0; i < 6; i++) {
        shapes[i] = small;
        shapes[i].gelu = true; /* smooth, so that differences converge */
    }
    shapes[1].message = ASSAY__GCN;
    shapes[2].message = ASSAY__GATED_GCN;
    shapes[3].sparse = true;
    shapes[3].pooled = true;
    shapes[4].bias_distance = 2;
    shapes[5].laplacian = 3;
    shapes[5].walk = 2;
    for (size_t i = 0; i < 6; i++) {
        check_gradient(&shapes[i]);
    }
}

/* Dropout of a pass must be repeated by its backward: with the same mask, the gradient at zero
 * weights of the head's input is unaffected, so compare two identical models step by step. */
static void test_dropout(void **unused)
{
    (void)unused;
    batch b = random_batch(30, 10, 80, 3);
    assay__graph_transformer_shape shape = small;
    shape.dropout = 0.5F;
    assay_error error;
    float *features = normal_floats((size_t)(b.nodes * shape.input), 11);
    float *direction = normal_floats((size_t)(b.nodes * shape.output), 12);
    double results[2][3];
    for (int i = 0; i < 2; i++) {
        assay__graph_transformer *model = NULL;
        size_t count = (size_t)(b.nodes * shape.output);
        assert_int_equal(assay__graph_transformer_new(&shape, 5, &error, &model), ASSAY_OK);
        assert_int_equal(
            assay__graph_transformer_set_graph(model, b.nodes, b.edges, b.list, b.graphs, &error),
            ASSAY_OK);
        assay__graph_transformer_pass training = {.keep = true, .dropout = true};
        results[i][0] = objective(model, features, direction, count, training);
        results[i][1] = objective(model, features, direction, count, training);
        results[i][2] = objective(model, features, direction, count,
                                  (assay__graph_transformer_pass){.keep = true});
        assay__graph_transformer_free(model);
    }
    assert_memory_equal(results[0], results[1], sizeof results[0]); /* the seed decides */
    assert_true(results[0][0] != results[0][1]);                    /* a fresh mask each pass */
    assert_true(results[0][0] != results[0][2]);                    /* none in evaluation */
    free(features);
    free(direction);
    release(&b);
}

typedef struct tally {
    int64_t matmul_flops, gathered;
} tally;

static void count_operation(void *context, const assay_operation *operation)
{
    tally *sum = context;
    if (operation->kind == ASSAY_OP_MATMUL) {
        sum->matmul_flops += 2 * operation->count * operation->m * operation->k * operation->n;
    } else if (operation->kind == ASSAY_OP_GATHER_ADD) {
        sum->gathered += operation->count * operation->m * operation->n;
    }
}

/* The published size: 3 968 001 parameters and 5.48 GFLOP of matrix products. */
static void test_reference_size(void **unused)
{
    (void)unused;
    assay_model *model = NULL;
    assay_error error;
    assay_tensor inputs[3], target;
    assert_int_equal(assay_model_new(&assay__graph_transformer_class, NULL, 1, &error, &model),
                     ASSAY_OK);
    assert_int_equal(assay_model_parameter_count(model), 3968001);
    assert_int_equal(assay_model_example(model, 1, &error, inputs, &target), ASSAY_OK);
    tally sum = {0};
    assert_int_equal(assay_model_describe(model, inputs, 3, count_operation, &sum, &error),
                     ASSAY_OK);
    const int64_t n = 500, h = 256;
    assert_int_equal(sum.matmul_flops,
                     2 * n * 48 * h + 6 * (2 * n * h * (2 * h + 4 * h + 2 * 512) + 4 * n * n * h) +
                         2 * n * h);
    assert_int_equal(sum.gathered, INT64_C(6) * 2500 * 256);
    assay_model_free(model);
}

/* Parameters and their gradients take 4 bytes each, and a pass repeated takes nothing more. */
static void test_memory(void **unused)
{
    (void)unused;
    batch b = random_batch(30, 10, 80, 3);
    assay__graph_transformer *model = NULL;
    assay_error error;
    assert_int_equal(assay__graph_transformer_new(&small, 5, &error, &model), ASSAY_OK);
    assert_int_equal(
        assay__graph_transformer_set_graph(model, b.nodes, b.edges, b.list, b.graphs, &error),
        ASSAY_OK);
    float *features = normal_floats((size_t)(b.nodes * small.input), 11);
    const float *output;
    assay_model_memory first, again;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            assay__graph_transformer_forward(
                model, features, (assay__graph_transformer_pass){.keep = true}, &error, &output),
            ASSAY_OK);
        assert_int_equal(assay__graph_transformer_backward(model, output, &error), ASSAY_OK);
        assay__graph_transformer_memory(model, i == 0 ? &first : &again);
    }
    assert_memory_equal(&first, &again, sizeof first);
    size_t total = assay__graph_transformer_parameters(model)->total;
    assert_int_equal(first.parameters, 4 * total);
    assert_int_equal(first.gradients, 4 * total);
    free(features);
    release(&b);
    assay__graph_transformer_free(model);
}

/* Training holds a few values per node and layer, and never the scores of a head. */
static void test_scores_are_not_held(void **unused)
{
    (void)unused;
    enum { NODES = 1500, HEADS = 8 };
    const assay__graph_transformer_shape shape = {
        .input = 2, .hidden = 16, .layers = 1, .heads = HEADS, .ffn = 16, .output = 1};
    assay__graph_transformer *model = NULL;
    assay_error error;
    double loss;
    float *features = normal_floats(2 * NODES, 1), *target = normal_floats(NODES, 2);
    assert_int_equal(assay__graph_transformer_new(&shape, 5, &error, &model), ASSAY_OK);
    assert_int_equal(
        assay__graph_transformer_set_graph(model, NODES, 0, (int64_t[]){0}, NULL, &error),
        ASSAY_OK);
    assert_int_equal(
        assay__graph_transformer_gradient(model, features, target, false, &error, &loss), ASSAY_OK);
    assay_model_memory held;
    assay__graph_transformer_memory(model, &held);
    assert_true(held.activations + held.workspace < 4 * NODES * NODES); /* not even one head's */
    free(features);
    free(target);
    assay__graph_transformer_free(model);
}

/* Backward without what it needs is refused, not computed from what happens to be there. */
static void test_order_of_calls(void **unused)
{
    (void)unused;
    assay__graph_transformer *model = NULL;
    assay_error error = {0};
    const float features[6] = {0}, *output;
    assert_int_equal(assay__graph_transformer_new(&small, 5, &error, &model), ASSAY_OK);
    assay__graph_transformer_pass pass = {.keep = false};
    assert_int_equal(assay__graph_transformer_forward(model, features, pass, &error, &output),
                     ASSAY_E_STATE);
    assert_int_equal(assay__graph_transformer_set_graph(model, 2, 0, (int64_t[]){0}, NULL, &error),
                     ASSAY_OK);
    assert_int_equal(assay__graph_transformer_forward(model, features, pass, &error, &output),
                     ASSAY_OK);
    assert_int_equal(assay__graph_transformer_backward(model, output, &error), ASSAY_E_STATE);
    assay__graph_transformer_free(model);
    assay__graph_transformer_shape odd = small;
    odd.heads = 3;
    assert_int_equal(assay__graph_transformer_new(&odd, 5, &error, &model), ASSAY_E_ARGUMENT);
    assert_non_null(strstr(error.message, "num-heads 3"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adjacency),           cmocka_unit_test(test_bad_graphs),
        cmocka_unit_test(test_distances),           cmocka_unit_test(test_strip_product),
        cmocka_unit_test(test_attention),           cmocka_unit_test(test_attention_is_stable),
        cmocka_unit_test(test_gradients),           cmocka_unit_test(test_dropout),
        cmocka_unit_test(test_reference_size),      cmocka_unit_test(test_memory),
        cmocka_unit_test(test_scores_are_not_held), cmocka_unit_test(test_order_of_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
