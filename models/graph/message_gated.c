/* Gated graph convolution. Gates belong to edges and there are many more edges than nodes, so none
 * is kept: backward makes them again from the two maps they come from. */
#include <string.h>

#include "models/graph/message.h"
#include "models/kernel/activation.h"
#include "models/kernel/elementary.h"
#include "models/kernel/linear.h"
#include "models/kernel/simd.h"

static const float EPSILON = 1e-6F; /* of the normalisation, as the authors' code has it */

enum { A, B, D, E, MAPS };

/* The mean of the neighbours' B h, weighted by the gates, added to A h (nodes, width) in place;
 * `weights` is scratch of (2, width). */
ASSAY__SIMD
static void gather(const assay__adjacency *in, int64_t nodes, int64_t width, const float *b,
                   const float *d, const float *e, float *restrict weights, float *y)
{
    for (int64_t i = 0; i < nodes; i++) {
        int64_t start = in->offsets[i], end = in->offsets[i + 1];
        float *restrict sum = weights + width;
        memset(weights, 0, 2 * (size_t)width * sizeof *weights);
        for (int64_t edge = start; edge < end; edge++) {
            const float *restrict own = d + i * width;
            const float *restrict theirs = e + in->neighbours[edge] * width;
            const float *restrict value = b + in->neighbours[edge] * width;
            ASSAY__LANES
            for (int64_t j = 0; j < width; j++) {
                float gate = assay__sigmoid1(own[j] + theirs[j]);
                weights[j] += gate;
                sum[j] += gate * value[j];
            }
        }
        for (int64_t j = 0; j < width; j++)
            y[i * width + j] += sum[j] / (weights[j] + EPSILON);
    }
}

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
    gather(&graph->in, nodes, width, kept + B * size, kept + D * size, kept + E * size,
           kept + MAPS * size, kept);
    assay__activate(ASSAY__RELU, size, kept, kept);
    memcpy(y, kept, (size_t)size * sizeof *y);
}

/* With s = sum of gates, m = sum of gate x value, y = m / (s + eps) per element:
 *     dvalue = dy gate / (s + eps),  dgate = dy (value - y) / (s + eps),
 * and a gate's slope is gate (1 - gate). The gradients are (nodes, width), db and de added to;
 * `row` is scratch of (2, width). */
ASSAY__SIMD
static void scatter(const assay__adjacency *in, int64_t nodes, int64_t width, const float *b,
                    const float *d, const float *e, const float *dy, float *restrict row, float *db,
                    float *dd, float *de)
{
    for (int64_t i = 0; i < nodes; i++) {
        int64_t start = in->offsets[i], end = in->offsets[i + 1];
        const float *restrict own = d + i * width;
        float *restrict weights = row, *restrict mean = row + width;
        float *restrict down = dd + i * width;
        memset(row, 0, 2 * (size_t)width * sizeof *row);
        memset(down, 0, (size_t)width * sizeof *down);
        for (int64_t edge = start; edge < end; edge++) {
            const float *restrict theirs = e + in->neighbours[edge] * width;
            const float *restrict value = b + in->neighbours[edge] * width;
            ASSAY__LANES
            for (int64_t j = 0; j < width; j++) {
                float gate = assay__sigmoid1(own[j] + theirs[j]);
                weights[j] += gate;
                mean[j] += gate * value[j];
            }
        }
        for (int64_t j = 0; j < width; j++) {
            weights[j] = 1 / (weights[j] + EPSILON);
            mean[j] *= weights[j];
        }
        for (int64_t edge = start; edge < end; edge++) {
            int64_t other = in->neighbours[edge] * width;
            const float *restrict theirs = e + other, *restrict value = b + other;
            const float *restrict dout = dy + i * width;
            float *restrict dvalue = db + other, *restrict dtheirs = de + other;
            ASSAY__LANES
            for (int64_t j = 0; j < width; j++) {
                float gate = assay__sigmoid1(own[j] + theirs[j]);
                float share = dout[j] * weights[j];
                float slope = share * (value[j] - mean[j]) * gate * (1 - gate);
                dvalue[j] += share * gate;
                down[j] += slope;
                dtheirs[j] += slope;
            }
        }
    }
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
    scatter(&graph->in, nodes, width, kept + B * size, kept + D * size, kept + E * size, dy,
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
