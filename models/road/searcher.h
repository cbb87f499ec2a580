/* The content of a searcher, for the files that implement it: searcher.c has the tables and the
 * forward pass, search.c the search. Engines, which run the forward pass elsewhere, read it too. */
#ifndef ASSAY_MODELS_ROAD_SEARCHER_H
#define ASSAY_MODELS_ROAD_SEARCHER_H

#include "models/kernel/memory.h"
#include "models/road/search.h"

/* A route of the beam, or a continuation of one: its last road, and its node in the tree. */
typedef struct assay__route_held {
    int32_t road;
    int32_t node;
    int32_t parent; /* index of the route that it continues in the previous beam */
    double log_probability;
} assay__route_held;

typedef struct assay__route_node {
    int32_t road;
    int32_t parent; /* a node; -1 for the origin */
} assay__route_node;

/* What a searcher remembers of a road. */
typedef struct assay__road_mark {
    uint32_t expanded, entered; /* number of the last search, step */
    int32_t entered_at;         /* index in `options` */
} assay__road_mark;

struct assay__road_searcher {
    const assay__road_network *network;
    const assay__next_road *model;
    int64_t max_width, max_steps;
    assay__road_search_hook hook;
    assay__memory *memory;
    /* The searcher that owns the tables of the weights; NULL if this searcher owns them. */
    const assay__road_searcher *first_of_twins;
    assay__road_engine engine;
    void *elsewhere;  /* the state that engine.open() made; NULL: forward passes run here */
    uint64_t version; /* how often refresh() has computed the tables */

    /* Tables that are computed from the weights. H = hidden, S = scorer. */
    float *road_input;   /* (roads, 3 H) W_ih E[road] + b_ih */
    float *road_score;   /* (roads, S) from the road's embedding, last two features, and bias */
    float *product;      /* (H, 3 H + S) W_hh and the scorer's columns for the state, transposed */
    float *product_bias; /* (3 H + S) b_hh and zeros */
    float *feature_weight; /* (ASSAY__ROAD_MOVING_FEATURES, S) */
    float *goal_score;     /* (S) the destination's part, for this search */

    /* The present routes. W = max_width. */
    float *state[2];         /* (W, H) before and after a step */
    int32_t *last_road;      /* (W) */
    int32_t *row;            /* (W) where the state that the route continues is in `parents` */
    int32_t *row_of;         /* (W) the same for a route of the last beam */
    float *parents;          /* (W, H) the states that the present routes continue, each once */
    float *reached;          /* (W, 3 H) these states times W_hh, plus b_hh */
    float *gates;            /* (W, 2 H) scratch */
    float *context;          /* (W, S) the part of state and destination in the scores */
    assay__route_held *beam; /* (W) best first */
    int64_t beam_count;

    /* The candidates of a step. X = W x the largest number of successors of a road, and one block
     * of ASSAY__ROAD_BLOCK more. */
    int32_t *route_of;          /* (X) the route that the candidate continues, in the beam */
    int32_t *origin, *choice;   /* (X) roads: the last one of the route, and its successor */
    int64_t *first;             /* (W + 1) where the candidates of each route begin */
    float *features;            /* (X, ASSAY__ROAD_MOVING_FEATURES) */
    float *logits;              /* (X) */
    float *powers;              /* (X) scratch */
    assay__route_held *options; /* (X) continuations, in the order of routes and roads */

    assay__route_node *nodes; /* (1 + W max_steps) */
    int64_t node_count;
    assay__road_mark *marks; /* (roads) */
    uint32_t search, step;
    int32_t *queue; /* (roads) for assay__road_network_reaches() */
    uint32_t *seen; /* (roads) likewise */
    int32_t *route; /* (1 + max_steps) */
};

/* Compute the state of each route after its last road, and the logits of the candidates. The
 * candidates and their moving features must have been set before. Without an engine it cannot
 * fail. */
ASSAY_MUST_USE assay_status assay__road_searcher_forward(assay__road_searcher *searcher,
                                                         assay_error *error);

/* Set goal_score, the destination's part in the scores. */
void assay__road_searcher_aim(assay__road_searcher *searcher, int32_t destination);

/* Prefetch a row of a table that is far larger than the cache. */
static inline void assay__road_searcher_fetch(const float *row, int64_t count)
{
    enum { LINE_FLOATS = 16 /* in a cache line */ };
    for (int64_t i = 0; i < count; i += LINE_FLOATS)
        __builtin_prefetch(row + i);
}

/* Prefetch the rows of the tables that the next forward pass reads for this road: as the last road
 * of a route, and as a candidate. */
static inline void assay__road_searcher_expect_route(const assay__road_searcher *searcher,
                                                     int32_t road)
{
    const int64_t gates = 3 * searcher->model->shape.hidden;
    assay__road_searcher_fetch(searcher->road_input + road * gates, gates);
}

static inline void assay__road_searcher_expect_choice(const assay__road_searcher *searcher,
                                                      int32_t road)
{
    const int64_t scorer = searcher->model->shape.scorer;
    assay__road_searcher_fetch(searcher->road_score + road * scorer, scorer);
}

#endif
