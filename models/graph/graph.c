/* Checks an edge list and groups its edges by target and by source. The grouping is a stable
 * counting sort, so that sums add their terms in the order in which the edges are listed. A graph
 * keeps both groupings: a forward pass gathers over sources and a backward pass over targets, so
 * that neither has to scatter. */
#include "models/graph/graph.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "models/kernel/kernels.h"
#include "models/kernel/threads.h"

void assay__graph_init(assay__graph *graph, assay__memory *memory)
{
    *graph = (assay__graph){.memory = memory};
}

static assay_status reserve(assay__graph *graph, int64_t nodes, int64_t edges)
{
    size_t n = (size_t)nodes, e = (size_t)edges;
    struct {
        void *block;
        size_t count, size;
    } const arrays[] = {{&graph->in.offsets, n + 1, sizeof(int64_t)},
                        {&graph->in.neighbours, e, sizeof(int32_t)},
                        {&graph->out.offsets, n + 1, sizeof(int64_t)},
                        {&graph->out.neighbours, e, sizeof(int32_t)},
                        {&graph->graph_offsets, n + 1, sizeof(int64_t)},
                        {&graph->gcn_scale, n, sizeof(float)},
                        {&graph->listed, 2 * e, sizeof(int64_t)},
                        {&graph->graph_of, n, sizeof(int64_t)},
                        {&graph->last_seen, n, sizeof(int32_t)}};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        assay_status status = assay__memory_resize(graph->memory, ASSAY__WORKSPACE, arrays[i].count,
                                                   arrays[i].size, arrays[i].block);
        if (status != ASSAY_OK)
            return status;
    }
    return ASSAY_OK;
}

static assay_status check_graphs(int64_t nodes, const int64_t *graphs, assay_error *error)
{
    for (int64_t i = 0; i < nodes; i++) {
        int64_t previous = i == 0 ? -1 : graphs[i - 1];
        if (graphs[i] != previous + 1 && (i == 0 || graphs[i] != previous)) {
            return assay__fail(error, ASSAY_E_FORMAT,
                               "graphs: node %lld belongs to graph %lld after graph %lld; number "
                               "the graphs 0, 1, 2 ... and keep the nodes of each together",
                               (long long)i, (long long)graphs[i], (long long)previous);
        }
    }
    return ASSAY_OK;
}

/* Check that the two nodes of every edge exist and belong to the same graph. */
static assay_status check_edges(int64_t nodes, int64_t edges, const int64_t *edge_list,
                                const int64_t *graphs, assay_error *error)
{
    for (int64_t e = 0; e < edges; e++) {
        int64_t source = edge_list[e], target = edge_list[edges + e];
        bool source_exists = source >= 0 && source < nodes;
        if (!source_exists || target < 0 || target >= nodes) {
            return assay__fail(
                error, ASSAY_E_FORMAT,
                "edges: edge %lld has node %lld, which does not exist: nodes are 0 to %lld",
                (long long)e, (long long)(source_exists ? target : source), (long long)nodes - 1);
        }
        if (graphs != NULL && graphs[source] != graphs[target]) {
            return assay__fail(error, ASSAY_E_FORMAT,
                               "edges: edge %lld goes from node %lld of graph %lld to node %lld of "
                               "graph %lld; graphs of a batch share no edges",
                               (long long)e, (long long)source, (long long)graphs[source],
                               (long long)target, (long long)graphs[target]);
        }
    }
    return ASSAY_OK;
}

/* Group `others` (edges) by `keys` (edges). */
static void group(int64_t nodes, int64_t edges, const int64_t *keys, const int64_t *others,
                  assay__adjacency *adjacency)
{
    int64_t *offsets = adjacency->offsets;
    memset(offsets, 0, ((size_t)nodes + 1) * sizeof *offsets);
    for (int64_t e = 0; e < edges; e++)
        offsets[keys[e] + 1]++;
    for (int64_t i = 0; i < nodes; i++)
        offsets[i + 1] += offsets[i];
    for (int64_t e = 0; e < edges; e++)
        adjacency->neighbours[offsets[keys[e]]++] = (int32_t)others[e];
    memmove(offsets + 1, offsets, (size_t)nodes * sizeof *offsets); /* each had reached the next */
    offsets[0] = 0;
}

