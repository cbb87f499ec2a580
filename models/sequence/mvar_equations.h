/* The least-squares problem of a fit, as the normal equations (mvar_fit.c) and QR (mvar_qr.c) share
 * it. */
#ifndef ASSAY_MODELS_SEQUENCE_MVAR_EQUATIONS_H
#define ASSAY_MODELS_SEQUENCE_MVAR_EQUATIONS_H

#include "models/sequence/mvar.h"

typedef struct assay__mvar_equations {
    int64_t batch, time, dim, order;
    int64_t unknowns; /* u = d p + 1: lags, then the constant */
    int64_t count;    /* n = batch (time - p) */
    double ridge;
    double *series; /* (batch, time, dim), centred */
} assay__mvar_equations;

/* x_t of a trajectory, (dim) */
static inline const double *assay__mvar_step_of(const assay__mvar_equations *e, int64_t trajectory,
                                                int64_t t)
{
    return e->series + (trajectory * e->time + t) * e->dim;
}

/* A centred regressor whose squares sum to no more than this value is constant, apart from
 * rounding. */
double assay__mvar_constant_below(const assay__mvar *model, const assay__mvar_equations *e,
                                  int64_t unknown);

/* Writes model->fit.solution (dim, u), computed by QR (mvar_qr.c). */
ASSAY_MUST_USE assay_status assay__mvar_fit_qr(assay__mvar *model, const assay__mvar_equations *e,
                                               assay_error *error);

#endif
