/* Makes up drives with the A* search (Hart, Nilsson and Raphael 1968), in which the nodes are
 * roads. The search estimates the remaining time by the straight line to the destination at the
 * network's highest speed. As every stretch factor is at least 1, this never overestimates, and the
 * route found is the driver's fastest. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/random.h"
#include "models/road/city.h"

enum { TRIES = 100, SECONDS_A_DAY = 86400 };

static const int64_t first_day = 1704067200; /* 2024-01-01 */
static const double turn_s = 5, turn_round_s = 60;

typedef struct entry {
    double estimate_s;
    int32_t road;
} entry;

typedef struct driver {
    const assay__road_network *network;
    double top_speed_mps;
    uint64_t taste;            /* seed of the driver's stretch factors */
    double *cost_s;            /* (roads) to the end of the road */
    int32_t *came_from;        /* (roads) */
    uint32_t *opened, *closed; /* (roads) number of the last trip that opened, closed it */
    uint32_t trip;
    entry *heap;
    int64_t heap_count, heap_capacity;
    int32_t *route; /* (roads) */
} driver;

static void release(driver *self)
{
    free(self->cost_s);
    free(self->came_from);
    free(self->opened);
    free(self->closed);
    free(self->heap);
    free(self->route);
}

static assay_status prepare(driver *self, const assay__road_network *network)
{
    size_t roads = (size_t)network->roads;
    *self = (driver){.network = network, .heap_capacity = network->links + 1};
    self->cost_s = calloc(roads, sizeof *self->cost_s);
    self->came_from = calloc(roads, sizeof *self->came_from);
    self->opened = calloc(roads, sizeof *self->opened);
    self->closed = calloc(roads, sizeof *self->closed);
    self->route = calloc(roads, sizeof *self->route);
    /* A road enters the heap at most once for each link into it. */
    self->heap = calloc((size_t)self->heap_capacity, sizeof *self->heap);
    for (size_t road = 0; road < roads; road++)
        self->top_speed_mps = fmax(self->top_speed_mps, network->speed_mps[road]);
    return self->cost_s == NULL || self->came_from == NULL || self->opened == NULL ||
                   self->closed == NULL || self->route == NULL || self->heap == NULL
               ? ASSAY_E_MEMORY
               : ASSAY_OK;
}

/* ---- The heap ---- */

/* Among equal estimates the lower road comes first, so that routes do not depend on the order of
 * the heap. */
static bool before(entry a, entry b)
{
    return a.estimate_s != b.estimate_s ? a.estimate_s < b.estimate_s : a.road < b.road;
}

