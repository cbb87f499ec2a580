/* Graph isomorphism network: the sum over a neighbourhood, sent through two linear maps with a relu
 * between them. Forward keeps the sum and the output of the relu; the slope of the relu follows
 * from its output. */
#include "models/graph/activate.h"
#include "models/graph/message.h"
#include "models/kernel/linear.h"

void assay__gin_forward(const assay__message *message, const assay__parameters *parameters,
                        const assay__graph *graph, const float *h, float *kept, float *y)
{
    int64_t width = message->hidden, nodes = graph->nodes;
    float *sum = kept, *inner = kept + nodes * width; /* (nodes, hidden) each */
    const float *values[4];
    for (size_t i = 0; i < 4; i++)
        values[i] = assay__parameters_value(parameters, message->first + i);
    assay__graph_sum(&graph->in, nodes, width, NULL, false, h, sum);
    assay__linear_forward(nodes, width, width, sum, values[0], values[1], inner);
    assay__graph_activate(false, nodes * width, inner, inner);
    assay__linear_forward(nodes, width, width, inner, values[2], values[3], y);
}

void assay__gin_backward(const assay__message *message, const assay__parameters *parameters,
                         const assay__graph *graph, const float *kept, const float *dy,
                         float *scratch, float *dh)
{
    int64_t width = message->hidden, nodes = graph->nodes;
    const float *sum = kept, *inner = kept + nodes * width;
    float *dinner = scratch, *dsum = scratch + nodes * width;
    const size_t first = message->first;
    assay__linear_backward(nodes, width, width, dy, inner,
                           assay__parameters_value(parameters, first + 2), dinner,
                           assay__parameters_gradient(parameters, first + 2),
                           assay__parameters_gradient(parameters, first + 3));
    assay__graph_activate_backward(false, nodes * width, inner, dinner);
    assay__linear_backward(nodes, width, width, dinner, sum,
                           assay__parameters_value(parameters, first), dsum,
                           assay__parameters_gradient(parameters, first),
                           assay__parameters_gradient(parameters, first + 1));
    assay__graph_sum(&graph->out, nodes, width, NULL, true, dsum, dh);
}
