/* Least squares for all equations x_t = A_0 + sum A_i x_{t-i} at once.
 *
 * The matrix of the normal equations is made of the blocks S(i, j) = sum_t x_{t-i} x_{t-j}^T. The
 * step from S(i, j) to S(i + 1, j + 1) only shifts the window of t by one: for each trajectory one
 * product enters the sum and one leaves it. So only S(0, 0) ... S(0, p) are summed over the series.
 * That takes (p + 1) d^2 products for each step instead of (p d)^2, and the matrix of lagged values
 * is never written.
 *
 * Normal equations are less accurate than QR, because their condition is the square of that of the
 * least-squares problem. Centring the series and scaling the unknowns keep the loss small; both are
 * undone afterwards. The reciprocal condition of the scaled matrix then decides between three ways:
 * the solution as it is, one step of refinement with residuals computed from the series (Bjorck
 * 1996, "Numerical methods for least squares problems", 2.9.3), and QR. */
#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "models/kernel/kernels.h"
#include "models/sequence/mvar_equations.h"

/* Limits for the reciprocal condition of the normal equations. The relative error of the solution
 * is about epsilon divided by the reciprocal condition. Above RCOND_PLAIN the error is below 1e-11.
 * A step of refinement squares the error; below RCOND_REFINED that is not trusted, and QR is
 * used. */
#define RCOND_PLAIN   3e-5
#define RCOND_REFINED 1e-9

static assay_status take_memory(assay__mvar *model, const assay__mvar_equations *e)
{
    size_t dim = (size_t)e->dim, u = (size_t)e->unknowns, width = (size_t)(e->order + 1) * dim;
    const struct {
        size_t count, size;
        void *block;
    } blocks[] = {
        {(size_t)(e->batch * e->time) * dim, 8, &model->fit.centred},
        {dim * width, 8, &model->fit.window},
        {u * u, 8, &model->fit.system},
        {u * dim, 8, &model->fit.solution},
        {dim, 8, &model->fit.mean},
        {u, 8, &model->fit.scale},
        {3 * u, 8, &model->fit.work},
        {u, 4, &model->fit.pivots},
    };
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (assay__memory_resize(model->memory, ASSAY__WORKSPACE, blocks[i].count, blocks[i].size,
                                 blocks[i].block) != ASSAY_OK)
            return ASSAY_E_MEMORY;
    return ASSAY_OK;
}

/* Computes centred = series - its mean over all steps. Returns false if a mean is not finite. */
static bool centre(assay__mvar *model, assay__mvar_equations *e, const double *series)
{
    int64_t steps = e->batch * e->time, dim = e->dim;
    double *mean = model->fit.mean;
    memset(mean, 0, (size_t)dim * sizeof *mean);
    assay__column_sum_double(steps, dim, series, mean);
    bool finite = true;
    for (int64_t i = 0; i < dim; i++) {
        mean[i] /= (double)steps;
        finite = finite && isfinite(mean[i]);
    }
    e->series = model->fit.centred;
    assay__subtract_row(steps, dim, series, mean, e->series);
    return finite;
}

/* Returns block S(i, j) of the normal matrix; lags are counted from 1. */
static double *block_of(const assay__mvar_equations *e, double *system, int64_t i, int64_t j)
{
    return system + (i - 1) * e->dim * e->unknowns + (j - 1) * e->dim;
}

/* S(i, j) = S(i - 1, j - 1) (row stride `stride`) + the products that enter - the products that
 * leave */
static void shift_block(const assay__mvar_equations *e, const double *before, int64_t stride,
                        int64_t i, int64_t j, double *system)
{
    double *after = block_of(e, system, i, j);
    for (int64_t row = 0; row < e->dim; row++)
        memcpy(after + row * e->unknowns, before + row * stride, (size_t)e->dim * sizeof *after);
    for (int64_t b = 0; b < e->batch; b++) {
        const double *in_i = assay__mvar_step_of(e, b, e->order - i),
                     *in_j = assay__mvar_step_of(e, b, e->order - j);
        const double *out_i = assay__mvar_step_of(e, b, e->time - i),
                     *out_j = assay__mvar_step_of(e, b, e->time - j);
        for (int64_t row = 0; row < e->dim; row++) {
            for (int64_t column = 0; column < e->dim; column++) {
                after[row * e->unknowns + column] +=
                    in_i[row] * in_j[column] - out_i[row] * out_j[column];
            }
        }
    }
}

/* Fills the row of the constant with the sums of x_{t-i}, and `targets` (dim) with the sums of
 * x_t. */
