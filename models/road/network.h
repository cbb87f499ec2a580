/* A road network. Roads are the nodes, and a driver goes from a road onto one of its successors.
 * This is the form of LibCity's .geo files (roads) and .rel files (which road follows which).
 *
 *     assay__road_network *network = NULL;
 *     status = assay__road_network_load("roadmap.geo", "roadmap.rel", &error, &network);
 *     for (int64_t k = network->first[road]; k < network->first[road + 1]; k++)
 *         visit(network->next[k]);
 *     assay__road_network_free(network);
 *
 * In the program a road is its index, 0 ... roads - 1, in the order of the file. Its id, which may
 * be any integer, is used only in files. A finished network does not change, and threads may share
 * it.
 */
#ifndef ASSAY_MODELS_ROAD_NETWORK_H
#define ASSAY_MODELS_ROAD_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"
#include "models/road/geometry.h"

enum {
    ASSAY__ROADS_MAX = 1 << 24,       /* Beijing has 1.2 million */
    ASSAY__ROAD_LINKS_MAX = 1 << 27,  /* pairs of a road and its successor */
    ASSAY__ROAD_POINTS_MAX = 1 << 27, /* of all roads' shapes */
    ASSAY__ROAD_FILE_MAX_BYTES = 1 << 30
};

/* The speed of a road for which the file gives none: 30 km/h. */
#define ASSAY__ROAD_DEFAULT_SPEED_MPS (30 / 3.6)

typedef struct assay__road_network {
    int64_t roads, links;
    int64_t *ids;          /* (roads) */
    double *length_m;      /* (roads) at least 1 */
    double *speed_mps;     /* (roads) above 0: the permitted or assumed speed, metres a second */
    assay__place *middles; /* (roads) centroid of each road's line */

    int64_t *point_first; /* (roads + 1) */
    assay__place *points; /* (point_first[roads]) the roads' lines, at least one point each */

    /* Set by assay__road_network_finish(). */
    int64_t *first;         /* (roads + 1) */
    int32_t *next;          /* (links) successors of a road, ascending, each once */
    int64_t max_successors; /* of any road */
    assay__place centre;    /* mean of the middles */
    float *end_x, *end_y;   /* (roads) end of the road, in metres east and north of the centre */
    float *heading_x, *heading_y; /* (roads) unit vector from start to end; 0, 0 for a point */

    /* Private. */
    int32_t *slots; /* (slot_count) hash table from id to index, -1 where empty */
    int64_t slot_count;
    int32_t *link_from, *link_to; /* (links) until the network is finished */
    size_t road_capacity, point_capacity, link_capacity;
} assay__road_network;

/* ---- Making one ---- */

typedef struct assay__road {
    int64_t id;
    const assay__place *points; /* from start to end */
    size_t point_count;         /* at least 1 */
    double length_m;            /* 0: computed from the points */
    double speed_mps;           /* 0: ASSAY__ROAD_DEFAULT_SPEED_MPS */
} assay__road;

ASSAY_MUST_USE assay_status assay__road_network_new(assay__road_network **network);
void assay__road_network_free(assay__road_network *network);

/* Append a road, whose points are copied. ASSAY_E_FORMAT if its id is used already, if it has no
 * coordinates or they are no longitude and latitude, or if its length or speed is negative or
 * impossibly large. ASSAY_E_LIMIT if there are too many roads or points; ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__road_network_add(assay__road_network *network,
                                                    const assay__road *road, assay_error *error);
/* Make road `to` a successor of road `from` (indices). Repeating a link has no further effect. */
ASSAY_MUST_USE assay_status assay__road_network_link(assay__road_network *network, int64_t from,
                                                     int64_t to, assay_error *error);
/* Build the tables, after the last add and link. ASSAY_E_DATA if there is no road. */
ASSAY_MUST_USE assay_status assay__road_network_finish(assay__road_network *network,
                                                       assay_error *error);

/* ---- Queries ---- */

/* The index of the road with this id, or -1 if there is none. */
int64_t assay__road_network_find(const assay__road_network *network, int64_t id);

/* Whether `to` can be reached from `from`. `queue` (roads) is scratch. No value of `seen` (roads)
 * may be `mark` on entry; the function sets those of the roads that it reaches to `mark`. The time
 * is linear in the size of the network. */
bool assay__road_network_reaches(const assay__road_network *network, int64_t from, int64_t to,
                                 int32_t *queue, uint32_t *seen, uint32_t mark);

/* ---- Files (docs/models.md says which columns) ---- */

ASSAY_MUST_USE assay_status assay__road_network_load(const char *geo_path, const char *rel_path,
                                                     assay_error *error,
                                                     assay__road_network **network);
ASSAY_MUST_USE assay_status assay__road_network_save(const assay__road_network *network,
                                                     const char *geo_path, const char *rel_path,
                                                     assay_error *error);

/* Parse the text of a file in memory, which is overwritten. text[length] must be 0; `name` is the
 * name of the file in messages. The roads must be parsed before the links. */
ASSAY_MUST_USE assay_status assay__road_geo_parse(char *text, size_t length, const char *name,
                                                  assay__road_network *network, assay_error *error);
ASSAY_MUST_USE assay_status assay__road_rel_parse(char *text, size_t length, const char *name,
                                                  assay__road_network *network, assay_error *error);

#endif
