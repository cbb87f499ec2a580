/* Eigenvectors of the Laplacian by Chebyshev-filtered subspace iteration (Zhou, Saad, Tiago and
 * Chelikowsky 2006, "Self-consistent-field calculations using Chebyshev-filtered subspace
 * iteration").
 *
 * In each round a block of vectors is multiplied by a polynomial in L. The polynomial is small on
 * the unwanted part of the spectrum, [cut, 2], and grows as fast as possible below it. Then a
 * Rayleigh-Ritz step finds the best eigenvectors in the span of the block and a better cut. The
 * upper end of the spectrum, 2, is known, so nothing has to be estimated.
 *
 * The Lanczos method would spend its time in two steps that are cheap or absent here. It
 * orthogonalises each vector against a long basis; this method does not. And it multiplies L by a
 * single vector, which does not vectorise; a product of L with a block reads each neighbour's row
 * of contiguous values once, which does.
 *
 * The filter runs on z = D^-1/2 x, for which the operator is I - D^-1 A: sums of rows, without a
 * factor for each edge. */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "models/graph/spectrum.h"
#include "models/kernel/kernels.h"

static const double TOLERANCE = 1e-9; /* of residuals; the spectrum is [0, 2] */
static const double GAIN = 1e10;      /* largest growth of the filter within the block in a round */

enum { ROUNDS = 400, LEAST_DEGREE = 8, MOST_DEGREE = 400 };

/* The block has more vectors than are wanted. These guard vectors speed up convergence: the filter
 * has to separate the last wanted eigenvalue from the first one outside the block, instead of from
 * the next eigenvalue. A multiple of 8 fills vector registers. */
int64_t assay__spectrum_width(int64_t count)
{
    return (count + (count > 16 ? count / 2 : 8) + 7) / 8 * 8;
}

typedef struct block {
    const assay__spectrum *of;
    int64_t width, wanted;
    double *x, *y, *w;        /* (nodes, width) */
    double *small, *rotation; /* (width, width) */
    double *ritz;             /* (width) ascending */
    double *work;             /* (WORK x width) */
    double residual;          /* the largest among the wanted vectors */
} block;

enum { WORK = 64 }; /* doubles of LAPACK's workspace per vector */

size_t assay__spectrum_sparse_scratch(int64_t nodes, int64_t width)
{
    return (size_t)((2 * nodes + 2 * width + 1 + WORK) * width);
}

/* ---- The operator ---- */

/* Multiply each row of x (nodes, width) by its `root` or, if `undo`, divide it by that. Rows of
 * isolated nodes become 0. */
static void scale_rows(const assay__spectrum *of, int64_t width, bool undo, double *x)
{
    for (int64_t i = 0; i < of->nodes; i++) {
        double factor = undo && of->root[i] > 0 ? 1 / of->root[i] : of->root[i];
        for (int64_t j = 0; j < width; j++)
            x[i * width + j] *= factor;
    }
}

/* Remove the trivial eigenvectors T: x := x - T T^T x, for each part separately. If `scaled`, the
 * argument holds z = D^-1/2 x instead, and the result is the z of that difference. Uses b->w as
 * scratch. */
static void drop_trivial(const block *b, bool scaled, double *x)
{
    const assay__spectrum *of = b->of;
    memset(b->w, 0, (size_t)(of->parts * b->width) * sizeof *b->w);
    for (int64_t i = 0; i < of->nodes; i++) {
        double *sum = b->w + of->part[i] * b->width;
        double weight = of->trivial[i];
        if (scaled)
            weight = of->root[i] > 0 ? weight / of->root[i] : 0;
        for (int64_t j = 0; j < b->width; j++)
            sum[j] += weight * x[i * b->width + j];
    }
    for (int64_t i = 0; i < of->nodes; i++) {
        const double *sum = b->w + of->part[i] * b->width;
        double weight = scaled ? of->trivial[i] * of->root[i] : of->trivial[i];
        for (int64_t j = 0; j < b->width; j++)
            x[i * b->width + j] -= weight * sum[j];
    }
}

