/* The graph transformer and its encodings beside PyTorch, SciPy and NumPy, one thread each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assay/model.h"
#include "graph/encoding.h"
#include "graph/transformer.h"
#include "peer.h"

/* Exits: a benchmark that cannot run has nothing to print. */
static void require(assay_status status, const assay_error *error)
{
    if (status != ASSAY_OK) {
        fprintf(stderr, "graph: %s\n", error->message);
        exit(1);
    }
}

/* ---- The model ---- */

typedef struct transformer {
    assay_model *model;
    assay_tensor inputs[3], target;
} transformer;

static void make(transformer *subject)
{
    assay_error error;
    const assay_model_class *class_ = &assay__graph_transformer_class;
    require(assay_model_new(class_, NULL, 1, &error, &subject->model), &error);
    require(assay_model_example(subject->model, 2, &error, subject->inputs, &subject->target),
            &error);
}

static void forward(void *context)
{
    transformer *subject = context;
    assay_error error;
    assay_tensor output;
    require(assay_model_forward(subject->model, subject->inputs, 3, &error, &output), &error);
}

static void train(void *context)
{
    transformer *subject = context;
    assay_error error;
    double loss;
    require(
        assay_model_gradient(subject->model, subject->inputs, 3, &subject->target, &error, &loss),
        &error);
    require(assay_model_update(subject->model, 1e-3, &error), &error);
}

/* ---- The encodings, of a graph of 2000 nodes ---- */

enum { NODES = 2000, EDGES = 10000, VECTORS = 16, STEPS = 16 };

typedef struct encodings {
    assay__memory *memory;
    assay__graph graph;
    assay__encoder encoder;
    float *y; /* (nodes, 16) */
} encodings;

/* The graph is an example of the model's; the peer reads its edges from a file. */
static void make_graph(encodings *subject, const char *path)
{
    assay_error error;
    const assay_model_class *class_ = &assay__graph_transformer_class;
    double settings[64];
    for (size_t i = 0; i < class_->option_count; i++) {
        const char *name = class_->options[i].name;
        settings[i] = strcmp(name, "num-nodes") == 0   ? NODES
                      : strcmp(name, "num-edges") == 0 ? EDGES
                                                       : class_->options[i].initial;
    }
    assay_model *model = NULL;
    assay_tensor inputs[3], target;
    require(assay_model_new(class_, settings, 1, &error, &model), &error);
    require(assay_model_example(model, 2, &error, inputs, &target), &error);
    require(assay_tensor_save_npy(&inputs[1], path, &error), &error);
    *subject = (encodings){.memory = assay__memory_new()};
    assay__graph_init(&subject->graph, subject->memory);
    require(assay__graph_set(&subject->graph, NODES, EDGES, inputs[1].data, NULL, &error), &error);
    subject->y = assay__memory_floats(subject->memory, ASSAY__ACTIVATIONS, NODES * VECTORS);
    assay_model_free(model);
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
    make(&subject);
    peer_compare(&server, "graph transformer, forward", "PyTorch", "forward", 1.5, forward,
                 &subject);
    assay_model_set_training(subject.model, true);
    peer_compare(&server, "graph transformer, training step", "PyTorch", "train", 1.5, train,
                 &subject);
    assay_model_free(subject.model);
    peer_compare(&server, "Laplacian encoding, 2000 nodes, 16 vectors", "SciPy eigsh", "laplacian",
                 1.5, laplacian, &encoded);
    peer_compare(&server, "random-walk encoding, 2000 nodes, 16 steps", "NumPy", "walk", 10, walk,
                 &encoded);
    assay__memory_free(encoded.memory);
    return peer_stop(&server);
}
