/* A graph transformer in the GPS manner (Rampasek et al. 2022, with layer norm in place of batch
 * norm):
 *
 *     h_0     = encoder(features, Laplacian encoding, random-walk encoding)
 *     l       = LN1(h + dropout(MPNN(h)))          message passing along edges: graph/message.h
 *     a       = LN2(h + dropout(MHA(h)))           attention within a graph:    graph/attention.h
 *     s       = l + a
 *     h'      = LN3(s + dropout(W2 act(W1 s)))
 *     output  = head(h) of each node, or head(mean of h over a graph's nodes) of each graph
 *
 * The parameters, in this order, have the names of a PyTorch state_dict; L counts layers from 0:
 *
 *     encoder.weight               (hidden, input + laplacian + walk)      encoder.bias (hidden)
 *     layers.L.mpnn. ...           see graph/message.h
 *     layers.L.attn.in_proj_weight (3 hidden, hidden)   layers.L.attn.in_proj_bias (3 hidden)
 *     layers.L.attn.out_proj.weight (hidden, hidden)    layers.L.attn.out_proj.bias (hidden)
 *     layers.L.attn.distance_bias.weight (bias_distance + 2, heads), if there is a bias
 *     layers.L.norm1.weight, .bias (hidden); norm2 and norm3 likewise
 *     layers.L.ffn.0.weight (ffn, hidden), .bias (ffn); ffn.2.weight (hidden, ffn), .bias (hidden)
 *     head.weight (output, hidden), head.bias (output)
 *
 * The distance bias adds row d of its table to a score, where d is the number of edges on the
 * shortest path between query and key, along edges in either direction. Row bias_distance + 1 is
 * for all pairs that are farther apart or have no path. */
#ifndef ASSAY_MODELS_GRAPH_TRANSFORMER_H
#define ASSAY_MODELS_GRAPH_TRANSFORMER_H

#include <stdbool.h>
#include <stdint.h>

#include "assay/model.h"
#include "models/graph/graph.h"
#include "models/graph/message.h"
#include "models/kernel/parameters.h"

extern const assay_model_class assay__graph_transformer_class;

typedef struct assay__graph_transformer_shape {
    int64_t input; /* features of a node */
    int64_t hidden, layers, heads, ffn, output;
    int64_t laplacian;     /* eigenvectors appended to the features; 0: none */
    int64_t walk;          /* return probabilities appended to the features; 0: none */
    int64_t bias_distance; /* 0: no bias */
    assay__message_kind message;
    bool sparse; /* attention along edges only */
    bool gelu;   /* in the feed-forward part; else relu */
    bool pooled; /* one output per graph; else per node */
    float dropout;
} assay__graph_transformer_shape;

typedef struct assay__graph_transformer assay__graph_transformer;

/* Make a model; assay__graph_transformer_free() frees it. Weights are drawn as PyTorch's modules
 * draw them: linear maps from U(-1/sqrt(in), 1/sqrt(in)), in_proj Glorot-uniform. The biases of
 * in_proj and out_proj and the distance bias are 0. Norms have scale 1 and shift 0.
 * ASSAY_E_ARGUMENT if hidden is not a multiple of heads, or if nodes have neither features nor
 * encodings; ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status
assay__graph_transformer_new(const assay__graph_transformer_shape *shape, uint64_t seed,
                             assay_error *error, assay__graph_transformer **model);
void assay__graph_transformer_free(assay__graph_transformer *model);

/* The parts of a model. They belong to it. */
assay__parameters *assay__graph_transformer_parameters(assay__graph_transformer *model);
assay_model_training *assay__graph_transformer_training(assay__graph_transformer *model);
const assay__graph *assay__graph_transformer_graph(const assay__graph_transformer *model);
void assay__graph_transformer_memory(const assay__graph_transformer *model,
                                     assay_model_memory *figures);

/* Set the graphs of the next passes, as assay__graph_set() does, and compute their encodings and
 * distances. Setting the same graphs again costs only a comparison. */
ASSAY_MUST_USE assay_status assay__graph_transformer_set_graph(assay__graph_transformer *model,
                                                               int64_t nodes, int64_t edges,
                                                               const int64_t *edge_list,
                                                               const int64_t *graphs,
                                                               assay_error *error);

typedef struct assay__graph_transformer_pass {
    bool keep; /* keep the activations that backward needs; otherwise all layers share one buffer */
    bool dropout; /* apply dropout, with a new mask */
} assay__graph_transformer_pass;

/* Run a forward pass. `features` is (nodes, input) and must stay valid until backward. `*output` is
 * (nodes or graphs, output); it belongs to the model and is valid until the next call.
 * ASSAY_E_STATE if no graph is set; ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__graph_transformer_forward(assay__graph_transformer *model,
                                                             const float *features,
                                                             assay__graph_transformer_pass pass,
                                                             assay_error *error,
                                                             const float **output);

/* Compute the gradient of every parameter from `doutput` (the shape of the output) and overwrite
 * the old gradients. A forward pass with `keep` must come first; otherwise ASSAY_E_STATE. */
ASSAY_MUST_USE assay_status assay__graph_transformer_backward(assay__graph_transformer *model,
                                                              const float *doutput,
                                                              assay_error *error);

/* Run a forward pass, compute the loss against `target` (the shape of the output), and run a
 * backward pass. The loss is the mean squared error unless the model's training settings name
 * another. */
ASSAY_MUST_USE assay_status assay__graph_transformer_gradient(assay__graph_transformer *model,
                                                              const float *features,
                                                              const float *target, bool dropout,
                                                              assay_error *error, double *loss);

/* Make one step of the optimizer with the gradients. The optimizer is Adam unless the model's
 * training settings name another. */
ASSAY_MUST_USE assay_status assay__graph_transformer_update(assay__graph_transformer *model,
                                                            double learning_rate,
                                                            assay_error *error);

/* ---- For passes that are computed elsewhere (models/cuda) ---- */

const assay__graph_transformer_shape *
assay__graph_transformer_shape_of(const assay__graph_transformer *model);

/* The arrays that are derived from the present graph. They belong to the model. A pointer is NULL
 * if the shape does not need the array. */
typedef struct assay__graph_transformer_derived {
    const assay__adjacency *attended; /* sparse attention: the nodes that each attends to */
    const uint8_t *distances;         /* assay__graph_distances() */
} assay__graph_transformer_derived;
assay__graph_transformer_derived
assay__graph_transformer_derived_of(const assay__graph_transformer *model);

/* The input of the encoder, (nodes, input + laplacian + walk): each node's features, followed by
 * its encodings if there are any. The array belongs to the model and is valid until the next call;
 * without encodings it is `features` itself. */
const float *assay__graph_transformer_encoder_input(assay__graph_transformer *model,
                                                    const float *features);

/* Do the steps that the model class does before a pass: set the graph of the inputs, check the
 * target (NULL if there is none), and return the model. `state` was made by the class. */
ASSAY_MUST_USE assay_status assay__graph_transformer_take(void *state, const assay_tensor *inputs,
                                                          const assay_tensor *target,
                                                          assay_error *error,
                                                          assay__graph_transformer **model);

/* Report every operation of a forward pass over the present graph to `sink`. The encodings are not
 * among them, because they are computed once per graph. */
void assay__graph_transformer_describe(const assay__graph_transformer *model, assay_term_sink sink,
                                       void *context);

#endif
