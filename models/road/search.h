/* Finds a route from an origin to a destination by predicting, road by road, what a driver would do
 * next.
 *
 *     assay__road_searcher *searcher = NULL;
 *     status = assay__road_searcher_new(network, model, 4, 1000, &error, &searcher);
 *     assay__road_route route;
 *     status = assay__road_search_beam(searcher, origin, destination, 4, &error, &route);
 *     if (route.outcome == ASSAY__ROUTE_FOUND) follow(route.roads, route.count);
 *     assay__road_searcher_free(searcher);
 *
 * Both searches grow partial routes from the origin, one road in each step. A step scores the
 * successors of all present routes in one batched forward pass. The log-probability of a
 * continuation is that of its route plus that of the successor. Greedy search keeps the best
 * continuation, beam search the best `width`. In detail:
 *
 *   - A search ends as soon as a kept route has reached the destination. It returns the best such
 *     route of that step. It does not wait for longer routes, even if one would be more probable.
 *   - Once a route was continued from a road, no route of the same search enters that road again.
 *     So routes have no loops, and every search ends. The probabilities are not renormalised.
 *   - If two routes of a step lead to the same road, only the better one is kept.
 *   - A tie goes to the continuation of the better route, then to the road with the lower index.
 *
 * So a search may miss a destination that can be reached. A wider beam misses fewer. */
#ifndef ASSAY_MODELS_ROAD_SEARCH_H
#define ASSAY_MODELS_ROAD_SEARCH_H

#include "models/road/network.h"
#include "models/road/next_road.h"

enum { ASSAY__ROUTE_MAX_WIDTH = 1024 };

typedef enum assay__route_outcome {
    ASSAY__ROUTE_FOUND,
    ASSAY__ROUTE_UNREACHABLE, /* the network has no way from the origin to the destination */
    ASSAY__ROUTE_LOST,        /* there is a way, but no route could be continued any more */
    ASSAY__ROUTE_TOO_LONG     /* there is a way, but the steps ran out */
} assay__route_outcome;

typedef struct assay__road_route {
    assay__route_outcome outcome;
    /* The route from the origin to the destination. If the search did not find it, the route that
     * came nearest to it (on the network's plane) among all routes kept at any step. The array
     * belongs to the searcher and is valid until its next search. */
    const int32_t *roads; /* (count) */
    int64_t count;        /* at least 1 */
    double log_probability;
    int64_t forward_count;   /* batched forward passes */
    int64_t candidate_count; /* successors scored in them */
} assay__road_route;

/* The searcher calls these functions before and after each forward pass, so that the caller can
 * time it. Either may be NULL. */
typedef struct assay__road_search_hook {
    void (*before_forward)(void *context);
    void (*after_forward)(void *context);
    void *context;
} assay__road_search_hook;

typedef struct assay__road_searcher assay__road_searcher;

/* Functions that run forward passes elsewhere than on this processor, such as on a device
 * (models/cuda/road_search.h). open() makes `*state` with room for the routes of a searcher, and
 * close() frees it. forward() does what assay__road_searcher_forward() of road/searcher.h does. */
typedef struct assay__road_engine {
    assay_status (*open)(void *device, const assay__road_searcher *searcher, assay_error *error,
                         void **state);
    void (*close)(void *state);
    assay_status (*forward)(void *state, const assay__road_searcher *searcher, assay_error *error);
    void *device; /* the first argument of open() */
} assay__road_engine;

/* Make a searcher; assay__road_searcher_free() frees it. Network and model are borrowed. The
 * searcher keeps up to `max_width` routes, of at most `max_steps` roads beyond the origin. All its
 * memory is allocated here, among it a table of (3 hidden + scorer) floats per road, which saves
 * most of each forward pass. A searcher must be used by one thread at a time. ASSAY_E_ARGUMENT if
 * the model has fewer roads than the network, or if a limit is impossible; ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__road_searcher_new(const assay__road_network *network,
                                                     const assay__next_road *model,
                                                     int64_t max_width, int64_t max_steps,
                                                     assay_error *error,
                                                     assay__road_searcher **searcher);
/* Let an engine run the forward passes of this searcher, and of the twins that are made from it
 * later. Call it at most once for a searcher. If open() of the engine fails, its status is returned
 * and the forward passes stay on the processor. */
ASSAY_MUST_USE assay_status assay__road_searcher_move(assay__road_searcher *searcher,
                                                      const assay__road_engine *engine,
                                                      assay_error *error);
/* Make a searcher for another thread that uses the tables of `searcher`, which must outlive it.
 * Refresh only `searcher`, not the twin, while neither is searching. The twin starts without a
 * hook. */
ASSAY_MUST_USE assay_status assay__road_searcher_twin(const assay__road_searcher *searcher,
                                                      assay_error *error,
                                                      assay__road_searcher **twin);
void assay__road_searcher_free(assay__road_searcher *searcher);

/* Compute the tables again. Call this after the model's weights have changed. */
void assay__road_searcher_refresh(assay__road_searcher *searcher);

/* Set the hook, which is copied. NULL removes it. */
void assay__road_searcher_set_hook(assay__road_searcher *searcher,
                                   const assay__road_search_hook *hook);

/* Search a route. If the destination is not found, the status is still ASSAY_OK, and the outcome
 * says why. ASSAY_E_ARGUMENT if the network does not have the roads, or if `width` is not 1 to
 * max_width. If a forward pass of an engine fails, its status is returned. Nothing is allocated. */
ASSAY_MUST_USE assay_status assay__road_search_greedy(assay__road_searcher *searcher,
                                                      int64_t origin, int64_t destination,
                                                      assay_error *error, assay__road_route *route);
ASSAY_MUST_USE assay_status assay__road_search_beam(assay__road_searcher *searcher, int64_t origin,
                                                    int64_t destination, int64_t width,
                                                    assay_error *error, assay__road_route *route);

/* Search a route for each of `count` pairs (origin, destination). The searches are shared among
 * `searcher_count` searchers, which are one searcher and its twins. Each runs on a thread of its
 * own if there are enough threads (kernel/threads.h). The route of pair i is passed to
 * take(context, i, route), on the thread that found it and in no particular order. If a search
 * fails, no further ones begin, and the first failure is returned. */
typedef void (*assay__road_take)(void *context, int64_t index, const assay__road_route *route);
ASSAY_MUST_USE assay_status assay__road_search_many(assay__road_searcher *const *searchers,
                                                    int searcher_count, const int64_t (*pairs)[2],
                                                    int64_t count, int64_t width,
                                                    assay__road_take take, void *context,
                                                    assay_error *error);

/* The name of an outcome: "found", "unreachable", "lost" or "too long". */
const char *assay__route_outcome_name(assay__route_outcome outcome);

#endif
