/* Positional encodings of graphs: the cost of computing them, and their cost in every pass.
 *
 *     cc encodings.c $(pkg-config --cflags --libs assay-models) -lm -o encodings
 *     ./encodings */
#include <stdlib.h>
#include <string.h>

#include <assay/assay.h>
#include <assay/flops.h>
#include <assay/model_scaling.h>

enum { SIZES = 3, STEPS = 8, DEGREE = 6 };

typedef struct walk {
    const assay_scaling_graph *graph;
    double *now, *next; /* (num_nodes, num_nodes): positions of the walks from each node */
    double *returned;   /* (num_nodes, STEPS): the encoding */
} walk;

/* The probability that a random walk is back at its start after 1, 2, ... STEPS steps. */
static assay_status encode(void *data)
{
    walk *w = data;
    const assay_scaling_graph *graph = w->graph;
    const size_t n = (size_t)graph->num_nodes, edges = (size_t)graph->num_edges;
    double *degree = calloc(n, sizeof *degree);
    if (degree == NULL)
        return ASSAY_E_MEMORY;
    for (size_t e = 0; e < edges; e++)
        degree[graph->edges[e]] += 1.0;
    memset(w->now, 0, n * n * sizeof *w->now);
    for (size_t i = 0; i < n; i++)
        w->now[i * n + i] = 1.0;
    for (size_t step = 0; step < STEPS; step++) {
        memset(w->next, 0, n * n * sizeof *w->next);
        for (size_t e = 0; e < edges; e++) { /* row = a node, columns = starts of the walks */
            const size_t from = (size_t)graph->edges[e], to = (size_t)graph->edges[edges + e];
            for (size_t i = 0; i < n; i++)
                w->next[to * n + i] += w->now[from * n + i] / degree[from];
        }
        for (size_t i = 0; i < n; i++)
            w->returned[i * STEPS + step] = w->next[i * n + i];
        double *swap = w->now;
        w->now = w->next;
        w->next = swap;
    }
    free(degree);
    return ASSAY_OK;
}

static assay_status time_encoding(const assay_scaling_graph *graph, assay_error *error)
{
    const size_t n = (size_t)graph->num_nodes;
    walk w = {graph, calloc(n * n, sizeof(double)), calloc(n * n, sizeof(double)),
              calloc(n * STEPS, sizeof(double))};
    assay_timing timing;
    assay_status status = ASSAY_E_MEMORY;
    if (w.now != NULL && w.next != NULL && w.returned != NULL)
        status = assay_profile_pe_computation(encode, &w, NULL, error, &timing);
    if (status == ASSAY_OK) {
        const uint64_t bound =
            assay_estimate_pe_flops(graph->num_nodes, STEPS, ASSAY_PE_RANDOM_WALK);
        const assay_pe_storage storage = assay_estimate_pe_storage(graph->num_nodes, STEPS, 0, 0.0);
        printf("%6lld %6lld %11.3f ms %6llu runs %12llu FLOPs %8.0f bytes\n",
               (long long)graph->num_nodes, (long long)graph->num_edges, timing.mean_seconds * 1e3,
               (unsigned long long)timing.count, (unsigned long long)bound, storage.node_pe_bytes);
    }
    free(w.now);
    free(w.next);
    free(w.returned);
    return status;
}

static assay_status compute_them(assay_error *error)
{
    static const int64_t nodes[SIZES] = {25, 50, 100};
    assay_scaling_graph *graphs = NULL;
    assay_status status =
        assay_generate_scaling_graphs(nodes, SIZES, DEGREE, 16, 42, error, &graphs);
    if (status != ASSAY_OK)
        return status;
    printf("Random-walk encodings of %d steps, computed once for each graph;\n", STEPS);
    printf("FLOPs are those of dense matrices, an upper bound:\n\n");
    printf("%6s %6s %14s\n", "nodes", "edges", "mean");
    for (int i = 0; status == ASSAY_OK && i < SIZES; i++)
        status = time_encoding(&graphs[i], error);
    assay_scaling_graphs_free(graphs, SIZES);
    return status;
}

/* Compares the forward pass of a model with each encoding; the models take turns. */
static assay_status use_them(assay_error *error)
{
    static const assay_pe_config configs[] = {{"lap", 8}, {"rwse", 8}, {"none", 0}};
    assay_model_factory factory = ASSAY_MODEL_FACTORY_INIT;
    assay_status status = assay_model_find("graph_transformer", error, &factory.class_);
    if (status != ASSAY_OK)
        return status;
    const assay_model_class *class = factory.class_;
    double *settings = malloc(class->option_count * sizeof *settings);
    if (settings == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < class->option_count; i++) { /* smaller than by default, to be quick */
        const char *name = class->options[i].name;
        settings[i] = strcmp(name, "num-nodes") == 0 ? 50 : class->options[i].initial;
        if (strcmp(name, "hidden-dim") == 0)
            settings[i] = 32;
    }
    factory.settings = settings;
    assay_set_seed(&factory, 42);
    assay_scaling_options options = ASSAY_SCALING_OPTIONS_INIT;
    options.budget_seconds = 0.6;
    assay_record *record = NULL;
    status = assay_run_pe_scaling(&factory, configs, 3, &options, error, &record);
    if (status == ASSAY_OK) {
        printf("\nA forward pass of the graph transformer with each of them:\n\n");
        status = assay_report_print(record, "scaling", stdout, error);
    }
    assay_record_free(record);
    free(settings);
    return status;
}

int main(void)
{
    assay_error error = {.message = "out of memory"};
    assay_status status = compute_them(&error);
    if (status == ASSAY_OK)
        status = use_them(&error);
    if (status != ASSAY_OK)
        fprintf(stderr, "%s: %s\n", assay_status_name(status), error.message);
    return status == ASSAY_OK ? 0 : 1;
}
