/* The graph transformer and its encodings beside PyTorch, SciPy and NumPy, one thread each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "assay/model.h"
#include "graph/encoding.h"
#include "graph/transformer.h"
#include "kernel/loss.h"
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

int main(void)
{
    peer_server server;
    peer_start(&server, "graph.py");
    transformer subject;
    make(&subject);
    peer_compare(&server, "graph transformer, forward", "PyTorch", "forward", 1.5, forward,
                 &subject);
    assay_model_set_training(subject.model, true);
    peer_compare(&server, "graph transformer, training step", "PyTorch", "train", 1.5, train,
                 &subject);
    assay_model_free(subject.model);
    return peer_stop(&server);
}