static void find_graphs(assay__graph *graph)
{
    graph->graphs = 0;
    graph->largest = 0;
    graph->graph_offsets[0] = 0;
    for (int64_t i = 0; i < graph->nodes; i++) {
        if (i + 1 == graph->nodes || graph->graph_of[i + 1] != graph->graph_of[i]) {
            int64_t size = i + 1 - graph->graph_offsets[graph->graphs];
            graph->graph_offsets[++graph->graphs] = i + 1;
            graph->largest = size > graph->largest ? size : graph->largest;
        }
    }
}

static void scale(assay__graph *graph)
{
    for (int64_t i = 0; i < graph->nodes; i++) {
        int64_t degree = 1;
        for (int64_t e = graph->in.offsets[i]; e < graph->in.offsets[i + 1]; e++)
            degree += graph->in.neighbours[e] != i;
        graph->gcn_scale[i] = 1 / sqrtf((float)degree);
    }
}

static bool same(const assay__graph *graph, int64_t nodes, int64_t edges, const int64_t *edge_list,
                 const int64_t *graphs)
{
    if (graph->nodes == 0 || graph->nodes != nodes || graph->edges != edges ||
        memcmp(graph->listed, edge_list, 2 * (size_t)edges * sizeof *edge_list) != 0)
        return false;
    return graphs == NULL ? graph->graphs <= 1
                          : memcmp(graph->graph_of, graphs, (size_t)nodes * sizeof *graphs) == 0;
}

assay_status assay__graph_set(assay__graph *graph, int64_t nodes, int64_t edges,
                              const int64_t *edge_list, const int64_t *graphs, assay_error *error)
{
    if (same(graph, nodes, edges, edge_list, graphs))
        return ASSAY_OK;
    if (nodes <= 0)
        return assay__fail(error, ASSAY_E_DATA, "nodes: the graph has none");
    if (nodes > INT32_MAX) {
        return assay__fail(error, ASSAY_E_LIMIT, "nodes: %lld, but at most %d are possible",
                           (long long)nodes, INT32_MAX);
    }
    assay_status status = graphs == NULL ? ASSAY_OK : check_graphs(nodes, graphs, error);
    if (status == ASSAY_OK)
        status = check_edges(nodes, edges, edge_list, graphs, error);
    if (status != ASSAY_OK)
        return status;
    graph->version++;
    if (reserve(graph, nodes, edges) != ASSAY_OK) {
        graph->nodes = 0; /* some arrays may be new and empty: same() matches no graph now */
        return assay__fail(error, ASSAY_E_MEMORY, "no memory for a graph of %lld nodes, %lld edges",
                           (long long)nodes, (long long)edges);
    }
    graph->nodes = nodes;
    graph->edges = edges;
    memcpy(graph->listed, edge_list, 2 * (size_t)edges * sizeof *edge_list);
    if (graphs != NULL)
        memcpy(graph->graph_of, graphs, (size_t)nodes * sizeof *graphs);
    else
        memset(graph->graph_of, 0, (size_t)nodes * sizeof *graph->graph_of);
    find_graphs(graph);
    group(nodes, edges, edge_list + edges, edge_list, &graph->in);
    group(nodes, edges, edge_list, edge_list + edges, &graph->out);
    scale(graph);
    return ASSAY_OK;
}

/* ---- Derived adjacencies ---- */

typedef struct derivation {
    bool itself; /* every node is a neighbour of itself; else none is */
    bool both;   /* edges count in both directions */
} derivation;

