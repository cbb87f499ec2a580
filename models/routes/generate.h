/* Trajectories for pairs of roads, timed. */
#ifndef ASSAY_MODELS_ROUTES_GENERATE_H
#define ASSAY_MODELS_ROUTES_GENERATE_H

#include "models/road/search.h"
#include "models/routes/data.h"

/* A searcher that keeps time. */
typedef struct assay__timed_searcher {
    assay__road_searcher *searcher;
    const char *device; /* "cpu", "cuda:0" */
    uint64_t forward_ns, entered_ns;
} assay__timed_searcher;

/* Routes of at most as many roads as the network has, 10 000 of them. Forward passes run on
 * `device`, as for assay_model_class_on(). The address must stay. */
ASSAY_MUST_USE assay_status assay__timed_searcher_init(assay__timed_searcher *self,
                                                       const assay__road_network *network,
                                                       const assay__next_road *model,
                                                       const char *device, int64_t max_width,
                                                       assay_error *error);
void assay__timed_searcher_release(assay__timed_searcher *self); /* all zero is accepted */

/* The searches of road/search.h and what they took. The clock is read twice for the search and
 * twice for each forward pass, whose time it is part of. A `width` of 0 searches greedily, any
 * other is that of a beam. `performance` may not be NULL; its roads are left 0. */
ASSAY_MUST_USE assay_status assay__timed_search(assay__timed_searcher *self, int64_t origin,
                                                int64_t destination, int64_t width,
                                                assay_error *error, assay__road_route *route,
                                                assay_search_performance *performance);

typedef struct assay__generation_options {
    bool beam_search; /* else greedy */
    int64_t beam_width;
    const char *device; /* NULL: the processor */
    const char *output_file;
    /* After each search; false stops with ASSAY_E_STATE. NULL: nobody asks. */
    bool (*advance)(void *context, double share);
    void *context;
} assay__generation_options;

/* One search for each pair, in order; those that find their destination are written to
 * options->output_file as CSV: origin_road_id, destination_road_id, gene_trace_road_id,
 * gene_trace_datetime, lists in brackets. A road is entered when the one before, at its mean travel
 * time in data->train, is left; the first one when the real trajectory began. Free the generation
 * with assay_generation_free(). */
ASSAY_MUST_USE assay_status assay__generate_trajectories(const assay__routes_data *data,
                                                         const assay__next_road *model,
                                                         const assay__od_pair *pairs, size_t count,
                                                         const assay__generation_options *options,
                                                         assay_error *error,
                                                         assay_generation **generation);

#endif