/* The degree at which a filter with this cut grows by GAIN at `value`. */
static double degree_of_gain(double value, double cut)
{
    return log(GAIN) / acosh(1 + fmax(cut - value, 1e-12) / ((2 - cut) / 2));
}

/* x := p(L) x, where p is the Chebyshev polynomial of this degree for the interval [cut, 2], scaled
 * to be 1 at `low`. The polynomial is largest at 0, the eigenvalue of the trivial eigenvectors.
 * Rounding errors in their direction therefore grow fastest, and are removed every `often` steps,
 * before they have grown too much. */
static void filter(block *b, int64_t degree, double low, double cut)
{
    const assay__spectrum *of = b->of;
    const double centre = (cut + 2) / 2, half = (2 - cut) / 2, first = half / (low - centre);
    scale_rows(of, b->width, false, b->x);
    memset(b->y, 0, (size_t)(of->nodes * b->width) * sizeof *b->y);
    double factor = first / half, ratio = first;
    const int64_t often = (int64_t)fmax(1, degree_of_gain(0, cut));
    assay__spectrum_step(of->adjacency->offsets, of->adjacency->neighbours, of->first, of->nodes,
                         b->width, factor * (1 - centre), -factor, 0, b->x, b->y);
    for (int64_t k = 2; k <= degree; k++) {
        double next = 1 / (2 / first - ratio);
        factor = 2 * next / half;
        assay__spectrum_step(of->adjacency->offsets, of->adjacency->neighbours, of->first,
                             of->nodes, b->width, factor * (1 - centre), -factor, ratio * next,
                             b->y, b->x);
        double *swapped = b->x;
        b->x = b->y;
        b->y = swapped;
        ratio = next;
        if (k % often == 0) {
            drop_trivial(b, true, b->x);
            drop_trivial(b, true, b->y);
        }
    }
    double *swapped = b->x;
    b->x = b->y;
    b->y = swapped;
    scale_rows(of, b->width, true, b->x);
}

/* ---- The subspace ---- */

/* Scale the columns of x to length 1. */
static void normalise(block *b)
{
    double *length = b->work;
    memset(length, 0, (size_t)b->width * sizeof *length);
    for (int64_t i = 0; i < b->of->nodes; i++)
        for (int64_t j = 0; j < b->width; j++)
            length[j] += b->x[i * b->width + j] * b->x[i * b->width + j];
    for (int64_t j = 0; j < b->width; j++)
        length[j] = length[j] > 0 ? 1 / sqrt(length[j]) : 0;
    for (int64_t i = 0; i < b->of->nodes; i++)
        for (int64_t j = 0; j < b->width; j++)
            b->x[i * b->width + j] *= length[j];
}

/* Replace the columns of x by an orthonormal basis of their span. After a Rayleigh-Ritz step the
 * filter leaves the columns nearly orthogonal, and the Cholesky factor of their inner products is
 * enough. If this factor does not exist or is nearly singular, Householder reflections are used.
 * (To LAPACK a row-major (nodes, width) is the transposed matrix, hence the LQ factorisation.)
 * Returns false if LAPACK fails. */
static bool orthonormalise(block *b)
{
    const int width = (int)b->width, nodes = (int)b->of->nodes;
    normalise(b);
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, width, nodes, 1, b->x, width, 0, b->small,
                width);
    bool regular = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', width, b->small, width) == 0;
    for (int j = 0; regular && j < width; j++)
        regular = b->small[j * width + j] > 1e-3;
    if (regular) {
        cblas_dtrsm(CblasRowMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, nodes, width,
                    1, b->small, width, b->x, width);
        return true;
    }
    double *tau = b->ritz;
    return LAPACKE_dgelqf_work(LAPACK_COL_MAJOR, width, nodes, b->x, width, tau, b->work,
                               WORK * width) == 0 &&
           LAPACKE_dorglq_work(LAPACK_COL_MAJOR, width, nodes, width, b->x, width, tau, b->work,
                               WORK * width) == 0;
}

