/* Distances between the nodes of a graph, by a breadth-first search from every node that goes no
 * deeper than the limit. */
#include <string.h>

#include "models/graph/encoding.h"

/* Write the distances from `start` to row (n). `start` is counted from the graph's first node;
 * `queue` is scratch of (n). */
static void search(const assay__graph *graph, int64_t first, int64_t n, int64_t start,
                   uint8_t limit, int32_t *queue, uint8_t *row)
{
    const assay__adjacency *sides[] = {&graph->in, &graph->out};
    const uint8_t far = (uint8_t)(limit + 1);
    memset(row, far, (size_t)n);
    row[start] = 0;
    queue[0] = (int32_t)start;
    for (int64_t head = 0, tail = 1; head < tail && row[queue[head]] < limit; head++) {
        int64_t node = first + queue[head];
        uint8_t next = (uint8_t)(row[queue[head]] + 1);
        for (int side = 0; side < 2; side++) {
            for (int64_t e = sides[side]->offsets[node]; e < sides[side]->offsets[node + 1]; e++) {
                int64_t other = sides[side]->neighbours[e] - first;
                if (row[other] == far) {
                    row[other] = next;
                    queue[tail++] = (int32_t)other;
                }
            }
        }
    }
}

assay_status assay__graph_distances(assay__graph *graph, int64_t limit, uint8_t **distances)
{
    size_t pairs = 0;
    for (int64_t g = 0; g < graph->graphs; g++) {
        size_t n = (size_t)(graph->graph_offsets[g + 1] - graph->graph_offsets[g]);
        pairs += n * n;
    }
    assay_status status =
        assay__memory_resize(graph->memory, ASSAY__WORKSPACE, pairs, sizeof **distances, distances);
    if (status != ASSAY_OK)
        return status;
    uint8_t *row = *distances;
    for (int64_t g = 0; g < graph->graphs; g++) {
        int64_t first = graph->graph_offsets[g], n = graph->graph_offsets[g + 1] - first;
        for (int64_t i = 0; i < n; i++) {
            search(graph, first, n, i, (uint8_t)limit, graph->last_seen, row);
            row += n;
        }
    }
    return ASSAY_OK;
}
