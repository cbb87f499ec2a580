/* From an origin to a destination by what the model thinks a driver would do next.
 *
 *     assay__road_searcher *searcher = NULL;
 *     status = assay__road_searcher_new(network, model, 4, 1000, &error, &searcher);
 *     assay__road_route route;
 *     status = assay__road_search_beam(searcher, origin, destination, 4, &error, &route);
 *     if (route.outcome == ASSAY__ROUTE_FOUND) follow(route.roads, route.count);
 *     assay__road_searcher_free(searcher);
 *
 * Both searches grow partial routes from the origin, one road a step. In each step one batched
 * forward pass scores the successors of all routes held; a continuation's log-probability is its
 * route's plus the successor's. Greedy search keeps the best continuation; beam search the best
 * `width`. In detail:
 *
 *   - A search ends as soon as a route that is kept stands on the destination. It is the best of
 * that step; a longer one that is still more likely is not waited for.
 *   - A road from which a route was continued is not entered again in the same search, by any
 * route: routes have no loops, and every search ends. Probabilities are not renormalised for that.
 *   - Where two routes of a step lead to the same road, only the better is kept.
 *   - Ties go to the continuation of the better route, then to the lower index of the road.
 *
 * So a search may miss a destination that can be reached; a wider beam misses fewer. */
#ifndef ASSAY_MODELS_ROAD_SEARCH_H
#define ASSAY_MODELS_ROAD_SEARCH_H

#include "models/road/network.h"
#include "models/road/next_road.h"

enum { ASSAY__ROUTE_MAX_WIDTH = 1024 };

typedef enum assay__route_outcome {
    ASSAY__ROUTE_FOUND,
    ASSAY__ROUTE_UNREACHABLE, /* the network has no way from the origin to the destination */
    ASSAY__ROUTE_LOST,        /* there is a way, but every route held came to its end */
    ASSAY__ROUTE_TOO_LONG     /* there is a way, but the steps ran out */
} assay__route_outcome;

typedef struct assay__road_route {
    assay__route_outcome outcome;
    /* From the origin on; to the destination if found, else of the routes held at any time the one
     * that came nearest to it (on the network's plane). The searcher's, until its next search. */
    const int32_t *roads; /* (count) */
    int64_t count;        /* at least 1 */
    double log_probability;
    int64_t forward_count;   /* batched forward passes */
    int64_t candidate_count; /* successors scored in them */
} assay__road_route;

/* Called around each forward pass by whoever wants to time them; models do not measure. */
typedef struct assay__road_search_hook {
    void (*before_forward)(void *context);
    void (*after_forward)(void *context);
    void *context;
} assay__road_search_hook;

typedef struct assay__road_searcher assay__road_searcher;

/* Forward passes that run elsewhere than on this processor, such as on a device
 * (models/cuda/road_search.h). open() makes room for the routes of a searcher; forward() is
 * assay__road_searcher_forward() of road/searcher.h there. */
typedef struct assay__road_engine {
    assay_status (*open)(void *device, const assay__road_searcher *searcher, assay_error *error,
                         void **state);
    void (*close)(void *state);
    assay_status (*forward)(void *state, const assay__road_searcher *searcher, assay_error *error);
    void *device;
} assay__road_engine;

/* Network and model are borrowed; the model knows at least the network's roads (ASSAY_E_ARGUMENT).
 * Up to `max_width` routes at a time, of at most `max_steps` roads beyond the origin. All memory is
 * taken here: (3 hidden + scorer) floats a road for what the model makes of it, which saves most of
 * each forward pass. One searcher belongs to one thread. */
ASSAY_MUST_USE assay_status assay__road_searcher_new(const assay__road_network *network,
                                                     const assay__next_road *model,
                                                     int64_t max_width, int64_t max_steps,
                                                     assay_error *error,
                                                     assay__road_searcher **searcher);
/* Have the forward passes of this searcher, and of twins made from now on, run by an engine. Once
 * at most; on failure it stays where it was. */
ASSAY_MUST_USE assay_status assay__road_searcher_move(assay__road_searcher *searcher,
                                                      const assay__road_engine *engine,
                                                      assay_error *error);
/* A searcher for another thread, which uses the tables of the first. That has to outlive it, and is
 * the one to refresh. It has no hook. */
ASSAY_MUST_USE assay_status assay__road_searcher_twin(const assay__road_searcher *searcher,
                                                      assay_error *error,
                                                      assay__road_searcher **twin);
void assay__road_searcher_free(assay__road_searcher *searcher);

/* After the model's weights changed. */
void assay__road_searcher_refresh(assay__road_searcher *searcher);

/* NULL: none. */
void assay__road_searcher_set_hook(assay__road_searcher *searcher,
                                   const assay__road_search_hook *hook);

/* Not finding the destination is an outcome, not a failure; ASSAY_E_ARGUMENT for roads the network
 * does not have and widths outside 1 ... max_width is one, and what an engine fails with is.
 * Nothing is allocated. */
ASSAY_MUST_USE assay_status assay__road_search_greedy(assay__road_searcher *searcher,
                                                      int64_t origin, int64_t destination,
                                                      assay_error *error, assay__road_route *route);
ASSAY_MUST_USE assay_status assay__road_search_beam(assay__road_searcher *searcher, int64_t origin,
                                                    int64_t destination, int64_t width,
                                                    assay_error *error, assay__road_route *route);

/* Many searches, shared among `searcher_count` searchers (one and its twins), each on a thread of
 * its own where there are as many (kernel/threads.h). The route of pair i goes to take(context, i,
 * route), on the thread that found it and in no particular order. The first failure is returned. */
typedef void (*assay__road_take)(void *context, int64_t index, const assay__road_route *route);
ASSAY_MUST_USE assay_status assay__road_search_many(assay__road_searcher *const *searchers,
                                                    int searcher_count, const int64_t (*pairs)[2],
                                                    int64_t count, int64_t width,
                                                    assay__road_take take, void *context,
                                                    assay_error *error);

/* "found", "unreachable", "lost", "too long". */
const char *assay__route_outcome_name(assay__route_outcome outcome);

#endif
