/* The Laplacian encoding of a batch. For each graph, this file finds the connected parts and the
 * trivial eigenvectors, calls the dense or the sparse solver for the others, and fixes the sign of
 * each vector. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "models/graph/encoding.h"
#include "models/graph/spectrum.h"

/* The largest number of nodes with edges for which the dense solver is used. Up to this size it is
 * the faster one, and the sparse solver needs a block of vectors that is small compared with the
 * graph. */
static int64_t dense_nodes(int64_t count)
{
    enum { ANY_COUNT = 96, TIMES_WIDTH = 3 };
    int64_t wide = TIMES_WIDTH * assay__spectrum_width(count);
    return wide > ANY_COUNT ? wide : ANY_COUNT;
}

/* The number of doubles that encode() needs for a graph of `nodes` nodes, of which some may have no
 * edges. */
static size_t doubles_for(int64_t nodes, int64_t count)
{
    int64_t wanted = count < nodes ? count : nodes, width = assay__spectrum_width(wanted);
    int64_t dense = dense_nodes(wanted) < nodes ? dense_nodes(wanted) : nodes;
    size_t need = assay__spectrum_dense_scratch(dense, wanted);
    size_t sparse = nodes > dense ? assay__spectrum_sparse_scratch(nodes, width) : 0;
    return (need > sparse ? need : sparse) + (size_t)(2 * nodes + width * (nodes + 1));
}

/* Number the connected parts by breadth-first search; `queue` is scratch of (nodes). */
static void find_parts(assay__spectrum *spectrum, int64_t *queue)
{
    const assay__adjacency *adjacency = spectrum->adjacency;
    const int64_t n = spectrum->nodes, first = spectrum->first;
    memset(spectrum->part, 0xff, (size_t)n * sizeof *spectrum->part);
    spectrum->parts = 0;
    for (int64_t start = 0; start < n; start++) {
        if (spectrum->part[start] >= 0)
            continue;
        queue[0] = start;
        spectrum->part[start] = spectrum->parts;
        for (int64_t head = 0, tail = 1; head < tail; head++) {
            int64_t node = first + queue[head];
            for (int64_t e = adjacency->offsets[node]; e < adjacency->offsets[node + 1]; e++) {
                int64_t other = adjacency->neighbours[e] - first;
                if (spectrum->part[other] < 0) {
                    spectrum->part[other] = spectrum->parts;
                    queue[tail++] = other;
                }
            }
        }
        spectrum->parts++;
    }
}

/* Find the nodes with edges, 1 / sqrt(degree), and the trivial eigenvectors: on each part, the
 * roots of the degrees, divided by the root of their sum. An isolated node is a part of its own.
 * `sums` is scratch of (parts). */
static void find_trivial(assay__spectrum *spectrum, int64_t *sums)
{
    const int64_t *offsets = spectrum->adjacency->offsets + spectrum->first;
    memset(sums, 0, (size_t)spectrum->parts * sizeof *sums);
    for (int64_t i = 0; i < spectrum->nodes; i++)
        sums[spectrum->part[i]] += offsets[i + 1] - offsets[i];
    spectrum->connected_count = 0;
    for (int64_t i = 0; i < spectrum->nodes; i++) {
        int64_t degree = offsets[i + 1] - offsets[i];
        spectrum->connected[i] = degree == 0 ? -1 : spectrum->connected_count++;
        spectrum->root[i] = degree == 0 ? 0 : 1 / sqrt((double)degree);
        spectrum->trivial[i] =
            degree == 0 ? 1 : sqrt((double)degree / (double)sums[spectrum->part[i]]);
    }
}

/* The sign of a column: the sign of its first entry with the largest magnitude. Entries that differ
 * by no more than rounding errors count as equally large. */
