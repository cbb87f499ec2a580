/* What a searcher holds, for the files that make it: searcher.c, its tables and the forward pass;
 * search.c, the search; and engines, which do the forward pass elsewhere. */
#ifndef ASSAY_MODELS_ROAD_SEARCHER_H
#define ASSAY_MODELS_ROAD_SEARCHER_H

#include "models/kernel/memory.h"
#include "models/road/search.h"

/* A route of the beam: its last road, and the node of the tree that stands for it. */
typedef struct assay__route_held {
    int32_t road;
    int32_t node;
    int32_t parent; /* of a continuation, its route's place in the beam */
    double log_probability;
} assay__route_held;

typedef struct assay__route_node {
    int32_t road;
    int32_t parent; /* -1: the origin */
} assay__route_node;

struct assay__road_searcher {
    const assay__road_network *network;
    const assay__next_road *model;
    int64_t max_width, max_steps;
    assay__road_search_hook hook;
    assay__memory *memory;
    const assay__road_searcher *first_of_twins; /* whose tables of the weights it uses; or NULL */
    assay__road_engine engine;
    void *elsewhere;  /* the engine's; NULL: forward passes run here */
    uint64_t version; /* of the tables: how often they were made */

    /* Of the weights. H = hidden, S = scorer. */
    float *road_input;   /* (roads, 3 H) W_ih E[road] + b_ih */
    float *road_score;   /* (roads, S) the road's embedding and unmoving features, and the bias */
    float *product;      /* (H, 3 H + S) W_hh and the scorer's columns for the state, transposed */
    float *product_bias; /* (3 H + S) b_hh and zeros */
    float *feature_weight; /* (ASSAY__ROAD_MOVING_FEATURES, S) */
    float *goal_score;     /* (S) of this search */

    /* Of the routes held; W = max_width. */
    float *state[2];         /* (W, H) before and after a step */
    float *reached[2];       /* (W, 3 H + S) the product of the state */
    float *gates;            /* (3 H) */
    assay__route_held *beam; /* (W) best first */
    int64_t beam_count;

    /* Of the candidates of a step; X = W x the most successors of a road. */
    int32_t *choice;            /* (X) roads */
    int64_t *first;             /* (W + 1) */
    float *features;            /* (X, ASSAY__ROAD_MOVING_FEATURES) */
    float *logits;              /* (X) */
    assay__route_held *options; /* (X) continuations, in the order of routes and roads */

    assay__route_node *nodes; /* (1 + W max_steps) */
    int64_t node_count;
    uint32_t *expanded, *entered; /* (roads) the number of the search, of the step */
    int32_t *entered_at;          /* (roads) where in `options` */
    uint32_t search, step;
    int32_t *queue; /* (roads) to tell whether there is a way at all */
    uint32_t *seen;
    int32_t *route; /* (1 + max_steps) */
};

/* The routes' states after their last road, and the logits of its successors. Candidates and their
 * moving features stand ready. Only an engine fails. */
ASSAY_MUST_USE assay_status assay__road_searcher_forward(assay__road_searcher *searcher,
                                                         assay_error *error);

/* The destination's part in the scores: goal_score. */
void assay__road_searcher_aim(assay__road_searcher *searcher, int32_t destination);

/* This road's rows will be read in the next forward pass: as the last of a route, as a candidate.
 */
void assay__road_searcher_expect_route(const assay__road_searcher *searcher, int32_t road);
void assay__road_searcher_expect_choice(const assay__road_searcher *searcher, int32_t road);

#endif
