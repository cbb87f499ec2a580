/* MVAR: a linear vector autoregression of order p with intercept,
 *
 *     x_t = A_0 + A_1 x_{t-1} + ... + A_p x_{t-p},
 *
 * in float64. Tensors: "A_0" (dim), "A_1" ... "A_p" (dim, dim). Series are (batch, time, dim): each
 * of the batch is a trajectory of its own, and no lag ever reaches from one into another.
 *
 * A model belongs to one thread at a time. Calls with shapes no larger than earlier ones allocate
 * nothing. Values must be finite; a fit to values that are not is ASSAY_E_DATA. */
#ifndef ASSAY_MODELS_SEQUENCE_MVAR_H
#define ASSAY_MODELS_SEQUENCE_MVAR_H

#include "assay/model.h"
#include "models/kernel/memory.h"

typedef struct assay__mvar_shape {
    int64_t dim;   /* d, at least 1 */
    int64_t order; /* p, at least 1 */
} assay__mvar_shape;

typedef enum assay__mvar_method {
    /* Normal equations of the centred and scaled series, refined once where their condition asks
     * for it; too ill-conditioned for that, the fit is done by QR instead. */
    ASSAY__MVAR_NORMAL,
    /* Householder QR of the equations written out, a thousand or so rows at a time. */
    ASSAY__MVAR_QR
} assay__mvar_method;

typedef struct assay__mvar {
    assay__mvar_shape shape;
    assay__memory *memory;
    assay_model_parameter *parameters; /* (order + 1): A_0, A_1 ... */
    size_t total;                      /* elements of all parameters: d + p d^2 */
    double *intercept;                 /* A_0 (dim) */
    double *lags;                      /* A_1 ... A_p (order, dim, dim), directly behind A_0 */
    double *gradient;                  /* of both, laid out alike (total) */
    double *output;                    /* what class functions hand out */
    double *output_slope;              /* (batch, dim) */
    struct {
        double *centred, *window, *system, *solution, *residual, *lagged, *mean, *scale, *work;
        int32_t *pivots;
    } fit;
} assay__mvar;

/* Parameters are small random ones, a stable model. ASSAY_E_LIMIT where their number overflows. */
ASSAY_MUST_USE assay_status assay__mvar_new(const assay__mvar_shape *shape, uint64_t seed,
                                            assay_error *error, assay__mvar **model);
void assay__mvar_free(assay__mvar *model);

/* Least squares: of all A_0 ... A_p those with the smallest sum over trajectories and t = p ...
 * time - 1 of |x_t - A_0 - sum A_i x_{t-i}|^2 + ridge sum |A_i|^2 (the intercept is not penalised).
 * series (batch, time, dim). ASSAY_E_DATA, and nothing changed, for fewer equations than unknowns,
 * values that are not finite, and, with ridge 0, lagged values that are linearly dependent.
 * Cost: normal equations 2 n d^2 (p + 1) + (d p)^3 / 3 operations for n equations, QR about 2.5 n
 * (d p)^2. */
ASSAY_MUST_USE assay_status assay__mvar_fit(assay__mvar *model, int64_t batch, int64_t time,
                                            const double *series, double ridge,
                                            assay__mvar_method method, assay_error *error);

/* The `steps` values after each trajectory, each fed back for the next: forecast (batch, steps,
 * dim) from series (batch, time, dim), of which the last p are used; time must be at least p. */
void assay__mvar_forecast(const assay__mvar *model, int64_t batch, int64_t time,
                          const double *series, int64_t steps, double *forecast);

/* One-step forecast, its mean squared error against target (batch, dim), and the error's gradient
 * in model->gradient (overwritten). */
ASSAY_MUST_USE assay_status assay__mvar_gradient(assay__mvar *model, int64_t batch, int64_t time,
                                                 const double *series, const double *target,
                                                 double *loss);

/* The largest modulus of an eigenvalue of the companion matrix; below 1 the model is stable:
 * forecasts stay bounded and forget where they started. Takes O((d p)^3) operations and (d p)^2
 * float64. */
ASSAY_MUST_USE assay_status assay__mvar_spectral_radius(const assay__mvar *model,
                                                        assay_error *error, double *radius);

/* Options: input-dim, order, ridge, method, batch-size, seq-len. Input "input" (batch, time,
 * input-dim) float64, output (batch, input-dim): the value after the series. */
extern const assay_model_class assay__mvar_class;

#endif
