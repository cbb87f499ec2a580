/* Trajectories. A trajectory has the roads that were driven, in order, and the time at which each
 * road was entered. This file also has their CSV files, travel times and the format of times. */
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

/* Append a road to the present trajectory, and end the present trajectory. Ending an empty
 * trajectory has no effect. ASSAY_E_LIMIT if there are too many points; ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__trajectories_drive(assay__trajectories *trajectories,
                                                      int64_t road, int64_t seconds);
ASSAY_MUST_USE assay_status assay__trajectories_end(assay__trajectories *trajectories);

/* Read trajectories from a CSV file. The reader recognises three forms by their columns:
 *
 *   rid_list, time_list
 *       A row for each trajectory: "12,15,9", "2019-11-25T00:00:52Z,...".
 *   gene_trace_road_id, gene_trace_datetime
 *       The same, as lists in brackets.
 *   time, location [, entity_id, traj_id]
 *       A row for each road (.dyna). A new trajectory begins where entity_id or traj_id changes.
 *
 * ASSAY_E_FORMAT, with file and line, if the network lacks a road, if time goes backwards within a
 * trajectory, or if the two lists of a row differ in length. Neighbours in a trajectory need not be
 * linked in the network, as recordings have gaps. These functions initialise `trajectories`. */
ASSAY_MUST_USE assay_status assay__trajectories_load(const assay__road_network *network,
                                                     const char *path, assay_error *error,
                                                     assay__trajectories *trajectories);
ASSAY_MUST_USE assay_status assay__trajectories_parse(const assay__road_network *network,
                                                      char *text, size_t length, const char *name,
                                                      assay_error *error,
                                                      assay__trajectories *trajectories);

/* Write a file in the first form, with the columns mm_id,entity_id,traj_id,rid_list,time_list. */
ASSAY_MUST_USE assay_status assay__trajectories_save(const assay__trajectories *trajectories,
                                                     const assay__road_network *network,
                                                     const char *path, assay_error *error);

/* The time that drivers spend on each road: seconds (roads). It is the mean of the observed times.
 * For a road without observations it is the road's length divided by its speed. The last road of a
 * trajectory gives no observation. */
ASSAY_MUST_USE assay_status assay__trajectories_travel_times(
    const assay__trajectories *trajectories, const assay__road_network *network, double *seconds);

/* Read a time such as "2019-11-25T00:00:52Z" at `text`. A blank in place of the T and a missing Z
 * are allowed; fractions of a second are allowed and ignored. Years are 1970 to 9999. Returns where
 * the time ends, or NULL if there is none. */
const char *assay__time_parse(const char *text, int64_t *seconds);

enum { ASSAY__TIME_BYTES = 40 };
/* Write a time in that form. `seconds` is at least 0. */
void assay__time_format(int64_t seconds, char text[ASSAY__TIME_BYTES]);

#endif
