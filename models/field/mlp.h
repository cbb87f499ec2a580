/* A multilayer perceptron that regresses a function: x (rows, input) -> y (rows, output).
 *
 *     h_0 = x,   h_l = f(scale_l (W_l h_{l-1} + b_l)) for each hidden layer,   y = W h + b
 *
 * The parameters have the order and the names of a PyTorch state_dict: layers.0.weight (hidden,
 * input), layers.0.bias (hidden), layers.1.weight (hidden, hidden), ... With L hidden layers, the
 * last, linear layer has layers.L.weight (output, hidden) and layers.L.bias (output). They are
 * drawn as PyTorch's nn.Linear draws them, U(-1/sqrt(fan-in), 1/sqrt(fan-in)), unless the caller
 * draws others.
 *
 *     assay__mlp_shape shape = {.input = 2, .hidden = 64, .output = 1, .hidden_layers = 3,
 *                               .activation = ASSAY__TANH};
 *     if (assay__mlp_new(&shape, 42, &error, &mlp) != ASSAY_OK) ...
 *     for (...) assay__neural_net_train(mlp, rows, x, target, 1e-3, &error, &loss);
 *     assay__neural_net_forward(mlp, rows, x, &error, &y);
 *
 * assay__mlp_new() is declared here; the other calls are those of neural_net.h. */
#ifndef ASSAY_MODELS_FIELD_MLP_H
#define ASSAY_MODELS_FIELD_MLP_H

#include "assay/model.h"
#include "models/field/neural_net.h"
#include "models/kernel/activation.h"

typedef struct assay__mlp_shape {
    int64_t input, hidden, output; /* widths, at least 1 */
    int64_t hidden_layers;         /* at least 1 */
    assay__activation activation;
    float first_scale, hidden_scale; /* of the first hidden layer, of the others; 0 means 1 */
} assay__mlp_shape;

/* Makes a network. ASSAY_E_ARGUMENT for a width below 1 or an unknown activation;
 * ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__mlp_new(const assay__mlp_shape *shape, uint64_t seed,
                                           assay_error *error, assay__neural_net **mlp);

/* The shape of a network that assay__mlp_new() or assay__siren_new() made. */
const assay__mlp_shape *assay__mlp_shape_of(const assay__neural_net *mlp);

extern const assay_model_class assay__mlp_class;

#endif
