/* The model classes "mlp" and "siren". They differ in their options and in how a network is
 * made. */
#include "models/field/field_class.h"
#include "models/field/mlp.h"
#include "models/field/siren.h"

static const char *const activation_words[] = {"relu", "tanh", "gelu", "silu", "sigmoid", NULL};
static const assay__activation activations[] = {ASSAY__RELU, ASSAY__TANH, ASSAY__GELU, ASSAY__SILU,
                                                ASSAY__SIGMOID};

enum { INPUT, HIDDEN, LAYERS, OUTPUT, SHARED_OPTIONS };
enum { MLP_ACTIVATION = SHARED_OPTIONS, MLP_BATCH };
enum { SIREN_FIRST = SHARED_OPTIONS, SIREN_HIDDEN, SIREN_BATCH };

#define SHARED                                                                                     \
    [INPUT] = {"input-dim", "columns of the input", 2, 1, 65536, true, NULL},                      \
    [HIDDEN] = {"hidden-dim", "width of the hidden layers", 64, 1, 16384, true, NULL},             \
    [LAYERS] = {"num-layers", "hidden layers", 3, 1, 1024, true, NULL},                            \
    [OUTPUT] = {"output-dim", "columns of the output", 1, 1, 65536, true, NULL}

#define BATCH                                                                                      \
    {                                                                                              \
        "batch-size", "rows of made-up data", 1000, 1, 1e9, true, NULL                             \
    }

static const assay_model_option mlp_options[] = {
    SHARED,
    [MLP_ACTIVATION] = {"activation", "function of the hidden layers", 0, 0, 4, true,
                        activation_words},
    [MLP_BATCH] = BATCH,
};

static const assay_model_option siren_options[] = {
    SHARED,
    [SIREN_FIRST] = {"omega-first", "frequency of the first layer", 30, 1e-6, 1e6, false, NULL},
    [SIREN_HIDDEN] = {"omega-hidden", "frequency of the other hidden layers", 30, 1e-6, 1e6, false,
                      NULL},
    [SIREN_BATCH] = BATCH,
};

static assay_status create_mlp(const double *settings, uint64_t seed, assay_error *error,
                               void **state)
{
    assay__mlp_shape shape = {.input = (int64_t)settings[INPUT],
                              .hidden = (int64_t)settings[HIDDEN],
                              .output = (int64_t)settings[OUTPUT],
                              .hidden_layers = (int64_t)settings[LAYERS],
                              .activation = activations[(size_t)settings[MLP_ACTIVATION]]};
    assay__neural_net *mlp = NULL;
    assay_status status = assay__mlp_new(&shape, seed, error, &mlp);
    return status == ASSAY_OK ? assay__field_create(mlp, (int64_t)settings[MLP_BATCH], error, state)
                              : status;
}

static assay_status create_siren(const double *settings, uint64_t seed, assay_error *error,
                                 void **state)
{
    assay__siren_shape shape = {.input = (int64_t)settings[INPUT],
                                .hidden = (int64_t)settings[HIDDEN],
                                .output = (int64_t)settings[OUTPUT],
                                .hidden_layers = (int64_t)settings[LAYERS],
                                .omega_first = (float)settings[SIREN_FIRST],
                                .omega_hidden = (float)settings[SIREN_HIDDEN]};
    assay__neural_net *siren = NULL;
    assay_status status = assay__siren_new(&shape, seed, error, &siren);
    return status == ASSAY_OK
               ? assay__field_create(siren, (int64_t)settings[SIREN_BATCH], error, state)
               : status;
}

static assay_status infer(const assay_tensor *weights, size_t count, double *settings,
                          assay_error *error)
{
    assay__field_widths widths;
    assay_status status = assay__field_infer(weights, count, "weight", 2, 2, error, &widths);
    if (status == ASSAY_OK) {
        settings[INPUT] = (double)widths.input;
        settings[HIDDEN] = (double)widths.hidden;
        settings[LAYERS] = (double)widths.hidden_layers;
        settings[OUTPUT] = (double)widths.output;
    }
    return status;
}

const assay_model_class assay__mlp_class = {
    ASSAY__FIELD_FUNCTIONS,
    .name = "mlp",
    .summary = "multilayer perceptron for function regression",
    .options = mlp_options,
    .option_count = sizeof mlp_options / sizeof *mlp_options,
    .inputs = assay__field_inputs,
    .create = create_mlp,
    .infer = infer,
    .example = assay__field_example,
};

const assay_model_class assay__siren_class = {
    ASSAY__FIELD_FUNCTIONS,
    .name = "siren",
    .summary = "perceptron with sines for functions with fine detail (SIREN)",
    .options = siren_options,
    .option_count = sizeof siren_options / sizeof *siren_options,
    .inputs = assay__field_inputs,
    .create = create_siren,
    .infer = infer,
    .example = assay__field_example,
};
