/* SIREN (Sitzmann, Martel, Bergman, Lindell, Wetzstein 2020, "Implicit Neural Representations with
 * Periodic Activation Functions"): a perceptron whose hidden layers are sin(omega (W x + b)).
 *
 * It is an assay__mlp with that activation, and with weights drawn as in the paper (section 3.2 and
 * its supplement). The weights of the first layer are drawn from U(-1/input, 1/input), and all
 * other weights from U(-sqrt(6/fan-in)/omega_hidden, sqrt(6/fan-in)/omega_hidden). Biases are drawn
 * as nn.Linear draws them, as in the authors' code. mlp.h describes the names of the tensors and
 * the calls. */
#ifndef ASSAY_MODELS_FIELD_SIREN_H
#define ASSAY_MODELS_FIELD_SIREN_H

#include "models/field/mlp.h"

typedef struct assay__siren_shape {
    int64_t input, hidden, output; /* widths, at least 1 */
    int64_t hidden_layers;         /* at least 1 */
    float omega_first, omega_hidden;
} assay__siren_shape;

/* Makes a network. ASSAY_E_ARGUMENT for a width below 1 or an omega that is not above 0;
 * ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__siren_new(const assay__siren_shape *shape, uint64_t seed,
                                             assay_error *error, assay__neural_net **siren);

extern const assay_model_class assay__siren_class;

#endif
