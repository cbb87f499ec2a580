/* The heat equation in one dimension with a conductivity that varies in space, and the exact
 * gradient of any function of its discrete solution.
 *
 *     u_t = (k(x) u_x)_x on 0 < x < 1,  u(0, t) = u(1, t) = 0,  u(x, 0) given
 *
 * The grid has `points` inner nodes x_i = (i + 1) / (points + 1). log k is linear between `knots`
 * values at 0, 1 / (knots - 1), ..., 1; with one knot it is constant. So k stays positive whatever
 * an optimizer does. Time runs in equal steps to `duration`. The solution is returned at
 * `snapshots` equally spaced times, of which `duration` is the last. The arithmetic is in float64.
 *
 *     assay__heat_shape shape = {.points = 64, .knots = 5, .snapshots = 4, .steps = 25,
 *                                .duration = 0.1, .implicitness = 0.5};
 *     if (assay__heat_new(&shape, &error, &heat) != ASSAY_OK) ...
 *     if (assay__heat_forward(heat, log_k, batch, initial, &error, &u) != ASSAY_OK) ...
 *     assay__heat_backward(heat, du, dlog_k, NULL);
 *
 * A solver must be used by one thread at a time. It allocates memory only when the batch is larger
 * than any before. */
#ifndef ASSAY_MODELS_PDE_HEAT_H
#define ASSAY_MODELS_PDE_HEAT_H

#include <stdint.h>

#include "assay/model.h"

typedef struct assay__heat_shape {
    int64_t points, knots, snapshots; /* at least 1 each */
    int64_t steps;                    /* per snapshot, at least 1 */
    double duration;                  /* positive */
    double implicitness;              /* 1/2: Crank-Nicolson, order 2; 1: backward Euler, order 1,
                                         which damps waves too short for the grid */
} assay__heat_shape;

typedef struct assay__heat assay__heat;

/* Make a solver; assay__heat_free() frees it. ASSAY_E_ARGUMENT names the member of the shape that
 * is out of its limits. An implicitness below 1/2 is refused because it would be unstable. */
ASSAY_MUST_USE assay_status assay__heat_new(const assay__heat_shape *shape, assay_error *error,
                                            assay__heat **heat);
void assay__heat_free(assay__heat *heat);
const assay__heat_shape *assay__heat_shape_of(const assay__heat *heat);

/* Solve the equation for `log_conductivity` (knots) and `initial` (batch, points). *output (batch,
 * snapshots, points) belongs to the solver and is valid until the next call. Every time step is
 * kept for backward, in 8 (snapshots x steps + 1) x points x batch bytes. If a conductivity is not
 * finite, neither is the solution. ASSAY_E_ARGUMENT if the batch is empty; ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__heat_forward(assay__heat *heat, const double *log_conductivity,
                                                int64_t batch, const double *initial,
                                                assay_error *error, const double **output);

/* Compute the gradient of a scalar from `doutput` (batch, snapshots, points), its derivative by the
 * output of the last forward. `dlog_conductivity` (knots) gets the gradient by log_conductivity;
 * `dinitial` (batch, points) gets the gradient by the initial values, unless it is NULL. Both are
 * overwritten. The gradient is the adjoint of the discrete scheme, not a discretised adjoint
 * equation, so it is exact up to rounding. The cost is about one and a half times that of forward.
 */
void assay__heat_backward(assay__heat *heat, const double *doutput, double *dlog_conductivity,
                          double *dinitial);

void assay__heat_memory(const assay__heat *heat, assay_model_memory *memory);

/* Arithmetic operations per point and step of forward: 2 for the flux through a face, 2 to add the
 * fluxes, 2 and 3 for the two sweeps of the solver. */
enum { ASSAY__HEAT_STEP_OPERATIONS = 9 };
/* Operations per face, once in each forward: 3 to interpolate, 1 exponential, 1 for the explicit
 * part, 8 to factor the matrix. */
enum { ASSAY__HEAT_FACTOR_OPERATIONS = 13 };

/* ---- Finding the conductivity from snapshots: a least-squares problem for lbfgs.h ---- */

/* The problem is to minimise mean((u - data)^2) + smoothness x (mean of squared differences of
 * neighbouring knots). The solver and the arrays belong to the caller and must outlive the problem.
 */
typedef struct assay__heat_problem {
    assay__heat *heat;
    int64_t batch;
    const double *initial; /* (batch, points) */
    const double *data;    /* (batch, snapshots, points) */
    double smoothness;
    double *doutput; /* (batch, snapshots, points), written */
} assay__heat_problem;

/* An assay__objective whose context is the problem and whose x is log_conductivity (knots). */
assay_status assay__heat_misfit(void *problem, const double *log_conductivity, double *value,
                                double *gradient);

/* The model class "heat". Its one parameter, log_conductivity (knots), starts at 0. It is trained
 * on the snapshots (batch, snapshots, points) that belong to initial values (batch, points). */
extern const assay_model_class assay__heat_class;

#endif
