/* Makes random graphs of given sizes. A graph starts as a random recursive tree, in which each node
 * is joined to an earlier one, so that the graph is connected. Then edges between random nodes are
 * added until the graph has the wanted average degree. */
#include <math.h>
#include <stdlib.h>

#include "assay/model_scaling.h"
#include "base/error.h"
#include "base/random.h"

enum { MAX_NODES = 1 << 28, MAX_DEGREE = 1 << 20, MAX_FEATURES = 1 << 20 };

static void join(assay_scaling_graph *graph, int64_t edge, int64_t one, int64_t other)
{
    int64_t *sources = graph->edges, *targets = graph->edges + graph->num_edges;
    sources[2 * edge] = targets[2 * edge + 1] = one;
    targets[2 * edge] = sources[2 * edge + 1] = other;
}

static void draw(assay_scaling_graph *graph, assay__random *random)
{
    int64_t nodes = graph->num_nodes, tree = nodes - 1;
    for (int64_t edge = 0; edge < graph->num_edges / 2; edge++) {
        int64_t one =
            edge < tree ? edge + 1 : (int64_t)assay__random_below(random, (uint64_t)nodes);
        int64_t other = edge < tree ? (int64_t)assay__random_below(random, (uint64_t)one)
                                    : (int64_t)assay__random_below(random, (uint64_t)nodes - 1);
        join(graph, edge, one, edge < tree || other < one ? other : other + 1);
    }
    for (int64_t i = 0; i < nodes * graph->feature_dim; i++)
        graph->features[i] = (float)assay__random_normal(random);
}

static assay_status make(int64_t nodes, double avg_degree, int64_t feature_dim, uint64_t seed,
                         assay_scaling_graph *graph)
{
    int64_t pairs = nodes > 1 ? (int64_t)llround((double)nodes * avg_degree / 2) : 0;
    if (pairs < nodes - 1)
        pairs = nodes - 1;
    *graph = (assay_scaling_graph){
        .num_nodes = nodes, .num_edges = 2 * pairs, .feature_dim = feature_dim};
    graph->features = calloc((size_t)(nodes * feature_dim) + 1, sizeof *graph->features);
    graph->edges = calloc((size_t)(4 * pairs) + 1, sizeof *graph->edges);
    if (graph->features == NULL || graph->edges == NULL)
        return ASSAY_E_MEMORY;
    assay__random random;
    assay__random_init(&random, seed ^ (uint64_t)nodes << 20);
    draw(graph, &random);
    return ASSAY_OK;
}

static assay_status check(const int64_t *list, size_t count, double avg_degree, int64_t feature_dim,
                          assay_error *error)
{
    if (count == 0 || !(avg_degree >= 0 && avg_degree <= MAX_DEGREE) || feature_dim < 0 ||
        feature_dim > MAX_FEATURES)
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "graphs need sizes, a degree and features within limits");
    for (size_t i = 0; i < count; i++)
        if (list[i] < 1 || list[i] > MAX_NODES)
            return assay__fail(error, ASSAY_E_ARGUMENT, "a graph of %lld nodes cannot be made",
                               (long long)list[i]);
    return ASSAY_OK;
}

assay_status assay_generate_scaling_graphs(const int64_t *num_nodes_list, size_t count,
                                           double avg_degree, int64_t feature_dim, uint64_t seed,
                                           assay_error *error, assay_scaling_graph **graphs)
{
    *graphs = NULL;
    assay_status status = check(num_nodes_list, count, avg_degree, feature_dim, error);
    if (status != ASSAY_OK)
        return status;
    assay_scaling_graph *made = calloc(count, sizeof *made);
    for (size_t i = 0; made != NULL && i < count && status == ASSAY_OK; i++)
        status = make(num_nodes_list[i], avg_degree, feature_dim, seed, &made[i]);
    if (made == NULL || status != ASSAY_OK) {
        assay_scaling_graphs_free(made, count);
        return assay__fail(error, ASSAY_E_MEMORY, "no memory for %zu graphs", count);
    }
    *graphs = made;
    return ASSAY_OK;
}

void assay_scaling_graphs_free(assay_scaling_graph *graphs, size_t count)
{
    for (size_t i = 0; graphs != NULL && i < count; i++) {
        free(graphs[i].features);
        free(graphs[i].edges);
    }
    free(graphs);
}
