/* MVAR: a linear vector autoregression of order p with intercept,
 *
 *     x_t = A_0 + A_1 x_{t-1} + ... + A_p x_{t-p},
 *
 * in float64. Its tensors are "A_0" (dim) and "A_1" ... "A_p" (dim, dim). Series are (batch, time,
 * dim): each element of the batch is a trajectory of its own, and no lag reaches from one
 * trajectory into another.
 *
 * A model belongs to one thread at a time. Calls with shapes no larger than earlier ones allocate
 * nothing. Values must be finite; a fit to other values is ASSAY_E_DATA. */
#ifndef ASSAY_MODELS_SEQUENCE_MVAR_H
#define ASSAY_MODELS_SEQUENCE_MVAR_H

#include "assay/model.h"
#include "models/kernel/memory.h"

typedef struct assay__mvar_shape {
    int64_t dim;   /* d, at least 1 */
    int64_t order; /* p, at least 1 */
} assay__mvar_shape;

typedef enum assay__mvar_method {
    /* Normal equations of the centred and scaled series. Where their condition is bad, the solution
     * is refined once; where it is too bad for that, the fit is done by QR instead. */
    ASSAY__MVAR_NORMAL,
    /* Householder QR of the equations themselves, a thousand or so rows at a time. */
    ASSAY__MVAR_QR
} assay__mvar_method;

typedef struct assay__mvar {
    assay__mvar_shape shape;
    assay__memory *memory;
    assay_model_parameter *parameters; /* (order + 1): A_0, A_1 ... */
    size_t total;                      /* elements of all parameters: d + p d^2 */
    double *intercept;                 /* A_0 (dim) */
    double *lags;                      /* A_1 ... A_p (order, dim, dim), directly behind A_0 */
    double *gradient;                  /* of A_0 ... A_p, in the same order (total) */
    double *output;                    /* the output that the class hands out */
    double *output_slope;              /* (batch, dim) */
    /* The workspace of a fit; see mvar_fit.c and mvar_qr.c. */
    struct {
        double *centred, *window, *system, *solution, *residual, *lagged, *mean, *scale, *work;
        int32_t *pivots;
    } fit;
} assay__mvar;

/* Makes a model with small random parameters, for which it is stable. ASSAY_E_LIMIT if the number
 * of parameters overflows. */
ASSAY_MUST_USE assay_status assay__mvar_new(const assay__mvar_shape *shape, uint64_t seed,
                                            assay_error *error, assay__mvar **model);
void assay__mvar_free(assay__mvar *model);

/* Fits the model to series (batch, time, dim) by least squares. The fit minimises the sum over all
 * trajectories and t = p ... time - 1 of |x_t - A_0 - sum A_i x_{t-i}|^2, plus ridge sum |A_i|^2;
 * the intercept is not penalised. ASSAY_E_DATA for fewer equations than unknowns, for values that
 * are not finite, and, with ridge 0, for lagged values that are linearly dependent; the model is
 * then unchanged.
 *
 * The cost for n equations is 2 n d^2 (p + 1) + (d p)^3 / 3 operations with the normal equations,
 * and about 2.5 n (d p)^2 with QR. */
ASSAY_MUST_USE assay_status assay__mvar_fit(assay__mvar *model, int64_t batch, int64_t time,
                                            const double *series, double ridge,
                                            assay__mvar_method method, assay_error *error);

/* Forecasts the `steps` values after each trajectory, and feeds each value back for the next:
 * forecast (batch, steps, dim) from series (batch, time, dim). Only the last p values of the series
 * are used; time must be at least p. */
void assay__mvar_forecast(const assay__mvar *model, int64_t batch, int64_t time,
                          const double *series, int64_t steps, double *forecast);

/* Computes the one-step forecast and its mean squared error against target (batch, dim).
 * model->gradient is overwritten with the gradient of the error. */
ASSAY_MUST_USE assay_status assay__mvar_gradient(assay__mvar *model, int64_t batch, int64_t time,
                                                 const double *series, const double *target,
                                                 double *loss);

/* Computes the largest modulus of an eigenvalue of the companion matrix. If it is below 1 the model
 * is stable: forecasts stay bounded, and the influence of their start fades. Takes O((d p)^3)
 * operations and (d p)^2 float64. */
ASSAY_MUST_USE assay_status assay__mvar_spectral_radius(const assay__mvar *model,
                                                        assay_error *error, double *radius);

/* Options: input-dim, order, ridge, method, batch-size, seq-len. Input "input" (batch, time,
 * input-dim) float64, output (batch, input-dim): the value after the series. */
extern const assay_model_class assay__mvar_class;

#endif
