/* A net that learns what the Burgers solver does: u(x, 0) -> u(x, duration), on the same grid, in
 * one pass instead of hundreds of time steps.
 *
 * It is a perceptron (field/mlp.h: weights layers.N.weight, layers.N.bias) from all points to all
 * points, trained on samples of assay__burgers_data. Making data, a batch and an evaluation are
 * separate calls, so that each can be measured:
 *
 *     if (assay__burgers_surrogate_new(&shape, 42, &error, &surrogate) != ASSAY_OK) ...
 *     for (int64_t i = 0; i < shape.samples + shape.held_out; i++)
 *         assay__burgers_surrogate_make(surrogate, i);
 *     for (epoch ...) {
 *         assay__burgers_surrogate_shuffle(surrogate);
 *         for (int64_t b = 0; b < assay__burgers_surrogate_batches(surrogate); b++)
 *             assay__burgers_surrogate_train(surrogate, b, 1e-3, &error, &loss);
 *         assay__burgers_surrogate_evaluate(surrogate, &error, &held_out_loss, &relative);
 *     }
 */
#ifndef ASSAY_MODELS_PDE_BURGERS_SURROGATE_H
#define ASSAY_MODELS_PDE_BURGERS_SURROGATE_H

#include "assay/model.h"
#include "models/field/mlp.h"
#include "models/pde/burgers.h"

typedef struct assay__burgers_surrogate_shape {
    assay__burgers_data_shape data; /* snapshots must be 1 */
    int64_t hidden, hidden_layers;
    int64_t samples, held_out; /* at least 1 each */
    int64_t batch;             /* at most samples */
} assay__burgers_surrogate_shape;

typedef struct assay__burgers_surrogate assay__burgers_surrogate;

/* Weights, data and order all come from the seed. */
ASSAY_MUST_USE assay_status
assay__burgers_surrogate_new(const assay__burgers_surrogate_shape *shape, uint64_t seed,
                             assay_error *error, assay__burgers_surrogate **surrogate);
void assay__burgers_surrogate_free(assay__burgers_surrogate *surrogate);

/* Solve for sample `index`, 0 ... samples + held_out - 1; the last held_out are not trained on. */
void assay__burgers_surrogate_make(assay__burgers_surrogate *surrogate, int64_t index);
/* The same with a generator of the caller's, of the surrogate's shape and seed: each thread with
 * one of its own may make other samples at the same time. */
void assay__burgers_surrogate_make_with(assay__burgers_surrogate *surrogate,
                                        assay__burgers_data *data, int64_t index);

/* A new order of the samples: the start of an epoch. */
void assay__burgers_surrogate_shuffle(assay__burgers_surrogate *surrogate);

/* Whole batches in an epoch; what is left over is not trained on until the next order. */
int64_t assay__burgers_surrogate_batches(const assay__burgers_surrogate *surrogate);

/* One step of Adam on batch `index` of this order, each sample turned along the ring by a random
 * shift; *loss is the mean squared error before it. No
 * allocation after the first. */
ASSAY_MUST_USE assay_status assay__burgers_surrogate_train(assay__burgers_surrogate *surrogate,
                                                           int64_t index, double learning_rate,
                                                           assay_error *error, double *loss);

/* On what was held out: the mean squared error, and its root relative to the root mean square of
 * the true solutions. */
ASSAY_MUST_USE assay_status assay__burgers_surrogate_evaluate(assay__burgers_surrogate *surrogate,
                                                              assay_error *error, double *loss,
                                                              double *relative);

/* The net of that size: as many inputs as outputs, GELU between. */
assay__mlp_shape assay__burgers_surrogate_net_shape(int64_t points, int64_t hidden,
                                                    int64_t hidden_layers);

assay__neural_net *assay__burgers_surrogate_net(assay__burgers_surrogate *surrogate);

/* The class "burgers_surrogate": the same net; its example is made by the solver. */
extern const assay_model_class assay__burgers_surrogate_class;

#endif
