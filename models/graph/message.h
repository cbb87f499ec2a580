/* Message passing: a node combines the features of its neighbours. N(i) are the sources of the
 * edges into i, each as often as the edge is listed. All linear maps are (hidden, hidden) with a
 * bias.
 *
 *     GIN       y_i = W2 relu(W1 (h_i + sum_{j in N(i)} h_j))
 *               (Xu et al. 2019, epsilon 0)      mpnn.lin1.weight/.bias, mpnn.lin2.weight/.bias
 *     GCN       y_i = W sum_{j in N(i) and i} h_j / sqrt(d_i d_j) + b, where d counts the edges
 *               into a node from others, and one for itself, whether or not that edge is listed
 *               (Kipf and Welling 2017)          mpnn.lin.weight/.bias
 *     gated GCN y_i = relu(A h_i + sum_j g_ij * B h_j / (sum_j g_ij + 1e-6)),
 *               g_ij = sigmoid(D h_i + E h_j), elementwise
 *               (Bresson and Laurent 2017, as Dwivedi et al. 2020 normalise it, without edge
 *               features and batch norm)         mpnn.A.weight/.bias, and B, D, E likewise */
#ifndef ASSAY_MODELS_GRAPH_MESSAGE_H
#define ASSAY_MODELS_GRAPH_MESSAGE_H

#include <stdint.h>

#include "models/graph/graph.h"
#include "models/kernel/describe.h"
#include "models/kernel/parameters.h"

typedef enum assay__message_kind { ASSAY__GIN, ASSAY__GCN, ASSAY__GATED_GCN } assay__message_kind;

/* The message passing of one layer. */
typedef struct assay__message {
    assay__message_kind kind;
    int64_t hidden;
    size_t first; /* the index of its first parameter; they follow in the order above */
} assay__message;

/* Declares the parameters as "layers.LAYER.mpnn...." */
assay__message assay__message_declare(assay__message_kind kind, int64_t hidden, int64_t layer,
                                      assay__parameters *parameters);

/* The number of floats that forward keeps for backward, and the number that backward needs as
 * scratch. */
size_t assay__message_kept(const assay__message *message, int64_t nodes);
size_t assay__message_scratch(const assay__message *message, int64_t nodes);

/* Compute y (nodes, hidden) from h (nodes, hidden), and write `kept`, which has
 * assay__message_kept() floats. */
void assay__message_forward(const assay__message *message, const assay__parameters *parameters,
                            const assay__graph *graph, const float *h, float *kept, float *y);

/* Compute the gradients of the parameters and dh (nodes, hidden) from dy (nodes, hidden), and add
 * them to the present values. dy may be overwritten. */
void assay__message_backward(const assay__message *message, const assay__parameters *parameters,
                             const assay__graph *graph, const float *h, const float *kept,
                             float *dy, float *scratch, float *dh);

/* Report the operations of forward() to `to`. */
void assay__message_describe(const assay__message *message, const assay__graph *graph,
                             const assay__teller *to);

/* ---- The functions of each kind, which those above call ---- */

void assay__gin_forward(const assay__message *message, const assay__parameters *parameters,
                        const assay__graph *graph, const float *h, float *kept, float *y);
void assay__gin_backward(const assay__message *message, const assay__parameters *parameters,
                         const assay__graph *graph, const float *kept, const float *dy,
                         float *scratch, float *dh);
void assay__gcn_forward(const assay__message *message, const assay__parameters *parameters,
                        const assay__graph *graph, const float *h, float *kept, float *y);
void assay__gcn_backward(const assay__message *message, const assay__parameters *parameters,
                         const assay__graph *graph, const float *kept, const float *dy,
                         float *scratch, float *dh);
void assay__gated_gcn_forward(const assay__message *message, const assay__parameters *parameters,
                              const assay__graph *graph, const float *h, float *kept, float *y);
void assay__gated_gcn_backward(const assay__message *message, const assay__parameters *parameters,
                               const assay__graph *graph, const float *h, const float *kept,
                               float *dy, float *scratch, float *dh);

/* x (rows, in) += dy (rows, out) weight (out, in): add the gradient of a linear map's input. */
void assay__linear_backward_add(int64_t rows, int64_t in, int64_t out, const float *dy,
                                const float *weight, float *x);

#endif
