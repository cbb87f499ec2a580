/* Random graphs and values for the tests of the graph models; included after cmocka.h. */
#ifndef TESTS_UNIT_GRAPH_FIXTURE_H
#define TESTS_UNIT_GRAPH_FIXTURE_H

#include <stdint.h>
#include <stdlib.h>

#include "base/random.h"

typedef struct batch {
    int64_t nodes, edges;
    int64_t *list;   /* (2, edges) */
    int64_t *graphs; /* (nodes) */
} batch;

/* Two graphs of random directed edges, repetitions and loops among them; the last node is isolated.
 */
static inline batch random_batch(int64_t first, int64_t second, int64_t edges_each, uint64_t seed)
{
    batch b = {.nodes = first + second + 1, .edges = 2 * edges_each};
    b.list = calloc(2 * (size_t)b.edges, sizeof *b.list);
    b.graphs = calloc((size_t)b.nodes, sizeof *b.graphs);
    assert_non_null(b.list);
    assert_non_null(b.graphs);
    assay__random random;
    assay__random_init(&random, seed);
    for (int64_t e = 0; e < b.edges; e++) {
        int64_t start = e < edges_each ? 0 : first, size = e < edges_each ? first : second;
        b.list[e] = start + (int64_t)assay__random_below(&random, (uint64_t)size);
        b.list[b.edges + e] = start + (int64_t)assay__random_below(&random, (uint64_t)size);
    }
    for (int64_t i = first; i < b.nodes; i++) {
        b.graphs[i] = 1;
    }
    return b;
}

static inline void release(batch *b)
{
    free(b->list);
    free(b->graphs);
}

static inline float *normal_floats(size_t count, uint64_t seed)
{
    float *values = calloc(count, sizeof *values);
    assert_non_null(values);
    assay__random random;
    assay__random_init(&random, seed);
    for (size_t i = 0; i < count; i++) {
        values[i] = (float)assay__random_normal(&random);
    }
    return values;
}

#endif
