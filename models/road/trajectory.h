/* Trajectories: which roads were driven, in order, and when each was entered. */
#ifndef ASSAY_MODELS_ROAD_TRAJECTORY_H
#define ASSAY_MODELS_ROAD_TRAJECTORY_H

#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"
#include "models/road/network.h"

enum { ASSAY__TRAJECTORY_POINTS_MAX = 1 << 28 }; /* of all trajectories of a file */

typedef struct assay__trajectories {
    int64_t count;
    int64_t *first;   /* (count + 1); NULL while there is none */
    int32_t *roads;   /* (first[count]) indices into the network */
    int64_t *seconds; /* (first[count]) since 1970-01-01 UTC, never falling within a trajectory */
    size_t capacity, point_capacity; /* private */
} assay__trajectories;

void assay__trajectories_init(assay__trajectories *trajectories);
void assay__trajectories_release(assay__trajectories *trajectories);

/* Append one road to the trajectory under way; end it. Ending an empty one does nothing. */
ASSAY_MUST_USE assay_status assay__trajectories_drive(assay__trajectories *trajectories,
                                                      int64_t road, int64_t seconds);
ASSAY_MUST_USE assay_status assay__trajectories_end(assay__trajectories *trajectories);

/* Three forms are known by their columns:
 *   rid_list, time_list                       a row a trajectory: "12,15,9",
 * "2019-11-25T00:00:52Z,..." gene_trace_road_id, gene_trace_datetime   the same, as lists in
 * brackets time, location [, entity_id, traj_id]     a row a road (.dyna); a new trajectory where
 * entity_id or traj_id change Roads the network lacks, times that fall and lists of unequal lengths
 * are ASSAY_E_FORMAT with file and line. Neighbours in a trajectory need not be linked in the
 * network: recordings have gaps. `trajectories` is initialised here. */
ASSAY_MUST_USE assay_status assay__trajectories_load(const assay__road_network *network,
                                                     const char *path, assay_error *error,
                                                     assay__trajectories *trajectories);
ASSAY_MUST_USE assay_status assay__trajectories_parse(const assay__road_network *network,
                                                      char *text, size_t length, const char *name,
                                                      assay_error *error,
                                                      assay__trajectories *trajectories);

/* In the first form: mm_id,entity_id,traj_id,rid_list,time_list. */
ASSAY_MUST_USE assay_status assay__trajectories_save(const assay__trajectories *trajectories,
                                                     const assay__road_network *network,
                                                     const char *path, assay_error *error);

/* Seconds spent on each road: the mean of what was observed, and where nothing was (the last road
 * of a trajectory tells nothing), the road's length at its speed. seconds (roads). */
ASSAY_MUST_USE assay_status assay__trajectories_travel_times(
    const assay__trajectories *trajectories, const assay__road_network *network, double *seconds);

/* "2019-11-25T00:00:52Z" (a blank for the T, no Z, and fractions of a second allowed and dropped)
 * at `text`; where it ends, NULL if there is none. Years 1970 to 9999. */
const char *assay__time_parse(const char *text, int64_t *seconds);

enum { ASSAY__TIME_BYTES = 40 };
/* `seconds` from 0 up. */
void assay__time_format(int64_t seconds, char text[ASSAY__TIME_BYTES]);

#endif
