/* The random-walk encoding. The walks from a block of STARTS nodes are computed together, with a
 * column for each start and a row for each node, so that a step is a sum of rows and vectorises.
 *
 * If every edge is listed in both directions, the powers of S = D^-1/2 A D^-1/2 have the same
 * diagonals as those of D^-1 A. S is symmetric, so entry i of the diagonal of S^(a+b) is the inner
 * product of S^a e_i and S^b e_i, and half the steps are enough.
 *
 * Two other methods would be slower. Dense matrix powers cost nodes^3 a step and make no use of
 * the graph's sparsity. A list of the nodes that each walk can have reached saves work in the
 * first steps only, because the lists soon hold most of the graph. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "models/graph/encoding.h"
#include "models/kernel/kernels.h"

enum { STARTS = ASSAY__WALK_STARTS };

typedef struct walk {
    const int64_t *offsets;
    const int32_t *neighbours; /* the sources of each node; row i of a product sums over them */
    int64_t first, nodes;      /* the graph's nodes in the batch: index of the first, count */
    const float *before,
        *after; /* (nodes) factor of a term by its source; factor of a sum by its target */
} walk;

/* Walk from the nodes `start` to `start` + `starts` - 1. x and y are scratch of (nodes, STARTS);
 * `out` is the row of the first start. walk_directed() has the same arguments. */
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

/* Whether, for all pairs of nodes, as many edges go from i to j as from j to i. `balance` is
 * scratch of (nodes). */
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

/* Set the factors before and after, (nodes). For S both are 1 / sqrt(degree). For (D^-1 A)^T, which
 * moves probability along edges, they are 1 / (number of edges from the source) and 1. */
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
