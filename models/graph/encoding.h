/* Positional encodings describe the position of a node in its graph by features. They are computed
 * from the edges alone, once for each graph. */
#ifndef ASSAY_MODELS_GRAPH_ENCODING_H
#define ASSAY_MODELS_GRAPH_ENCODING_H

#include <stdint.h>

#include "models/graph/graph.h"

/* Scratch of the encodings. The arrays are workspace of the graph's memory, which frees them. The
 * owner sets the struct to zero before its first use. */
typedef struct assay__encoder {
    assay__adjacency undirected;
    double *doubles;
    float *floats;
    int64_t *integers;
} assay__encoder;

/* Laplacian encoding: eigenvectors of L = I - D^-1/2 A D^-1/2 of the simple undirected graph (an
 * edge in either direction counts once, an edge of a node to itself not at all), by ascending
 * eigenvalue.
 *
 * The trivial eigenvectors, whose eigenvalue is 0, are left out. There is one for each connected
 * part. So a connected graph loses its first vector, and a graph in several parts still gets
 * vectors that tell its nodes apart. An isolated node gets 0. If fewer than `count` vectors
 * remain, the last columns are 0. Each graph of a batch has vectors of its own.
 *
 * Vectors have length 1; the first of the entries with the largest magnitude is positive. If an
 * eigenvalue occurs more than once, its vectors are some orthonormal basis, which is the same on
 * every call.
 *
 * `y` is (nodes, count), rows `stride` floats apart, and is overwritten. Residuals |L v - lambda v|
 * are below 1e-8. `eigenvalues` is (graphs, count), 0 for missing columns; pass NULL if you do not
 * need them. ASSAY_E_MEMORY; ASSAY_E_LIMIT if the iteration does not converge. */
ASSAY_MUST_USE assay_status assay__encode_laplacian(assay__encoder *encoder, assay__graph *graph,
                                                    int64_t count, float *y, int64_t stride,
                                                    assay_error *error);
ASSAY_MUST_USE assay_status assay__laplacian_eigenvectors(assay__encoder *encoder,
                                                          assay__graph *graph, int64_t count,
                                                          float *y, int64_t stride,
                                                          double *eigenvalues, assay_error *error);

/* Random-walk encoding: the probabilities that a random walk is back at its start after 1, 2, ...,
 * `steps` steps, for each node as the start. A step follows one of the edges listed from the
 * present node, each with the same probability. The probabilities are the diagonals of (D^-1 A)^k.
 * A walk that reaches a node without outgoing edges ends there and never returns.
 *
 * `y` is (nodes, steps), rows `stride` floats apart, and is overwritten. The values are exact but
 * for rounding. The only failure is ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__encode_walk(assay__encoder *encoder, assay__graph *graph,
                                               int64_t steps, float *y, int64_t stride,
                                               assay_error *error);

/* The distance of two nodes is the number of edges on the shortest path between them, along edges
 * in either direction. `*distances` gets a matrix (n, n) for each graph of n nodes, graph after
 * graph. An entry is limit + 1 if the distance is larger than `limit` (at most 253) or there is no
 * path. The array is workspace of the graph's memory and is resized. ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__graph_distances(assay__graph *graph, int64_t limit,
                                                   uint8_t **distances);

#endif
