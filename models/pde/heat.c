/* Solves the heat equation and its adjoint. Space has second-order differences, in flux form on the
 * faces between nodes. Time has the theta method (Crank and Nicolson 1947 for theta = 1/2):
 * M u_next = N u with M = I + theta dt A and N = I - (1 - theta) dt A, where A is symmetric and
 * tridiagonal. M is factored once as L D L^T, without pivoting because it is diagonally dominant.
 * Then every step is two sweeps.
 *
 * As M and N are symmetric, the adjoint runs the same solves backwards in time. If r is the
 * derivative by u_next, then q = M^-1 r is the derivative by N u, and N q is the derivative by u. A
 * depends on the conductivity k_f of a face as q^T (dA / dk_f) v = (difference of q across f)
 * (difference of v across f) / dx^2.
 *
 * The internal arrays are (points, batch). The sweeps are recurrences in space and do not
 * vectorise; the loops over the batch do. */
#include "models/pde/heat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "models/kernel/kernels.h"
#include "models/kernel/memory.h"

struct assay__heat {
    assay__heat_shape shape;
    assay__memory *memory;
    int64_t batch, steps; /* batch of the last forward; time steps to the end */
    double dx, dt;
    double *conductivity;           /* (points + 1): of the faces */
    double *explicit_part;          /* (points + 1): (1 - theta) dt k / dx^2 */
    double *lower, *inverse;        /* (points): L below its diagonal, 1 / D */
    double *slope;                  /* (points + 1, batch): gradient by the conductivities */
    double *trajectory;             /* (steps + 1, points, batch) */
    double *output;                 /* (batch, snapshots, points) */
    double *adjoint, *adjoint_next; /* (points, batch) */
};

static assay_status check_shape(const assay__heat_shape *shape, assay_error *error)
{
    const struct {
        const char *name;
        int64_t value;
    } counts[] = {{"points", shape->points},
                  {"knots", shape->knots},
                  {"snapshots", shape->snapshots},
                  {"steps", shape->steps}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (counts[i].value < 1 || counts[i].value > 1 << 24) {
            return assay__fail(error, ASSAY_E_ARGUMENT, "%s must be 1 to 16777216, not %lld",
                               counts[i].name, (long long)counts[i].value);
        }
    }
    if (!(shape->duration > 0) || !isfinite(shape->duration)) {
        return assay__fail(error, ASSAY_E_ARGUMENT, "the duration must be positive, not %g",
                           shape->duration);
    }
    if (!(shape->implicitness >= 0.5 && shape->implicitness <= 1)) {
        return assay__fail(error, ASSAY_E_ARGUMENT, "implicitness must be 0.5 to 1, not %g",
                           shape->implicitness);
    }
    return ASSAY_OK;
}

static assay_status take(assay__memory *memory, int64_t count, double **array)
{
    *array = assay__memory_take(memory, ASSAY__WORKSPACE, (size_t)count, sizeof(double));
    return *array == NULL ? ASSAY_E_MEMORY : ASSAY_OK;
}

