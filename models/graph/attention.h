/* Multi-head attention between the nodes of a graph, without its linear maps: it mixes the values
 * by the queries and keys. For head a and query i, with the sum over the nodes j that i attends to,
 *
 *     output_i = sum_j softmax_j(q_i . k_j / sqrt(head width) + bias[distance(i, j)][a]) v_j
 *
 * A node attends to every node of its graph (full attention), or to the sources of its incoming
 * edges and itself (sparse attention). The heads x nodes x nodes scores are never held at once.
 * They live in a block that fits the second cache level, and backward computes them again, with the
 * logarithm of each row's sum. */
#ifndef ASSAY_MODELS_GRAPH_ATTENTION_H
#define ASSAY_MODELS_GRAPH_ATTENTION_H

#include <stdint.h>

#include "models/graph/graph.h"

typedef struct assay__attention {
    int64_t heads;
    int64_t head_width; /* hidden = heads x head_width */
    const assay__graph *graph;
    int threads;                      /* that share the heads of full attention; 0 means one */
    const assay__adjacency *attended; /* sparse: the nodes that each attends to; NULL: full */

    /* Relative-position bias, optional. */
    int64_t buckets;          /* 0: no bias */
    const float *bias;        /* (buckets, heads) */
    const uint8_t *distances; /* assay__graph_distances(); if sparse, NULL: 0 to itself, else 1 */
} assay__attention;

/* The number of floats that forward and backward need as scratch. More threads need more. */
size_t assay__attention_scratch(const assay__attention *attention);

/* Each row of `qkv` (nodes, 3 hidden) has the query, the key and the value of a node. Each of the
 * three has its heads one after the other. The function writes `output` (nodes, hidden) and
 * `log_sum` (heads, nodes), which backward needs. */
void assay__attention_forward(const assay__attention *attention, const float *qkv, float *scratch,
                              float *output, float *log_sum);

/* Compute the gradients from `doutput` (nodes, hidden) and from the arrays that forward read and
 * wrote. `dqkv` (nodes, 3 hidden) is overwritten. The gradient of the bias is added to `dbias`
 * (buckets, heads); pass NULL if there is no bias. */
void assay__attention_backward(const assay__attention *attention, const float *qkv,
                               const float *output, const float *log_sum, const float *doutput,
                               float *scratch, float *dqkv, float *dbias);

#endif
