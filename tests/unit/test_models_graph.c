/* Graphs and attention, compared with references and with values computed by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "models/graph/attention.h"
#include "models/graph/encoding.h"
#include "models/kernel/kernels.h"
#include "tests/emulator.h"
#include "tests/reference/reference.h"
#include "tests/sanitizers.h"
#include "tests/unit/graph_fixture.h"

/* ---- Graphs ---- */

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

/* After a graph for which there was no memory, no graph is taken for the one that is set: not an
 * empty one, and not the one from before, whose arrays are partly replaced. */
static void test_no_memory_for_a_graph(void **unused)
{
    (void)unused;
    SKIP_IF_EMULATED("qemu-user ignores RLIMIT_AS");
    if (ADDRESS_SANITIZER || THREAD_SANITIZER)
        skip();
    assay__memory *memory = assay__memory_new();
    assay__graph graph;
    assay_error error = {0};
    struct rlimit before, few = {64 << 20, RLIM_INFINITY};
    assay__graph_init(&graph, memory);
    const int64_t list[] = {0, 1, /* to */ 1, 0};
    assert_int_equal(assay__graph_set(&graph, 2, 2, list, NULL, NULL), ASSAY_OK);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    few.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_AS, &few), 0);
    assay_status status = assay__graph_set(&graph, INT32_MAX, 2, list, NULL, &error);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(status, ASSAY_E_MEMORY);
    assert_non_null(strstr(error.message, "no memory for a graph of 2147483647 nodes, 2 edges"));
    assert_int_equal(assay__graph_set(&graph, 0, 2, list, NULL, &error), ASSAY_E_DATA);
    assert_int_equal(assay__graph_set(&graph, 2, 2, list, NULL, NULL), ASSAY_OK);
    assert_int_equal(graph.nodes, 2);
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
    if (strstr(error.message, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.message, part);
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
    float size;    /* of queries and keys: small scores need no maximum */
} attention_case;

/* The kernel against three loops, with tiles of every size and what is left beside them, both
 * layouts of the left operand, and values around the result that must stay. */
static void test_narrow_product(void **unused)
{
    (void)unused;
    enum { MOST_M = 17, MOST_N = 112, K = 37, STRIDE = 120 };
    float *a = normal_floats((size_t)MOST_M * K, 1), *b = normal_floats((size_t)K * STRIDE, 2);
    float *bias = normal_floats(MOST_N, 4);
    for (int64_t m = 1, n = 1; n <= MOST_N; n += 3, m = m % MOST_M + 1) {
        for (int variant = 0; variant < 6; variant++) {
            bool transposed = variant % 2 != 0, add = variant / 2 == 1, biased = variant / 2 == 2;
            float *ours = normal_floats((size_t)MOST_M * STRIDE, 3);
            float *theirs = normal_floats((size_t)MOST_M * STRIDE, 3);
            assay__narrow_product(m, n, K, a, transposed ? 1 : K, transposed ? m : 1, b, STRIDE,
                                  biased ? bias : NULL, add, ours, STRIDE);
            for (int64_t i = 0; biased && i < m * n; i++)
                theirs[i / n * STRIDE + i % n] = bias[i % n];
            reference_matmul(m, n, K, 1, (assay__matrix){a, transposed ? m : K, transposed},
                             (assay__matrix){b, STRIDE, false}, add || biased, theirs, STRIDE);
            for (int64_t i = 0; i < MOST_M * STRIDE; i++)
                assert_true(fabsf(ours[i] - theirs[i]) < (i % STRIDE < n ? 1e-4F : 1e-30F));
            free(ours);
            free(theirs);
        }
    }
    free(a);
    free(b);
    free(bias);
}

/* Against three loops, with rows, columns and inner lengths that fill no whole tile or vector, and
 * values around the result that must stay. */
static void test_row_products(void **unused)
{
    (void)unused;
    enum { MOST_M = 13, MOST_N = 21, MOST_K = 83, STRIDE = 90 };
    float *a = normal_floats((size_t)MOST_M * STRIDE, 1), *b = normal_floats(MOST_N * STRIDE, 2);
    for (int64_t m = 1, n = 1, k = 1; k <= MOST_K; k++, m = m % MOST_M + 1, n = n % MOST_N + 1) {
        float *ours = normal_floats((size_t)MOST_M * STRIDE, 3);
        float *theirs = normal_floats((size_t)MOST_M * STRIDE, 3);
        assay__row_products(m, n, k, a, STRIDE, b, STRIDE, ours, STRIDE);
        reference_matmul(m, n, k, 1, (assay__matrix){a, STRIDE, false},
                         (assay__matrix){b, STRIDE, true}, 1, theirs, STRIDE);
        for (int64_t i = 0; i < MOST_M * STRIDE; i++)
            assert_true(fabsf(ours[i] - theirs[i]) < (i % STRIDE < n ? 1e-4F : 1e-30F));
        free(ours);
        free(theirs);
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
    for (size_t i = 0; i < 3 * hidden * nodes; i++)
        qkv[i] *= i / hidden % 3 < 2 ? c->size : 1;
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
    assert_int_equal(reference_attention(&attention, qkv, expected, NULL), ASSAY_OK);
    for (size_t i = 0; i < hidden * nodes; i++)
        assert_true(fabs((double)output[i] - expected[i]) < (c->size > 1 ? 3e-5 : 2e-6));
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
    const attention_case cases[] = {
        {20, 9, 30, 3, 5, false, 0, 1},     {129, 256, 400, 2, 8, false, 0, 1},
        {300, 3, 900, 1, 4, false, 2, 1},   {20, 9, 60, 3, 5, true, 0, 1},
        {130, 40, 500, 2, 16, true, 3, 1},  {2100, 1, 10, 1, 3, false, 0, 1},
        {129, 256, 400, 2, 8, false, 2, 4}, {2100, 1, 10, 1, 3, false, 0, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_attention(&cases[i]);
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
        assert_true(fabs((double)log_sum[i] / (1e3 * (NODES - 1) * M_LOG2E) - 1) < 1e-6);
    }
    free(qkv);
    free(scratch);
    free(output);
    free(log_sum);
    assay__memory_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adjacency),      cmocka_unit_test(test_no_memory_for_a_graph),
        cmocka_unit_test(test_bad_graphs),     cmocka_unit_test(test_distances),
        cmocka_unit_test(test_narrow_product), cmocka_unit_test(test_row_products),
        cmocka_unit_test(test_attention),      cmocka_unit_test(test_attention_is_stable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
