/* The model itself. Forecasts and their gradient are products of small matrices, which BLAS
 * computes; the eigenvalues of the companion matrix come from LAPACK. */
#include "models/sequence/mvar.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "models/kernel/threads.h"

enum { NAME_BYTES = 24 }; /* "A_" and any int64_t */

/* Draws the parameters. The row sums of |A_1| ... |A_p| together stay below 1/2, so the model is
 * stable. */
static void draw(assay__mvar *model, uint64_t seed)
{
    assay__random random;
    assay__random_init(&random, seed);
    double bound = 0.5 / (double)(model->shape.dim * model->shape.order);
    for (size_t i = 0; i < model->total; i++) {
        bool in_lags = i >= (size_t)model->shape.dim;
        model->intercept[i] = (in_lags ? bound : 0.1) * (2 * assay__random_uniform(&random) - 1);
    }
}

/* Allocates the parameters and makes the table of them: A_0 (dim), A_1 ... A_p (dim, dim). */
static assay_status make_table(assay__mvar *model)
{
    size_t dim = (size_t)model->shape.dim, count = (size_t)model->shape.order + 1;
    assay__memory *memory = model->memory;
    model->parameters =
        assay__memory_take(memory, ASSAY__WORKSPACE, count, sizeof *model->parameters);
    char *names = assay__memory_take(memory, ASSAY__WORKSPACE, count, NAME_BYTES);
    model->intercept = assay__memory_take(memory, ASSAY__PARAMETERS, model->total, sizeof(double));
    model->gradient = assay__memory_take(memory, ASSAY__GRADIENTS, model->total, sizeof(double));
    if (model->parameters == NULL || names == NULL || model->intercept == NULL ||
        model->gradient == NULL)
        return ASSAY_E_MEMORY;
    model->lags = model->intercept + dim;
    for (size_t lag = 0; lag < count; lag++) {
        char *name = names + lag * NAME_BYTES;
        snprintf(name, NAME_BYTES, "A_%zu", lag);
        size_t offset = lag == 0 ? 0 : dim + (lag - 1) * dim * dim;
        model->parameters[lag] =
            (assay_model_parameter){.value = {.name = name,
                                              .element = ASSAY_F64,
                                              .rank = lag == 0 ? 1 : 2,
                                              .shape = {(int64_t)dim, lag == 0 ? 0 : (int64_t)dim},
                                              .data = model->intercept + offset},
                                    .gradient = model->gradient + offset};
    }
    return ASSAY_OK;
}

assay_status assay__mvar_new(const assay__mvar_shape *shape, uint64_t seed, assay_error *error,
                             assay__mvar **out)
{
    if (shape->dim < 1 || shape->order < 1)
        return assay__fail(error, ASSAY_E_ARGUMENT, "mvar: dimension and order must be at least 1");
    int64_t total;
    if (__builtin_mul_overflow(shape->dim, shape->dim, &total) ||
        __builtin_mul_overflow(total, shape->order, &total) ||
        __builtin_add_overflow(total, shape->dim, &total) ||
        shape->dim * shape->order >= INT32_MAX) {
        return assay__fail(error, ASSAY_E_LIMIT, "mvar: %lld dimensions and %lld lags are too many",
                           (long long)shape->dim, (long long)shape->order);
    }
    assay__models_start();
    assay__mvar *model = calloc(1, sizeof *model);
    assay__memory *memory = assay__memory_new();
    if (model == NULL || memory == NULL) {
        free(model);
        assay__memory_free(memory);
        return assay__fail(error, ASSAY_E_MEMORY, "mvar: out of memory");
    }
    *model = (assay__mvar){.shape = *shape, .memory = memory, .total = (size_t)total};
    if (make_table(model) != ASSAY_OK) {
        assay__mvar_free(model);
        return assay__fail(error, ASSAY_E_MEMORY, "mvar: no memory for %lld parameters",
                           (long long)total);
    }
    draw(model, seed);
    *out = model;
    return ASSAY_OK;
}

void assay__mvar_free(assay__mvar *model)
{
    if (model != NULL) {
        assay__memory_free(model->memory);
        free(model);
    }
}

/* next (batch, dim; row stride next_stride) += x (batch, dim; row stride `stride`) A_lag^T */
static void add_lag(const assay__mvar *model, int64_t lag, int64_t batch, const double *x,
                    int64_t stride, double *next, int64_t next_stride)
{
    int dim = (int)model->shape.dim;
    const double *coefficients = model->lags + (lag - 1) * dim * dim;
    if (batch == 1) {
        cblas_dgemv(CblasRowMajor, CblasNoTrans, dim, dim, 1, coefficients, dim, x, 1, 1, next, 1);
        return;
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)batch, dim, dim, 1, x, (int)stride,
                coefficients, dim, 1, next, (int)next_stride);
}

