/* Trajectories for pairs of roads, timed.
 *
 *     assay__generation generation;
 *     status = assay__generate_trajectories(&data, model, pairs, count, &options, &error, found);
 *     if (status == ASSAY_OK)
 *         status = assay__generation_of(found, options.model, &generation);
 *     printf("%zu in %s\n", generation.num_generated, options.output_file);
 */
#ifndef ASSAY_STUDIES_ROUTES_GENERATE_H
#define ASSAY_STUDIES_ROUTES_GENERATE_H

#include "models/road/search.h"
#include "studies/routes/data.h"
#include "studies/routes/performance.h"

/* A searcher that keeps time. */
typedef struct assay__timed_searcher {
    assay__road_searcher *searcher;
    uint64_t forward_ns, entered_ns;
} assay__timed_searcher;

/* Routes of at most as many roads as the network has, 10 000 of them. The address must stay. */
ASSAY_MUST_USE assay_status assay__timed_searcher_init(assay__timed_searcher *self,
                                                       const assay__road_network *network,
                                                       const assay__next_road *model,
                                                       int64_t max_width, assay_error *error);
void assay__timed_searcher_release(assay__timed_searcher *self); /* all zero is accepted */

/* The searches of road/search.h and what they took. The clock is read twice for the search and
 * twice for each forward pass, whose time it is part of. A `width` of 0 searches greedily, any
 * other is that of a beam. `performance` may not be NULL. */
ASSAY_MUST_USE assay_status assay__timed_search(assay__timed_searcher *self, int64_t origin,
                                                int64_t destination, int64_t width,
                                                assay_error *error, assay__road_route *route,
                                                assay__search_performance *performance);

typedef struct assay__generation_options {
    const char *model; /* its name in what is found */
    bool beam_search;  /* else greedy */
    int64_t beam_width;
    const char *output_file;
    /* After each search; false stops with ASSAY_E_STATE. NULL: nobody asks. */
    bool (*advance)(void *context, double share);
    void *context;
} assay__generation_options;

enum { ASSAY__ROUTE_OUTCOMES = ASSAY__ROUTE_TOO_LONG + 1 };

/* One search for each pair, in order; those that find their destination are written to
 * options->output_file as CSV: origin_road_id, destination_road_id, gene_trace_road_id,
 * gene_trace_datetime, lists in brackets. A road is entered when the one before, at its mean travel
 * time in data->train, is left; the first one when the real trajectory began. What the searches
 * took and how they ended is added to `found`, under the name options->model. */
ASSAY_MUST_USE assay_status assay__generate_trajectories(const assay__routes_data *data,
                                                         const assay__next_road *model,
                                                         const assay__od_pair *pairs, size_t count,
                                                         const assay__generation_options *options,
                                                         assay_error *error, assay_record *found);

/* The generation by one model, as a record has it. */
typedef struct assay__generation {
    size_t num_searched, num_generated;     /* pairs; those whose destination was found */
    size_t outcomes[ASSAY__ROUTE_OUTCOMES]; /* by assay__route_outcome */
    assay__generation_performance performance;
} assay__generation;

/* As assay__generation_performance_of. */
ASSAY_MUST_USE assay_status assay__generation_of(const assay_record *found, const char *model,
                                                 assay__generation *generation);

#endif
