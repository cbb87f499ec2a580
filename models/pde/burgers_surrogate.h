/* A neural net that learns to replace the Burgers solver: it maps u(x, 0) to u(x, duration) on the
 * same grid, in one pass instead of hundreds of time steps.
 *
 * The net is a perceptron (field/mlp.h: weights layers.N.weight, layers.N.bias) from all points to
 * all points, trained on samples of assay__burgers_data. Making a sample, training on a batch and
 * evaluating are separate calls, so that each can be measured:
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

/* Make a surrogate; assay__burgers_surrogate_free() frees it. Weights, data and the order of the
 * samples all follow from the seed. ASSAY_E_ARGUMENT if the shape is out of its limits;
 * ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status
assay__burgers_surrogate_new(const assay__burgers_surrogate_shape *shape, uint64_t seed,
                             assay_error *error, assay__burgers_surrogate **surrogate);
void assay__burgers_surrogate_free(assay__burgers_surrogate *surrogate);

/* Make sample `index`, 0 to samples + held_out - 1, with the solver. The last `held_out` samples
 * are for evaluation and are not trained on. */
void assay__burgers_surrogate_make(assay__burgers_surrogate *surrogate, int64_t index);
/* The same with the caller's generator, which must have the surrogate's data shape and seed.
 * Several threads, each with a generator of its own, may make different samples at the same time.
 */
void assay__burgers_surrogate_make_with(assay__burgers_surrogate *surrogate,
                                        assay__burgers_data *data, int64_t index);

/* Start an epoch: put the samples into a new random order. */
void assay__burgers_surrogate_shuffle(assay__burgers_surrogate *surrogate);

/* The number of whole batches in an epoch. Samples beyond the last whole batch are not used in this
 * epoch. */
int64_t assay__burgers_surrogate_batches(const assay__burgers_surrogate *surrogate);

/* Make one step of Adam on batch `index` of the present order. Each sample is shifted along the
 * ring by a random distance. *loss is the mean squared error before the step. Only the first call
 * allocates memory. */
ASSAY_MUST_USE assay_status assay__burgers_surrogate_train(assay__burgers_surrogate *surrogate,
                                                           int64_t index, double learning_rate,
                                                           assay_error *error, double *loss);

/* Evaluate the net on the held-out samples. *loss is the mean squared error, *relative its root
 * divided by the root mean square of the true solutions. */
ASSAY_MUST_USE assay_status assay__burgers_surrogate_evaluate(assay__burgers_surrogate *surrogate,
                                                              assay_error *error, double *loss,
                                                              double *relative);

/* The shape of the surrogate's net: `points` inputs and outputs, with GELU between the layers. */
assay__mlp_shape assay__burgers_surrogate_net_shape(int64_t points, int64_t hidden,
                                                    int64_t hidden_layers);

/* The net, which belongs to the surrogate. */
assay__neural_net *assay__burgers_surrogate_net(assay__burgers_surrogate *surrogate);

/* The model class "burgers_surrogate" has the same net. The solver makes its examples. */
extern const assay_model_class assay__burgers_surrogate_class;

#endif
