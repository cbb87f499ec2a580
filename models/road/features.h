/* The features of a driver's choice between roads, and batches of trajectories as choices.
 *
 * Consider the choice to go from road f onto its successor c, on the way to destination d. D(r) is
 * the distance from the end of road r to the end of d on the network's plane. The features
 * (float32) are:
 *
 *   0  log(1 + D(c) / 1000 m)                          the distance that remains
 *   1  (D(f) - D(c)) / length(c), clipped to -2 ... 2  the progress per length
 *   2  cosine between c's heading and the direction from the end of f to the end of d; 0 if f ends
 *      where d does
 *   3  cosine between the headings of f and c: 1 straight on, -1 turning round
 *   4  log(1 + length(c) / 100 m)
 *   5  speed(c) / (100 km/h) */
#ifndef ASSAY_MODELS_ROAD_FEATURES_H
#define ASSAY_MODELS_ROAD_FEATURES_H

#include <stdint.h>

#include "assay/status.h"
#include "models/kernel/kernels.h"
#include "models/kernel/memory.h"
#include "models/road/network.h"
#include "models/road/trajectory.h"

enum {
    ASSAY__ROAD_FEATURES = 6,
    ASSAY__ROAD_MOVING_FEATURES = 4 /* the first four; the others depend on the successor alone */
};

/* All features of the choice to go from `from` onto `to`. */
void assay__road_features(const assay__road_network *network, int32_t from, int32_t to,
                          int32_t destination, float features[ASSAY__ROAD_FEATURES]);

/* The first four features of `count` choices to go from from[c] onto to[c], in the rows of
 * `features` (count, ASSAY__ROAD_MOVING_FEATURES). The arrays are as long as whole blocks of
 * ASSAY__ROAD_BLOCK choices, and `from` and `to` name roads up to there. */
void assay__road_moving_features(const assay__road_network *network, int64_t count,
                                 const int32_t *from, const int32_t *to, int32_t destination,
                                 float *features);
/* The last two features, which depend on the road alone. */
void assay__road_still_features(const assay__road_network *network, int32_t road,
                                float features[ASSAY__ROAD_FEATURES - ASSAY__ROAD_MOVING_FEATURES]);

/* A batch of several trajectories. Position t * trajectories + b is road t of trajectory b. The
 * candidates first[position] to first[position + 1] - 1 are the choices at that position. */
typedef struct assay__road_batch {
    int64_t trajectories, time;
    int32_t *roads;        /* (time, trajectories); -1 after the end of a trajectory */
    int32_t *destinations; /* (trajectories) */
    int64_t candidates;
    int64_t *first;    /* (time x trajectories + 1) */
    int32_t *choices;  /* (candidates) roads */
    float *features;   /* (candidates, ASSAY__ROAD_FEATURES) */
    float *targets;    /* (candidates) target probability; sums to 1 or 0 over a position */
    int64_t decisions; /* positions whose targets are not all 0 */
    assay__memory *memory;
} assay__road_batch;

ASSAY_MUST_USE assay_status assay__road_batch_init(assay__road_batch *batch);
void assay__road_batch_release(assay__road_batch *batch);

/* Make the arrays large enough and the batch empty; the old content is lost. Memory is allocated
 * only if the batch is larger than any before. The only failure is ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__road_batch_reserve(assay__road_batch *batch,
                                                      int64_t trajectories, int64_t time,
                                                      int64_t candidates);

/* Fill the batch with the trajectories `which` (count) of `source`, and at most `time` roads of
 * each. The destination of a trajectory is its last road, even if that lies beyond `time`. A
 * position has candidates only if the next road of the trajectory is a successor of its road; that
 * successor then has the target 1. Otherwise the recording has a gap, and the position has no
 * candidates. The only failure is ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__road_batch_fill(assay__road_batch *batch,
                                                   const assay__road_network *network,
                                                   const assay__trajectories *source,
                                                   const int64_t *which, int64_t count,
                                                   int64_t time);

#endif
