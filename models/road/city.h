/* Made-up cities and the people who drive in them, for trials without data. The same seed gives the
 * same city and the same drives on every machine with IEEE arithmetic and the same libm. */
#ifndef ASSAY_MODELS_ROAD_CITY_H
#define ASSAY_MODELS_ROAD_CITY_H

#include <stdint.h>

#include "assay/status.h"
#include "models/road/network.h"
#include "models/road/trajectory.h"

enum { ASSAY__CITY_MIN_ROADS = 16, ASSAY__CITY_MAX_ROADS = 1 << 22 };

/* A city of exactly `roads` roads: blocks of about 120 m whose corners are displaced, an arterial
 * every fifth street (60 km/h), diagonal avenues (50 km/h), local streets (30 km/h), a part of them
 * one-way, some bent, some missing. Every road can be reached from every other. One may turn round
 * at the end of any two-way street. ASSAY_E_ARGUMENT outside the limits. */
ASSAY_MUST_USE assay_status assay__city_new(int64_t roads, uint64_t seed, assay_error *error,
                                            assay__road_network **network);

/* `count` drives between random pairs of roads of any network. Each driver takes what to him is the
 * fastest route: travel times stretched by a factor of his own for each road (1 to 1.6), 5 s for a
 * turn of more than 45 degrees, 60 s for turning round. Roads are entered at times that reflect
 * length, speed and some delay, on 2024-01-01. Pairs without a route are drawn again; ASSAY_E_DATA
 * if 100 in a row have none. Appends to nothing: `trajectories` is initialised here. */
ASSAY_MUST_USE assay_status assay__city_drive(const assay__road_network *network, int64_t count,
                                              uint64_t seed, assay_error *error,
                                              assay__trajectories *trajectories);

#endif
