/* Solves Burgers' equation and makes data sets of its solutions.
 *
 * Space: the entropy-conserving flux of Burgers' equation, f(a, b) = (a^2 + a b + b^2) / 6 (Tadmor
 * 1987), is combined over one and two cells to fourth order (LeFloch, Mercier and Rohde 2002). It
 * conserves the mean and, apart from viscosity, the energy, so that the solution cannot grow even
 * if the grid is too coarse for a front. Written out, the derivative of u^2 / 2 is
 *
 *     sum over k = 1, 2 of w_k (u_{i+k} - u_{i-k}) (u_{i-k} + u_i + u_{i+k}) / (3 dx)
 *
 * with the weights w = 2/3, -1/12 of the fourth-order central difference. Upwind schemes would be
 * as robust, but they smear the fronts that a surrogate is to learn. A spectral method would need a
 * transform and dealiasing, for an accuracy that float32 data do not show.
 *
 * Time: the classical Runge-Kutta method. Its largest stable step is about 2.8 / (largest
 * eigenvalue), both along the imaginary axis and along the negative real axis. Advection has
 * imaginary eigenvalues up to 1.37 |u| / dx, for a central difference of order 4. Viscosity has
 * negative real eigenvalues up to 16/3 viscosity / dx^2. */
#include "models/pde/burgers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "models/kernel/kernels.h"

enum { HALO = 2, MIN_POINTS = 5 };

struct assay__burgers {
    int64_t points;
    double viscosity;
    double *stage; /* (HALO + points + HALO): the u of a stage, with wrapped ends */
    double *slope; /* (points): the right-hand side */
    double *sum;   /* (points): weighted sum of the stages' slopes */
};

assay_status assay__burgers_new(int64_t points, double viscosity, assay_error *error,
                                assay__burgers **burgers)
{
    if (points < MIN_POINTS || points > 1 << 24) {
        return assay__fail(error, ASSAY_E_ARGUMENT, "points must be %d to 16777216, not %lld",
                           MIN_POINTS, (long long)points);
    }
    if (!(viscosity > 0) || !isfinite(viscosity)) {
        return assay__fail(error, ASSAY_E_ARGUMENT, "the viscosity must be positive, not %g",
                           viscosity);
    }
    assay__burgers *made = calloc(1, sizeof *made);
    if (made != NULL) {
        *made = (assay__burgers){.points = points, .viscosity = viscosity};
        made->stage = calloc((size_t)(3 * points + 2 * HALO), sizeof(double));
    }
    if (made == NULL || made->stage == NULL) {
        assay__burgers_free(made);
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for %lld points",
                           (long long)points);
    }
    made->slope = made->stage + points + 2 * HALO;
    made->sum = made->slope + points;
    *burgers = made;
    return ASSAY_OK;
}

void assay__burgers_free(assay__burgers *burgers)
{
    if (burgers != NULL) {
        free(burgers->stage);
        free(burgers);
    }
}

static void wrap(int64_t points, double *stage)
{
    double *u = stage + HALO;
    memcpy(stage, u + points - HALO, HALO * sizeof *u);
    memcpy(u + points, u, HALO * sizeof *u);
}

static void step(assay__burgers *burgers, double dt, double *u)
{
    static const double weights[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    static const double reaches[4] = {0.5, 0.5, 1, 0};
    int64_t points = burgers->points;
    double *inner = burgers->stage + HALO;
    memcpy(inner, u, (size_t)points * sizeof *u);
    memset(burgers->sum, 0, (size_t)points * sizeof *u);
    for (int k = 0; k < 4; k++) {
        wrap(points, burgers->stage);
        assay__burgers_slope(points, burgers->viscosity, inner, burgers->slope);
        assay__burgers_stage(points, weights[k] * dt, reaches[k] * dt, u, burgers->slope,
                             burgers->sum, inner);
    }
    for (int64_t i = 0; i < points; i++)
        u[i] += burgers->sum[i];
}

int64_t assay__burgers_advance(assay__burgers *burgers, double duration, double *u)
{
    double most = 0; /* |u| does not rise later: the equation has a maximum principle */
    for (int64_t i = 0; i < burgers->points; i++)
        most = fabs(u[i]) > most ? fabs(u[i]) : most;
    double n = (double)burgers->points;
    double fastest = 1.37 * most * n + 16.0 / 3 * burgers->viscosity * n * n;
    int64_t steps = (int64_t)ceil(duration * fastest / 2); /* 2 < 2.8 for accuracy */
    for (int64_t i = 0; i < steps; i++)
        step(burgers, duration / (double)steps, u);
    return steps;
}

void assay__burgers_initial(int64_t points, int64_t modes, assay__random *random, double *u)
{
    memset(u, 0, (size_t)points * sizeof *u);
    double energy = 0;
    for (int64_t mode = 1; mode <= modes; mode++) {
        double cosine = assay__random_normal(random) / (double)mode;
        double sine = assay__random_normal(random) / (double)mode;
        energy += 0.5 * (cosine * cosine + sine * sine);
        for (int64_t i = 0; i < points; i++) {
            double angle = 2 * M_PI * (double)(mode * i % points) / (double)points;
            u[i] += cosine * cos(angle) + sine * sin(angle);
        }
    }
    double scale = energy > 0 ? 0.5 / sqrt(energy) : 0;
    for (int64_t i = 0; i < points; i++)
        u[i] *= scale;
}

struct assay__burgers_data {
    assay__burgers_data_shape shape;
    uint64_t seed;
    assay__burgers *burgers;
    double *u; /* (points) */
};

assay_status assay__burgers_data_new(const assay__burgers_data_shape *shape, uint64_t seed,
                                     assay_error *error, assay__burgers_data **data)
{
    if (shape->modes < 1 || shape->snapshots < 1 || !(shape->duration > 0) ||
        !isfinite(shape->duration)) {
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "modes and snapshots must be at least 1 and the duration positive");
    }
    assay__burgers_data *made = calloc(1, sizeof *made);
    if (made == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for Burgers' data");
    made->shape = *shape;
    made->seed = seed;
    assay_status status =
        assay__burgers_new(shape->points, shape->viscosity, error, &made->burgers);
    if (status == ASSAY_OK) {
        made->u = calloc((size_t)shape->points, sizeof *made->u);
        if (made->u == NULL)
            status = assay__fail(error, ASSAY_E_MEMORY, "out of memory for Burgers' data");
    }
    if (status == ASSAY_OK)
        *data = made;
    else
        assay__burgers_data_free(made);
    return status;
}

void assay__burgers_data_free(assay__burgers_data *data)
{
    if (data != NULL) {
        assay__burgers_free(data->burgers);
        free(data->u);
        free(data);
    }
}

static void store(int64_t points, const double *u, float *to)
{
    for (int64_t i = 0; i < points; i++)
        to[i] = (float)u[i];
}

void assay__burgers_data_sample(assay__burgers_data *data, int64_t index, float *initial,
                                float *later)
{
    const assay__burgers_data_shape *shape = &data->shape;
    assay__random random;
    assay__random_init(&random, data->seed + 0x9e3779b97f4a7c15U * (uint64_t)index);
    assay__burgers_initial(shape->points, shape->modes, &random, data->u);
    store(shape->points, data->u, initial);
    for (int64_t i = 0; i < shape->snapshots; i++) {
        (void)assay__burgers_advance(data->burgers, shape->duration / (double)shape->snapshots,
                                     data->u);
        store(shape->points, data->u, later + i * shape->points);
    }
}
