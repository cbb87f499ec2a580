/* The graph transformer and its encodings beside PyTorch, SciPy and NumPy, with one thread each. */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/models/peer.h"
#include "bench/models/transformer_step.h"
#include "models/graph/encoding.h"
#include "models/kernel/kernels.h"

/* ---- The encodings, of a graph of 2000 nodes ---- */

enum { NODES = 2000, EDGES = 10000, VECTORS = 16, STEPS = 16 };

typedef struct encodings {
    assay__memory *memory;
    assay__graph graph;
    assay__encoder encoder;
    float *y; /* (nodes, 16) */
} encodings;

/* Makes the graph: it is example data of the model. The peer reads its edges from a file. */
static void make_graph(encodings *subject, const char *path)
{
    assay_error error;
    transformer source;
    make_transformer(&source, NODES, EDGES);
    require(assay_tensor_save_npy(&source.inputs[1], path, &error), &error);
    *subject = (encodings){.memory = assay__memory_new()};
    assay__graph_init(&subject->graph, subject->memory);
    require(assay__graph_set(&subject->graph, NODES, EDGES, source.inputs[1].data, NULL, &error),
            &error);
    subject->y = assay__memory_floats(subject->memory, ASSAY__ACTIVATIONS, NODES * VECTORS);
    assay_model_free(source.model);
}

static void laplacian(void *context)
{
    encodings *subject = context;
    assay_error error;
    require(assay__encode_laplacian(&subject->encoder, &subject->graph, VECTORS, subject->y,
                                    VECTORS, &error),
            &error);
}

static void walk(void *context)
{
    encodings *subject = context;
    assay_error error;
    require(
        assay__encode_walk(&subject->encoder, &subject->graph, STEPS, subject->y, STEPS, &error),
        &error);
}

/* ---- The products of attention, at its shapes, beside a bare sgemm ---- */

typedef struct product {
    int64_t m, n, k;
    bool transposed; /* the left operand */
    float *a, *b, *c;
} product;

static void ours(const product *p)
{
    assay__narrow_product(p->m, p->n, p->k, p->a, p->transposed ? 1 : p->k,
                          p->transposed ? p->m : 1, p->b, p->n, NULL, false, p->c, p->n);
}

static void bare(const product *p)
{
    cblas_sgemm(CblasRowMajor, p->transposed ? CblasTrans : CblasNoTrans, CblasNoTrans, (int)p->m,
                (int)p->n, (int)p->k, 1, p->a, (int)(p->transposed ? p->m : p->k), p->b, (int)p->n,
                0, p->c, (int)p->n);
}

/* The median of the rounds' ratios of the bare time to ours: our rate as a share of the library's.
 */
static double share_of_rate(const product *p)
{
    enum { REPEATS = 200 };
    double ratios[PEER_ROUNDS];
    for (int round = 0; round < PEER_ROUNDS; round++) {
        double start = peer_cpu_seconds();
        for (int i = 0; i < REPEATS; i++)
            ours(p);
        double middle = peer_cpu_seconds();
        for (int i = 0; i < REPEATS; i++)
            bare(p);
        ratios[round] = (peer_cpu_seconds() - middle) / (middle - start);
    }
    return peer_median(ratios);
}

static void compare_products(peer_server *server)
{
    const struct {
        const char *name;
        product shape;
    } cases[] = {{"attention scores, (64, 32) by (32, 512)", {64, 512, 32, false, 0, 0, 0}},
                 {"attention mix, (64, 512) by (512, 32)", {64, 32, 512, false, 0, 0, 0}},
                 {"attention keys' gradient, (512, 64) by (64, 32)", {512, 32, 64, true, 0, 0, 0}}};
    assay__memory *memory = assay__memory_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        product p = cases[i].shape;
        p.a = assay__memory_floats(memory, ASSAY__WORKSPACE, (size_t)(p.m * p.k));
        p.b = assay__memory_floats(memory, ASSAY__WORKSPACE, (size_t)(p.k * p.n));
        p.c = assay__memory_floats(memory, ASSAY__WORKSPACE, (size_t)(p.m * p.n));
        peer_print_ratio(server, cases[i].name, "sgemm", share_of_rate(&p), 1);
    }
    assay__memory_free(memory);
}

/* ---- Memory ---- */

static void show_memory(peer_server *server)
{
    enum { MANY = 5000 };
    const double bar = 2e9;
    transformer subject;
    make_transformer(&subject, MANY, 5 * MANY);
    assay_error error;
    double loss;
    assay_model_memory held;
    require(assay_model_gradient(subject.model, subject.inputs, 3, &subject.target, &error, &loss),
            &error);
    require(assay_model_update(subject.model, 1e-3, &error), &error);
    require(assay_model_memory_now(subject.model, &error, &held), &error);
    double bytes = (double)(held.parameters + held.gradients + held.optimizer + held.activations +
                            held.workspace);
    server->missed |= bytes > bar;
    printf("{\"name\": \"graph transformer, training on 5000 nodes: memory\", \"value\": %.0f, "
           "\"unit\": \"bytes\", \"bar\": %.0f, \"ok\": %s}\n",
           bytes, bar, bytes <= bar ? "true" : "false");
    assay_model_free(subject.model);
}

int main(void)
{
    char folder[] = "/tmp/assay-bench-XXXXXX", path[64];
    if (mkdtemp(folder) == NULL) {
        perror("graph: no temporary folder");
        return 1;
    }
    snprintf(path, sizeof path, "%s/edges.npy", folder);
    encodings encoded;
    make_graph(&encoded, path);
    setenv("ASSAY_BENCH_EDGES", path, 1);

    peer_server server;
    peer_start(&server, "graph.py");
    unlink(path);
    rmdir(folder);
    transformer subject;
    make_transformer(&subject, 500, 2500);
    server.modern_bar = server.modern_bar > 0 ? 1.25 : 0;
    peer_compare(&server, "graph transformer, forward", "PyTorch", "forward",
                 peer_bar_at_level(1.3, 1.5), forward, &subject);
    assay_model_set_training(subject.model, true);
    server.modern_bar = server.modern_bar > 0 ? 1.15 : 0;
    peer_compare(&server, "graph transformer, training step", "PyTorch", "train",
                 peer_bar_at_level(1.3, 1.5), train, &subject);
    assay_model_free(subject.model);
    peer_compare(&server, "Laplacian encoding, 2000 nodes, 16 vectors", "SciPy eigsh", "laplacian",
                 2, laplacian, &encoded);
    peer_compare(&server, "random-walk encoding, 2000 nodes, 16 steps", "NumPy", "walk", 20, walk,
                 &encoded);
    assay__memory_free(encoded.memory);
    compare_products(&server);
    show_memory(&server);
    return peer_stop(&server);
}