/* to (nodes, width) = from (nodes, width) rotation */
static void rotate(const block *b, const double *from, double *to)
{
    const int width = (int)b->width;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)b->of->nodes, width, width, 1, from,
                width, b->rotation, width, 0, to, width);
}

/* The Rayleigh-Ritz step: x becomes the best approximations to eigenvectors in its span, `ritz`
 * their eigenvalues, `residual` their largest residual. Returns false if LAPACK fails. */
static bool refine(block *b)
{
    const int width = (int)b->width, nodes = (int)b->of->nodes;
    drop_trivial(b, false, b->x);
    if (!orthonormalise(b))
        return false;
    assay__spectrum_apply(b->of->adjacency->offsets, b->of->adjacency->neighbours, b->of->first,
                          b->of->nodes, b->of->root, width, b->x, b->w);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, width, width, nodes, 1, b->x, width, b->w,
                width, 0, b->rotation, width);
    if (LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'U', width, b->rotation, width, b->ritz, b->work,
                           WORK * width) != 0)
        return false;
    rotate(b, b->x, b->y);
    rotate(b, b->w, b->x);
    double *lengths = b->work;
    memset(lengths, 0, (size_t)width * sizeof *lengths);
    for (int64_t i = 0; i < nodes; i++) {
        for (int64_t j = 0; j < b->wanted; j++) {
            double off = b->x[i * width + j] - b->ritz[j] * b->y[i * width + j];
            lengths[j] += off * off;
        }
    }
    b->residual = 0;
    for (int64_t j = 0; j < b->wanted; j++)
        b->residual = fmax(b->residual, sqrt(lengths[j]));
    double *swapped = b->x;
    b->x = b->y;
    b->y = swapped;
    return true;
}

/* The degree of the next filter. It is the degree that should bring the residual of the last wanted
 * vector below TOLERANCE, as the filter grows below the cut as exp(degree acosh(distance)). It is
 * limited so that the filter grows by at most GAIN within the block. */
static int64_t degree_for(const block *b, double cut)
{
    double slow = degree_of_gain(b->ritz[b->wanted - 1], cut) / log(GAIN);
    double degree = fmin(log(10 * b->residual / TOLERANCE) * slow, degree_of_gain(b->ritz[0], cut));
    return (int64_t)fmin(fmax(degree, LEAST_DEGREE), MOST_DEGREE);
}

assay_status assay__spectrum_sparse(const assay__spectrum *spectrum, int64_t count, double *scratch,
                                    int64_t width, double *values, double *vectors)
{
    const int64_t size = spectrum->nodes * width;
    block b = {.of = spectrum, .width = width, .wanted = count, .x = vectors, .y = scratch};
    b.w = b.y + size;
    b.small = b.w + size;
    b.rotation = b.small + width * width;
    b.ritz = b.rotation + width * width;
    b.work = b.ritz + width;
    assay__random random;
    assay__random_init(&random, 1); /* the same vectors on every call */
    for (int64_t i = 0; i < size; i++)
        b.x[i] = assay__random_uniform(&random) - 0.5;
    double cut = 1, low = 0; /* the lower half of the spectrum, until Ritz values are known */
    int64_t degree = LEAST_DEGREE;
    for (int round = 0; round < ROUNDS; round++) {
        filter(&b, degree, low, cut);
        if (!refine(&b))
            return ASSAY_E_LIMIT;
        if (b.residual < TOLERANCE) {
            memcpy(values, b.ritz, (size_t)count * sizeof *values);
            if (b.x != vectors)
                memcpy(vectors, b.x, (size_t)size * sizeof *vectors);
            return ASSAY_OK;
        }
        low = b.ritz[0];
        cut = fmin(b.ritz[width - 1], 1.9);
        degree = degree_for(&b, cut);
    }
    return ASSAY_E_LIMIT;
}