/* Walk the sources in ascending order and append each source to the rows of its targets, so that
 * the rows come out sorted. last_seen has the source that each target was given last, which reveals
 * repeated edges. `cursor` (nodes) has the next free position of each row and is advanced. If
 * `neighbours` is NULL, nothing is stored: the cursors then count the neighbours. */
static void hand_out(assay__graph *graph, derivation rule, int64_t *cursor, int32_t *neighbours)
{
    memset(graph->last_seen, 0xff, (size_t)graph->nodes * sizeof *graph->last_seen);
    const assay__adjacency *sides[] = {&graph->out, &graph->in};
    for (int32_t source = 0; source < graph->nodes; source++) {
        if (rule.itself && neighbours != NULL)
            neighbours[cursor[source]] = source;
        cursor[source] += rule.itself;
        graph->last_seen[source] = source;
        for (int side = 0; side <= rule.both; side++) {
            int64_t end = sides[side]->offsets[source + 1];
            for (int64_t e = sides[side]->offsets[source]; e < end; e++) {
                int32_t target = sides[side]->neighbours[e];
                if (graph->last_seen[target] == source)
                    continue;
                graph->last_seen[target] = source;
                if (neighbours != NULL)
                    neighbours[cursor[target]] = source;
                cursor[target]++;
            }
        }
    }
}

static assay_status derive(assay__graph *graph, derivation rule, assay__adjacency *derived)
{
    size_t nodes = (size_t)graph->nodes;
    size_t most = (size_t)graph->edges * (rule.both ? 2 : 1) + (rule.itself ? nodes : 0);
    assay_status status = assay__memory_resize(graph->memory, ASSAY__WORKSPACE, nodes + 1,
                                               sizeof(int64_t), &derived->offsets);
    if (status == ASSAY_OK) {
        status = assay__memory_resize(graph->memory, ASSAY__WORKSPACE, most, sizeof(int32_t),
                                      &derived->neighbours);
    }
    if (status != ASSAY_OK)
        return status;
    memset(derived->offsets, 0, (nodes + 1) * sizeof *derived->offsets);
    hand_out(graph, rule, derived->offsets + 1, NULL);
    for (size_t i = 0; i < nodes; i++)
        derived->offsets[i + 1] += derived->offsets[i];
    hand_out(graph, rule, derived->offsets, derived->neighbours);
    memmove(derived->offsets + 1, derived->offsets, nodes * sizeof *derived->offsets);
    derived->offsets[0] = 0;
    return ASSAY_OK;
}

assay_status assay__graph_undirected(assay__graph *graph, assay__adjacency *undirected)
{
    return derive(graph, (derivation){.both = true}, undirected);
}

assay_status assay__graph_attended(assay__graph *graph, assay__adjacency *attended)
{
    return derive(graph, (derivation){.itself = true}, attended);
}

/* ---- Sums over neighbours ---- */

typedef struct neighbour_sums {
    const assay__adjacency *adjacency;
    int64_t width;
    const float *scale, *x;
    bool add;
    float *y;
} neighbour_sums;

static void sum_range(void *context, int64_t first, int64_t nodes)
{
    const neighbour_sums *s = context;
    const int64_t *offsets = s->adjacency->offsets, end = first + nodes;
    const int32_t *neighbours = s->adjacency->neighbours;
    if (!s->add)
        memset(s->y + first * s->width, 0, (size_t)(nodes * s->width) * sizeof *s->y);
    if (s->scale == NULL)
        assay__neighbours_sum_add(offsets, neighbours, first, end, s->width, s->x, s->y);
    else
        assay__neighbours_propagate(offsets, neighbours, first, end, s->width, s->scale, s->x,
                                    s->y);
}

void assay__graph_sum(const assay__adjacency *adjacency, int64_t nodes, int64_t width,
                      const float *scale, bool add, const float *x, float *y)
{
    enum { LEAST = 8192 }; /* values of a part: some microseconds of work */
    neighbour_sums sums = {adjacency, width, scale, x, add, y};
    assay__parallel_ranges(nodes, 1, LEAST / width + 1, sum_range, &sums);
}
