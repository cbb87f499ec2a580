/* Makes up a city. The starting point is a grid of corners with all its possible streets and
 * diagonals. The city first builds a spanning tree of two-way streets (Kruskal's algorithm,
 * arterials first), so that every road can be reached from every other. Further streets, one-way or
 * not, cannot change that. The city takes them in a random order until the number of roads is
 * exact. */
#include "models/road/city.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/random.h"

enum { ARTERIAL_EVERY = 5 };

static const double roads_a_corner =
    2.9; /* fewer than all streets would give: some are missing or one-way */
static const double block_m = 120, metres_a_degree = 111195; /* of latitude */
static const assay__place origin = {8, 50};

typedef enum kind { ARTERIAL, AVENUE, LOCAL } kind;
static const double speed_kmh[] = {60, 50, 30};

typedef struct street {
    int32_t from, to; /* corners */
    kind what;
    double order; /* streets with a lower order are built first */
    int roads;    /* 0: not built, 1: one-way, 2: two-way */
} street;

typedef struct plan {
    int64_t columns, rows, corners;
    assay__place *places; /* (corners) */
    int32_t *parent;      /* (corners) union-find */
    street *streets;
    int64_t street_count;
    assay__random random;
} plan;

static void release(plan *self)
{
    free(self->places);
    free(self->parent);
    free(self->streets);
}

/* The place at these metres from the origin. It is rounded to seven digits, as in files, so that a
 * city is the same after it was saved and loaded. */
static assay__place place_at(double x_m, double y_m)
{
    double squeeze = cos(origin.latitude * 3.14159265358979323846 / 180);
    return (assay__place){round((origin.longitude + x_m / (metres_a_degree * squeeze)) * 1e7) / 1e7,
                          round((origin.latitude + y_m / metres_a_degree) * 1e7) / 1e7};
}

static void add_street(plan *self, int64_t from, int64_t to, kind what)
{
    double order = assay__random_uniform(&self->random);
    self->streets[self->street_count++] = (street){
        .from = (int32_t)from,
        .to = (int32_t)to,
        .what = what,
        .order = what == ARTERIAL ? order : 1 + (what == AVENUE ? 0.8 : 1) * order,
    };
}

/* Draw the corners, and every street that could be built. */
static assay_status draw(plan *self, int64_t roads)
{
    int64_t wanted = (int64_t)ceil((double)roads / roads_a_corner);
    self->columns = (int64_t)ceil(sqrt((double)wanted));
    self->rows = (wanted + self->columns - 1) / self->columns;
    self->corners = self->columns * self->rows;
    self->places = calloc((size_t)self->corners, sizeof *self->places);
    self->parent = calloc((size_t)self->corners, sizeof *self->parent);
    self->streets = calloc((size_t)self->corners * 3, sizeof *self->streets);
    if (self->places == NULL || self->parent == NULL || self->streets == NULL)
        return ASSAY_E_MEMORY;
    for (int64_t corner = 0; corner < self->corners; corner++) {
        int64_t column = corner % self->columns, row = corner / self->columns;
        double x = (double)column + 0.25 * (2 * assay__random_uniform(&self->random) - 1);
        double y = (double)row + 0.25 * (2 * assay__random_uniform(&self->random) - 1);
        self->places[corner] = place_at(block_m * x, block_m * y);
        self->parent[corner] = (int32_t)corner;
        if (column + 1 < self->columns)
            add_street(self, corner, corner + 1, row % ARTERIAL_EVERY == 2 ? ARTERIAL : LOCAL);
        if (row + 1 < self->rows) {
            add_street(self, corner, corner + self->columns,
                       column % ARTERIAL_EVERY == 2 ? ARTERIAL : LOCAL);
        }
        if (column + 1 < self->columns && row + 1 < self->rows) {
            bool rising = assay__random_below(&self->random, 2) == 0;
            add_street(self, rising ? corner : corner + 1,
                       corner + self->columns + (rising ? 1 : 0), AVENUE);
        }
    }
    return ASSAY_OK;
}

static int by_order(const void *left, const void *right)
{
    const street *a = left, *b = right;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return a->from != b->from ? (a->from > b->from) - (a->from < b->from)
                              : (a->to > b->to) - (a->to < b->to);
}

static int32_t root_of(plan *self, int32_t corner)
{
    while (self->parent[corner] != corner)
        corner = self->parent[corner] = self->parent[self->parent[corner]];
    return corner;
}

/* Decide which streets are built: first the spanning tree, then others in their order. If there are
 * still too few roads, one-way streets become two-way. Returns how many roads could not be placed.
 */
static int64_t build(plan *self, int64_t roads)
{
    qsort(self->streets, (size_t)self->street_count, sizeof *self->streets, by_order);
    for (int64_t i = 0; i < self->street_count; i++) {
        street *s = &self->streets[i];
        int32_t a = root_of(self, s->from), b = root_of(self, s->to);
        if (a != b) {
            self->parent[a] = b;
            s->roads = 2;
            roads -= 2;
        }
    }
    for (int64_t i = 0; i < self->street_count && roads > 0; i++) {
        street *s = &self->streets[i];
        if (s->roads == 0) {
            bool one_way = s->what == LOCAL && assay__random_below(&self->random, 2) == 0;
            s->roads = one_way || roads == 1 ? 1 : 2;
            roads -= s->roads;
        }
    }
    for (int64_t i = 0; i < self->street_count && roads > 0; i++) {
        if (self->streets[i].roads == 1) {
            self->streets[i].roads = 2;
            roads--;
        }
    }
    return roads;
}

