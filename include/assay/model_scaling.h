/* How the time of a model's forward pass grows with its sizes: nodes, layers, encodings, or any
 * whole-number setting of its class. Link assay-models.
 *
 *     assay_model_factory factory = ASSAY_MODEL_FACTORY_INIT;
 *     if (assay_model_find("graph_transformer", &error, &factory.class_) != ASSAY_OK) ...
 *     const int64_t num_nodes[] = {100, 500, 1000, 2000};
 *     assay_scaling *scaling = NULL;
 *     status = assay_run_node_scaling(&factory, num_nodes, 4, 5, NULL, &error, &scaling);
 *     if (status == ASSAY_OK)
 *         assay_scaling_print_summary(scaling, stdout);
 *     assay_scaling_free(scaling);
 *
 * At each size a new model is made in evaluation mode, with data that it generates itself.
 * scaling.h says how the times are taken and fitted.
 *
 * Threads: one thread at a time for one class's models; nothing is shared between calls.
 */
#ifndef ASSAY_MODEL_SCALING_H
#define ASSAY_MODEL_SCALING_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "assay/model.h"
#include "assay/sampling.h"
#include "assay/scaling.h"
#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The description from which models are made. Class and settings are borrowed. */
typedef struct assay_model_factory {
    size_t struct_size;
    const assay_model_class *class_;
    const double *settings; /* option_count of the class; NULL: its defaults */
    uint64_t seed;          /* of weights and generated data */
} assay_model_factory;

#define ASSAY_MODEL_FACTORY_INIT ASSAY_INIT(assay_model_factory)

/* Set the seed of the models and data that the factory makes. There is no hidden random state:
 * every call that draws random numbers takes a seed. */
ASSAY_API void assay_set_seed(assay_model_factory *factory, uint64_t seed);

/* Time the forward pass at several values of one whole-number option of the class. The option may
 * be written "hidden-dim" or "hidden_dim". The call fails with ASSAY_E_NOT_FOUND for an unknown
 * option (the error names the options of the class), with ASSAY_E_ARGUMENT for a value that does
 * not fit, and with ASSAY_E_UNSUPPORTED for a class that cannot generate data. */
ASSAY_API ASSAY_MUST_USE assay_status assay_model_scaling_run(
    const assay_model_factory *factory, const char *option, const double *sizes, size_t count,
    const assay_scaling_options *options, assay_error *error, assay_scaling **scaling);

/* The same for "num-nodes". "num-edges" changes with it, so that the average degree stays
 * `avg_degree` (0: the degree of the settings). A NULL list is 100, 500, 1000, 2000, 5000. */
ASSAY_API ASSAY_MUST_USE assay_status assay_run_node_scaling(const assay_model_factory *factory,
                                                             const int64_t *num_nodes_list,
                                                             size_t count, double avg_degree,
                                                             const assay_scaling_options *options,
                                                             assay_error *error,
                                                             assay_scaling **scaling);

/* The same for "num-layers", with `num_nodes` nodes (0: the number of the settings). A NULL list is
 * 2, 4, 6, 8, 12, 16. */
ASSAY_API ASSAY_MUST_USE assay_status assay_run_layer_scaling(const assay_model_factory *factory,
                                                              const int64_t *num_layers_list,
                                                              size_t count, int64_t num_nodes,
                                                              const assay_scaling_options *options,
                                                              assay_error *error,
                                                              assay_scaling **scaling);

/* ---- encodings ---- */

/* A positional encoding. "lap" sets the option "lap-dim" to `dim`, "rwse" sets "rw-steps", and
 * "none" clears both. */
typedef struct assay_pe_config {
    const char *name;
    int64_t dim;
} assay_pe_config;

enum { ASSAY_PE_CONFIGS_MAX = 64 };

/* Time the forward pass with each encoding, in turns. The record has a subject for each encoding
 * ("lap 16"), and the subjects can be compared pair by pair. The report format "scaling" shows them
 * as a table. A model computes the encodings of a graph when it first sees the graph, and keeps
 * them. So this call measures what the encodings cost in every pass; assay_profile_pe_computation()
 * measures what it costs to compute them. A NULL list is lap 16, rwse 16, none. Caller frees the
 * record. */
ASSAY_API ASSAY_MUST_USE assay_status assay_run_pe_scaling(
    const assay_model_factory *factory, const assay_pe_config *configs, size_t count,
    const assay_scaling_options *options, assay_error *error, assay_record **record);

/* Time `transform`, which encodes `data` from scratch: by default 10 runs, after 2 that do not
 * count. */
ASSAY_API ASSAY_MUST_USE assay_status assay_profile_pe_computation(
    assay_function transform, void *data, const assay_sampling_options *options, assay_error *error,
    assay_timing *timing);

/* ---- an experiment: several of these, one summary ---- */

typedef struct assay_scaling_experiment assay_scaling_experiment;

/* Make an experiment. The options apply to each run; NULL options are the defaults. Factory and
 * options are copied, but the data that they point to are borrowed. Caller frees. */
ASSAY_API ASSAY_MUST_USE assay_status assay_scaling_experiment_new(
    const assay_model_factory *factory, const assay_scaling_options *options,
    assay_scaling_experiment **experiment);
ASSAY_API void assay_scaling_experiment_free(assay_scaling_experiment *experiment);

/* These do the same as the functions above, but the experiment keeps the results. ASSAY_E_LIMIT
 * after 32 runs. */
ASSAY_API ASSAY_MUST_USE assay_status assay_scaling_experiment_run_node_scaling(
    assay_scaling_experiment *experiment, const int64_t *num_nodes_list, size_t count,
    double avg_degree, assay_error *error);
ASSAY_API ASSAY_MUST_USE assay_status assay_scaling_experiment_run_layer_scaling(
    assay_scaling_experiment *experiment, const int64_t *num_layers_list, size_t count,
    int64_t num_nodes, assay_error *error);

/* Print the tables of all runs, one below the other. A NULL stream prints nothing. */
ASSAY_API assay_status
assay_scaling_experiment_print_summary(const assay_scaling_experiment *experiment, FILE *stream);

/* ---- graphs to measure on ---- */

/* An undirected graph: `edges` contains every edge in both directions. */
typedef struct assay_scaling_graph {
    int64_t num_nodes, num_edges, feature_dim;
    float *features; /* (num_nodes, feature_dim), standard normal */
    int64_t *edges;  /* (2, num_edges): sources, then targets */
} assay_scaling_graph;

/* Generate one random graph for each size. A graph has round(num_nodes x avg_degree / 2) undirected
 * edges, and at least the edges of a spanning tree, so that it is connected. It has no loops, but
 * two nodes may be joined twice. The same seed gives the same graphs. A graph does not depend on
 * the other sizes in the list. Release with assay_scaling_graphs_free. */
ASSAY_API ASSAY_MUST_USE assay_status assay_generate_scaling_graphs(
    const int64_t *num_nodes_list, size_t count, double avg_degree, int64_t feature_dim,
    uint64_t seed, assay_error *error, assay_scaling_graph **graphs);
ASSAY_API void assay_scaling_graphs_free(assay_scaling_graph *graphs, size_t count);

#ifdef __cplusplus
}
#endif

#endif
