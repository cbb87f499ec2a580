/* A road network. Roads are the nodes: one drives from a road onto one of its successors. This is
 * the view of LibCity's .geo (roads) and .rel (which road follows which) files.
 *
 *     assay__road_network *network = NULL;
 *     status = assay__road_network_load("roadmap.geo", "roadmap.rel", &error, &network);
 *     for (int64_t k = network->first[road]; k < network->first[road + 1]; k++)
 *         visit(network->next[k]);
 *     assay__road_network_free(network);
 *
 * Everywhere else a road is its index, 0 ... roads - 1, in the order of the file; its id, which may
 * be any integer, only matters in files. A finished network is constant and may be shared by
 * threads.
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

/* Where a file says nothing: 30 km/h. */
#define ASSAY__ROAD_DEFAULT_SPEED_MPS (30 / 3.6)

typedef struct assay__road_network {
    int64_t roads, links;
    int64_t *ids;          /* (roads) */
    double *length_m;      /* (roads) at least 1 */
    double *speed_mps;     /* (roads) above 0: the permitted or assumed speed, metres a second */
    assay__place *middles; /* (roads) centroid of the road's line */

    int64_t *point_first; /* (roads + 1) */
    assay__place *points; /* (point_first[roads]) the roads' lines, at least one point each */

    /* Filled by finish(). */
    int64_t *first;         /* (roads + 1) */
    int32_t *next;          /* (links) successors of a road, ascending, each once */
    int64_t max_successors; /* of any road */
    assay__place centre;    /* mean of the middles */
    float *end_x, *end_y;   /* (roads) where the road ends: metres east and north of the centre */
    float *heading_x, *heading_y; /* (roads) unit vector from start to end; 0, 0 for a point */

    /* Private. */
    int32_t *slots; /* (slot_count) hash table from id to index, -1 where empty */
    int64_t slot_count;
    int32_t *link_from, *link_to; /* (links) until finish() */
    size_t road_capacity, point_capacity, link_capacity;
} assay__road_network;

/* ---- Making one ---- */

typedef struct assay__road {
    int64_t id;
    const assay__place *points; /* from start to end */
    size_t point_count;         /* at least 1 */
    double length_m;            /* 0: taken from the points */
    double speed_mps;           /* 0: ASSAY__ROAD_DEFAULT_SPEED_MPS */
} assay__road;

ASSAY_MUST_USE assay_status assay__road_network_new(assay__road_network **network);
void assay__road_network_free(assay__road_network *network);

/* ASSAY_E_FORMAT for an id that is there already, for coordinates that are not finite or not on
 * earth, and for negative or infinite lengths and speeds. */
ASSAY_MUST_USE assay_status assay__road_network_add(assay__road_network *network,
                                                    const assay__road *road, assay_error *error);
/* One may drive from road `from` onto road `to` (indices). Saying so twice is saying it once. */
ASSAY_MUST_USE assay_status assay__road_network_link(assay__road_network *network, int64_t from,
                                                     int64_t to, assay_error *error);
/* After the last add and link: builds the tables. ASSAY_E_DATA if there is no road. */
ASSAY_MUST_USE assay_status assay__road_network_finish(assay__road_network *network,
                                                       assay_error *error);

/* ---- Asking ---- */

/* Index of the road with this id, -1 if there is none. */
int64_t assay__road_network_find(const assay__road_network *network, int64_t id);

/* Can `to` be reached from `from`? `queue` and `seen` have room for `roads` values each; those of
 * `seen` are not `mark` on entry, and the roads that were reached have it afterwards. Linear in the
 * size of the network. */
bool assay__road_network_reaches(const assay__road_network *network, int64_t from, int64_t to,
                                 int32_t *queue, uint32_t *seen, uint32_t mark);

/* ---- Files (docs/models.md says which columns) ---- */

ASSAY_MUST_USE assay_status assay__road_network_load(const char *geo_path, const char *rel_path,
                                                     assay_error *error,
                                                     assay__road_network **network);
ASSAY_MUST_USE assay_status assay__road_network_save(const assay__road_network *network,
                                                     const char *geo_path, const char *rel_path,
                                                     assay_error *error);

/* The same from memory, `name` standing for the file in messages. The text is overwritten. */
ASSAY_MUST_USE assay_status assay__road_geo_parse(char *text, size_t length, const char *name,
                                                  assay__road_network *network, assay_error *error);
ASSAY_MUST_USE assay_status assay__road_rel_parse(char *text, size_t length, const char *name,
                                                  assay__road_network *network, assay_error *error);

#endif
