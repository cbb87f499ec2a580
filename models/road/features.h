/* What a driver sees of a choice, as numbers; and trajectories as batches of choices.
 *
 * Going from road f onto its successor c with destination d in mind, with D(r) the distance from
 * the end of road r to the end of d on the network's plane, has these features (float32):
 *
 *   0  log(1 + D(c) / 1000 m)                    how far it still is
 *   1  (D(f) - D(c)) / length(c), within -2 2    how much of the road is progress
 *   2  cosine between c's heading and the direction from the end of f to the end of d, 0 if there
 *   3  cosine between the headings of f and c: 1 straight on, -1 turning round
 *   4  log(1 + length(c) / 100 m)
 *   5  speed(c) / (100 km/h) */
#ifndef ASSAY_MODELS_ROAD_FEATURES_H
#define ASSAY_MODELS_ROAD_FEATURES_H

#include <stdint.h>

#include "assay/status.h"
#include "models/kernel/memory.h"
#include "models/road/network.h"
#include "models/road/trajectory.h"

enum {
    ASSAY__ROAD_FEATURES = 6,
    ASSAY__ROAD_MOVING_FEATURES = 4 /* the first ones; the others depend on the successor alone */
};

void assay__road_features(const assay__road_network *network, int32_t from, int32_t to,
                          int32_t destination, float features[ASSAY__ROAD_FEATURES]);

/* The first four, and the two that depend on the road alone. */
void assay__road_moving_features(const assay__road_network *network, int32_t from, int32_t to,
                                 int32_t destination, float features[ASSAY__ROAD_MOVING_FEATURES]);
void assay__road_still_features(const assay__road_network *network, int32_t road,
                                float features[ASSAY__ROAD_FEATURES - ASSAY__ROAD_MOVING_FEATURES]);

/* Several trajectories side by side. Position t * trajectories + b is road t of trajectory b; where
 * one stood at a choice, candidates first[position] ... first[position + 1] - 1 belong to it. */
typedef struct assay__road_batch {
    int64_t trajectories, time;
    int32_t *roads;        /* (time, trajectories); -1 after the end of a trajectory */
    int32_t *destinations; /* (trajectories) */
    int64_t candidates;
    int64_t *first;    /* (time x trajectories + 1) */
    int32_t *choices;  /* (candidates) roads */
    float *features;   /* (candidates, ASSAY__ROAD_FEATURES) */
    float *targets;    /* (candidates) the share of each choice: sums to 1 over a position, or 0 */
    int64_t decisions; /* positions whose targets are not all 0 */
    assay__memory *memory;
} assay__road_batch;

ASSAY_MUST_USE assay_status assay__road_batch_init(assay__road_batch *batch);
void assay__road_batch_release(assay__road_batch *batch);

/* Room for so much; nothing is kept. Allocates only beyond what it ever had. */
ASSAY_MUST_USE assay_status assay__road_batch_reserve(assay__road_batch *batch,
                                                      int64_t trajectories, int64_t time,
                                                      int64_t candidates);

/* Fill from trajectories `which` (count) of `source`, at most `time` roads of each. A trajectory's
 * destination is its last road, even if that is beyond. A position has candidates where the next
 * road is one of the successors, which then has the target 1; gaps of a recording are no choice. */
ASSAY_MUST_USE assay_status assay__road_batch_fill(assay__road_batch *batch,
                                                   const assay__road_network *network,
                                                   const assay__trajectories *source,
                                                   const int64_t *which, int64_t count,
                                                   int64_t time);

#endif