assay_status assay__heat_new(const assay__heat_shape *shape, assay_error *error, assay__heat **heat)
{
    assay_status status = check_shape(shape, error);
    if (status != ASSAY_OK)
        return status;
    assay__heat *made = calloc(1, sizeof *made);
    if (made == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for a heat solver");
    made->shape = *shape;
    made->steps = shape->snapshots * shape->steps;
    made->dx = 1 / (double)(shape->points + 1);
    made->dt = shape->duration / (double)made->steps;
    made->memory = assay__memory_new();
    if (made->memory == NULL || take(made->memory, shape->points + 1, &made->conductivity) ||
        take(made->memory, shape->points + 1, &made->explicit_part) ||
        take(made->memory, shape->points, &made->lower) ||
        take(made->memory, shape->points, &made->inverse)) {
        assay__heat_free(made);
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for a heat solver");
    }
    *heat = made;
    return ASSAY_OK;
}

void assay__heat_free(assay__heat *heat)
{
    if (heat != NULL) {
        assay__memory_free(heat->memory);
        free(heat);
    }
}

const assay__heat_shape *assay__heat_shape_of(const assay__heat *heat)
{
    return &heat->shape;
}

void assay__heat_memory(const assay__heat *heat, assay_model_memory *memory)
{
    assay__memory_figures(heat->memory, memory);
}

static assay_status fit_batch(assay__heat *heat, int64_t batch, assay_error *error)
{
    size_t plane = (size_t)(heat->shape.points * batch);
    size_t snapshots = (size_t)heat->shape.snapshots, moments = (size_t)heat->steps + 1;
    if (plane > SIZE_MAX / 2 / moments ||
        assay__memory_resize(heat->memory, ASSAY__ACTIVATIONS, moments * plane, sizeof(double),
                             &heat->trajectory) ||
        assay__memory_resize(heat->memory, ASSAY__ACTIVATIONS, snapshots * plane, sizeof(double),
                             &heat->output) ||
        assay__memory_resize(heat->memory, ASSAY__WORKSPACE, plane + (size_t)batch, sizeof(double),
                             &heat->slope) ||
        assay__memory_resize(heat->memory, ASSAY__WORKSPACE, plane, sizeof(double),
                             &heat->adjoint) ||
        assay__memory_resize(heat->memory, ASSAY__WORKSPACE, plane, sizeof(double),
                             &heat->adjoint_next)) {
        return assay__fail(error, ASSAY_E_MEMORY,
                           "out of memory for %zu steps of the heat equation; take fewer",
                           moments - 1);
    }
    heat->batch = batch;
    return ASSAY_OK;
}

/* Face `face` lies between `*knot` and the next knot. Returns its distance from `*knot` as a share
 * of the distance between the two knots. */
static double knot_share(const assay__heat *heat, int64_t face, int64_t *knot)
{
    int64_t knots = heat->shape.knots;
    if (knots == 1) {
        *knot = 0;
        return 0;
    }
    double at = ((double)face + 0.5) * heat->dx * (double)(knots - 1);
    *knot = (int64_t)at < knots - 2 ? (int64_t)at : knots - 2;
    return at - (double)*knot;
}

/* Compute the conductivities of the faces and factor M. */
static void factor(assay__heat *heat, const double *log_conductivity)
{
    int64_t points = heat->shape.points;
    double ratio = heat->dt / (heat->dx * heat->dx), theta = heat->shape.implicitness;
    for (int64_t f = 0; f <= points; f++) {
        int64_t knot;
        double share = knot_share(heat, f, &knot);
        double log_k = log_conductivity[knot];
        if (share != 0)
            log_k += share * (log_conductivity[knot + 1] - log_k);
        heat->conductivity[f] = exp(log_k);
        heat->explicit_part[f] = (1 - theta) * ratio * heat->conductivity[f];
    }
    double carried = 0; /* lower times off-diagonal, of the row before */
    for (int64_t i = 0; i < points; i++) {
        double left = theta * ratio * heat->conductivity[i];
        double right = theta * ratio * heat->conductivity[i + 1];
        heat->inverse[i] = 1 / (1 + left + right - carried);
        heat->lower[i] = -right * heat->inverse[i];
        carried = -right * heat->lower[i];
    }
}

/* Transpose: to (columns, rows) = from (rows, columns)^T, with these row strides. */
static void turn(int64_t rows, int64_t columns, const double *from, int64_t from_stride, double *to,
                 int64_t to_stride)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            to[j * to_stride + i] = from[i * from_stride + j];
}

assay_status assay__heat_forward(assay__heat *heat, const double *log_conductivity, int64_t batch,
                                 const double *initial, assay_error *error, const double **output)
{
    int64_t points = heat->shape.points, snapshots = heat->shape.snapshots;
    if (batch < 1 || batch > INT64_MAX / 8 / points)
        return assay__fail(error, ASSAY_E_ARGUMENT, "no initial values to start from");
    assay_status status = fit_batch(heat, batch, error);
    if (status != ASSAY_OK)
        return status;
    factor(heat, log_conductivity);
    turn(batch, points, initial, points, heat->trajectory, batch);
    for (int64_t step = 1; step <= heat->steps; step++) {
        const double *before = heat->trajectory + (step - 1) * points * batch;
        double *now = heat->trajectory + step * points * batch;
        assay__heat_apply(points, batch, heat->explicit_part, before, now);
        assay__heat_solve(points, batch, heat->lower, heat->inverse, now);
        if (step % heat->shape.steps == 0) {
            int64_t snapshot = step / heat->shape.steps - 1;
            turn(points, batch, now, batch, heat->output + snapshot * points, snapshots * points);
        }
    }
    *output = heat->output;
    return ASSAY_OK;
}

