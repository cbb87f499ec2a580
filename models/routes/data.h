/* What trajectories are generated from: a road network, trajectories to learn from and to test on,
 * and pairs of an origin and a destination to generate trajectories for. */
#ifndef ASSAY_MODELS_ROUTES_DATA_H
#define ASSAY_MODELS_ROUTES_DATA_H

#include <stdbool.h>

#include "assay/trajectories.h"
#include "models/road/network.h"
#include "models/road/trajectory.h"

/* The seeds of parts that are drawn apart: the seed of the study, and this much more. */
enum { ASSAY__PAIRS_SEED = 2 };

typedef struct assay__routes_source {
    const char *dataset; /* a folder with one *.geo, one *.rel, train.csv and test.csv; or: */
    /* Files in LibCity's form (docs/models.md), all of the first three or none of them. Without
     * `test` a fifth of the trajectories, chosen by the seed, is kept for testing. */
    const char *geo, *rel, *trajectories, *test;
    /* Without files: a made-up city and drives in it. */
    int64_t roads, drives;
} assay__routes_source;

typedef struct assay__routes_data {
    assay__road_network *network;
    assay__trajectories train, test;
    bool made_up;
    double *travel_seconds; /* (roads) as seen in `train` */
} assay__routes_data;

/* ASSAY_E_ARGUMENT for files that are not enough or too few trajectories (5 at least), and what
 * loading fails with. `data` is initialised here. */
ASSAY_MUST_USE assay_status assay__routes_data_load(const assay__routes_source *source,
                                                    uint64_t seed, assay_error *error,
                                                    assay__routes_data *data);
void assay__routes_data_release(assay__routes_data *data); /* all zero is accepted */

const assay__trajectories *assay__routes_data_of(const assay__routes_data *data,
                                                 assay_od_source source);

/* A trajectory to generate: the ends of a real one, and when that began. */
typedef struct assay__od_pair {
    int32_t origin, destination;
    int64_t start_seconds;
} assay__od_pair;

/* `count` pairs from trajectories of two roads or more, drawn by the seed without repetition as
 * long as there are any left, then from all of them again. ASSAY_E_DATA if there is none. Caller
 * frees. */
ASSAY_MUST_USE assay_status assay__od_pairs_draw(const assay__trajectories *trajectories,
                                                 size_t count, uint64_t seed, assay_error *error,
                                                 assay__od_pair **pairs);

#endif
