/* Eigenvectors of the Laplacian by LAPACK. The trivial eigenvectors, the columns of T, are moved
 * out of the way: the matrix L + 3 T T^T has them at eigenvalue 3, beyond the spectrum of L, and
 * all other eigenvectors at their own eigenvalues. */
#include <lapacke.h>
#include <string.h>

#include "models/graph/spectrum.h"

enum { WORK = 40, INTEGER_WORK = 10 }; /* per row; dsyevr needs at least 26 and 10 */

/* The number of doubles that take as much room as `integers` integers of LAPACK. */
static size_t in_doubles(size_t integers)
{
    return (integers * sizeof(lapack_int) + sizeof(double) - 1) / sizeof(double);
}

size_t assay__spectrum_dense_scratch(int64_t connected, int64_t count)
{
    size_t n = (size_t)connected, k = (size_t)count;
    return n * n + n * k + n + WORK * n + in_doubles((INTEGER_WORK + 2) * n);
}

/* matrix (connected, connected) = L + 3 T T^T. An entry of T T^T is 0 between two parts, as a
 * trivial vector is 0 outside its part. */
static void fill(const assay__spectrum *spectrum, double *matrix)
{
    const int64_t n = spectrum->connected_count;
    const assay__adjacency *adjacency = spectrum->adjacency;
    for (int64_t i = 0; i < spectrum->nodes; i++) {
        if (spectrum->connected[i] < 0)
            continue;
        double *row = matrix + spectrum->connected[i] * n;
        for (int64_t j = 0; j < spectrum->nodes; j++) {
            if (spectrum->connected[j] >= 0) {
                row[spectrum->connected[j]] = spectrum->part[i] == spectrum->part[j]
                                                  ? 3 * spectrum->trivial[i] * spectrum->trivial[j]
                                                  : 0;
            }
        }
        row[spectrum->connected[i]] += 1;
        int64_t end = adjacency->offsets[spectrum->first + i + 1];
        for (int64_t e = adjacency->offsets[spectrum->first + i]; e < end; e++) {
            int64_t j = adjacency->neighbours[e] - spectrum->first;
            row[spectrum->connected[j]] -= spectrum->root[i] * spectrum->root[j];
        }
    }
}

assay_status assay__spectrum_dense(const assay__spectrum *spectrum, int64_t count, double *scratch,
                                   int64_t width, double *values, double *vectors)
{
    const int64_t n = spectrum->connected_count;
    double *matrix = scratch, *found = matrix + n * n, *all = found + n * count, *work = all + n;
    lapack_int *integers = (lapack_int *)(void *)(work + WORK * n);
    lapack_int *support = integers + INTEGER_WORK * n, many = 0, order = (lapack_int)n;
    fill(spectrum, matrix);
    if (LAPACKE_dsyevr_work(LAPACK_COL_MAJOR, 'V', 'I', 'U', order, matrix, order, 0, 0, 1,
                            (lapack_int)count, 0, &many, all, found, order, support, work,
                            (lapack_int)(WORK * n), integers,
                            (lapack_int)(INTEGER_WORK * n)) != 0 ||
        many != count)
        return ASSAY_E_LIMIT;
    memcpy(values, all, (size_t)count * sizeof *values);
    for (int64_t i = 0; i < spectrum->nodes; i++) {
        for (int64_t j = 0; j < count; j++) {
            vectors[i * width + j] =
                spectrum->connected[i] < 0 ? 0 : found[j * n + spectrum->connected[i]];
        }
    }
    return ASSAY_OK;
}
