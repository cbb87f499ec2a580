/* Builds a road network. While roads and links are added, they are kept in growing arrays. Then a
 * counting sort of the links by origin, followed by a sort within each (short) row, makes them
 * compressed sparse rows. */
#include "models/road/network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"

assay_status assay__road_network_new(assay__road_network **network)
{
    *network = calloc(1, sizeof **network);
    return *network == NULL ? ASSAY_E_MEMORY : ASSAY_OK;
}

void assay__road_network_free(assay__road_network *network)
{
    if (network == NULL)
        return;
    free(network->ids);
    free(network->length_m);
    free(network->speed_mps);
    free(network->middles);
    free(network->point_first);
    free(network->points);
    free(network->first);
    free(network->next);
    free(network->end_x);
    free(network->end_y);
    free(network->heading_x);
    free(network->heading_y);
    free(network->slots);
    free(network->link_from);
    free(network->link_to);
    free(network);
}

/* ---- Growing ---- */

static bool grow_roads(assay__road_network *network)
{
    const struct {
        void *array;
        size_t size;
    } arrays[] = {{&network->ids, sizeof *network->ids},
                  {&network->length_m, sizeof *network->length_m},
                  {&network->speed_mps, sizeof *network->speed_mps},
                  {&network->middles, sizeof *network->middles},
                  {&network->point_first, sizeof *network->point_first}};
    size_t needed = (size_t)network->roads + 2, capacity = 0; /* point_first has one more */
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        capacity = network->road_capacity;
        if (!assay__grow(arrays[i].array, &capacity, needed, arrays[i].size))
            return false;
    }
    if (network->road_capacity == 0)
        network->point_first[0] = 0;
    network->road_capacity = capacity;
    return true;
}

static bool grow_links(assay__road_network *network)
{
    size_t needed = (size_t)network->links + 1, capacity = network->link_capacity;
    return assay__grow(&network->link_from, &capacity, needed, sizeof *network->link_from) &&
           assay__grow(&network->link_to, &network->link_capacity, needed,
                       sizeof *network->link_to);
}

/* ---- Ids ---- */

/* The finaliser of splitmix64, a hash function that puts neighbouring ids far apart. */
static uint64_t mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

/* The slot that holds `id`, or the empty slot where it belongs. */
static int64_t slot_of(const assay__road_network *network, int64_t id)
{
    uint64_t mask = (uint64_t)network->slot_count - 1;
    uint64_t at = mix((uint64_t)id) & mask;
    while (network->slots[at] >= 0 && network->ids[network->slots[at]] != id)
        at = (at + 1) & mask;
    return (int64_t)at;
}

static bool grow_slots(assay__road_network *network)
{
    if (2 * (network->roads + 1) <= network->slot_count)
        return true;
    int64_t count = network->slot_count == 0 ? 256 : 2 * network->slot_count;
    int32_t *slots = malloc((size_t)count * sizeof *slots);
    if (slots == NULL)
        return false;
    memset(slots, -1, (size_t)count * sizeof *slots);
    free(network->slots);
    network->slots = slots;
    network->slot_count = count;
    for (int64_t road = 0; road < network->roads; road++)
        slots[slot_of(network, network->ids[road])] = (int32_t)road;
    return true;
}

int64_t assay__road_network_find(const assay__road_network *network, int64_t id)
{
    return network->slot_count == 0 ? -1 : network->slots[slot_of(network, id)];
}

/* ---- Adding ---- */