static void add_snapshot(assay__heat *heat, int64_t snapshot, const double *doutput)
{
    int64_t points = heat->shape.points, batch = heat->batch;
    for (int64_t b = 0; b < batch; b++) {
        const double *row = doutput + (b * heat->shape.snapshots + snapshot) * points;
        for (int64_t i = 0; i < points; i++)
            heat->adjoint[i * batch + b] += row[i];
    }
}

/* Turn the gradient by the conductivities of the faces into the gradient by the knots. */
static void collect_slopes(const assay__heat *heat, double *dlog_conductivity)
{
    double ratio = heat->dt / (heat->dx * heat->dx);
    memset(dlog_conductivity, 0, (size_t)heat->shape.knots * sizeof(double));
    for (int64_t f = 0; f <= heat->shape.points; f++) {
        double sum = 0;
        for (int64_t b = 0; b < heat->batch; b++)
            sum += heat->slope[f * heat->batch + b];
        int64_t knot;
        double share = knot_share(heat, f, &knot);
        double slope = sum * ratio * heat->conductivity[f];
        dlog_conductivity[knot] += (1 - share) * slope;
        if (share != 0)
            dlog_conductivity[knot + 1] += share * slope;
    }
}

void assay__heat_backward(assay__heat *heat, const double *doutput, double *dlog_conductivity,
                          double *dinitial)
{
    int64_t points = heat->shape.points, batch = heat->batch;
    memset(heat->adjoint, 0, (size_t)(points * batch) * sizeof(double));
    memset(heat->slope, 0, (size_t)((points + 1) * batch) * sizeof(double));
    for (int64_t step = heat->steps; step >= 1; step--) {
        if (step % heat->shape.steps == 0)
            add_snapshot(heat, step / heat->shape.steps - 1, doutput);
        const double *now = heat->trajectory + step * points * batch;
        assay__heat_solve(points, batch, heat->lower, heat->inverse, heat->adjoint);
        assay__heat_slopes(points, batch, heat->shape.implicitness, heat->adjoint, now,
                           now - points * batch, heat->slope);
        assay__heat_apply(points, batch, heat->explicit_part, heat->adjoint, heat->adjoint_next);
        double *swap = heat->adjoint;
        heat->adjoint = heat->adjoint_next;
        heat->adjoint_next = swap;
    }
    if (dinitial != NULL)
        turn(points, batch, heat->adjoint, batch, dinitial, points);
    collect_slopes(heat, dlog_conductivity);
}

assay_status assay__heat_misfit(void *problem, const double *log_conductivity, double *value,
                                double *gradient)
{
    const assay__heat_problem *p = problem;
    const double *output;
    assay_status status =
        assay__heat_forward(p->heat, log_conductivity, p->batch, p->initial, NULL, &output);
    if (status != ASSAY_OK)
        return status;
    const assay__heat_shape *shape = &p->heat->shape;
    int64_t count = p->batch * shape->snapshots * shape->points;
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        double off = output[i] - p->data[i];
        sum += off * off;
        p->doutput[i] = 2 * off / (double)count;
    }
    assay__heat_backward(p->heat, p->doutput, gradient, NULL);
    double roughness = 0;
    int64_t pairs = shape->knots - 1;
    for (int64_t i = 0; i < pairs; i++) {
        double step = log_conductivity[i + 1] - log_conductivity[i];
        double slope = 2 * p->smoothness * step / (double)pairs;
        roughness += step * step / (double)pairs;
        gradient[i] -= slope;
        gradient[i + 1] += slope;
    }
    *value = sum / (double)count + p->smoothness * roughness;
    return ASSAY_OK;
}
