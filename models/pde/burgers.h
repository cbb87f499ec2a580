/* Burgers' equation on a ring, and made-up data from it.
 *
 *     u_t + u u_x = viscosity u_xx,  u(x + 1, t) = u(x, t)
 *
 * u stands at x_i = i / points. float64; one solver belongs to one thread.
 *
 *     if (assay__burgers_new(256, 0.01, &error, &burgers) != ASSAY_OK) ...
 *     assay__burgers_initial(256, 4, &random, u);
 *     assay__burgers_advance(burgers, 0.5, u);
 */
#ifndef ASSAY_MODELS_PDE_BURGERS_H
#define ASSAY_MODELS_PDE_BURGERS_H

#include <stdint.h>

#include "assay/model.h"
#include "base/random.h"

typedef struct assay__burgers assay__burgers;

/* points at least 5, viscosity positive; ASSAY_E_ARGUMENT names the other. A front is about 4
 * viscosity / (its jump) wide: a grid coarser than that gives ripples beside it, never growth. */
ASSAY_MUST_USE assay_status assay__burgers_new(int64_t points, double viscosity, assay_error *error,
                                               assay__burgers **burgers);
void assay__burgers_free(assay__burgers *burgers);

/* u (points) replaced by the solution after `duration` (0 or more). Fourth order in space and time.
 * The mean is kept, the energy falls. Returns the number of time steps, which the size of u, the
 * grid and the viscosity decide; each costs ASSAY__BURGERS_STEP_OPERATIONS per point. No
 * allocation. */
int64_t assay__burgers_advance(assay__burgers *burgers, double duration, double *u);

/* Arithmetic operations per point and time step: in each of 4 stages 17 for the right-hand side and
 * 4 for the sums of Runge and Kutta, and 1 at the end. */
enum { ASSAY__BURGERS_STEP_OPERATIONS = 4 * (17 + 4) + 1 };

/* A smooth random function of mean 0 and root mean square 1/2: `modes` waves with normal amplitudes
 * that fall as 1 / wave number. It depends on modes and the generator only, not on points, so grids
 * of any size sample the same functions. u (points) is overwritten. */
void assay__burgers_initial(int64_t points, int64_t modes, assay__random *random, double *u);

/* ---- Data sets ---- */

typedef struct assay__burgers_data_shape {
    int64_t points;
    int64_t modes;     /* of the initial values */
    int64_t snapshots; /* equally spaced times, the last `duration`; at least 1 */
    double viscosity, duration;
} assay__burgers_data_shape;

/* One sample at a time, so that making data can be measured as it runs: sample i is a function of
 * the seed and i alone. `initial` (points) and `later` (snapshots, points), float32. */
typedef struct assay__burgers_data assay__burgers_data;

ASSAY_MUST_USE assay_status assay__burgers_data_new(const assay__burgers_data_shape *shape,
                                                    uint64_t seed, assay_error *error,
                                                    assay__burgers_data **data);
void assay__burgers_data_free(assay__burgers_data *data);
void assay__burgers_data_sample(assay__burgers_data *data, int64_t index, float *initial,
                                float *later);

#endif
