/* Gated graph convolution. There is a gate for each edge, and there are many more edges than nodes.
 * So forward keeps no gates: backward computes them again from the outputs of the two maps, D and
 * E, that they are made of. */
#include <string.h>

#include "models/graph/message.h"
#include "models/kernel/kernels.h"
#include "models/kernel/linear.h"

enum { A, B, D, E, MAPS };

void assay__gated_gcn_forward(const assay__message *message, const assay__parameters *parameters,
                              const assay__graph *graph, const float *h, float *kept, float *y)
{
    int64_t width = message->hidden, nodes = graph->nodes, size = nodes * width;
    for (size_t map = A; map < MAPS; map++) {
        assay__linear_forward(nodes, width, width, h,
                              assay__parameters_value(parameters, message->first + 2 * map),
                              assay__parameters_value(parameters, message->first + 2 * map + 1),
                              kept + (int64_t)map * size);
    }
    assay__neighbours_gated(graph->in.offsets, graph->in.neighbours, nodes, width, kept + B * size,
                            kept + D * size, kept + E * size, kept + MAPS * size, kept);
    assay__activate(ASSAY__RELU, size, kept, kept);
    memcpy(y, kept, (size_t)size * sizeof *y);
}

void assay__gated_gcn_backward(const assay__message *message, const assay__parameters *parameters,
                               const assay__graph *graph, const float *h, const float *kept,
                               float *dy, float *scratch, float *dh)
{
    int64_t width = message->hidden, nodes = graph->nodes, size = nodes * width;
    float *gradients[MAPS] = {dy, scratch, scratch + size, scratch + 2 * size};
    assay__relu_backward(size, dy, kept, dy);
    memset(gradients[B], 0, (size_t)size * sizeof *scratch);
    memset(gradients[E], 0, (size_t)size * sizeof *scratch);
    assay__neighbours_gated_backward(graph->in.offsets, graph->in.neighbours, nodes, width,
                                     kept + B * size, kept + D * size, kept + E * size, dy,
                                     scratch + 3 * size, gradients[B], gradients[D], gradients[E]);
    for (size_t map = A; map < MAPS; map++) {
        const size_t weight = message->first + 2 * map;
        assay__linear_backward(nodes, width, width, gradients[map], h,
                               assay__parameters_value(parameters, weight), NULL,
                               assay__parameters_gradient(parameters, weight),
                               assay__parameters_gradient(parameters, weight + 1));
        assay__linear_backward_add(nodes, width, width, gradients[map],
                                   assay__parameters_value(parameters, weight), dh);
    }
}
