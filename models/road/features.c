/* Computes the features of choices, and lays out trajectories as batches of choices. */
#include "models/road/features.h"

#include <math.h>
#include <string.h>

void assay__road_still_features(const assay__road_network *network, int32_t road, float features[2])
{
    features[0] = log1pf((float)(network->length_m[road] / 100));
    features[1] = (float)(network->speed_mps[road] * 3.6 / 100);
}

void assay__road_moving_features(const assay__road_network *network, int64_t count,
                                 const int32_t *from, const int32_t *to, int32_t destination,
                                 float *features)
{
    assay__road_features_of(count, from, to, destination, network->end_x, network->end_y,
                            network->heading_x, network->heading_y, network->length_m, features);
}

/* The features of the choices to go from `from` onto to[0 ... count - 1]. */
static void features_from(const assay__road_network *network, int32_t from, const int32_t *to,
                          int64_t count, int32_t destination, float *features)
{
    enum { BLOCK = ASSAY__ROAD_BLOCK, MOVING = ASSAY__ROAD_MOVING_FEATURES };
    for (int64_t first = 0; first < count; first += BLOCK) {
        int32_t here[BLOCK], there[BLOCK];
        float moving[BLOCK * MOVING];
        for (int64_t c = 0; c < BLOCK; c++) {
            here[c] = from;
            there[c] = first + c < count ? to[first + c] : from;
        }
        assay__road_moving_features(network, BLOCK, here, there, destination, moving);
        for (int64_t c = 0; c < BLOCK && first + c < count; c++) {
            float *row = features + (first + c) * ASSAY__ROAD_FEATURES;
            memcpy(row, moving + c * MOVING, MOVING * sizeof *row);
            assay__road_still_features(network, there[c], row + MOVING);
        }
    }
}

void assay__road_features(const assay__road_network *network, int32_t from, int32_t to,
                          int32_t destination, float features[ASSAY__ROAD_FEATURES])
{
    features_from(network, from, &to, 1, destination, features);
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
    if (chosen < 0)
        return;
    features_from(network, from, network->next + start, end - start, destination,
                  batch->features + batch->candidates * ASSAY__ROAD_FEATURES);
    for (int64_t k = start; k < end; k++) {
        batch->choices[batch->candidates] = network->next[k];
        batch->targets[batch->candidates++] = k == chosen;
    }
    batch->decisions++;
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
