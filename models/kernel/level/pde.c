/* Stencils and tridiagonal systems of the differential equations. The compiler vectorises over the
 * grid points, or over the systems of a batch. */
#include "models/kernel/level/level.h"

void ASSAY__AT(burgers_slope)(int64_t points, double viscosity, const double *u,
                              double *restrict slope)
{
    double n = (double)points;
    double near = -2.0 / 3 * n / 3, far = 1.0 / 12 * n / 3;
    double spread = viscosity * n * n / 12;
    for (int64_t i = 0; i < points; i++) {
        double around = u[i - 1] + u[i + 1], beyond = u[i - 2] + u[i + 2];
        double flux = near * (u[i + 1] - u[i - 1]) * (around + u[i]) +
                      far * (u[i + 2] - u[i - 2]) * (beyond + u[i]);
        slope[i] = flux + spread * (16 * around - beyond - 30 * u[i]);
    }
}

void ASSAY__AT(burgers_stage)(int64_t points, double weight, double reach, const double *u,
                              const double *slope, double *restrict sum, double *restrict next)
{
    for (int64_t i = 0; i < points; i++) {
        sum[i] += weight * slope[i];
        next[i] = u[i] + reach * slope[i];
    }
}

void ASSAY__AT(heat_solve)(int64_t points, int64_t batch, const double *lower,
                           const double *inverse, double *u)
{
    for (int64_t i = 1; i < points; i++) {
        double factor_of = lower[i - 1];
        double *row = u + i * batch;
        ASSAY__LANES
        for (int64_t b = 0; b < batch; b++)
            row[b] -= factor_of * row[b - batch];
    }
    for (int64_t b = 0; b < batch; b++)
        u[(points - 1) * batch + b] *= inverse[points - 1];
    for (int64_t i = points - 2; i >= 0; i--) {
        double scale = inverse[i], factor_of = lower[i];
        double *row = u + i * batch;
        ASSAY__LANES
        for (int64_t b = 0; b < batch; b++)
            row[b] = row[b] * scale - factor_of * row[b + batch];
    }
}

void ASSAY__AT(heat_apply)(int64_t points, int64_t batch, const double *flux, const double *from,
                           double *restrict to)
{
    for (int64_t i = 0; i < points; i++) {
        const double *u = from + i * batch;
        double left = flux[i], right = flux[i + 1];
        if (i > 0 && i < points - 1) {
            ASSAY__LANES
            for (int64_t b = 0; b < batch; b++) {
                to[i * batch + b] =
                    u[b] + (right * (u[b + batch] - u[b]) - left * (u[b] - u[b - batch]));
            }
            continue;
        }
        for (int64_t b = 0; b < batch; b++) {
            double before = i > 0 ? u[b - batch] : 0;
            double after = i < points - 1 ? u[b + batch] : 0;
            to[i * batch + b] = u[b] + (right * (after - u[b]) - left * (u[b] - before));
        }
    }
}

void ASSAY__AT(heat_slopes)(int64_t points, int64_t batch, double theta, const double *q,
                            const double *now, const double *before, double *slope)
{
    int64_t inner = points * batch;
    ASSAY__LANES
    for (int64_t i = batch; i < inner; i++) {
        double jump =
            theta * (now[i] - now[i - batch]) + (1 - theta) * (before[i] - before[i - batch]);
        slope[i] -= (q[i] - q[i - batch]) * jump;
    }
    for (int64_t b = 0; b < batch; b++) {
        int64_t last = inner - batch + b;
        slope[b] -= q[b] * (theta * now[b] + (1 - theta) * before[b]);
        slope[inner + b] -= q[last] * (theta * now[last] + (1 - theta) * before[last]);
    }
}
