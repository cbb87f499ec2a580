/* Proper orthogonal decomposition: the directions in which a set of snapshots varies most.
 *
 * Snapshots x (count, width) are centred. The rows of the basis are the `rank` right singular
 * vectors with the largest singular values. The largest component of each row is positive, so that
 * the same data give the same basis. All values are float64. */
#ifndef ASSAY_MODELS_SEQUENCE_POD_H
#define ASSAY_MODELS_SEQUENCE_POD_H

#include <stdint.h>

#include "assay/status.h"

typedef struct assay__pod {
    int64_t width, rank;
    double *mean;   /* (width) */
    double *basis;  /* (rank, width), orthonormal rows */
    double *energy; /* (rank): share of the total variance, in descending order */
} assay__pod;

/* Computes the basis of the snapshots; release `pod` with assay__pod_release(). ASSAY_E_ARGUMENT
 * unless 1 <= rank <= min(count - 1, width). ASSAY_E_DATA for values that are not finite, and for
 * snapshots that do not vary in `rank` directions. Takes min(count, width)^2 float64 and O(count
 * width min(count, width)) operations. */
ASSAY_MUST_USE assay_status assay__pod_fit(int64_t count, int64_t width, const double *snapshots,
                                           int64_t rank, assay_error *error, assay__pod *pod);
void assay__pod_release(assay__pod *pod);

/* Reduces the snapshots: z (count, rank) = (x - mean) basis^T. Restores them: x (count, width) =
 * mean + z basis. */
void assay__pod_reduce(const assay__pod *pod, int64_t count, const double *x, double *z);
void assay__pod_restore(const assay__pod *pod, int64_t count, const double *z, double *x);

#endif
