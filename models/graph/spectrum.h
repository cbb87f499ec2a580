/* Eigenvectors of the normalised Laplacian of one graph: two methods with one contract.
 *
 * L = I - D^-1/2 A D^-1/2; rows of isolated nodes are 0. Its spectrum lies in [0, 2], and the
 * eigenvectors of 0 are known: on each connected part the roots of the degrees. They are kept out
 * from the start, so that the vectors found are the non-trivial ones. */
#ifndef ASSAY_MODELS_GRAPH_SPECTRUM_H
#define ASSAY_MODELS_GRAPH_SPECTRUM_H

#include "models/graph/graph.h"

typedef struct assay__spectrum {
    const assay__adjacency *adjacency; /* simple, undirected */
    int64_t first, nodes;              /* the graph's in the adjacency */
    int64_t *part;                     /* (nodes) which connected part each is in, from 0 */
    int64_t parts;
    int64_t *connected; /* (nodes) index of each node among those with edges, -1 for others */
    int64_t connected_count;
    double *trivial; /* (nodes) the eigenvector of 0 on the node's part */
    double *root;    /* (nodes) 1 / sqrt(degree); 0 of an isolated node */
} assay__spectrum;

/* The `count` smallest eigenvalues but the trivial ones, count <= nodes - parts; `values` (count),
 * `vectors` (nodes, width) with the vectors in the first columns. Both need scratch of the doubles
 * said by their _scratch function; width comes from assay__spectrum_width. */

/* All eigenvectors at once, by LAPACK's dsyevr: O(connected^3) time, and scratch for the dense
 * matrix. ASSAY_E_LIMIT if it fails. */
size_t assay__spectrum_dense_scratch(int64_t connected, int64_t count);
ASSAY_MUST_USE assay_status assay__spectrum_dense(const assay__spectrum *spectrum, int64_t count,
                                                  double *scratch, int64_t width, double *values,
                                                  double *vectors);

/* By products with L only: O(edges x width) each, some hundreds of them. Needs at least
 * 2 width nodes with edges. ASSAY_E_LIMIT if residuals do not fall below 1e-9. */
int64_t assay__spectrum_width(int64_t count);
size_t assay__spectrum_sparse_scratch(int64_t nodes, int64_t width);
ASSAY_MUST_USE assay_status assay__spectrum_sparse(const assay__spectrum *spectrum, int64_t count,
                                                   double *scratch, int64_t width, double *values,
                                                   double *vectors);

#endif
