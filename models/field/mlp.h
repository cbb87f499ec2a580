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
 *     for (...) assay__neural_net_train(mlp, rows, x, target, 1e-3, &error, &loss);
 *     assay__neural_net_forward(mlp, rows, x, &error, &y);
 *
 * The calls but _new() are those of neural_net.h. */
#ifndef ASSAY_MODELS_FIELD_MLP_H
#define ASSAY_MODELS_FIELD_MLP_H

#include "assay/model.h"
#include "models/field/neural_net.h"
#include "models/kernel/activation.h"

typedef struct assay__mlp_shape {
    int64_t input, hidden, output; /* widths, at least 1 */
    int64_t hidden_layers;         /* at least 1 */
    assay__activation activation;
    float first_scale, hidden_scale; /* of the first hidden layer and the others; 0: 1 */
} assay__mlp_shape;

/* ASSAY_E_ARGUMENT for a shape with a width below 1. */
ASSAY_MUST_USE assay_status assay__mlp_new(const assay__mlp_shape *shape, uint64_t seed,
                                           assay_error *error, assay__neural_net **mlp);

/* The shape of a network that _new(), or assay__siren_new(), made. */
const assay__mlp_shape *assay__mlp_shape_of(const assay__neural_net *mlp);

extern const assay_model_class assay__mlp_class;

#endif
