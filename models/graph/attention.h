/* Multi-head attention between the nodes of a graph, without its linear maps: from queries, keys
 * and values to their mix. For head a and query i, over the nodes j it looks at,
 *
 *     output_i = sum_j softmax_j(q_i . k_j / sqrt(head width) + bias[distance(i, j)][a]) v_j
 *
 * A query looks at every node of its graph (full), or at the sources of its incoming edges and
 * itself (sparse). heads x nodes x nodes is never held: scores live in a block that fits the second
 * cache level, and backward computes them again from the logarithm of each row's sum. */
#ifndef ASSAY_MODELS_GRAPH_ATTENTION_H
#define ASSAY_MODELS_GRAPH_ATTENTION_H

#include <stdint.h>

#include "models/graph/graph.h"

typedef struct assay__attention {
    int64_t heads;
    int64_t head_width; /* hidden = heads x head_width */
    const assay__graph *graph;
    int threads;                      /* that share the heads of full attention; 0: one */
    const assay__adjacency *attended; /* sparse: whom each node looks at; NULL: its whole graph */

    /* Relative-position bias, optional. */
    int64_t buckets;          /* 0: none */
    const float *bias;        /* (buckets, heads) */
    const uint8_t *distances; /* assay__graph_distances(); NULL if sparse: 0 itself, 1 others */
} assay__attention;

/* Floats of scratch that forward and backward need; more threads need more. */
size_t assay__attention_scratch(const assay__attention *attention);

/* `qkv` (nodes, 3 hidden): of each node its query, key and value, heads one after the other.
 * Written: `output` (nodes, hidden) and `log_sum` (heads, nodes), which is for
 * backward. */
void assay__attention_forward(const assay__attention *attention, const float *qkv, float *scratch,
                              float *output, float *log_sum);

/* From `doutput` (nodes, hidden) and what forward got and wrote: `dqkv` (nodes, 3 hidden),
 * overwritten, and, added to what stands there, `dbias` (buckets, heads; NULL without bias). */
void assay__attention_backward(const assay__attention *attention, const float *qkv,
                               const float *output, const float *log_sum, const float *doutput,
                               float *scratch, float *dqkv, float *dbias);

#endif
