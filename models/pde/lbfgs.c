/* Calls libLBFGS, with its line search of Moré and Thuente for the strong Wolfe conditions ("Line
 * search algorithms with guaranteed sufficient decrease", 1994). This file adds three things that
 * libLBFGS lacks: a stopping rule on the largest component of the gradient, objectives that may
 * fail, and points where the objective is not finite. */
#include "models/pde/lbfgs.h"

#include <lbfgs.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PAIRS = 100 };

typedef struct run {
    const assay__lbfgs_task *task;
    assay__lbfgs_state *state;
    double *x, *gradient; /* (count): the lowest point so far */
    bool answered;        /* libLBFGS has got the value at the start */
    assay_status status;
} run;

static double largest(size_t count, const double *a)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fabs(a[i]) > most || isnan(a[i]) ? fabs(a[i]) : most;
    return most;
}

static bool evaluate(run *self, const double *x, double *value, double *gradient)
{
    self->state->evaluations++;
    self->status = self->task->objective(self->task->context, x, value, gradient);
    return self->status == ASSAY_OK && isfinite(*value) &&
           isfinite(largest(self->task->count, gradient));
}

/* Answer the line search at a point x where the objective has no finite value. The answer is the
 * value and gradient of a parabola that starts at the lowest point so far, with the objective's
 * value and slope, and has its minimum after a quarter of the step to x. So the search comes back
 * about that far. */
static double pretend_wall(const run *self, const double *x, double *gradient)
{
    double fall = 0;
    for (size_t i = 0; i < self->task->count; i++) {
        fall -= self->gradient[i] * (x[i] - self->x[i]);
        gradient[i] = -3 * self->gradient[i];
    }
    return self->state->value + fall;
}

static lbfgsfloatval_t on_evaluate(void *context, const lbfgsfloatval_t *x,
                                   lbfgsfloatval_t *gradient, int count, lbfgsfloatval_t step)
{
    run *self = context;
    double value = self->state->value;
    (void)step;
    if (!self->answered) {
        memcpy(gradient, self->gradient, (size_t)count * sizeof *gradient);
        self->answered = true;
    } else if (self->status != ASSAY_OK || !evaluate(self, x, &value, gradient)) {
        value = pretend_wall(self, x, gradient); /* the search ends after at most 40 */
    }
    return value;
}

/* Call the observer; true if the minimisation is to go on. */
static bool observe(run *self)
{
    const assay__lbfgs_task *task = self->task;
    const assay__lbfgs_state *state = self->state;
    bool wanted = task->observer == NULL || task->observer(task->observer_context, state);
    return wanted && state->outcome == ASSAY__LBFGS_RUNNING &&
           state->iteration < task->max_iterations;
}

static int on_progress(void *context, const lbfgsfloatval_t *x, const lbfgsfloatval_t *gradient,
                       const lbfgsfloatval_t value, const lbfgsfloatval_t x_norm,
                       const lbfgsfloatval_t gradient_norm, const lbfgsfloatval_t step, int count,
                       int iteration, int evaluations)
{
    run *self = context;
    assay__lbfgs_state *state = self->state;
    (void)x_norm, (void)gradient_norm, (void)step, (void)evaluations;
    if (self->status != ASSAY_OK)
        return 1;
    memcpy(self->x, x, (size_t)count * sizeof *x);
    memcpy(self->gradient, gradient, (size_t)count * sizeof *gradient);
    state->iteration = iteration;
    state->gradient_size = largest((size_t)count, gradient);
    if (state->gradient_size <= self->task->gradient_tolerance)
        state->outcome = ASSAY__LBFGS_GRADIENT;
    else if (value >= state->value)
        state->outcome = ASSAY__LBFGS_VALUE;
    state->value = value;
    return observe(self) ? 0 : 1;
}

/* Evaluate the start. *go_on is true if the minimisation is to go on. */
static assay_status begin(run *self, bool *go_on)
{
    assay__lbfgs_state *state = self->state;
    if (!evaluate(self, self->x, &state->value, self->gradient))
        return self->status != ASSAY_OK ? self->status : ASSAY_E_DATA;
    state->gradient_size = largest(self->task->count, self->gradient);
    if (state->gradient_size <= self->task->gradient_tolerance)
        state->outcome = ASSAY__LBFGS_GRADIENT;
    *go_on = observe(self);
    return ASSAY_OK;
}

static assay_status minimize(run *self, double *x)
{
    const assay__lbfgs_task *task = self->task;
    lbfgs_parameter_t parameters;
    lbfgs_parameter_init(&parameters);
    parameters.m = (int)task->pairs;
    parameters.epsilon = 0; /* on_progress decides */
    memcpy(x, self->x, task->count * sizeof *x);
    int code = lbfgs((int)task->count, x, NULL, on_evaluate, on_progress, self, &parameters);
    if (code == LBFGSERR_OUTOFMEMORY)
        return ASSAY_E_MEMORY;
    if (code < 0 && code != LBFGSERR_CANCELED)
        self->state->outcome = ASSAY__LBFGS_STALLED;
    return self->status;
}

assay_status assay__lbfgs_minimize(const assay__lbfgs_task *task, double *x,
                                   assay__lbfgs_state *state)
{
    *state = (assay__lbfgs_state){.outcome = ASSAY__LBFGS_RUNNING};
    if (task->count == 0 || task->count > INT_MAX / 2 || task->pairs == 0 ||
        task->pairs > MAX_PAIRS)
        return ASSAY_E_ARGUMENT;
    run self = {.task = task, .state = state, .x = x};
    double *aligned = lbfgs_malloc((int)task->count);
    self.gradient = calloc(task->count, sizeof *self.gradient);
    bool go_on = false;
    assay_status status =
        aligned == NULL || self.gradient == NULL ? ASSAY_E_MEMORY : begin(&self, &go_on);
    if (status == ASSAY_OK && go_on)
        status = minimize(&self, aligned);
    lbfgs_free(aligned);
    free(self.gradient);
    return status;
}