static assay_status check_road(const assay__road *road, assay_error *error)
{
    long long id = road->id;
    if (road->point_count == 0)
        return assay__fail(error, ASSAY_E_FORMAT, "road %lld has no coordinates", id);
    for (size_t i = 0; i < road->point_count; i++) {
        double longitude = road->points[i].longitude, latitude = road->points[i].latitude;
        if (!(fabs(longitude) <= 180 && fabs(latitude) <= 90)) {
            return assay__fail(error, ASSAY_E_FORMAT,
                               "road %lld: (%g, %g) is no longitude and latitude in degrees", id,
                               longitude, latitude);
        }
    }
    if (!(road->length_m >= 0 && road->length_m < 1e7)) {
        return assay__fail(error, ASSAY_E_FORMAT, "road %lld: a length of %g m cannot be", id,
                           road->length_m);
    }
    if (!(road->speed_mps >= 0 && road->speed_mps < 1e3)) {
        return assay__fail(error, ASSAY_E_FORMAT, "road %lld: a speed of %g m/s cannot be", id,
                           road->speed_mps);
    }
    return ASSAY_OK;
}

/* The centroid of a line: the mean of the midpoints of its pieces, weighted by their lengths. The
 * length of the line goes to *length_m. */
static assay__place middle_of(const assay__road *road, double *length_m)
{
    assay__place sum = {0, 0};
    double total = 0;
    for (size_t i = 1; i < road->point_count; i++) {
        assay__place a = road->points[i - 1], b = road->points[i];
        double piece = assay__haversine_m(a, b);
        sum.longitude += piece * 0.5 * (a.longitude + b.longitude);
        sum.latitude += piece * 0.5 * (a.latitude + b.latitude);
        total += piece;
    }
    *length_m = total;
    return total > 0 ? (assay__place){sum.longitude / total, sum.latitude / total}
                     : road->points[0];
}

assay_status assay__road_network_add(assay__road_network *network, const assay__road *road,
                                     assay_error *error)
{
    assay_status status = check_road(road, error);
    if (status != ASSAY_OK)
        return status;
    if (assay__road_network_find(network, road->id) >= 0)
        return assay__fail(error, ASSAY_E_FORMAT, "road %lld is there twice", (long long)road->id);
    int64_t start = network->roads == 0 ? 0 : network->point_first[network->roads];
    int64_t end = start + (int64_t)road->point_count;
    if (network->roads == ASSAY__ROADS_MAX || end > ASSAY__ROAD_POINTS_MAX) {
        return assay__fail(error, ASSAY_E_LIMIT, "more than %d roads or %d points",
                           ASSAY__ROADS_MAX, ASSAY__ROAD_POINTS_MAX);
    }
    if (!grow_roads(network) ||
        !assay__grow(&network->points, &network->point_capacity, (size_t)end,
                     sizeof *network->points) ||
        !grow_slots(network))
        return assay__fail(error, ASSAY_E_MEMORY, "no memory for more roads");
    int64_t index = network->roads;
    double measured_m;
    memcpy(network->points + start, road->points, road->point_count * sizeof *road->points);
    network->point_first[index + 1] = end;
    network->ids[index] = road->id;
    network->middles[index] = middle_of(road, &measured_m);
    network->length_m[index] = fmax(1, road->length_m > 0 ? road->length_m : measured_m);
    network->speed_mps[index] =
        road->speed_mps > 0 ? road->speed_mps : ASSAY__ROAD_DEFAULT_SPEED_MPS;
    network->slots[slot_of(network, road->id)] = (int32_t)index;
    network->roads++;
    return ASSAY_OK;
}

assay_status assay__road_network_link(assay__road_network *network, int64_t from, int64_t to,
                                      assay_error *error)
{
    if (from < 0 || from >= network->roads || to < 0 || to >= network->roads) {
        return assay__fail(error, ASSAY_E_ARGUMENT, "no road %lld or %lld to link", (long long)from,
                           (long long)to);
    }
    if (network->links == ASSAY__ROAD_LINKS_MAX)
        return assay__fail(error, ASSAY_E_LIMIT, "more than %d links", ASSAY__ROAD_LINKS_MAX);
    if (!grow_links(network))
        return assay__fail(error, ASSAY_E_MEMORY, "no memory for more links");
    network->link_from[network->links] = (int32_t)from;
    network->link_to[network->links++] = (int32_t)to;
    return ASSAY_OK;
}

/* ---- Finishing ---- */

