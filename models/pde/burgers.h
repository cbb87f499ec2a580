/* Burgers' equation on a ring, and made-up data from it.
 *
 *     u_t + u u_x = viscosity u_xx,  u(x + 1, t) = u(x, t)
 *
 * The grid has the points x_i = i / points. The arithmetic is in float64. A solver must be used by
 * one thread at a time.
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

/* Make a solver; assay__burgers_free() frees it. ASSAY_E_ARGUMENT if there are fewer than 5 points
 * or the viscosity is not positive. A front is about 4 viscosity / (its jump) wide. A grid coarser
 * than that gives ripples beside the front, but the solution does not grow. */
ASSAY_MUST_USE assay_status assay__burgers_new(int64_t points, double viscosity, assay_error *error,
                                               assay__burgers **burgers);
void assay__burgers_free(assay__burgers *burgers);

/* Replace u (points) by the solution after `duration` (0 or more). The method is of fourth order in
 * space and time. The mean stays the same, and the energy falls. Returns the number of time steps,
 * which follows from the largest |u|, the grid and the viscosity. Each step costs
 * ASSAY__BURGERS_STEP_OPERATIONS per point. Nothing is allocated. */
int64_t assay__burgers_advance(assay__burgers *burgers, double duration, double *u);

/* Arithmetic operations per point and time step: in each of 4 stages 17 for the right-hand side and
 * 4 for the sums of Runge and Kutta, and 1 at the end. */
enum { ASSAY__BURGERS_STEP_OPERATIONS = 4 * (17 + 4) + 1 };

/* Overwrite u (points) with a smooth random function of mean 0 and root mean square 1/2. It is a
 * sum of `modes` waves with normally distributed amplitudes that fall as 1 / wave number. The
 * function depends only on `modes` and the generator, so grids of any size sample the same one. */
void assay__burgers_initial(int64_t points, int64_t modes, assay__random *random, double *u);

/* ---- Data sets ---- */

typedef struct assay__burgers_data_shape {
    int64_t points;
    int64_t modes;     /* of the initial values */
    int64_t snapshots; /* equally spaced times, the last `duration`; at least 1 */
    double viscosity, duration;
} assay__burgers_data_shape;

/* A generator of samples. It makes one sample at a time, so that a caller can measure the making of
 * data as it runs. Sample i depends only on the shape, the seed and i. A sample consists of
 * `initial` (points) and `later` (snapshots, points), in float32. A generator must be used by one
 * thread at a time. */
typedef struct assay__burgers_data assay__burgers_data;

ASSAY_MUST_USE assay_status assay__burgers_data_new(const assay__burgers_data_shape *shape,
                                                    uint64_t seed, assay_error *error,
                                                    assay__burgers_data **data);
void assay__burgers_data_free(assay__burgers_data *data);
void assay__burgers_data_sample(assay__burgers_data *data, int64_t index, float *initial,
                                float *later);

#endif
