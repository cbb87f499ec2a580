/* Positional encodings: the position of a node in its graph as features. They are computed from the
 * edges alone, once for each graph. */
#ifndef ASSAY_MODELS_GRAPH_ENCODING_H
#define ASSAY_MODELS_GRAPH_ENCODING_H

#include <stdint.h>

#include "models/graph/graph.h"

/* Scratch of the encodings, workspace of the graph's memory; zero-initialised by its owner. */
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
 * The trivial eigenvectors, those of eigenvalue 0, are left out. There is one for each connected
 * part. So a connected graph loses its first vector, and a graph in several parts still gets
 * vectors that tell its nodes apart. An isolated node gets 0. Where fewer than `count` vectors
 * remain, the last columns are 0. Each graph of a batch has its own.
 *
 * Vectors have length 1; the first of the entries with the largest magnitude is positive. Of an
 * eigenvalue that occurs more than once the vectors are some orthonormal basis, the same on every
 * call.
 *
 * `y` (nodes, count), rows `stride` floats apart, overwritten. Residuals |L v - lambda v| are below
 * 1e-8. Eigenvalues go to `eigenvalues` (graphs, count; NULL: not wanted), 0 for missing columns.
 * ASSAY_E_MEMORY; ASSAY_E_LIMIT if the iteration does not converge. */
ASSAY_MUST_USE assay_status assay__encode_laplacian(assay__encoder *encoder, assay__graph *graph,
                                                    int64_t count, float *y, int64_t stride,
                                                    assay_error *error);
ASSAY_MUST_USE assay_status assay__laplacian_eigenvectors(assay__encoder *encoder,
                                                          assay__graph *graph, int64_t count,
                                                          float *y, int64_t stride,
                                                          double *eigenvalues, assay_error *error);

/* Random-walk encoding: the probabilities that a walk which starts at a node and leaves along any
 * of the edges listed from where it is, each as likely, is back after 1, 2, ..., `steps` steps: the
 * diagonals of (D^-1 A)^k. A walk at a node without edges is lost.
 *
 * `y` (nodes, steps), rows `stride` floats apart, overwritten. Exact but for rounding.
 * ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__encode_walk(assay__encoder *encoder, assay__graph *graph,
                                               int64_t steps, float *y, int64_t stride,
                                               assay_error *error);

/* For each graph of the batch in turn, (n, n): the number of edges on the shortest path between two
 * of its nodes along edges in either direction; limit + 1 if it is longer than `limit` (at most
 * 253) or there is none. `*distances` is workspace of the graph's memory, resized. */
ASSAY_MUST_USE assay_status assay__graph_distances(assay__graph *graph, int64_t limit,
                                                   uint8_t **distances);

#endif
