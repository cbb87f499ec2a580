/* A batch of graphs as its models use it: edges grouped by target and by source.
 *
 * The input is a list of directed edges, (2, edges): row 0 the sources, row 1 the targets. An
 * undirected graph lists each edge in both directions. Repeated edges count as often as they are
 * listed; a node may have an edge to itself, or none at all; a graph may fall into parts. Several
 * graphs stand one after the other, the nodes of each contiguous. */
#ifndef ASSAY_MODELS_GRAPH_GRAPH_H
#define ASSAY_MODELS_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "assay/model.h"
#include "models/kernel/memory.h"

/* The neighbours of node i: neighbours[offsets[i]] to neighbours[offsets[i + 1] - 1]. */
typedef struct assay__adjacency {
    int64_t *offsets;    /* (nodes + 1) */
    int32_t *neighbours; /* (offsets[nodes]) */
} assay__adjacency;

typedef struct assay__graph {
    int64_t nodes, edges, graphs;
    assay__adjacency in;    /* of a target its sources, in the order listed */
    assay__adjacency out;   /* of a source its targets, in the order listed */
    int64_t *graph_offsets; /* (graphs + 1): the nodes of graph g are [g] to [g + 1] - 1 */
    int64_t largest;        /* nodes of the largest graph */
    float *gcn_scale;       /* (nodes) 1 / sqrt(1 + edges into the node from other nodes) */
    uint64_t version;       /* changes whenever the content does, for what is derived from it */

    assay__memory *memory;
    int64_t *listed;    /* (2, edges) as given, to recognise the same graph again */
    int64_t *graph_of;  /* (nodes) */
    int32_t *last_seen; /* (nodes) scratch */
} assay__graph;

/* An empty graph whose arrays will be workspace of `memory`, which frees them. */
void assay__graph_init(assay__graph *graph, assay__memory *memory);

/* Replace the content. `edges` (2, edges); `graphs` (nodes) says which graph each node belongs to,
 * counted from 0 without gaps in ascending order, NULL for one graph. The same content again costs
 * a comparison; sizes no larger than before allocate nothing.
 * ASSAY_E_FORMAT names the edge or node at fault: a node that does not exist, graph numbers out of
 * order, an edge between two graphs. ASSAY_E_LIMIT: more than 2^31 - 1 nodes. */
ASSAY_MUST_USE assay_status assay__graph_set(assay__graph *graph, int64_t nodes, int64_t edges,
                                             const int64_t *edge_list, const int64_t *graphs,
                                             assay_error *error);

/* What is derived from a graph; the arrays are workspace of the graph's memory, resized. In both
 * the neighbours ascend and none is repeated. */

/* i and j are neighbours if there is an edge in either direction; edges of a node to itself are
 * left out. */
ASSAY_MUST_USE assay_status assay__graph_undirected(assay__graph *graph,
                                                    assay__adjacency *undirected);

/* Of each target its sources and itself: what sparse attention looks at. */
ASSAY_MUST_USE assay_status assay__graph_attended(assay__graph *graph, assay__adjacency *attended);

/* y (nodes, width) = x + the sum of x over the neighbours, both (nodes, width); y must not be x. */
void assay__graph_sum(const assay__adjacency *adjacency, int64_t nodes, int64_t width,
                      const float *x, float *y);

#endif
