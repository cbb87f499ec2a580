/* A graph transformer in the GPS manner (Rampasek et al. 2022, with layer norm for batch norm):
 *
 *     h_0     = encoder(features, Laplacian encoding, random-walk encoding)
 *     l       = LN1(h + dropout(MPNN(h)))          message passing along edges: graph/message.h
 *     a       = LN2(h + dropout(MHA(h)))           attention within a graph:    graph/attention.h
 *     s       = l + a
 *     h'      = LN3(s + dropout(W2 act(W1 s)))
 *     output  = head(h) of each node, or head(mean of h over a graph's nodes) of each graph
 *
 * Parameters, in this order (PyTorch's state_dict of modules so named; L counts layers from 0):
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
 * The bias adds to a score what stands in row d of its table, d being the number of edges, in
 * either direction, on the shortest path between query and key; row bias_distance + 1 is for all
 * pairs farther apart or without a path. */
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

/* Weights are drawn as PyTorch's modules do: linear maps from U(-1/sqrt(in), 1/sqrt(in)), in_proj
 * Glorot-uniform, its bias, out_proj's and the distance bias 0, norms 1 and 0.
 * ASSAY_E_ARGUMENT if hidden is not a multiple of heads. */
ASSAY_MUST_USE assay_status
assay__graph_transformer_new(const assay__graph_transformer_shape *shape, uint64_t seed,
                             assay_error *error, assay__graph_transformer **model);
void assay__graph_transformer_free(assay__graph_transformer *model);

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
 * ASSAY_E_MEMORY is the only failure. */
ASSAY_MUST_USE assay_status assay__graph_transformer_forward(assay__graph_transformer *model,
                                                             const float *features,
                                                             assay__graph_transformer_pass pass,
                                                             assay_error *error,
                                                             const float **output);

/* Compute the gradient of every parameter from `doutput` (the shape of the output) and overwrite
 * the old gradients. A forward pass with `keep` must come first. */
ASSAY_MUST_USE assay_status assay__graph_transformer_backward(assay__graph_transformer *model,
                                                              const float *doutput,
                                                              assay_error *error);

/* Both, with the loss against `target` (shape of the output) between them, by default the mean
 * squared error. */
ASSAY_MUST_USE assay_status assay__graph_transformer_gradient(assay__graph_transformer *model,
                                                              const float *features,
                                                              const float *target, bool dropout,
                                                              assay_error *error, double *loss);

/* One step of the optimizer, by default Adam, on the gradients. */
ASSAY_MUST_USE assay_status assay__graph_transformer_update(assay__graph_transformer *model,
                                                            double learning_rate,
                                                            assay_error *error);

/* ---- For passes that are computed elsewhere (models/cuda) ---- */

const assay__graph_transformer_shape *
assay__graph_transformer_shape_of(const assay__graph_transformer *model);

/* What is derived from the graph set; NULL where the shape needs none. */
typedef struct assay__graph_transformer_derived {
    const assay__adjacency *attended; /* sparse attention: whom each node looks at */
    const uint8_t *distances;         /* (pairs of nodes of a graph), graph after graph */
} assay__graph_transformer_derived;
assay__graph_transformer_derived
assay__graph_transformer_derived_of(const assay__graph_transformer *model);

/* What the encoder gets, (nodes, input + laplacian + walk): the features, beside the encodings
 * where there are any. The model's or `features`, valid until the next call. */
const float *assay__graph_transformer_encoder_input(assay__graph_transformer *model,
                                                    const float *features);

/* What the class does before a pass, from a state that it made: set the graph of the inputs, check
 * the target (NULL: none), and return the model. */
ASSAY_MUST_USE assay_status assay__graph_transformer_take(void *state, const assay_tensor *inputs,
                                                          const assay_tensor *target,
                                                          assay_error *error,
                                                          assay__graph_transformer **model);

/* Every operation of a forward pass over the graph set; encodings, which are made once per graph,
 * are not among them. */
void assay__graph_transformer_describe(const assay__graph_transformer *model, assay_term_sink sink,
                                       void *context);

#endif
