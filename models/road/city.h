/* Makes up cities and drives through them, for use where there is no recorded data. The same seed
 * gives the same city and the same drives on every machine with IEEE arithmetic and the same libm.
 */
#ifndef ASSAY_MODELS_ROAD_CITY_H
#define ASSAY_MODELS_ROAD_CITY_H

#include <stdint.h>

#include "assay/status.h"
#include "models/road/network.h"
#include "models/road/trajectory.h"

enum { ASSAY__CITY_MIN_ROADS = 16, ASSAY__CITY_MAX_ROADS = 1 << 22 };

/* Make a city of exactly `roads` roads; assay__road_network_free() frees it. It has blocks of about
 * 120 m whose corners are displaced at random. Every fifth street is an arterial (60 km/h), some
 * diagonals are avenues (50 km/h), and the others are local streets (30 km/h). Some local streets
 * are one-way, some bent, and some streets are missing. Every road can be reached from every other.
 * A driver may turn round at the end of any two-way street. ASSAY_E_ARGUMENT if `roads` is outside
 * the limits. */
ASSAY_MUST_USE assay_status assay__city_new(int64_t roads, uint64_t seed, assay_error *error,
                                            assay__road_network **network);

/* Make `count` drives between random pairs of roads of any network. Each driver takes the route
 * that is the fastest by his own estimate. The estimate stretches the travel time of each road by a
 * random factor of the driver (1 to 1.6), and adds 5 s for a turn of more than 45 degrees and 60 s
 * for turning round. Drives start on 2024-01-01; the times at which roads are entered follow from
 * length, speed and a random delay. A pair of roads without a route is drawn again; ASSAY_E_DATA if
 * 100 pairs in a row have none. This function initialises `trajectories`, so pass it empty or
 * released; assay__trajectories_release() frees it. */
ASSAY_MUST_USE assay_status assay__city_drive(const assay__road_network *network, int64_t count,
                                              uint64_t seed, assay_error *error,
                                              assay__trajectories *trajectories);

#endif
