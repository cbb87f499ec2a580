/* Message passing of any kind: declares the parameters, counts the floats to keep, and calls the
 * functions of the kind. message_gin.c, message_gcn.c and message_gated.c have the arithmetic. */
#include "models/graph/message.h"

#include <stdio.h>

#include "models/kernel/matmul.h"

assay__message assay__message_declare(assay__message_kind kind, int64_t hidden, int64_t layer,
                                      assay__parameters *parameters)
{
    static const char *const maps[][5] = {[ASSAY__GIN] = {"lin1", "lin2"},
                                          [ASSAY__GCN] = {"lin"},
                                          [ASSAY__GATED_GCN] = {"A", "B", "D", "E"}};
    assay__message message = {.kind = kind, .hidden = hidden, .first = parameters->count};
    for (const char *const *map = maps[kind]; *map != NULL; map++) {
        assay__parameters_add(parameters, 2, (int64_t[]){hidden, hidden},
                              "layers.%lld.mpnn.%s.weight", (long long)layer, *map);
        assay__parameters_add(parameters, 1, &hidden, "layers.%lld.mpnn.%s.bias", (long long)layer,
                              *map);
    }
    return message;
}

/* The number of floats in `arrays` arrays of (nodes, hidden) and `rows` rows of (hidden). */
static size_t floats(const assay__message *message, int64_t nodes, int64_t arrays, int64_t rows)
{
    return (size_t)((arrays * nodes + rows) * message->hidden);
}

size_t assay__message_kept(const assay__message *message, int64_t nodes)
{
    static const int64_t arrays[] = {[ASSAY__GIN] = 2, [ASSAY__GCN] = 1, [ASSAY__GATED_GCN] = 4};
    return floats(message, nodes, arrays[message->kind], message->kind == ASSAY__GATED_GCN ? 2 : 0);
}

size_t assay__message_scratch(const assay__message *message, int64_t nodes)
{
    static const int64_t arrays[] = {[ASSAY__GIN] = 2, [ASSAY__GCN] = 1, [ASSAY__GATED_GCN] = 3};
    return floats(message, nodes, arrays[message->kind], message->kind == ASSAY__GATED_GCN ? 2 : 0);
}

void assay__message_forward(const assay__message *message, const assay__parameters *parameters,
                            const assay__graph *graph, const float *h, float *kept, float *y)
{
    switch (message->kind) {
    case ASSAY__GIN:
        assay__gin_forward(message, parameters, graph, h, kept, y);
        break;
    case ASSAY__GCN:
        assay__gcn_forward(message, parameters, graph, h, kept, y);
        break;
    case ASSAY__GATED_GCN:
        assay__gated_gcn_forward(message, parameters, graph, h, kept, y);
        break;
    }
}

void assay__message_backward(const assay__message *message, const assay__parameters *parameters,
                             const assay__graph *graph, const float *h, const float *kept,
                             float *dy, float *scratch, float *dh)
{
    switch (message->kind) {
    case ASSAY__GIN:
        assay__gin_backward(message, parameters, graph, kept, dy, scratch, dh);
        break;
    case ASSAY__GCN:
        assay__gcn_backward(message, parameters, graph, kept, dy, scratch, dh);
        break;
    case ASSAY__GATED_GCN:
        assay__gated_gcn_backward(message, parameters, graph, h, kept, dy, scratch, dh);
        break;
    }
}

void assay__linear_backward_add(int64_t rows, int64_t in, int64_t out, const float *dy,
                                const float *weight, float *x)
{
    assay__matmul(rows, in, out, 1, (assay__matrix){.data = dy, .stride = out},
                  (assay__matrix){.data = weight, .stride = in}, 1, x, in);
}

/* ---- Operations ---- */

/* The number of edges without those of a node to itself. */
static int64_t edges_between(const assay__graph *graph)
{
    int64_t edges = 0;
    for (int64_t e = 0; e < graph->edges; e++)
        edges += graph->listed[e] != graph->listed[graph->edges + e];
    return edges;
}

void assay__message_describe(const assay__message *message, const assay__graph *graph,
                             const assay__teller *to)
{
    const int64_t nodes = graph->nodes;
    const int64_t edges = message->kind == ASSAY__GCN ? edges_between(graph) : graph->edges;
    const int64_t h = message->hidden;
    switch (message->kind) {
    case ASSAY__GIN:
        assay__tell(to, "sum", ASSAY_TERM_GATHER_ADD, 1, edges, h);
        assay__tell(to, "sum", ASSAY_TERM_ADD, 1, nodes, h);
        assay__tell_linear(to, "lin1", 2, nodes, h, h);
        assay__tell(to, "relu", ASSAY_TERM_RELU, 1, nodes, h);
        assay__tell_linear(to, "lin2", 2, nodes, h, h);
        break;
    case ASSAY__GCN: /* every term of the sum is scaled, the node's own included */
        assay__tell(to, "sum", ASSAY_TERM_GATHER_ADD, 1, edges + nodes, h);
        assay__tell(to, "scale", ASSAY_TERM_MULTIPLY, 1, edges + nodes, h);
        assay__tell_linear(to, "lin", 2, nodes, h, h);
        break;
    case ASSAY__GATED_GCN:
        assay__tell_product(to, "maps", 2, 4, nodes, h, h);
        assay__tell(to, "maps", ASSAY_TERM_BIAS, 4, nodes, h);
        assay__tell(to, "gates", ASSAY_TERM_ADD, 1, edges, h);
        assay__tell(to, "gates", ASSAY_TERM_SIGMOID, 1, edges, h);
        assay__tell(to, "messages", ASSAY_TERM_MULTIPLY, 1, edges, h);
        assay__tell(to, "sum", ASSAY_TERM_GATHER_ADD, 2, edges, h);
        assay__tell(to, "norm", ASSAY_TERM_ADD, 1, nodes, h);
        assay__tell(to, "norm", ASSAY_TERM_MULTIPLY, 1, nodes, h);
        assay__tell(to, "skip", ASSAY_TERM_ADD, 1, nodes, h);
        assay__tell(to, "relu", ASSAY_TERM_RELU, 1, nodes, h);
        break;
    }
}
