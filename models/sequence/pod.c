/* The basis comes from the eigenvectors of the smaller of two Gram matrices. One is X^T X (width,
 * width). The other, for fewer snapshots than features, is X X^T (Sirovich 1987, "the method of
 * snapshots"); each of its eigenvectors u gives X^T u. An SVD of X would find small singular values
 * more exactly, but small singular values are cut off here. */
#include "models/sequence/pod.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "models/kernel/threads.h"

/* Directions with less than this share of the largest variance are due to rounding. */
static const double smallest_share = 1e-14;

typedef struct work {
    double *centred; /* (count, width) */
    double *gram;    /* (side, side) */
    double *values;  /* (side) */
    double *vectors; /* (side, rank) */
    int *support;    /* (2 rank) */
    double total;    /* trace of the Gram matrix */
} work;

static void release_work(work *self)
{
    free(self->centred);
    free(self->gram);
    free(self->values);
    free(self->vectors);
    free(self->support);
}

static bool centre(int64_t count, int64_t width, const double *x, double *mean, double *centred)
{
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < width; j++)
            mean[j] += x[i * width + j] / (double)count;
    bool finite = true;
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < width; j++) {
            centred[i * width + j] = x[i * width + j] - mean[j];
            finite = finite && isfinite(centred[i * width + j]);
        }
    return finite;
}

/* Computes the `rank` largest eigenvalues, in ascending order, and their eigenvectors. */
static assay_status solve(work *self, int side, int rank, assay_error *error)
{
    int found = 0;
    for (int i = 0; i < side; i++)
        self->total += self->gram[(size_t)i * (size_t)side + (size_t)i];
    int info = LAPACKE_dsyevr(LAPACK_ROW_MAJOR, 'V', 'I', 'U', side, self->gram, side, 0, 0,
                              side - rank + 1, side, 0, &found, self->values, self->vectors, rank,
                              self->support);
    if (info != 0 || found != rank)
        return assay__fail(error, ASSAY_E_DATA, "the snapshots' eigenproblem has no solution");
    if (!(self->values[0] > smallest_share * self->values[rank - 1]))
        return assay__fail(error, ASSAY_E_DATA,
                           "the snapshots vary in fewer than %d directions: ask for fewer", rank);
    return ASSAY_OK;
}

/* Computes one row of the basis from eigenvector `column`: the row has unit length, and its largest
 * component is positive. */
static void place(const work *self, bool by_snapshots, int64_t count, int64_t width, int rank,
                  int column, double *row)
{
    if (by_snapshots)
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)count, (int)width, 1, self->centred, (int)width,
                    self->vectors + column, rank, 0, row, 1);
    else
        cblas_dcopy((int)width, self->vectors + column, rank, row, 1);
    double length = cblas_dnrm2((int)width, row, 1);
    double largest = row[cblas_idamax((int)width, row, 1)];
    cblas_dscal((int)width, (largest < 0 ? -1 : 1) / length, row, 1);
}

static assay_status decompose(int64_t count, int64_t width, const double *snapshots, work *self,
                              assay_error *error, assay__pod *pod)
{
    bool by_snapshots = count < width;
    int side = (int)(by_snapshots ? count : width), rank = (int)pod->rank;
    self->centred = malloc((size_t)count * (size_t)width * sizeof(double));
    self->gram = malloc((size_t)side * (size_t)side * sizeof(double));
    self->values = malloc((size_t)side * sizeof(double));
    self->vectors = malloc((size_t)side * (size_t)rank * sizeof(double));
    self->support = malloc(2 * (size_t)rank * sizeof(int));
    if (self->centred == NULL || self->gram == NULL || self->values == NULL ||
        self->vectors == NULL || self->support == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "no memory to decompose %lld snapshots",
                           (long long)count);
    if (!centre(count, width, snapshots, pod->mean, self->centred))
        return assay__fail(error, ASSAY_E_DATA, "the snapshots hold values that are not finite");
    cblas_dsyrk(CblasRowMajor, CblasUpper, by_snapshots ? CblasNoTrans : CblasTrans, side,
                (int)(by_snapshots ? width : count), 1, self->centred, (int)width, 0, self->gram,
                side);
    assay_status status = solve(self, side, rank, error);
    for (int i = 0; i < rank && status == ASSAY_OK; i++) {
        int column = rank - 1 - i; /* eigenvalues are in ascending order */
        pod->energy[i] = self->values[column] / self->total;
        place(self, by_snapshots, count, width, rank, column, pod->basis + i * width);
    }
    return status;
}

assay_status assay__pod_fit(int64_t count, int64_t width, const double *snapshots, int64_t rank,
                            assay_error *error, assay__pod *pod)
{
    *pod = (assay__pod){.width = width, .rank = rank};
    if (rank < 1 || rank > width || rank > count - 1)
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "%lld snapshots of width %lld have no %lld directions", (long long)count,
                           (long long)width, (long long)rank);
    if (count > INT32_MAX / 2 || width > INT32_MAX / 2)
        return assay__fail(error, ASSAY_E_LIMIT, "too many snapshots or features");
    assay__models_start();
    work self = {0};
    pod->mean = calloc((size_t)width, sizeof(double));
    pod->basis = calloc((size_t)(rank * width), sizeof(double));
    pod->energy = calloc((size_t)rank, sizeof(double));
    assay_status status = pod->mean == NULL || pod->basis == NULL || pod->energy == NULL
                              ? assay__fail(error, ASSAY_E_MEMORY, "no memory for the basis")
                              : decompose(count, width, snapshots, &self, error, pod);
    release_work(&self);
    if (status != ASSAY_OK)
        assay__pod_release(pod);
    return status;
}

void assay__pod_release(assay__pod *pod)
{
    free(pod->mean);
    free(pod->basis);
    free(pod->energy);
    *pod = (assay__pod){0};
}

void assay__pod_reduce(const assay__pod *pod, int64_t count, const double *x, double *z)
{
    int rank = (int)pod->rank, width = (int)pod->width;
    if (count == 0)
        return;
    cblas_dgemv(CblasRowMajor, CblasNoTrans, rank, width, -1, pod->basis, width, pod->mean, 1, 0, z,
                1);
    for (int64_t i = 1; i < count; i++)
        memcpy(z + i * rank, z, (size_t)rank * sizeof(double));
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)count, rank, width, 1, x, width,
                pod->basis, width, 1, z, rank);
}

void assay__pod_restore(const assay__pod *pod, int64_t count, const double *z, double *x)
{
    for (int64_t i = 0; i < count; i++)
        memcpy(x + i * pod->width, pod->mean, (size_t)pod->width * sizeof(double));
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)count, (int)pod->width,
                (int)pod->rank, 1, z, (int)pod->rank, pod->basis, (int)pod->width, 1, x,
                (int)pod->width);
}
