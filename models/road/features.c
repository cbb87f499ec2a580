/* Computes the features of choices, and lays out trajectories as batches of choices. */
#include "models/road/features.h"

#include <math.h>

void assay__road_still_features(const assay__road_network *network, int32_t road, float features[2])
{
    features[0] = log1pf((float)(network->length_m[road] / 100));
    features[1] = (float)(network->speed_mps[road] * 3.6 / 100);
}

void assay__road_moving_features(const assay__road_network *network, int32_t from, int32_t to,
                                 int32_t destination, float features[ASSAY__ROAD_MOVING_FEATURES])
{
    const float *x = network->end_x, *y = network->end_y;
    const float *heading_x = network->heading_x, *heading_y = network->heading_y;
    float ahead_x = x[destination] - x[from], ahead_y = y[destination] - y[from];
    float left_x = x[destination] - x[to], left_y = y[destination] - y[to];
    float before = sqrtf(ahead_x * ahead_x + ahead_y * ahead_y);
    float after = sqrtf(left_x * left_x + left_y * left_y);
    float progress = (before - after) / (float)network->length_m[to];
    features[0] = (float)log(1 + (double)(after / 1000)); /* three times as fast as log1pf() */
    features[1] = fminf(fmaxf(progress, -2), 2);
    features[2] = before > 0 ? (heading_x[to] * ahead_x + heading_y[to] * ahead_y) / before : 0;
    features[3] = heading_x[from] * heading_x[to] + heading_y[from] * heading_y[to];
}

void assay__road_features(const assay__road_network *network, int32_t from, int32_t to,
                          int32_t destination, float features[ASSAY__ROAD_FEATURES])
{
    assay__road_moving_features(network, from, to, destination, features);
    assay__road_still_features(network, to, features + ASSAY__ROAD_MOVING_FEATURES);
}

assay_status assay__road_batch_init(assay__road_batch *batch)
{
    *batch = (assay__road_batch){.memory = assay__memory_new()};
    return batch->memory == NULL ? ASSAY_E_MEMORY : ASSAY_OK;
}

void assay__road_batch_release(assay__road_batch *batch)
{
    assay__memory_free(batch->memory);
    *batch = (assay__road_batch){0};
}

assay_status assay__road_batch_reserve(assay__road_batch *batch, int64_t trajectories, int64_t time,
                                       int64_t candidates)
{
    size_t positions = (size_t)trajectories * (size_t)time;
    const struct {
        size_t count, size;
        void *block;
    } needs[] = {
        {positions, sizeof *batch->roads, &batch->roads},
        {(size_t)trajectories, sizeof *batch->destinations, &batch->destinations},
        {positions + 1, sizeof *batch->first, &batch->first},
        {(size_t)candidates, sizeof *batch->choices, &batch->choices},
        {(size_t)candidates * ASSAY__ROAD_FEATURES, sizeof *batch->features, &batch->features},
        {(size_t)candidates, sizeof *batch->targets, &batch->targets},
    };
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        assay_status status = assay__memory_resize(batch->memory, ASSAY__WORKSPACE, needs[i].count,
                                                   needs[i].size, needs[i].block);
        if (status != ASSAY_OK)
            return status;
    }
    batch->trajectories = trajectories;
    batch->time = time;
    batch->candidates = 0;
    batch->decisions = 0;
    return ASSAY_OK;
}

/* Append the successors of `from` as candidates, with target 1 for `to`. If `to` is not a
 * successor, append nothing. */
static void add_choice(assay__road_batch *batch, const assay__road_network *network, int32_t from,
                       int32_t to, int32_t destination)
{
    int64_t start = network->first[from], end = network->first[from + 1], chosen = -1;
    for (int64_t k = start; k < end; k++)
        chosen = network->next[k] == to ? k : chosen;
    for (int64_t k = start; chosen >= 0 && k < end; k++) {
        int64_t at = batch->candidates++;
        batch->choices[at] = network->next[k];
        batch->targets[at] = k == chosen;
        assay__road_features(network, from, network->next[k], destination,
                             batch->features + at * ASSAY__ROAD_FEATURES);
    }
    batch->decisions += chosen >= 0;
}

assay_status assay__road_batch_fill(assay__road_batch *batch, const assay__road_network *network,
                                    const assay__trajectories *source, const int64_t *which,
                                    int64_t count, int64_t time)
{
    int64_t longest = 1;
    for (int64_t b = 0; b < count; b++) {
        int64_t length = source->first[which[b] + 1] - source->first[which[b]];
        longest = length > longest ? length : longest;
    }
    longest = longest < time ? longest : time;
    assay_status status =
        assay__road_batch_reserve(batch, count, longest, count * longest * network->max_successors);
    if (status != ASSAY_OK)
        return status;
    for (int64_t t = 0; t < longest; t++) {
        for (int64_t b = 0; b < count; b++) {
            int64_t position = t * count + b;
            int64_t at = source->first[which[b]] + t, end = source->first[which[b] + 1];
            batch->first[position] = batch->candidates;
            batch->destinations[b] = source->roads[end - 1];
            batch->roads[position] = at < end ? source->roads[at] : -1;
            if (at + 1 < end) {
                add_choice(batch, network, source->roads[at], source->roads[at + 1],
                           source->roads[end - 1]);
            }
        }
    }
    batch->first[longest * count] = batch->candidates;
    return ASSAY_OK;
}
