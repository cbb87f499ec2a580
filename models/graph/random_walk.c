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
#include "models/kernel/simd.h"

enum { STARTS = 64 }; /* columns: a row is four cache lines */

typedef struct walk {
    const assay__adjacency *sources; /* row i of a product sums over them */
    int64_t first, nodes;            /* the graph's */
    const float *before,
        *after; /* (nodes) factors of a term by its source, of a sum by its target */
} walk;

/* y (nodes, STARTS) = M x: y_i = after_i sum over sources j of before_j x_j */
ASSAY__SIMD
static void step(const walk *w, const float *x, float *y)
{
    const assay__adjacency *sources = w->sources;
    for (int64_t i = 0; i < w->nodes; i++) {
        float *restrict out = y + i * STARTS;
        float sum[STARTS] = {0};
        const int64_t end = sources->offsets[w->first + i + 1];
        for (int64_t e = sources->offsets[w->first + i]; e < end; e++) {
            int64_t j = sources->neighbours[e] - w->first;
            const float *restrict row = x + j * STARTS;
            const float factor = w->before[j];
            for (int c = 0; c < STARTS; c++)
                sum[c] += factor * row[c];
        }
        const float factor = w->after[i];
        for (int c = 0; c < STARTS; c++)
            out[c] = factor * sum[c];
    }
}

/* products (STARTS) = the columns of x by those of y, (nodes, STARTS) each */
ASSAY__SIMD
static void multiply(int64_t nodes, const float *x, const float *y, float *restrict products)
{
    memset(products, 0, STARTS * sizeof *products);
    for (int64_t i = 0; i < nodes; i++)
        for (int c = 0; c < STARTS; c++)
            products[c] += x[i * STARTS + c] * y[i * STARTS + c];
}

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
        step(w, x, y);
        multiply(w->nodes, x, y, products); /* S^(k/2) by S^(k/2 + 1) */
        for (int64_t c = 0; c < starts; c++)
            out[c * stride + k - 1] = products[c];
        if (k < steps) {
            multiply(w->nodes, y, y, products);
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
        step(w, x, y);
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
        walk w = {&graph->in, first, n, before + first, after + first};
        for (int64_t start = 0; start < n; start += STARTS) {
            int64_t starts = n - start < STARTS ? n - start : STARTS;
            float *out = y + (first + start) * stride;
            (symmetric ? walk_symmetric : walk_directed)(&w, start, starts, steps, a, b, out,
                                                         stride);
        }
    }
    return ASSAY_OK;
}