/* ---- The network ---- */

/* The line of a street from its first corner to its second; returns its number of points. One local
 * street in five is bent. */
static size_t line_of(plan *self, const street *s, assay__place points[3])
{
    assay__place a = self->places[s->from], b = self->places[s->to];
    points[0] = points[1] = a;
    points[2] = b;
    if (s->what != LOCAL || assay__random_below(&self->random, 5) != 0) {
        points[1] = b;
        return 2;
    }
    double bend = 0.3 * (2 * assay__random_uniform(&self->random) - 1);
    double across = b.latitude - a.latitude, along = b.longitude - a.longitude;
    points[1].longitude = round((0.5 * (a.longitude + b.longitude) - bend * across) * 1e7) / 1e7;
    points[1].latitude = round((0.5 * (a.latitude + b.latitude) + bend * along) * 1e7) / 1e7;
    return 3;
}

static assay_status add_roads(assay__road_network *network, const street *s,
                              const assay__place *points, size_t count, assay_error *error)
{
    assay__place reversed[3];
    double length_m = 0;
    for (size_t i = 0; i < count; i++) {
        reversed[i] = points[count - 1 - i];
        length_m += i > 0 ? assay__haversine_m(points[i - 1], points[i]) : 0;
    }
    assay__road road = {.id = network->roads,
                        .points = points,
                        .point_count = count,
                        .length_m = round(length_m * 1e3) / 1e3,
                        .speed_mps = speed_kmh[s->what] / 3.6};
    assay_status status = assay__road_network_add(network, &road, error);
    if (status == ASSAY_OK && s->roads == 2) {
        road.id = network->roads;
        road.points = reversed;
        status = assay__road_network_add(network, &road, error);
    }
    return status;
}

/* Link every road that ends at a corner with every road that starts there. `start` and `end`
 * (roads) are the roads' corners. `out` (corners + 1; zero) and `order` (roads) are scratch for the
 * roads sorted by their starting corner. */
static assay_status link_roads(assay__road_network *network, int64_t corners, const int32_t *start,
                               const int32_t *end, int32_t *out, int32_t *order, assay_error *error)
{
    for (int64_t road = 0; road < network->roads; road++)
        out[start[road] + 1]++;
    for (int64_t corner = 0; corner < corners; corner++)
        out[corner + 1] += out[corner];
    for (int64_t road = 0; road < network->roads; road++)
        order[out[start[road]]++] = (int32_t)road;
    /* out[corner] is now where the row of `corner` ends. */
    assay_status status = ASSAY_OK;
    for (int64_t road = 0; road < network->roads; road++) {
        int32_t corner = end[road];
        for (int32_t k = corner == 0 ? 0 : out[corner - 1]; k < out[corner]; k++) {
            status = assay__road_network_link(network, road, order[k], error);
            if (status != ASSAY_OK)
                return status;
        }
    }
    return status;
}

static assay_status lay(plan *self, int64_t roads, assay__road_network *network, assay_error *error)
{
    int32_t *start = calloc((size_t)roads, sizeof *start);
    int32_t *end = calloc((size_t)roads, sizeof *end);
    int32_t *order = calloc((size_t)roads, sizeof *order);
    int32_t *out = calloc((size_t)self->corners + 1, sizeof *out);
    assay_status status = ASSAY_OK;
    if (start == NULL || end == NULL || order == NULL || out == NULL)
        status = assay__fail(error, ASSAY_E_MEMORY, "no memory for a city");
    for (int64_t i = 0; status == ASSAY_OK && i < self->street_count; i++) {
        const street *s = &self->streets[i];
        assay__place points[3];
        if (s->roads == 0)
            continue;
        for (int direction = 0; direction < s->roads; direction++) {
            start[network->roads + direction] = direction == 0 ? s->from : s->to;
            end[network->roads + direction] = direction == 0 ? s->to : s->from;
        }
        size_t count = line_of(self, s, points);
        status = add_roads(network, s, points, count, error);
    }
    if (status == ASSAY_OK)
        status = link_roads(network, self->corners, start, end, out, order, error);
    free(start);
    free(end);
    free(order);
    free(out);
    return status;
}

assay_status assay__city_new(int64_t roads, uint64_t seed, assay_error *error,
                             assay__road_network **network)
{
    *network = NULL;
    if (roads < ASSAY__CITY_MIN_ROADS || roads > ASSAY__CITY_MAX_ROADS) {
        return assay__fail(error, ASSAY_E_ARGUMENT, "a city has %d to %d roads, not %lld",
                           ASSAY__CITY_MIN_ROADS, ASSAY__CITY_MAX_ROADS, (long long)roads);
    }
    plan self = {0};
    assay__random_init(&self.random, seed);
    assay_status status = draw(&self, roads);
    if (status == ASSAY_OK)
        status = build(&self, roads) == 0 ? assay__road_network_new(network) : ASSAY_E_STATE;
    if (status != ASSAY_OK)
        status = assay__fail(error, status, "no city of %lld roads", (long long)roads);
    else
        status = lay(&self, roads, *network, error);
    if (status == ASSAY_OK)
        status = assay__road_network_finish(*network, error);
    if (status != ASSAY_OK) {
        assay__road_network_free(*network);
        *network = NULL;
    }
    release(&self);
    return status;
}
