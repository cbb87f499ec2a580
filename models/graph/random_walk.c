/* Walks from a block of nodes at once: a column per start, a row per node, so that a step is a sum
 * of rows and vectorises. Where edges come in both directions S = D^-1/2 A D^-1/2 is symmetric and
 * has the same diagonals, and S^a e_i . S^b e_i is one of S^(a+b): half the steps are enough.
 *
 * Dense powers cost nodes^3 a step and forget that the graph is sparse; following each walk by a
 * list of the nodes it can have reached is less work for the first steps only, as the lists soon
 * hold most of the graph. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "models/graph/encoding.h"
#include "models/kernel/kernels.h"

enum { STARTS = ASSAY__WALK_STARTS };

typedef struct walk {
    const int64_t *offsets;
    const int32_t *neighbours; /* the sources of each node: row i of a product sums over them */
    int64_t first, nodes;      /* the graph's */
    const float *before,
        *after; /* (nodes) factors of a term by its source, of a sum by its target */
} walk;

/* The columns of starts from `start` on; x and y are (nodes, STARTS), out at the first start's row.
 */
static void walk_symmetric(const walk *w, int64_t start, int64_t starts, int64_t steps, float *x,
                           float *y, float *out, int64_t stride)
{
    float products[STARTS];
    memset(x, 0, (size_t)(w->nodes * STARTS) * sizeof *x);
    for (int64_t c = 0; c < starts; c++)
        x[(start + c) * STARTS + c] = 1;
    for (int64_t k = 1; k <= steps; k += 2) {
        assay__walk_step(w->offsets, w->neighbours, w->first, w->nodes, w->before, w->after, x, y);
        assay__walk_multiply(w->nodes, x, y, products); /* S^(k/2) by S^(k/2 + 1) */
        for (int64_t c = 0; c < starts; c++)
            out[c * stride + k - 1] = products[c];
        if (k < steps) {
            assay__walk_multiply(w->nodes, y, y, products);
            for (int64_t c = 0; c < starts; c++)
                out[c * stride + k] = products[c];
        }
        float *swapped = x;
        x = y;
        y = swapped;
    }
}

static void walk_directed(const walk *w, int64_t start, int64_t starts, int64_t steps, float *x,
                          float *y, float *out, int64_t stride)
{
    memset(x, 0, (size_t)(w->nodes * STARTS) * sizeof *x);
    for (int64_t c = 0; c < starts; c++)
        x[(start + c) * STARTS + c] = 1;
    for (int64_t k = 1; k <= steps; k++) {
        assay__walk_step(w->offsets, w->neighbours, w->first, w->nodes, w->before, w->after, x, y);
        for (int64_t c = 0; c < starts; c++)
            out[c * stride + k - 1] = y[(start + c) * STARTS + c];
        float *swapped = x;
        x = y;
        y = swapped;
    }
}

/* Whether from every node as many edges go to each other node as come from it. `balance` is
 * (nodes).
 */
static bool is_symmetric(const assay__graph *graph, int64_t *balance)
{
    memset(balance, 0, (size_t)graph->nodes * sizeof *balance);
    for (int64_t i = 0; i < graph->nodes; i++) {
        for (int64_t e = graph->in.offsets[i]; e < graph->in.offsets[i + 1]; e++)
            balance[graph->in.neighbours[e]]++;
        for (int64_t e = graph->out.offsets[i]; e < graph->out.offsets[i + 1]; e++)
            balance[graph->out.neighbours[e]]--;
        for (int64_t e = graph->out.offsets[i]; e < graph->out.offsets[i + 1]; e++)
            if (balance[graph->out.neighbours[e]] != 0)
                return false;
        for (int64_t e = graph->in.offsets[i]; e < graph->in.offsets[i + 1]; e++)
            if (balance[graph->in.neighbours[e]] != 0)
                return false;
    }
    return true;
}

/* before, after (nodes): of S both 1 / sqrt(degree); of (D^-1 A)^T, which moves probability along
 * edges, 1 / (edges from the source) and 1. */
static void set_factors(const assay__graph *graph, bool symmetric, float *before, float *after)
{
    for (int64_t i = 0; i < graph->nodes; i++) {
        int64_t degree = graph->out.offsets[i + 1] - graph->out.offsets[i];
        double share = degree == 0 ? 0 : 1 / (double)degree;
        before[i] = (float)(symmetric ? sqrt(share) : share);
        after[i] = symmetric ? before[i] : 1;
    }
}

assay_status assay__encode_walk(assay__encoder *encoder, assay__graph *graph, int64_t steps,
                                float *y, int64_t stride, assay_error *error)
{
    if (steps == 0)
        return ASSAY_OK;
    size_t block = (size_t)graph->largest * STARTS;
    assay_status status =
        assay__memory_resize(graph->memory, ASSAY__WORKSPACE, 2 * block + 2 * (size_t)graph->nodes,
                             sizeof(float), &encoder->floats);
    if (status == ASSAY_OK) {
        status = assay__memory_resize(graph->memory, ASSAY__WORKSPACE,
                                      (size_t)graph->nodes + 2 * (size_t)graph->largest,
                                      sizeof(int64_t), &encoder->integers);
    }
    if (status != ASSAY_OK)
        return assay__fail(error, status, "no memory for the random-walk encoding");
    float *a = encoder->floats, *b = a + block, *before = b + block, *after = before + graph->nodes;
    bool symmetric = is_symmetric(graph, encoder->integers);
    set_factors(graph, symmetric, before, after);
    for (int64_t g = 0; g < graph->graphs; g++) {
        int64_t first = graph->graph_offsets[g], n = graph->graph_offsets[g + 1] - first;
        walk w = {graph->in.offsets, graph->in.neighbours, first, n, before + first, after + first};
        for (int64_t start = 0; start < n; start += STARTS) {
            int64_t starts = n - start < STARTS ? n - start : STARTS;
            float *out = y + (first + start) * stride;
            (symmetric ? walk_symmetric : walk_directed)(&w, start, starts, steps, a, b, out,
                                                         stride);
        }
    }
    return ASSAY_OK;
}