static void fill_constant(const assay__mvar_equations *e, double *row, double *targets,
                          int64_t target_stride)
{
    int64_t dim = e->dim;
    memset(row, 0, (size_t)e->unknowns * sizeof *row);
    for (int64_t b = 0; b < e->batch; b++) {
        assay__column_sum_double(e->time - e->order, dim, assay__mvar_step_of(e, b, e->order), row);
    }
    for (int64_t k = 0; k < dim; k++)
        targets[k * target_stride] = row[k];
    for (int64_t lag = 1; lag <= e->order; lag++) {
        const double *before = lag == 1 ? row : row + (lag - 2) * dim;
        double *after = row + (lag - 1) * dim;
        memmove(after, before, (size_t)dim * sizeof *row);
        for (int64_t b = 0; b < e->batch; b++) {
            const double *in = assay__mvar_step_of(e, b, e->order - lag),
                         *out = assay__mvar_step_of(e, b, e->time - lag);
            for (int64_t k = 0; k < dim; k++)
                after[k] += in[k] - out[k];
        }
    }
    row[e->unknowns - 1] = (double)e->count;
}

/* Computes the lower triangle of the normal matrix, row-major (u, u), in `system`, and the right
 * sides (dim, u) in `solution`. Row c belongs to element c of x_t. */
static void form_normal(assay__mvar *model, const assay__mvar_equations *e)
{
    int64_t dim = e->dim, u = e->unknowns, width = (e->order + 1) * dim;
    double *window = model->fit.window, *system = model->fit.system, *right = model->fit.solution;
    memset(window, 0, (size_t)(dim * width) * sizeof *window);
    for (int64_t b = 0; b < e->batch; b++) {
        assay__gram_accumulate(e->time - e->order, dim, width, assay__mvar_step_of(e, b, 0),
                               window);
    }
    const double *lag0 = window + e->order * dim; /* S(0, 0); S(0, j) lies j blocks before it */
    for (int64_t i = 1; i <= e->order; i++) {
        for (int64_t j = i; j <= e->order; j++) {
            const double *before =
                i == 1 ? lag0 - (j - 1) * dim : block_of(e, system, i - 1, j - 1);
            shift_block(e, before, i == 1 ? width : u, i, j, system);
        }
    }
    for (int64_t row = 0; row < u - 1; row++) {
        for (int64_t column = row / dim * dim; column < u - 1; column++)
            system[column * u + row] = system[row * u + column];
        system[row * u + row] += e->ridge;
    }
    for (int64_t c = 0; c < dim; c++) {
        for (int64_t i = 1; i <= e->order; i++) {
            memcpy(right + c * u + (i - 1) * dim, lag0 + c * width - i * dim,
                   (size_t)dim * sizeof *right);
        }
    }
    fill_constant(e, system + (u - 1) * u, right + u - 1, u);
}

/* Multiplies each element of rows (dim, u) by the scale of its unknown. */
static void scale_rows(const assay__mvar_equations *e, const double *scale, double *rows)
{
    for (int64_t c = 0; c < e->dim; c++)
        for (int64_t k = 0; k < e->unknowns; k++)
            rows[c * e->unknowns + k] *= scale[k];
}

double assay__mvar_constant_below(const assay__mvar *model, const assay__mvar_equations *e,
                                  int64_t unknown)
{
    double rounding = unknown == e->unknowns - 1 ? 0 : model->fit.mean[unknown % e->dim];
    rounding *= 2 * DBL_EPSILON;
    return rounding * rounding * (double)e->count;
}

/* Scales the normal matrix to a unit diagonal and factors it. Returns its reciprocal condition, or
 * 0 if it is not positive definite. */
static double factor_normal(assay__mvar *model, const assay__mvar_equations *e)
{
    int64_t u = e->unknowns;
    lapack_int size = (lapack_int)u;
    double *system = model->fit.system, *scale = model->fit.scale, norm, rcond;
    for (int64_t k = 0; k < u; k++) {
        double diagonal = system[k * u + k];
        if (!(diagonal > assay__mvar_constant_below(model, e, k)))
            return 0;
        scale[k] = 1 / sqrt(diagonal);
    }
    for (int64_t row = 0; row < u; row++)
        for (int64_t column = 0; column <= row; column++)
            system[row * u + column] *= scale[row] * scale[column];
    /* A lower triangle in row-major order is an upper triangle in column-major order. */
    norm = LAPACKE_dlansy_work(LAPACK_COL_MAJOR, '1', 'U', size, system, size, model->fit.work);
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', size, system, size) != 0 ||
        LAPACKE_dpocon_work(LAPACK_COL_MAJOR, 'U', size, system, size, norm, &rcond,
                            model->fit.work, model->fit.pivots) != 0)
        return 0;
    return rcond;
}

/* rows (dim, u) = the solutions for the right sides in `rows` */
static void solve_factored(assay__mvar *model, const assay__mvar_equations *e, double *rows)
{
    lapack_int size = (lapack_int)e->unknowns;
    scale_rows(e, model->fit.scale, rows);
    LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'U', size, (lapack_int)e->dim, model->fit.system, size,
                        rows, size);
    scale_rows(e, model->fit.scale, rows);
}

/* right (dim, u) = -1/2 times the gradient of the penalised sum of squared residuals at
 * `solution` */
