/* The model class "kan": the options of a Kolmogorov-Arnold network and how they are derived from
 * weights. */
#include "base/error.h"
#include "models/field/field_class.h"
#include "models/field/kan.h"

static const char *const scaler_words[] = {"off", "on", NULL};

enum { INPUT, HIDDEN, LAYERS, OUTPUT, GRID, ORDER, SCALER, BATCH };

static const assay_model_option options[] = {
    [INPUT] = {"input-dim", "columns of the input", 2, 1, 65536, true, NULL},
    [HIDDEN] = {"hidden-dim", "width of the hidden layers", 8, 1, 4096, true, NULL},
    [LAYERS] = {"num-layers", "hidden layers; 0: one layer from input to output", 1, 0, 1024, true,
                NULL},
    [OUTPUT] = {"output-dim", "columns of the output", 1, 1, 65536, true, NULL},
    [GRID] = {"grid-size", "intervals of the splines on [-1, 1]", 5, 1, 65536, true, NULL},
    [ORDER] = {"spline-order", "degree of the splines", 3, 1, ASSAY__KAN_MOST_ORDER, true, NULL},
    [SCALER] = {"spline-scaler", "a learnt scale of each spline", 1, 0, 1, true, scaler_words},
    [BATCH] = {"batch-size", "rows of made-up data", 1000, 1, 1e9, true, NULL},
};

static assay_status create(const double *settings, uint64_t seed, assay_error *error, void **state)
{
    assay__kan_shape shape = {.input = (int64_t)settings[INPUT],
                              .hidden = (int64_t)settings[HIDDEN],
                              .output = (int64_t)settings[OUTPUT],
                              .hidden_layers = (int64_t)settings[LAYERS],
                              .grid = (int64_t)settings[GRID],
                              .order = (int64_t)settings[ORDER],
                              .scaler = settings[SCALER] != 0};
    assay__neural_net *kan = NULL;
    assay_status status = assay__kan_new(&shape, seed, error, &kan);
    return status == ASSAY_OK ? assay__field_create(kan, (int64_t)settings[BATCH], error, state)
                              : status;
}

/* An edge has grid + order coefficients. The order stays as set where that is possible, and the
 * grid is what remains. */
static assay_status infer(const assay_tensor *weights, size_t count, double *settings,
                          assay_error *error)
{
    assay__field_widths widths;
    assay_status status = assay__field_infer(weights, count, "spline_weight", 3, 1, error, &widths);
    if (status != ASSAY_OK)
        return status;
    double functions = (double)assay__field_find(weights, count, 0, "spline_weight", 3)->shape[2];
    if (functions < 2) {
        return assay__fail(error, ASSAY_E_FORMAT,
                           "layers.0.spline_weight holds %g coefficients an edge, no spline has "
                           "fewer than 2",
                           functions);
    }
    settings[INPUT] = (double)widths.input;
    settings[HIDDEN] = (double)widths.hidden;
    settings[LAYERS] = (double)widths.hidden_layers;
    settings[OUTPUT] = (double)widths.output;
    settings[ORDER] = settings[ORDER] < functions ? settings[ORDER] : functions - 1;
    settings[GRID] = functions - settings[ORDER];
    settings[SCALER] = assay__field_find(weights, count, 0, "spline_scaler", 2) != NULL;
    return ASSAY_OK;
}

const assay_model_class assay__kan_class = {
    ASSAY__FIELD_FUNCTIONS,
    .name = "kan",
    .summary = "Kolmogorov-Arnold network: learnt B-splines on every edge (KAN)",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .inputs = assay__field_inputs,
    .create = create,
    .infer = infer,
    .example = assay__field_example,
};
