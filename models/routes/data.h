/* The data that trajectories are generated from: a road network, trajectories to learn from and to
 * test on, and pairs of an origin and a destination to generate trajectories for. */
#ifndef ASSAY_MODELS_ROUTES_DATA_H
#define ASSAY_MODELS_ROUTES_DATA_H

#include <stdbool.h>

#include "assay/trajectories.h"
#include "models/road/network.h"
#include "models/road/trajectory.h"

/* Pairs are drawn with the seed of the study plus this number, independently of other draws. */
enum { ASSAY__PAIRS_SEED = 2 };

typedef struct assay__routes_source {
    const char *dataset; /* a folder with one *.geo, one *.rel, train.csv and test.csv */
    /* Or files in LibCity's form (docs/models.md): all of the first three or none of them. Without
     * `test`, a fifth of the trajectories, chosen by the seed, is kept for testing. */
    const char *geo, *rel, *trajectories, *test;
    /* Without a dataset or files, the sizes of a made-up city and of the drives in it. */
    int64_t roads, drives;
} assay__routes_source;

typedef struct assay__routes_data {
    assay__road_network *network;
    assay__trajectories train, test;
    bool made_up;
    double *travel_seconds; /* (roads) mean travel time of each in `train` */
} assay__routes_data;

/* Load or make up the data. This function initialises `data`; assay__routes_data_release() frees
 * it. ASSAY_E_ARGUMENT if some files are missing, or if there are fewer than 5 trajectories, or
 * none to learn from or to test on. Other failures are those of reading the files. */
ASSAY_MUST_USE assay_status assay__routes_data_load(const assay__routes_source *source,
                                                    uint64_t seed, assay_error *error,
                                                    assay__routes_data *data);
/* A struct that is all zero is accepted. */
void assay__routes_data_release(assay__routes_data *data);

/* The trajectories of `source`, which belong to `data`. */
const assay__trajectories *assay__routes_data_of(const assay__routes_data *data,
                                                 assay_od_source source);

/* A trajectory to generate: the first and the last road of a real trajectory, and the time at which
 * the real one began. */
typedef struct assay__od_pair {
    int32_t origin, destination;
    int64_t start_seconds;
} assay__od_pair;

/* Draw `count` pairs from the trajectories that have two or more roads. No trajectory is drawn a
 * second time before all were drawn. The caller frees the array with free(). ASSAY_E_DATA if there
 * is no such trajectory; ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__od_pairs_draw(const assay__trajectories *trajectories,
                                                 size_t count, uint64_t seed, assay_error *error,
                                                 assay__od_pair **pairs);

#endif