static void push(driver *self, entry item)
{
    int64_t at = self->heap_count++;
    while (at > 0 && before(item, self->heap[(at - 1) / 2])) {
        self->heap[at] = self->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    self->heap[at] = item;
}

static entry pop(driver *self)
{
    entry top = self->heap[0], item = self->heap[--self->heap_count];
    int64_t at = 0;
    for (int64_t child; (child = 2 * at + 1) < self->heap_count; at = child) {
        child += child + 1 < self->heap_count && before(self->heap[child + 1], self->heap[child]);
        if (!before(self->heap[child], item))
            break;
        self->heap[at] = self->heap[child];
    }
    self->heap[at] = item;
    return top;
}

/* ---- A trip ---- */

static double stretch(const driver *self, int32_t road)
{
    assay__random random;
    assay__random_init(&random, self->taste ^ ((uint64_t)road << 32));
    double u = assay__random_uniform(&random);
    return 1 + 0.6 * u * u;
}

static double cost_of(const driver *self, int32_t from, int32_t to)
{
    const assay__road_network *network = self->network;
    double along = (double)network->heading_x[from] * (double)network->heading_x[to] +
                   (double)network->heading_y[from] * (double)network->heading_y[to];
    double turning = along < -0.95 ? turn_round_s : along < 0.7071 ? turn_s : 0;
    return network->length_m[to] / network->speed_mps[to] * stretch(self, to) + turning;
}

static double at_best_s(const driver *self, int32_t from, int32_t to)
{
    const assay__road_network *network = self->network;
    double x = (double)network->end_x[from] - (double)network->end_x[to];
    double y = (double)network->end_y[from] - (double)network->end_y[to];
    /* 0.99, because distances on the plane are wrong by up to a thousandth. */
    return 0.99 * sqrt(x * x + y * y) / self->top_speed_mps;
}

static void consider(driver *self, int32_t from, int32_t to, int32_t destination)
{
    if (self->closed[to] == self->trip)
        return;
    double cost = self->cost_s[from] + cost_of(self, from, to);
    if (self->opened[to] == self->trip && self->cost_s[to] <= cost)
        return;
    self->opened[to] = self->trip;
    self->cost_s[to] = cost;
    self->came_from[to] = from;
    push(self, (entry){cost + at_best_s(self, to, destination), to});
}

/* Write the fastest route to self->route and return its length, or 0 if there is none. */
static int64_t find_route(driver *self, int32_t origin, int32_t destination)
{
    const assay__road_network *network = self->network;
    self->trip++;
    self->heap_count = 0;
    self->cost_s[origin] = 0;
    self->opened[origin] = self->trip;
    self->came_from[origin] = -1;
    push(self, (entry){0, origin});
    while (self->heap_count > 0 && self->closed[destination] != self->trip) {
        int32_t road = pop(self).road;
        if (self->closed[road] == self->trip)
            continue;
        self->closed[road] = self->trip;
        for (int64_t k = network->first[road]; k < network->first[road + 1]; k++)
            consider(self, road, network->next[k], destination);
    }
    if (self->closed[destination] != self->trip)
        return 0;
    int64_t count = 0;
    for (int32_t road = destination; road >= 0; road = self->came_from[road])
        self->route[count++] = road;
    for (int64_t i = 0; i < count / 2; i++) {
        int32_t swap = self->route[i];
        self->route[i] = self->route[count - 1 - i];
        self->route[count - 1 - i] = swap;
    }
    return count;
}

static assay_status record(const driver *self, int64_t count, assay__random *random,
                           assay__trajectories *trajectories)
{
    const assay__road_network *network = self->network;
    double now_s = floor(SECONDS_A_DAY * assay__random_uniform(random));
    for (int64_t i = 0; i < count; i++) {
        int32_t road = self->route[i];
        assay_status status =
            assay__trajectories_drive(trajectories, road, first_day + (int64_t)now_s);
        if (status != ASSAY_OK)
            return status;
        double delay = 1 + 0.2 * fabs(assay__random_normal(random));
        now_s += network->length_m[road] / network->speed_mps[road] * delay;
    }
    return assay__trajectories_end(trajectories);
}

static assay_status drive_once(driver *self, assay__random *random,
                               assay__trajectories *trajectories)
{
    uint64_t roads = (uint64_t)self->network->roads;
    for (int try = 0; try < TRIES; try++) {
        int32_t origin = (int32_t)assay__random_below(random, roads);
        int32_t destination = (int32_t)assay__random_below(random, roads);
        self->taste = assay__random_next(random);
        int64_t count = origin == destination ? 0 : find_route(self, origin, destination);
        if (count > 0)
            return record(self, count, random, trajectories);
    }
    return ASSAY_E_DATA;
}

assay_status assay__city_drive(const assay__road_network *network, int64_t count, uint64_t seed,
                               assay_error *error, assay__trajectories *trajectories)
{
    driver self;
    assay__random random;
    assay__random_init(&random, seed);
    assay__trajectories_init(trajectories);
    assay_status status = prepare(&self, network);
    for (int64_t i = 0; status == ASSAY_OK && i < count; i++)
        status = drive_once(&self, &random, trajectories);
    release(&self);
    if (status != ASSAY_OK) {
        assay__trajectories_release(trajectories);
        return assay__fail(error, status,
                           status == ASSAY_E_DATA ? "hardly any two roads are connected by a route"
                                                  : "no memory for drives");
    }
    return ASSAY_OK;
}
