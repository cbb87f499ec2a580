/* Limited-memory BFGS: unconstrained minimisation of a smooth function, in float64, one iteration
 * at a time.
 *
 *     assay__lbfgs *lbfgs = NULL;
 *     if (assay__lbfgs_new(count, 10, evaluate, problem, &lbfgs) != ASSAY_OK) ...
 *     if (assay__lbfgs_start(lbfgs, x) != ASSAY_OK) ...
 *     do {
 *         status = assay__lbfgs_step(lbfgs, &state);
 *     } while (status == ASSAY_OK && state.outcome == ASSAY__LBFGS_RUNNING);
 *     const double *best = assay__lbfgs_point(lbfgs);
 */
#ifndef ASSAY_MODELS_PDE_LBFGS_H
#define ASSAY_MODELS_PDE_LBFGS_H

#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"

/* The value at x (count) and its gradient (count). A value that is not finite means "not here": the
 * search then tries a shorter step. A status other than ASSAY_OK ends the step and is returned. */
typedef assay_status (*assay__objective)(void *context, const double *x, double *value,
                                         double *gradient);

typedef enum assay__lbfgs_outcome {
    ASSAY__LBFGS_RUNNING,
    ASSAY__LBFGS_GRADIENT, /* the largest component of the gradient is at most gradient_tolerance */
    ASSAY__LBFGS_VALUE,    /* the value fell by no more than value_tolerance x max(1, |value|) */
    ASSAY__LBFGS_STALLED   /* no step along the direction lowers the value: rounding, or a wrong
                              gradient */
} assay__lbfgs_outcome;

typedef struct assay__lbfgs_state {
    assay__lbfgs_outcome outcome;
    int64_t iteration;   /* steps taken */
    int64_t evaluations; /* calls of the objective, the first one included */
    double value;
    double gradient_size; /* largest component in size */
} assay__lbfgs_state;

typedef struct assay__lbfgs assay__lbfgs;

/* `count` unknowns at least 1; `pairs` corrections are remembered, 1 to 100. Memory: (2 pairs + 7)
 * count doubles; none is allocated later. Tolerances start at 1e-8 (gradient) and 0 (value). */
ASSAY_MUST_USE assay_status assay__lbfgs_new(size_t count, size_t pairs, assay__objective objective,
                                             void *context, assay__lbfgs **lbfgs);
void assay__lbfgs_free(assay__lbfgs *lbfgs);
void assay__lbfgs_set_tolerances(assay__lbfgs *lbfgs, double gradient, double value);

/* Evaluate at x (count; copied) and forget all that was learnt. ASSAY_E_DATA where the value or its
 * gradient is not finite. */
ASSAY_MUST_USE assay_status assay__lbfgs_start(assay__lbfgs *lbfgs, const double *x);

/* One iteration: a direction, a line search along it. After an outcome other than RUNNING it does
 * nothing. The value never rises. */
ASSAY_MUST_USE assay_status assay__lbfgs_step(assay__lbfgs *lbfgs, assay__lbfgs_state *state);

void assay__lbfgs_state_of(const assay__lbfgs *lbfgs, assay__lbfgs_state *state);
const double *
assay__lbfgs_point(const assay__lbfgs *lbfgs); /* (count), valid until the next call */

#endif