static double sign_of(const double *vectors, int64_t nodes, int64_t width, int64_t column)
{
    double most = 0;
    for (int64_t i = 0; i < nodes; i++)
        most = fmax(most, fabs(vectors[i * width + column]));
    for (int64_t i = 0; i < nodes; i++) {
        double value = vectors[i * width + column];
        if (fabs(value) >= most * (1 - 1e-5))
            return value < 0 ? -1 : 1;
    }
    return 1;
}

/* Encode one graph: write y (nodes, count), rows `stride` floats apart, and the eigenvalues to
 * `values` (count), unless that is NULL. `scratch` is doubles_for() doubles, `queue` (nodes). */
static assay_status encode(assay__spectrum *spectrum, double *scratch, int64_t *queue,
                           int64_t count, float *y, int64_t stride, double *values)
{
    const int64_t n = spectrum->nodes;
    spectrum->root = scratch;
    spectrum->trivial = scratch + n;
    find_parts(spectrum, queue);
    find_trivial(spectrum, queue);
    int64_t wanted = n - spectrum->parts < count ? n - spectrum->parts : count;
    int64_t width = assay__spectrum_width(wanted);
    double *found = scratch + 2 * n, *vectors = found + width, *rest = vectors + n * width;
    assay_status status = ASSAY_OK;
    if (wanted > 0) {
        status = spectrum->connected_count <= dense_nodes(wanted)
                     ? assay__spectrum_dense(spectrum, wanted, rest, width, found, vectors)
                     : assay__spectrum_sparse(spectrum, wanted, rest, width, found, vectors);
    }
    for (int64_t j = 0; status == ASSAY_OK && j < count; j++) {
        double sign = j < wanted ? sign_of(vectors, n, width, j) : 0;
        for (int64_t i = 0; i < n; i++)
            y[i * stride + j] = j < wanted ? (float)(sign * vectors[i * width + j]) : 0;
        if (values != NULL)
            values[j] = j < wanted ? found[j] : 0;
    }
    return status;
}

assay_status assay__laplacian_eigenvectors(assay__encoder *encoder, assay__graph *graph,
                                           int64_t count, float *y, int64_t stride,
                                           double *eigenvalues, assay_error *error)
{
    if (count == 0)
        return ASSAY_OK;
    assay_status status = assay__graph_undirected(graph, &encoder->undirected);
    if (status == ASSAY_OK) {
        status = assay__memory_resize(graph->memory, ASSAY__WORKSPACE,
                                      doubles_for(graph->largest, count), sizeof(double),
                                      &encoder->doubles);
    }
    if (status == ASSAY_OK) {
        status = assay__memory_resize(graph->memory, ASSAY__WORKSPACE, 3 * (size_t)graph->largest,
                                      sizeof(int64_t), &encoder->integers);
    }
    if (status != ASSAY_OK)
        return assay__fail(error, status, "no memory for the Laplacian encoding");
    for (int64_t g = 0; g < graph->graphs; g++) {
        int64_t first = graph->graph_offsets[g];
        assay__spectrum spectrum = {.adjacency = &encoder->undirected,
                                    .first = first,
                                    .nodes = graph->graph_offsets[g + 1] - first,
                                    .part = encoder->integers,
                                    .connected = encoder->integers + graph->largest};
        status = encode(&spectrum, encoder->doubles, encoder->integers + 2 * graph->largest, count,
                        y + first * stride, stride,
                        eigenvalues == NULL ? NULL : eigenvalues + g * count);
        if (status != ASSAY_OK) {
            return assay__fail(error, status,
                               "the Laplacian's eigenvectors of graph %lld did not converge; ask "
                               "for fewer (lap-dim)",
                               (long long)g);
        }
    }
    return ASSAY_OK;
}

assay_status assay__encode_laplacian(assay__encoder *encoder, assay__graph *graph, int64_t count,
                                     float *y, int64_t stride, assay_error *error)
{
    return assay__laplacian_eigenvectors(encoder, graph, count, y, stride, NULL, error);
}