static int ascending(const void *left, const void *right)
{
    int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

/* Make the rows from the links. Duplicates are removed, and the rows are compacted in place. */
static void build_rows(assay__road_network *network)
{
    int64_t roads = network->roads, *first = network->first;
    for (int64_t i = 0; i < network->links; i++)
        first[network->link_from[i] + 1]++;
    for (int64_t road = 0; road < roads; road++)
        first[road + 1] += first[road];
    for (int64_t i = network->links; i-- > 0;)
        network->next[--first[network->link_from[i] + 1]] = network->link_to[i];
    /* first[road + 1] is now where the row of `road` starts. */
    int64_t kept = 0;
    for (int64_t road = 0; road < roads; road++) {
        int64_t start = first[road + 1];
        int64_t end = road + 1 < roads ? first[road + 2] : network->links;
        qsort(network->next + start, (size_t)(end - start), sizeof *network->next, ascending);
        first[road] = kept;
        for (int64_t k = start; k < end; k++)
            if (k == start || network->next[k] != network->next[kept - 1])
                network->next[kept++] = network->next[k];
        if (kept - first[road] > network->max_successors)
            network->max_successors = kept - first[road];
    }
    first[roads] = kept;
    network->links = kept;
}

static void build_geometry(assay__road_network *network)
{
    assay__place sum = {0, 0};
    for (int64_t road = 0; road < network->roads; road++) {
        sum.longitude += network->middles[road].longitude;
        sum.latitude += network->middles[road].latitude;
    }
    double share = 1 / (double)network->roads;
    network->centre = (assay__place){sum.longitude * share, sum.latitude * share};
    for (int64_t road = 0; road < network->roads; road++) {
        double start_x, start_y, end_x, end_y;
        assay__project_m(network->centre, network->points[network->point_first[road]], &start_x,
                         &start_y);
        assay__project_m(network->centre, network->points[network->point_first[road + 1] - 1],
                         &end_x, &end_y);
        double length = hypot(end_x - start_x, end_y - start_y);
        network->end_x[road] = (float)end_x;
        network->end_y[road] = (float)end_y;
        network->heading_x[road] = length > 0 ? (float)((end_x - start_x) / length) : 0;
        network->heading_y[road] = length > 0 ? (float)((end_y - start_y) / length) : 0;
    }
}

assay_status assay__road_network_finish(assay__road_network *network, assay_error *error)
{
    size_t roads = (size_t)network->roads;
    if (roads == 0)
        return assay__fail(error, ASSAY_E_DATA, "a network needs at least one road");
    network->first = calloc(roads + 1, sizeof *network->first);
    network->next = calloc((size_t)network->links + 1, sizeof *network->next);
    network->end_x = calloc(roads, sizeof(float));
    network->end_y = calloc(roads, sizeof(float));
    network->heading_x = calloc(roads, sizeof(float));
    network->heading_y = calloc(roads, sizeof(float));
    if (network->first == NULL || network->next == NULL || network->end_x == NULL ||
        network->end_y == NULL || network->heading_x == NULL || network->heading_y == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "no memory for %zu roads", roads);
    build_rows(network);
    build_geometry(network);
    free(network->link_from);
    free(network->link_to);
    network->link_from = network->link_to = NULL;
    network->link_capacity = 0;
    return ASSAY_OK;
}

bool assay__road_network_reaches(const assay__road_network *network, int64_t from, int64_t to,
                                 int32_t *queue, uint32_t *seen, uint32_t mark)
{
    int64_t head = 0, tail = 0;
    queue[tail++] = (int32_t)from;
    seen[from] = mark;
    while (head < tail && seen[to] != mark) {
        int64_t road = queue[head++];
        for (int64_t k = network->first[road]; k < network->first[road + 1]; k++) {
            if (seen[network->next[k]] != mark) {
                seen[network->next[k]] = mark;
                queue[tail++] = network->next[k];
            }
        }
    }
    return seen[to] == mark;
}
