/* Makes an assay__mlp with sines as its activation, and draws its weights again as the paper of
 * SIREN says. */
#include "models/field/siren.h"

#include <math.h>

#include "base/error.h"

static void draw(assay__neural_net *siren, const assay__siren_shape *shape, uint64_t seed)
{
    assay__random random;
    assay__random_init(&random, seed);
    assay__parameters *parameters = &siren->parameters;
    for (int64_t i = 0; i <= shape->hidden_layers; i++) {
        float in = (float)(i == 0 ? shape->input : shape->hidden);
        float weight = i == 0 ? 1 / in : sqrtf(6 / in) / shape->omega_hidden;
        assay__parameters_uniform(parameters, 2 * (size_t)i, weight, &random);
        assay__parameters_uniform(parameters, 2 * (size_t)i + 1, 1 / sqrtf(in), &random);
    }
}

assay_status assay__siren_new(const assay__siren_shape *shape, uint64_t seed, assay_error *error,
                              assay__neural_net **siren)
{
    if (!(shape->omega_first > 0) || !(shape->omega_hidden > 0)) {
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "a SIREN of omega %g and %g; both have to be above 0",
                           (double)shape->omega_first, (double)shape->omega_hidden);
    }
    assay__mlp_shape general = {.input = shape->input,
                                .hidden = shape->hidden,
                                .output = shape->output,
                                .hidden_layers = shape->hidden_layers,
                                .activation = ASSAY__SINE,
                                .first_scale = shape->omega_first,
                                .hidden_scale = shape->omega_hidden};
    assay_status status = assay__mlp_new(&general, seed, error, siren);
    if (status == ASSAY_OK)
        draw(*siren, shape, seed);
    return status;
}
