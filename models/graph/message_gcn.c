/* Graph convolution: first the normalised sum over the neighbours, then the linear map. In this
 * order backward needs only one array from forward, the sums. Backward uses the transposed
 * normalised adjacency: it sums over targets instead of sources. */
#include "models/graph/message.h"
#include "models/kernel/linear.h"

void assay__gcn_forward(const assay__message *message, const assay__parameters *parameters,
                        const assay__graph *graph, const float *h, float *kept, float *y)
{
    int64_t width = message->hidden, nodes = graph->nodes;
    assay__graph_sum(&graph->in, nodes, width, graph->gcn_scale, false, h, kept);
    assay__linear_forward(nodes, width, width, kept,
                          assay__parameters_value(parameters, message->first),
                          assay__parameters_value(parameters, message->first + 1), y);
}

void assay__gcn_backward(const assay__message *message, const assay__parameters *parameters,
                         const assay__graph *graph, const float *kept, const float *dy,
                         float *scratch, float *dh)
{
    int64_t width = message->hidden, nodes = graph->nodes;
    assay__linear_backward(nodes, width, width, dy, kept,
                           assay__parameters_value(parameters, message->first), scratch,
                           assay__parameters_gradient(parameters, message->first),
                           assay__parameters_gradient(parameters, message->first + 1));
    assay__graph_sum(&graph->out, nodes, width, graph->gcn_scale, true, scratch, dh);
}