void assay__mvar_forecast(const assay__mvar *model, int64_t batch, int64_t time,
                          const double *series, int64_t steps, double *forecast)
{
    int64_t dim = model->shape.dim;
    for (int64_t step = 0; step < steps; step++) {
        double *next = forecast + step * dim;
        for (int64_t b = 0; b < batch; b++)
            memcpy(next + b * steps * dim, model->intercept, (size_t)dim * sizeof *next);
        for (int64_t lag = 1; lag <= model->shape.order; lag++) {
            bool known = lag > step; /* the value `lag` steps back lies in the series */
            const double *x = known ? series + (time + step - lag) * dim : next - lag * dim;
            add_lag(model, lag, batch, x, (known ? time : steps) * dim, next, steps * dim);
        }
    }
}

/* dA_0 = sum of the rows of dy (batch, dim); dA_i = dy^T x_{time-i} */
static void backward(assay__mvar *model, int64_t batch, int64_t time, const double *series,
                     const double *dy)
{
    int64_t dim = model->shape.dim;
    memset(model->gradient, 0, (size_t)dim * sizeof(double));
    for (int64_t b = 0; b < batch; b++)
        for (int64_t i = 0; i < dim; i++)
            model->gradient[i] += dy[b * dim + i];
    for (int64_t lag = 1; lag <= model->shape.order; lag++) {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)dim, (int)dim, (int)batch, 1, dy,
                    (int)dim, series + (time - lag) * dim, (int)(time * dim), 0,
                    model->gradient + dim + (lag - 1) * dim * dim, (int)dim);
    }
}

assay_status assay__mvar_gradient(assay__mvar *model, int64_t batch, int64_t time,
                                  const double *series, const double *target, double *loss)
{
    int64_t count = batch * model->shape.dim;
    if (assay__memory_resize(model->memory, ASSAY__ACTIVATIONS, (size_t)count, sizeof(double),
                             &model->output_slope) != ASSAY_OK)
        return ASSAY_E_MEMORY;
    double *dy = model->output_slope, sum = 0;
    assay__mvar_forecast(model, batch, time, series, 1, dy);
    for (int64_t i = 0; i < count; i++) {
        double difference = dy[i] - target[i];
        sum += difference * difference;
        dy[i] = 2 * difference / (double)count;
    }
    *loss = sum / (double)count;
    backward(model, batch, time, series, dy);
    return ASSAY_OK;
}

/* companion (dp, dp), column-major: (A_1 ... A_p) above the identity shifted down by one block. */
static void fill_companion(const assay__mvar *model, double *companion)
{
    int64_t dim = model->shape.dim, size = dim * model->shape.order;
    for (int64_t lag = 0; lag < model->shape.order; lag++) {
        const double *coefficients = model->lags + lag * dim * dim;
        for (int64_t i = 0; i < dim; i++)
            for (int64_t j = 0; j < dim; j++)
                companion[(lag * dim + j) * size + i] = coefficients[i * dim + j];
    }
    for (int64_t i = dim; i < size; i++)
        companion[(i - dim) * size + i] = 1;
}

assay_status assay__mvar_spectral_radius(const assay__mvar *model, assay_error *error,
                                         double *radius)
{
    size_t size = (size_t)(model->shape.dim * model->shape.order);
    double *companion = calloc(size * size + 2 * size, sizeof *companion), most = 0;
    if (companion == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "mvar: no memory for the companion matrix");
    double *real = companion + size * size, *imaginary = real + size;
    fill_companion(model, companion);
    lapack_int info = LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', 'N', (lapack_int)size, companion,
                                    (lapack_int)size, real, imaginary, NULL, 1, NULL, 1);
    for (size_t i = 0; i < size && info == 0; i++)
        most = fmax(most, hypot(real[i], imaginary[i]));
    free(companion);
    if (info != 0) {
        return assay__fail(error, info == LAPACK_WORK_MEMORY_ERROR ? ASSAY_E_MEMORY : ASSAY_E_DATA,
                           "mvar: the eigenvalues of the companion matrix were not found%s",
                           info < 0 ? " (a coefficient is not finite?)" : "");
    }
    *radius = most;
    return ASSAY_OK;
}
