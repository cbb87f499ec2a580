/* Generates trajectories between pairs of roads, and times the searches. */
#ifndef ASSAY_MODELS_ROUTES_GENERATE_H
#define ASSAY_MODELS_ROUTES_GENERATE_H

#include "models/road/search.h"
#include "models/routes/data.h"

/* A searcher that measures the time of its forward passes. */
typedef struct assay__timed_searcher {
    assay__road_searcher *searcher;
    const char *device; /* where forward passes run: "cpu" or "cuda:0" */
    uint64_t forward_ns, entered_ns;
} assay__timed_searcher;

/* Make a searcher. Its routes have at most as many roads as the network, and at most 10 000. Its
 * forward passes run on `device`, a name as for assay_model_class_on(); NULL is the processor. Do
 * not move the struct after this call: the searcher keeps a pointer to it. Network and model are
 * borrowed. ASSAY_E_UNSUPPORTED if the device cannot be used. */
ASSAY_MUST_USE assay_status assay__timed_searcher_init(assay__timed_searcher *self,
                                                       const assay__road_network *network,
                                                       const assay__next_road *model,
                                                       const char *device, int64_t max_width,
                                                       assay_error *error);
/* A struct that is all zero is accepted. */
void assay__timed_searcher_release(assay__timed_searcher *self);

/* Run one search of road/search.h and measure its times. A `width` of 0 means greedy search; any
 * other is the width of the beam. The clock is read twice for the search and twice for each forward
 * pass; the readings add to the measured times. `performance` must not be NULL. Its road ids are
 * left at 0. */
ASSAY_MUST_USE assay_status assay__timed_search(assay__timed_searcher *self, int64_t origin,
                                                int64_t destination, int64_t width,
                                                assay_error *error, assay__road_route *route,
                                                assay_search_performance *performance);

typedef struct assay__generation_options {
    bool beam_search; /* else greedy */
    int64_t beam_width;
    const char *device; /* where forward passes run, such as "cuda:0"; NULL: the processor */
    const char *output_file;
    /* Called after each search with the share that is done. The generation's time does not include
     * it. Return false to stop; the generation then fails with ASSAY_E_STATE. Pass NULL if you do
     * not need it. */
    bool (*advance)(void *context, double share);
    void *context;
} assay__generation_options;

/* Run one search for each pair, in order. Routes that reach their destination are written to
 * options->output_file as CSV with the columns origin_road_id, destination_road_id,
 * gene_trace_road_id and gene_trace_datetime; the last two are lists in brackets. The first road is
 * entered when the real trajectory began. Each further road is entered after the mean travel time
 * of the road before it, as in data->travel_seconds. Free the generation with
 * assay_generation_free(). */
ASSAY_MUST_USE assay_status assay__generate_trajectories(const assay__routes_data *data,
                                                         const assay__next_road *model,
                                                         const assay__od_pair *pairs, size_t count,
                                                         const assay__generation_options *options,
                                                         assay_error *error,
                                                         assay_generation **generation);

#endif
