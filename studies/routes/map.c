/* Adds the series that a map of the study needs: the ends of every road, and some generated routes
 * with real routes that have the same first and last road. A route is a list of roads, given by
 * their indices in the series of the network. */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "models/road/trajectory.h"
#include "studies/routes/run.h"

enum {
    MOST_ROADS = 10000, /* a larger network would make up most of its record */
    MOST_TRIPS = 8,
    TRIP_BYTES = 64
};

assay_status assay__routes_found_network(const assay__road_network *network, assay_record *found)
{
    static const char *const names[] = {"road_x1", "road_y1", "road_x2", "road_y2"};
    enum { ENDS = sizeof names / sizeof *names };
    const size_t roads = (size_t)network->roads;
    if (roads > MOST_ROADS)
        return ASSAY_OK;
    double *values = calloc(roads * ENDS, sizeof *values);
    if (values == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < roads; i++) {
        const assay__place *from = &network->points[network->point_first[i]];
        const assay__place *to = &network->points[network->point_first[i + 1] - 1];
        values[i] = from->longitude;
        values[roads + i] = from->latitude;
        values[2 * roads + i] = to->longitude;
        values[3 * roads + i] = to->latitude;
    }
    assay_status status = ASSAY_OK;
    for (size_t k = 0; k < ENDS && status == ASSAY_OK; k++)
        status = assay__found_series(found, names[k], "network", "road", NULL, values + k * roads,
                                     roads);
    free(values);
    return status;
}

static assay_status add_route(const assay__trajectories *trajectories, int64_t index,
                              const char *name, const char *of, assay_record *found)
{
    const int64_t first = trajectories->first[index];
    const size_t count = (size_t)(trajectories->first[index + 1] - first);
    double *roads = calloc(count, sizeof *roads);
    if (roads == NULL)
        return ASSAY_E_MEMORY;
    for (size_t i = 0; i < count; i++)
        roads[i] = trajectories->roads[first + (int64_t)i];
    assay_status status = assay__found_series(found, name, of, "step", NULL, roads, count);
    free(roads);
    return status;
}

static int32_t end_of(const assay__trajectories *all, int64_t index, bool last)
{
    return all->roads[last ? all->first[index + 1] - 1 : all->first[index]];
}

/* The first real trajectory with the same first and last road, or -1. */
static int64_t same_ends(const assay__trajectories *real, const assay__trajectories *generated,
                         int64_t index)
{
    for (int64_t i = 0; i < real->count; i++)
        if (end_of(real, i, false) == end_of(generated, index, false) &&
            end_of(real, i, true) == end_of(generated, index, true))
            return i;
    return -1;
}

static assay_status add_trip(const assay__routes_run *run, const char *model,
                             const assay__trajectories *real, const assay__trajectories *generated,
                             int64_t index, size_t *trips, assay_record *found)
{
    char trip[TRIP_BYTES], of[4 * TRIP_BYTES];
    const int64_t *ids = run->data.network->ids;
    const int64_t beside = same_ends(real, generated, index);
    if (beside < 0)
        return ASSAY_OK;
    snprintf(trip, sizeof trip, "%lld to %lld", (long long)ids[end_of(generated, index, false)],
             (long long)ids[end_of(generated, index, true)]);
    snprintf(of, sizeof of, "%s, %.100s", trip, model);
    if (assay__record_find_series(found, "generated_route", of) != NULL)
        return ASSAY_OK; /* a pair that was drawn twice */
    (*trips)++;
    assay_status status = ASSAY_OK;
    if (assay__record_find_series(run->found, "real_route", trip) == NULL)
        status = add_route(real, beside, "real_route", trip, found);
    return status == ASSAY_OK ? add_route(generated, index, "generated_route", of, found) : status;
}

assay_status assay__routes_found_trips(const assay__routes_run *run, const char *model,
                                       const assay__trajectories *real, const char *generated_file,
                                       assay_record *found, assay_error *error)
{
    assay__trajectories generated;
    size_t trips = 0;
    if (run->data.network->roads > MOST_ROADS)
        return ASSAY_OK;
    assay_status status =
        assay__trajectories_load(run->data.network, generated_file, error, &generated);
    const bool loaded = status == ASSAY_OK;
    for (int64_t i = 0; i < generated.count && trips < MOST_TRIPS && status == ASSAY_OK; i++)
        status = add_trip(run, model, real, &generated, i, &trips, found);
    assay__trajectories_release(&generated);
    return status == ASSAY_OK || !loaded
               ? status
               : assay__fail(error, status, "no memory for the routes of the map");
}
