/* Graph convolution: the normalised sum first, then the map, so that what backward needs is one
 * array. The normalised adjacency of backward is the transposed one: over targets instead of
 * sources. */
#include <string.h>

#include "models/graph/message.h"
#include "models/kernel/linear.h"
#include "models/kernel/simd.h"

/* y_i (+)= c_i (c_i x_i + the sum of c_j x_j over the neighbours but itself), c (nodes) */
ASSAY__SIMD
static void propagate(const assay__adjacency *adjacency, const float *c, int64_t nodes,
                      int64_t width, const float *x, float *y)
{
    for (int64_t i = 0; i < nodes; i++) {
        float *restrict sum = y + i * width;
        const float *restrict own = x + i * width;
        for (int64_t j = 0; j < width; j++)
            sum[j] += c[i] * c[i] * own[j];
        for (int64_t e = adjacency->offsets[i]; e < adjacency->offsets[i + 1]; e++) {
            int32_t other = adjacency->neighbours[e];
            if (other == i)
                continue;
            const float *restrict row = x + other * width;
            const float factor = c[i] * c[other];
            for (int64_t j = 0; j < width; j++)
                sum[j] += factor * row[j];
        }
    }
}

void assay__gcn_forward(const assay__message *message, const assay__parameters *parameters,
                        const assay__graph *graph, const float *h, float *kept, float *y)
{
    int64_t width = message->hidden, nodes = graph->nodes;
    memset(kept, 0, (size_t)(nodes * width) * sizeof *kept);
    propagate(&graph->in, graph->gcn_scale, nodes, width, h, kept);
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
    propagate(&graph->out, graph->gcn_scale, nodes, width, scratch, dh);
}
