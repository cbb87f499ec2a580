/* The heat equation in one dimension with a conductivity that varies in space, and the exact
 * gradient of any function of its discrete solution.
 *
 *     u_t = (k(x) u_x)_x on 0 < x < 1,  u(0, t) = u(1, t) = 0,  u(x, 0) given
 *
 * u stands at `points` inner nodes x_i = (i + 1) / (points + 1). log k is linear between `knots`
 * values at 0, 1 / (knots - 1), ..., 1 (one knot: constant), so k stays positive whatever an
 * optimizer does. Time runs in equal steps to `duration`; the solution is handed out at `snapshots`
 * equally spaced times, the last of them the end. float64.
 *
 *     assay__heat_shape shape = {.points = 64, .knots = 5, .snapshots = 4, .steps = 25,
 *                                .duration = 0.1, .implicitness = 0.5};
 *     if (assay__heat_new(&shape, &error, &heat) != ASSAY_OK) ...
 *     if (assay__heat_forward(heat, log_k, batch, initial, &error, &u) != ASSAY_OK) ...
 *     assay__heat_backward(heat, du, dlog_k, NULL);
 *
 * One thread at a time. After the first call of a batch's size nothing is allocated. */
#ifndef ASSAY_MODELS_PDE_HEAT_H
#define ASSAY_MODELS_PDE_HEAT_H

#include <stdint.h>

#include "assay/model.h"

typedef struct assay__heat_shape {
    int64_t points, knots, snapshots; /* at least 1 each */
    int64_t steps;                    /* per snapshot, at least 1 */
    double duration;                  /* positive */
    double implicitness;              /* 1/2: Crank-Nicolson, order 2; 1: backward Euler, order 1,
                                         which damps what is too rough for the grid */
} assay__heat_shape;

typedef struct assay__heat assay__heat;

/* ASSAY_E_ARGUMENT names what is out of its limits; implicitness below 1/2 would be unstable. */
ASSAY_MUST_USE assay_status assay__heat_new(const assay__heat_shape *shape, assay_error *error,
                                            assay__heat **heat);
void assay__heat_free(assay__heat *heat);
const assay__heat_shape *assay__heat_shape_of(const assay__heat *heat);

/* `log_conductivity` (knots), `initial` (batch, points); *output (batch, snapshots, points) is the
 * model's until the next call. Every step is kept for backward: 8 (snapshots x steps + 1) x points
 * x batch bytes. Conductivities that are not finite give a solution that is not. */
ASSAY_MUST_USE assay_status assay__heat_forward(assay__heat *heat, const double *log_conductivity,
                                                int64_t batch, const double *initial,
                                                assay_error *error, const double **output);

/* After forward: from `doutput` (batch, snapshots, points), the derivative of a scalar by the
 * output, its gradient by log_conductivity in `dlog_conductivity` (knots; overwritten) and, unless
 * NULL, by the initial values in `dinitial` (batch, points). It is the adjoint of the discrete
 * scheme, not a discretised adjoint equation, hence exact up to rounding. Costs about one and a
 * half forward. */
void assay__heat_backward(assay__heat *heat, const double *doutput, double *dlog_conductivity,
                          double *dinitial);

void assay__heat_memory(const assay__heat *heat, assay_model_memory *memory);

/* Arithmetic operations per point and step of forward: 2 for the flux through a face, 2 to add the
 * fluxes, 2 and 3 for the two sweeps of the solver. */
enum { ASSAY__HEAT_STEP_OPERATIONS = 9 };
/* Per face, once in a forward: 3 to interpolate, 1 exponential, 1 for the explicit part, 8 to
 * factor.
 */
enum { ASSAY__HEAT_FACTOR_OPERATIONS = 13 };

/* ---- Finding the conductivity from snapshots: a least-squares problem for lbfgs.h ---- */

/* mean((u - data)^2) + smoothness x mean of squared differences of neighbouring knots. The arrays
 * are the caller's and outlive the problem. */
typedef struct assay__heat_problem {
    assay__heat *heat;
    int64_t batch;
    const double *initial; /* (batch, points) */
    const double *data;    /* (batch, snapshots, points) */
    double smoothness;
    double *doutput; /* (batch, snapshots, points), written */
} assay__heat_problem;

/* An assay__objective: context is the problem, x log_conductivity (knots). */
assay_status assay__heat_misfit(void *problem, const double *log_conductivity, double *value,
                                double *gradient);

/* The class "heat": its one parameter, log_conductivity (knots), starts at 0 and is trained on
 * snapshots, (batch, snapshots, points), of initial values, (batch, points). */
extern const assay_model_class assay__heat_class;

#endif
