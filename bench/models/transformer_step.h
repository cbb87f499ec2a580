/* The graph transformer as a subject of benchmarks: one forward pass, one training step. */
#ifndef ASSAY_BENCH_MODELS_TRANSFORMER_STEP_H
#define ASSAY_BENCH_MODELS_TRANSFORMER_STEP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/model.h"
#include "models/graph/transformer.h"

typedef struct transformer {
    assay_model *model;
    assay_tensor inputs[3], target;
} transformer;

/* Exits on failure, because a benchmark that cannot run has nothing to print. */
static inline void require(assay_status status, const assay_error *error)
{
    if (status != ASSAY_OK) {
        fprintf(stderr, "bench: %s\n", error->message);
        exit(1);
    }
}

/* Makes a model of the default size, except for `nodes` and `edges`. 0 keeps their default too. */
static inline void make_transformer(transformer *subject, int nodes, int edges)
{
    assay_error error;
    const assay_model_class *class_ = &assay__graph_transformer_class;
    double settings[64];
    for (size_t i = 0; i < class_->option_count; i++) {
        const char *name = class_->options[i].name;
        settings[i] = nodes > 0 && strcmp(name, "num-nodes") == 0   ? nodes
                      : edges > 0 && strcmp(name, "num-edges") == 0 ? edges
                                                                    : class_->options[i].initial;
    }
    require(assay_model_new(class_, settings, 1, &error, &subject->model), &error);
    require(assay_model_example(subject->model, 2, &error, subject->inputs, &subject->target),
            &error);
}

static inline void forward(void *context)
{
    transformer *subject = context;
    assay_error error;
    assay_tensor output;
    require(assay_model_forward(subject->model, subject->inputs, 3, &error, &output), &error);
}

static inline void train(void *context)
{
    transformer *subject = context;
    assay_error error;
    double loss;
    require(
        assay_model_gradient(subject->model, subject->inputs, 3, &subject->target, &error, &loss),
        &error);
    require(assay_model_update(subject->model, 1e-3, &error), &error);
}

#endif
