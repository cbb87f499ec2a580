/* Eigenvectors of the normalised Laplacian of one graph: two methods with one contract.
 *
 * L = I - D^-1/2 A D^-1/2; rows of isolated nodes are 0. Its spectrum lies in [0, 2]. The
 * eigenvectors of eigenvalue 0, called trivial, are known: on each connected part they are the
 * roots of the degrees, scaled to length 1. Both methods keep them out from the start, so that they
 * find only the other eigenvectors. */
#ifndef ASSAY_MODELS_GRAPH_SPECTRUM_H
#define ASSAY_MODELS_GRAPH_SPECTRUM_H

#include "models/graph/graph.h"

typedef struct assay__spectrum {
    const assay__adjacency *adjacency; /* simple, undirected */
    int64_t first, nodes;              /* the graph's first node in the adjacency, its nodes */
    int64_t *part;                     /* (nodes) the connected part of each node, from 0 */
    int64_t parts;
    int64_t *connected; /* (nodes) index of each node among the nodes with edges; else -1 */
    int64_t connected_count;
    double *trivial; /* (nodes) entries of the trivial eigenvector of the node's part */
    double *root;    /* (nodes) 1 / sqrt(degree); 0 for an isolated node */
} assay__spectrum;

/* Both methods find the `count` smallest eigenvalues other than the trivial ones, and their
 * eigenvectors; count <= nodes - parts. They write `values` (count), ascending, and `vectors`
 * (nodes, width), whose first `count` columns are the eigenvectors. `width` comes from
 * assay__spectrum_width(). `scratch` has as many doubles as the method's _scratch function says. */

/* The dense method hands the whole matrix to LAPACK's dsyevr. It takes O(connected^3) time, and
 * scratch for the dense matrix. ASSAY_E_LIMIT if dsyevr fails. */
size_t assay__spectrum_dense_scratch(int64_t connected, int64_t count);
ASSAY_MUST_USE assay_status assay__spectrum_dense(const assay__spectrum *spectrum, int64_t count,
                                                  double *scratch, int64_t width, double *values,
                                                  double *vectors);

/* The sparse method uses only products of L with a block of vectors. It makes some hundreds of
 * them, each in O(edges x width) time. It needs at least 2 width nodes with edges. ASSAY_E_LIMIT if
 * the residuals do not fall below 1e-9. */
int64_t assay__spectrum_width(int64_t count);
size_t assay__spectrum_sparse_scratch(int64_t nodes, int64_t width);
ASSAY_MUST_USE assay_status assay__spectrum_sparse(const assay__spectrum *spectrum, int64_t count,
                                                   double *scratch, int64_t width, double *values,
                                                   double *vectors);

#endif
