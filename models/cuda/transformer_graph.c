/* Copies a graph to a device: its adjacency in both directions, and the arrays that attention
 * needs. Nothing is copied if the device has the present version of the graph. */
#include <stdlib.h>
#include <string.h>

#include "models/cuda/transformer.h"

static void send(assay__gpu_model *model, size_t bytes, const void *host, void *array_pointer)
{
    void *array;
    assay__gpu_resize(model->gpu, &model->heap, ASSAY__WORKSPACE, bytes, array_pointer);
    memcpy(&array, array_pointer, sizeof array);
    assay__gpu_copy_in(model->gpu, array, bytes, host);
}

static void send_adjacency(assay__gpu_model *model, int64_t nodes, const assay__adjacency *of,
                           device_adjacency *to)
{
    send(model, ((size_t)nodes + 1) * sizeof *of->offsets, of->offsets, &to->offsets);
    send(model, (size_t)of->offsets[nodes] * sizeof *of->neighbours, of->neighbours,
         &to->neighbours);
}

/* Copies the reversed lists: for each node the nodes that attend to it. */
static void send_reversed(assay__gpu_model *model, int64_t nodes, const assay__adjacency *of,
                          device_adjacency *to)
{
    const int64_t edges = of->offsets[nodes];
    assay__adjacency reversed = {calloc((size_t)nodes + 2, sizeof *reversed.offsets),
                                 calloc((size_t)edges + 1, sizeof *reversed.neighbours)};
    if (reversed.offsets != NULL && reversed.neighbours != NULL) {
        int64_t *next = reversed.offsets + 1; /* where the next entry of a node goes */
        for (int64_t e = 0; e < edges; e++)
            next[of->neighbours[e] + 1]++;
        for (int64_t i = 0; i < nodes; i++)
            next[i + 1] += next[i];
        for (int64_t i = 0; i < nodes; i++)
            for (int64_t e = of->offsets[i]; e < of->offsets[i + 1]; e++)
                reversed.neighbours[next[of->neighbours[e]]++] = (int32_t)i;
        send_adjacency(model, nodes, &reversed, to);
        assay__gpu_wait(model->gpu); /* until the copy is done: its source is freed below */
    } else {
        assay__gpu_fail(model->gpu, ASSAY_E_MEMORY, "out of memory for a graph");
    }
    free(reversed.offsets);
    free(reversed.neighbours);
}

static void send_tiles(assay__gpu_model *model)
{
    transformer *own = model->own;
    const assay__graph *graph = own->graph;
    const size_t most = (size_t)(graph->nodes / ASSAY__TILE_ROWS + graph->graphs);
    assay__attention_tile *tiles = calloc(most, sizeof *tiles);
    if (tiles == NULL) {
        assay__gpu_fail(model->gpu, ASSAY_E_MEMORY, "out of memory for a graph");
        return;
    }
    int64_t pairs = 0;
    own->tile_count = 0;
    for (int64_t g = 0; g < graph->graphs; g++) {
        const int64_t begin = graph->graph_offsets[g], end = graph->graph_offsets[g + 1];
        for (int64_t first = begin; first < end; first += ASSAY__TILE_ROWS)
            tiles[own->tile_count++] = (assay__attention_tile){
                .first = (int)first, .begin = (int)begin, .end = (int)end, .pairs = pairs};
        pairs += (end - begin) * (end - begin);
    }
    send(model, (size_t)own->tile_count * sizeof *tiles, tiles, &own->tiles);
    assay__gpu_wait(model->gpu);
    free(tiles);
}

static size_t pairs_of(const assay__graph *graph)
{
    size_t pairs = 0;
    for (int64_t g = 0; g < graph->graphs; g++) {
        size_t nodes = (size_t)(graph->graph_offsets[g + 1] - graph->graph_offsets[g]);
        pairs += nodes * nodes;
    }
    return pairs;
}

void assay__gpu_send_graph(assay__gpu_model *model)
{
    transformer *own = model->own;
    const assay__graph *graph = own->graph;
    const assay__graph_transformer_derived derived = assay__graph_transformer_derived_of(own->host);
    const int64_t nodes = graph->nodes;
    if (own->version == graph->version)
        return;
    send_adjacency(model, nodes, &graph->in, &own->in);
    send_adjacency(model, nodes, &graph->out, &own->out);
    send(model, (size_t)nodes * sizeof(float), graph->gcn_scale, &own->gcn_scale);
    send(model, ((size_t)graph->graphs + 1) * sizeof(int64_t), graph->graph_offsets,
         &own->graph_offsets);
    if (derived.attended != NULL) {
        send_adjacency(model, nodes, derived.attended, &own->attended);
        send_reversed(model, nodes, derived.attended, &own->attending);
    } else {
        send_tiles(model);
    }
    if (derived.distances != NULL)
        send(model, pairs_of(graph), derived.distances, &own->distances);
    own->version = graph->version;
}
