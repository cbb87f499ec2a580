/* SIREN (Sitzmann, Martel, Bergman, Lindell, Wetzstein 2020, "Implicit Neural Representations with
 * Periodic Activation Functions"): a perceptron whose hidden layers are sin(omega (W x + b)).
 *
 * It is an assay__mlp with that activation and the paper's draw of weights (section 3.2 and its
 * supplement): the first layer's from U(-1/input, 1/input), all others' from
 * U(-sqrt(6/fan-in)/omega_hidden, sqrt(6/fan-in)/omega_hidden); biases as nn.Linear's, as in the
 * authors' code. Names of tensors, and everything one does with it: see mlp.h. */
#ifndef ASSAY_MODELS_FIELD_SIREN_H
#define ASSAY_MODELS_FIELD_SIREN_H

#include "models/field/mlp.h"

typedef struct assay__siren_shape {
    int64_t input, hidden, output; /* widths, at least 1 */
    int64_t hidden_layers;         /* at least 1 */
    float omega_first, omega_hidden;
} assay__siren_shape;

ASSAY_MUST_USE assay_status assay__siren_new(const assay__siren_shape *shape, uint64_t seed,
                                             assay_error *error, assay__neural_net **siren);

extern const assay_model_class assay__siren_class;

#endif
