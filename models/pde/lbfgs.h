/* Limited-memory BFGS: unconstrained minimisation of a smooth function, in float64.
 *
 *     double x[2] = {-1.2, 1};
 *     assay__lbfgs_task task = {.count = 2, .pairs = 10, .gradient_tolerance = 1e-8,
 *                               .max_iterations = 100, .objective = evaluate, .context = problem};
 *     if (assay__lbfgs_minimize(&task, x, &state) != ASSAY_OK) ...
 */
#ifndef ASSAY_MODELS_PDE_LBFGS_H
#define ASSAY_MODELS_PDE_LBFGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"

/* Computes the value at x (count) and its gradient (count). If the value or the gradient is not
 * finite, the line search tries a shorter step. A status other than ASSAY_OK ends the minimisation
 * and is returned. */
typedef assay_status (*assay__objective)(void *context, const double *x, double *value,
                                         double *gradient);

typedef enum assay__lbfgs_outcome {
    ASSAY__LBFGS_RUNNING,  /* also after max_iterations, or if the observer stopped it */
    ASSAY__LBFGS_GRADIENT, /* the largest component of the gradient is at most gradient_tolerance */
    ASSAY__LBFGS_VALUE,    /* the value no longer fell */
    ASSAY__LBFGS_STALLED   /* no step along the direction lowers the value: rounding, or a wrong
                              gradient */
} assay__lbfgs_outcome;

typedef struct assay__lbfgs_state {
    assay__lbfgs_outcome outcome;
    int64_t iteration;   /* steps taken */
    int64_t evaluations; /* calls of the objective, the first one included */
    double value;
    double gradient_size; /* magnitude of the largest component */
} assay__lbfgs_state;

/* Called after the start is evaluated, with iteration 0, and after each iteration. Return false to
 * stop. */
typedef bool (*assay__lbfgs_observer)(void *context, const assay__lbfgs_state *state);

typedef struct assay__lbfgs_task {
    size_t count; /* number of unknowns, 1 to INT_MAX / 2 */
    size_t pairs; /* number of corrections to remember, 1 to 100 */
    double gradient_tolerance;
    int64_t max_iterations;
    assay__objective objective;
    void *context;
    assay__lbfgs_observer observer; /* may be NULL */
    void *observer_context;
} assay__lbfgs_task;

/* Minimise from the start x (count). x always holds the lowest point so far, also while the
 * observer runs, and the value never rises. ASSAY_E_DATA if the value or the gradient at the start
 * is not finite; ASSAY_E_ARGUMENT if count or pairs is out of its limits; ASSAY_E_MEMORY. The
 * minimisation takes about (2 pairs + 7) count doubles of memory while it runs. */
ASSAY_MUST_USE assay_status assay__lbfgs_minimize(const assay__lbfgs_task *task, double *x,
                                                  assay__lbfgs_state *state);

#endif
