/* A batch of graphs in the form that the models use: edges grouped by target and by source.
 *
 * The input is a list of directed edges, (2, edges): row 0 has the sources, row 1 the targets. An
 * undirected graph lists each edge in both directions. A repeated edge counts as often as it is
 * listed. A node may have an edge to itself, or no edge at all, and a graph may consist of several
 * connected parts. The graphs of a batch follow one another; the nodes of each are contiguous. */
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
    assay__adjacency in;    /* the sources of each target, in the order of the list */
    assay__adjacency out;   /* the targets of each source, in the order of the list */
    int64_t *graph_offsets; /* (graphs + 1): the nodes of graph g are [g] to [g + 1] - 1 */
    int64_t largest;        /* nodes of the largest graph */
    float *gcn_scale;       /* (nodes) 1 / sqrt(1 + edges into the node from other nodes) */
    uint64_t version;       /* changes with the content; shows whether derived arrays are current */

    assay__memory *memory;
    int64_t *listed;    /* (2, edges) the edge list as given, to recognise the same graph */
    int64_t *graph_of;  /* (nodes) the graph that each node belongs to */
    int32_t *last_seen; /* (nodes) scratch */
} assay__graph;

/* Make an empty graph. Its arrays will be workspace of `memory`, which frees them. */
void assay__graph_init(assay__graph *graph, assay__memory *memory);

/* Replace the content. `edge_list` is (2, edges). `graphs` (nodes) says which graph each node
 * belongs to; the numbers start at 0 and ascend without gaps. Pass NULL for a single graph. Both
 * arrays are copied. Setting the same content again costs only a comparison, and a graph no larger
 * than before allocates nothing.
 *
 * ASSAY_E_FORMAT if an edge names a node that does not exist or connects two graphs, or if graph
 * numbers are out of order; the message names the edge or node. ASSAY_E_DATA if there are no nodes,
 * ASSAY_E_LIMIT if there are more than 2^31 - 1, ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__graph_set(assay__graph *graph, int64_t nodes, int64_t edges,
                                             const int64_t *edge_list, const int64_t *graphs,
                                             assay_error *error);

/* The next two functions derive an adjacency from a graph. They resize its arrays, which are
 * workspace of the graph's memory. The neighbours of a node ascend, and none is repeated. The only
 * failure is ASSAY_E_MEMORY. */

/* Two nodes are neighbours if there is an edge between them in either direction. Edges of a node to
 * itself are left out. */
ASSAY_MUST_USE assay_status assay__graph_undirected(assay__graph *graph,
                                                    assay__adjacency *undirected);

/* The neighbours of a node are the sources of its incoming edges, and the node itself. These are
 * the nodes that sparse attention attends to. */
ASSAY_MUST_USE assay_status assay__graph_attended(assay__graph *graph, assay__adjacency *attended);

/* Sums over the neighbours j of each node i: y_i = x_i + the sum of x_j. With `scale` (nodes) c it
 * is c_i (c_i x_i + the sum of c_j x_j), where j differs from i. If `add`, the sums are added to y.
 * x and y are (nodes, width) and must not overlap. */
void assay__graph_sum(const assay__adjacency *adjacency, int64_t nodes, int64_t width,
                      const float *scale, bool add, const float *x, float *y);

#endif
