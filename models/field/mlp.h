/* A multilayer perceptron that regresses a function: x (rows, input) -> y (rows, output).
 *
 *     h_0 = x,   h_l = f(scale_l (W_l h_{l-1} + b_l)) for each hidden layer,   y = W h + b
 *
 * Parameters, in the order and with the names of a PyTorch state_dict: layers.0.weight (hidden,
 * input), layers.0.bias (hidden), layers.1.weight (hidden, hidden), ..., and of the last, linear
 * one layers.L.weight (output, hidden), layers.L.bias (output), with L hidden layers. They are
 * drawn as PyTorch's nn.Linear draws them, U(-1/sqrt(fan-in), 1/sqrt(fan-in)), unless the caller
 * draws others.
 *
 *     assay__mlp_shape shape = {.input = 2, .hidden = 64, .output = 1, .hidden_layers = 3,
 *                               .activation = ASSAY__TANH};
 *     if (assay__mlp_new(&shape, 42, &error, &mlp) != ASSAY_OK) ...
 *     for (...) assay__mlp_train(mlp, rows, x, target, 1e-3, &error, &loss);
 *     assay__mlp_forward(mlp, rows, x, &error, &y);
 *
 * Any number of rows, at least 1, may be given to any call. They are worked on in blocks that pass
 * through all layers while they are in the cache, so activations are kept for one block only, and
 * nothing is allocated after _new() but the output (rows, output), when rows grow, and Adam's
 * moments at the first update. One thread at a time. */
#ifndef ASSAY_MODELS_FIELD_MLP_H
#define ASSAY_MODELS_FIELD_MLP_H

#include "assay/model.h"
#include "kernel/activation.h"
#include "kernel/parameters.h"

typedef struct assay__mlp_shape {
    int64_t input, hidden, output; /* widths, at least 1 */
    int64_t hidden_layers;         /* at least 1 */
    assay__activation activation;
    float first_scale, hidden_scale; /* of the first hidden layer and the others; 0: 1 */
} assay__mlp_shape;

typedef struct assay__mlp assay__mlp;

/* ASSAY_E_ARGUMENT for a shape with a width below 1. */
ASSAY_MUST_USE assay_status assay__mlp_new(const assay__mlp_shape *shape, uint64_t seed,
                                           assay_error *error, assay__mlp **mlp);
void assay__mlp_free(assay__mlp *mlp);

/* x (rows, input); *y (rows, output) is the model's until the next call. */
ASSAY_MUST_USE assay_status assay__mlp_forward(assay__mlp *mlp, int64_t rows, const float *x,
                                               assay_error *error, const float **y);

/* Mean squared error over all elements against target (rows, output), and its gradient in every
 * parameter (overwritten). Costs a forward and a backward pass. */
ASSAY_MUST_USE assay_status assay__mlp_gradient(assay__mlp *mlp, int64_t rows, const float *x,
                                                const float *target, assay_error *error,
                                                double *loss);

/* The gradient of any other loss, from dy (rows, output), its derivative by y: in every parameter
 * (overwritten) and, unless NULL, in dx (rows, input). Makes the activations again from x, so it
 * costs a forward pass more than backward alone. */
ASSAY_MUST_USE assay_status assay__mlp_backward(assay__mlp *mlp, int64_t rows, const float *x,
                                                const float *dy, assay_error *error, float *dx);

/* One step of Adam along the gradients that stand there. */
ASSAY_MUST_USE assay_status assay__mlp_update(assay__mlp *mlp, double learning_rate,
                                              assay_error *error);

/* _gradient, then _update. */
ASSAY_MUST_USE assay_status assay__mlp_train(assay__mlp *mlp, int64_t rows, const float *x,
                                             const float *target, double learning_rate,
                                             assay_error *error, double *loss);

const assay__mlp_shape *assay__mlp_shape_of(const assay__mlp *mlp);
assay__parameters *assay__mlp_parameters(assay__mlp *mlp);
void assay__mlp_memory(const assay__mlp *mlp, assay_model_memory *memory);

/* The arithmetic of forward() on so many rows. */
void assay__mlp_describe(const assay__mlp *mlp, int64_t rows, assay_operation_sink sink,
                         void *context);

/* The same by plain loops in double: the reference in tests. `values` and `gradient` (parameter
 * count; NULL: not wanted) lie in the order of assay__mlp_parameters(); y (rows, output) is
 * written. Returns the mean squared error against target, NaN when out of memory. */
double assay__mlp_reference(const assay__mlp_shape *shape, const double *values, int64_t rows,
                            const float *x, const float *target, double *y, double *gradient);

extern const assay_model_class assay__mlp_class;

#endif