static void residual_sides(const assay__mvar_equations *e, const double *solution, double *residual,
                           double *right)
{
    int dim = (int)e->dim, u = (int)e->unknowns;
    int64_t steps = e->time - e->order;
    for (int64_t k = 0; k < dim * e->unknowns; k++)
        right[k] = k % u == u - 1 ? 0 : -e->ridge * solution[k];
    for (int64_t b = 0; b < e->batch; b++) {
        memcpy(residual, assay__mvar_step_of(e, b, e->order),
               (size_t)(steps * dim) * sizeof *residual);
        for (int64_t t = 0; t < steps; t++)
            cblas_daxpy(dim, -1, solution + u - 1, u, residual + t * dim, 1);
        for (int64_t lag = 1; lag <= e->order; lag++) {
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)steps, dim, dim, -1,
                        assay__mvar_step_of(e, b, e->order - lag), dim, solution + (lag - 1) * dim,
                        u, 1, residual, dim);
        }
        for (int64_t lag = 1; lag <= e->order; lag++) {
            cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, dim, dim, (int)steps, 1, residual,
                        dim, assay__mvar_step_of(e, b, e->order - lag), dim, 1,
                        right + (lag - 1) * dim, u);
        }
        for (int64_t t = 0; t < steps; t++)
            cblas_daxpy(dim, 1, residual + t * dim, 1, right + u - 1, u);
    }
}

static assay_status refine(assay__mvar *model, const assay__mvar_equations *e)
{
    size_t residuals = (size_t)((e->time - e->order) * e->dim);
    size_t sides = (size_t)(e->dim * e->unknowns);
    assay_status status = assay__memory_resize(model->memory, ASSAY__WORKSPACE, residuals + sides,
                                               sizeof(double), &model->fit.residual);
    if (status != ASSAY_OK)
        return status;
    double *right = model->fit.residual + residuals;
    residual_sides(e, model->fit.solution, model->fit.residual, right);
    solve_factored(model, e, right);
    cblas_daxpy((int)sides, 1, right, 1, model->fit.solution, 1);
    return ASSAY_OK;
}

/* Converts `solution` (dim, u), which is for the centred series, to A_0 ... A_p of the series
 * itself. */
static void store(assay__mvar *model, const assay__mvar_equations *e)
{
    int64_t dim = e->dim;
    const double *mean = model->fit.mean;
    for (int64_t c = 0; c < dim; c++) {
        const double *row = model->fit.solution + c * e->unknowns;
        double intercept = row[e->unknowns - 1] + mean[c];
        for (int64_t k = 0; k < e->unknowns - 1; k++) {
            model->lags[(k / dim * dim + c) * dim + k % dim] = row[k];
            intercept -= row[k] * mean[k % dim];
        }
        model->intercept[c] = intercept;
    }
}

static assay_status solve(assay__mvar *model, const assay__mvar_equations *e,
                          assay__mvar_method method, assay_error *error)
{
    if (method == ASSAY__MVAR_QR)
        return assay__mvar_fit_qr(model, e, error);
    form_normal(model, e);
    double rcond = factor_normal(model, e);
    if (rcond < RCOND_REFINED)
        return assay__mvar_fit_qr(model, e, error);
    solve_factored(model, e, model->fit.solution);
    if (rcond < RCOND_PLAIN && refine(model, e) != ASSAY_OK)
        return assay__fail(error, ASSAY_E_MEMORY, "mvar: no memory for the residuals");
    return ASSAY_OK;
}

assay_status assay__mvar_fit(assay__mvar *model, int64_t batch, int64_t time, const double *series,
                             double ridge, assay__mvar_method method, assay_error *error)
{
    int64_t dim = model->shape.dim, order = model->shape.order;
    assay__mvar_equations e = {.batch = batch,
                               .time = time,
                               .dim = dim,
                               .order = order,
                               .unknowns = dim * order + 1,
                               .count = time > order ? batch * (time - order) : 0,
                               .ridge = ridge};
    if (!(ridge >= 0) || isinf(ridge))
        return assay__fail(error, ASSAY_E_ARGUMENT, "mvar: ridge must be 0 or a positive number");
    if (e.count < 1 || (ridge == 0 && e.count < e.unknowns)) {
        return assay__fail(error, ASSAY_E_DATA,
                           "mvar: %lld trajectories of %lld steps give %lld equations, fewer than "
                           "the %lld unknowns of each feature: give more steps, lower the order%s",
                           (long long)batch, (long long)time, (long long)e.count,
                           (long long)e.unknowns, e.count < 1 ? "" : ", or set ridge above 0");
    }
    if (take_memory(model, &e) != ASSAY_OK) {
        return assay__fail(error, ASSAY_E_MEMORY, "mvar: no memory to fit %lld steps",
                           (long long)(batch * time));
    }
    if (!centre(model, &e, series))
        return assay__fail(error, ASSAY_E_DATA, "mvar: the series has values that are not finite");
    assay_status status = solve(model, &e, method, error);
    if (status == ASSAY_OK)
        store(model, &e);
    return status;
}
