/* Least squares by QR, some rows at a time. The triangle R of the rows so far is stacked on the
 * next rows, and both are factored again (the sequential form of Demmel et al. 2012,
 * "Communication-optimal parallel and sequential QR and LU factorizations"). So the matrix of
 * lagged values never exists as a whole, and the rows that are being factored stay near the
 * second-level cache. The targets are further columns of the same matrix; the factorisation turns
 * them into Q^T times the targets. A ridge is the triangle to begin with. LAPACK's recursive dgeqrt
 * factors its panels by matrix products, which is several times as fast here as dgeqrf.
 *
 * Linearly dependent lags show in the condition of R, which LAPACK estimates. A factorisation with
 * pivoting would show the same at a higher cost. Where lags are dependent the fit fails: a solution
 * of minimum norm would be a surprise to a user who did not ask for it. */
#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "models/sequence/mvar_equations.h"

enum { LEAST_ROWS = 1024, PANEL = 32 };

/* The matrix that is being factored, column-major: the triangle, then `capacity` rows below it. */
typedef struct stack {
    int64_t columns; /* u + dim */
    int64_t capacity;
    int64_t stride; /* columns + capacity */
    double *values; /* (stride, columns) column-major */
    double *t;      /* (PANEL, columns) */
    double *work;   /* (PANEL, columns) */
} stack;

/* Writes `count` equations of a trajectory, from step t on, as rows from `row` on below the
 * triangle. */
static void put_rows(const assay__mvar_equations *e, const stack *s, int64_t row,
                     int64_t trajectory, int64_t t, int64_t count)
{
    for (int64_t column = 0; column < s->columns; column++) {
        double *to = s->values + column * s->stride + s->columns + row;
        bool target = column >= e->unknowns;
        if (column == e->unknowns - 1) {
            for (int64_t i = 0; i < count; i++)
                to[i] = 1;
            continue;
        }
        int64_t lag = target ? 0 : column / e->dim + 1;
        int64_t element = target ? column - e->unknowns : column % e->dim;
        const double *from = assay__mvar_step_of(e, trajectory, t - lag) + element;
        for (int64_t i = 0; i < count; i++)
            to[i] = from[i * e->dim];
    }
}

/* Factors the triangle and the `rows` rows below it into a new triangle. */
static lapack_int absorb(const stack *s, int64_t rows)
{
    lapack_int info = LAPACKE_dgeqrt_work(LAPACK_COL_MAJOR, (lapack_int)(s->columns + rows),
                                          (lapack_int)s->columns,
                                          (lapack_int)(s->columns < PANEL ? s->columns : PANEL),
                                          s->values, (lapack_int)s->stride, s->t, PANEL, s->work);
    for (int64_t column = 0; column < s->columns; column++) {
        memset(s->values + column * s->stride + column + 1, 0,
               (size_t)(s->columns - column - 1) * sizeof *s->values);
    }
    return info;
}

static lapack_int factor(const assay__mvar_equations *e, const stack *s)
{
    lapack_int info = 0;
    int64_t rows = 0;
    for (int64_t k = 0; k < e->unknowns - 1; k++)
        s->values[k * s->stride + k] = sqrt(e->ridge);
    for (int64_t b = 0; b < e->batch && info == 0; b++) {
        for (int64_t t = e->order; t < e->time && info == 0;) {
            int64_t count = e->time - t < s->capacity - rows ? e->time - t : s->capacity - rows;
            put_rows(e, s, rows, b, t, count);
            rows += count;
            t += count;
            if (rows == s->capacity) {
                info = absorb(s, rows);
                rows = 0;
            }
        }
    }
    return info != 0 || rows == 0 ? info : absorb(s, rows);
}

/* Scales the regressors' columns of the triangle to length 1, and solves for the targets. Returns
 * the reciprocal condition. If it is too small, the return value is negative, or 0 where there is
 * none, as for a constant column. */
static double solve_triangle(assay__mvar *model, const assay__mvar_equations *e, const stack *s)
{
    lapack_int u = (lapack_int)e->unknowns, stride = (lapack_int)s->stride;
    double rcond = 0;
    for (int64_t k = 0; k < e->unknowns; k++) {
        double *column = s->values + k * s->stride;
        double norm = cblas_dnrm2((int)k + 1, column, 1);
        if (!(norm * norm > assay__mvar_constant_below(model, e, k)))
            return 0;
        model->fit.scale[k] = 1 / norm;
        cblas_dscal((int)k + 1, 1 / norm, column, 1);
    }
    if (LAPACKE_dtrcon_work(LAPACK_COL_MAJOR, '1', 'U', 'N', u, s->values, stride, &rcond,
                            model->fit.work, model->fit.pivots) != 0 ||
        !(rcond > (double)e->count * DBL_EPSILON))
        return rcond > 0 ? -rcond : 0;
    double *targets = s->values + e->unknowns * s->stride;
    bool solved = LAPACKE_dtrtrs_work(LAPACK_COL_MAJOR, 'U', 'N', 'N', u, (lapack_int)e->dim,
                                      s->values, stride, targets, stride) == 0;
    for (int64_t c = 0; c < e->dim; c++) {
        for (int64_t k = 0; k < e->unknowns; k++) {
            model->fit.solution[c * e->unknowns + k] =
                targets[c * s->stride + k] * model->fit.scale[k];
        }
    }
    return solved ? rcond : 0;
}

assay_status assay__mvar_fit_qr(assay__mvar *model, const assay__mvar_equations *e,
                                assay_error *error)
{
    stack s = {.columns = e->unknowns + e->dim};
    s.capacity = 4 * s.columns > LEAST_ROWS ? 4 * s.columns : LEAST_ROWS;
    s.capacity = s.capacity < e->count ? s.capacity : e->count;
    s.stride = s.columns + s.capacity;
    size_t matrix = (size_t)(s.stride * s.columns), panel = (size_t)(PANEL * s.columns);
    if (assay__memory_resize(model->memory, ASSAY__WORKSPACE, matrix + 2 * panel, sizeof(double),
                             &model->fit.lagged) != ASSAY_OK) {
        return assay__fail(error, ASSAY_E_MEMORY, "mvar: no memory for a QR of %lld columns",
                           (long long)s.columns);
    }
    s.values = model->fit.lagged;
    s.t = s.values + matrix;
    s.work = s.t + panel;
    memset(s.values, 0, matrix * sizeof *s.values);
    double rcond = factor(e, &s) == 0 ? solve_triangle(model, e, &s) : 0;
    if (!(rcond > 0)) {
        return assay__fail(
            error, ASSAY_E_DATA,
            "mvar: the lagged values are linearly dependent (rank-deficient least "
            "squares, reciprocal condition %.1e): drop constant or repeated features, "
            "lower the order, or set ridge above 0",
            fabs(rcond));
    }
    return ASSAY_OK;
}
