/* mlp and siren as model classes: they differ in their options and in how they are made. */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "field/field.h"
#include "field/mlp.h"
#include "field/siren.h"

typedef struct state {
    assay__mlp *mlp;
    int64_t batch; /* rows of an example */
    assay__field_data example;
} state;

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

static void destroy(void *of)
{
    state *made = of;
    assay__mlp_free(made->mlp);
    assay__field_data_release(&made->example);
    free(made);
}

static assay_status new_state(double batch, assay_error *error, state **made)
{
    *made = calloc(1, sizeof **made);
    if (*made == NULL) {
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for a model");
    }
    (*made)->batch = (int64_t)batch;
    return ASSAY_OK;
}

static assay_status hand_over(assay_status status, state *made, void **of)
{
    if (status == ASSAY_OK) {
        *of = made;
    } else {
        destroy(made);
    }
    return status;
}

static assay_status create_mlp(const double *settings, uint64_t seed, assay_error *error, void **of)
{
    state *made = NULL;
    assay_status status = new_state(settings[MLP_BATCH], error, &made);
    if (status != ASSAY_OK) {
        return status;
    }
    assay__mlp_shape shape = {.input = (int64_t)settings[INPUT],
                              .hidden = (int64_t)settings[HIDDEN],
                              .output = (int64_t)settings[OUTPUT],
                              .hidden_layers = (int64_t)settings[LAYERS],
                              .activation = activations[(size_t)settings[MLP_ACTIVATION]]};
    return hand_over(assay__mlp_new(&shape, seed, error, &made->mlp), made, of);
}

static assay_status create_siren(const double *settings, uint64_t seed, assay_error *error,
                                 void **of)
{
    state *made = NULL;
    assay_status status = new_state(settings[SIREN_BATCH], error, &made);
    if (status != ASSAY_OK) {
        return status;
    }
    assay__siren_shape shape = {.input = (int64_t)settings[INPUT],
                                .hidden = (int64_t)settings[HIDDEN],
                                .output = (int64_t)settings[OUTPUT],
                                .hidden_layers = (int64_t)settings[LAYERS],
                                .omega_first = (float)settings[SIREN_FIRST],
                                .omega_hidden = (float)settings[SIREN_HIDDEN]};
    return hand_over(assay__siren_new(&shape, seed, error, &made->mlp), made, of);
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

static const assay_model_parameter *parameters(void *of, size_t *count)
{
    state *model = of;
    const assay__parameters *all = assay__mlp_parameters(model->mlp);
    *count = all->count;
    return all->list;
}

static assay_status forward(void *of, const assay_tensor *inputs, size_t count, assay_error *error,
                            assay_tensor *output)
{
    (void)count;
    state *model = of;
    const assay__mlp_shape *shape = assay__mlp_shape_of(model->mlp);
    int64_t rows;
    const float *y;
    assay_status status =
        assay__field_check(shape->input, shape->output, &inputs[0], NULL, error, &rows);
    if (status == ASSAY_OK) {
        status = assay__mlp_forward(model->mlp, rows, inputs[0].data, error, &y);
    }
    if (status == ASSAY_OK) {
        *output = assay__field_output(rows, shape->output, y);
    }
    return status;
}

static assay_status gradient(void *of, const assay_tensor *inputs, size_t count,
                             const assay_tensor *target, assay_error *error, double *loss)
{
    (void)count;
    state *model = of;
    const assay__mlp_shape *shape = assay__mlp_shape_of(model->mlp);
    int64_t rows;
    assay_status status =
        assay__field_check(shape->input, shape->output, &inputs[0], target, error, &rows);
    if (status != ASSAY_OK) {
        return status;
    }
    return assay__mlp_gradient(model->mlp, rows, inputs[0].data, target->data, error, loss);
}

static assay_status update(void *of, double learning_rate, assay_error *error)
{
    state *model = of;
    return assay__mlp_update(model->mlp, learning_rate, error);
}

static assay_status example(void *of, uint64_t seed, assay_error *error, assay_tensor *inputs,
                            assay_tensor *target)
{
    state *model = of;
    const assay__mlp_shape *shape = assay__mlp_shape_of(model->mlp);
    return assay__field_example(&model->example, model->batch, shape->input, shape->output, seed,
                                error, &inputs[0], target);
}

/* Activations as operations; SiLU is x times the sigmoid of x. */
static assay_operation_kind operation_of(assay__activation activation)
{
    switch (activation) {
    case ASSAY__GELU:
        return ASSAY_OP_GELU;
    case ASSAY__TANH:
        return ASSAY_OP_TANH;
    case ASSAY__SIGMOID:
    case ASSAY__SILU:
        return ASSAY_OP_SIGMOID;
    case ASSAY__SINE:
        return ASSAY_OP_SINE;
    default:
        return ASSAY_OP_RELU;
    }
}

static void describe_activation(const assay__mlp_shape *shape, int64_t rows, const char *component,
                                bool scaled, assay_operation_sink sink, void *context)
{
    assay_operation operation = {.component = component, .count = 1, .m = rows, .n = shape->hidden};
    if (scaled) {
        operation.kind = ASSAY_OP_MULTIPLY;
        sink(context, &operation);
    }
    operation.kind = operation_of(shape->activation);
    sink(context, &operation);
    if (shape->activation == ASSAY__SILU) {
        operation.kind = ASSAY_OP_MULTIPLY;
        sink(context, &operation);
    }
}

void assay__mlp_describe(const assay__mlp *mlp, int64_t rows, assay_operation_sink sink,
                         void *context)
{
    const assay__mlp_shape *shape = assay__mlp_shape_of(mlp);
    for (int64_t i = 0; i <= shape->hidden_layers; i++) {
        bool last = i == shape->hidden_layers;
        char component[32];
        snprintf(component, sizeof component, "layers.%lld", (long long)i);
        assay_operation operation = {.component = component,
                                     .kind = ASSAY_OP_MATMUL,
                                     .count = 1,
                                     .m = rows,
                                     .k = i == 0 ? shape->input : shape->hidden,
                                     .n = last ? shape->output : shape->hidden,
                                     .operand_gradients = i == 0 ? 1 : 2};
        sink(context, &operation);
        operation.kind = ASSAY_OP_BIAS;
        operation.k = 0;
        operation.operand_gradients = 0;
        sink(context, &operation);
        if (!last) {
            float scale = i == 0 ? shape->first_scale : shape->hidden_scale;
            describe_activation(shape, rows, component, scale != 0, sink, context);
        }
    }
}

static assay_status describe(void *of, const assay_tensor *inputs, size_t count,
                             assay_operation_sink sink, void *context, assay_error *error)
{
    (void)count;
    state *model = of;
    const assay__mlp_shape *shape = assay__mlp_shape_of(model->mlp);
    int64_t rows;
    assay_status status =
        assay__field_check(shape->input, shape->output, &inputs[0], NULL, error, &rows);
    if (status == ASSAY_OK) {
        assay__mlp_describe(model->mlp, rows, sink, context);
    }
    return status;
}

static void memory(void *of, assay_model_memory *figures)
{
    state *model = of;
    assay__mlp_memory(model->mlp, figures);
}

/* clang-format off */
#define SHARED_FUNCTIONS                                                                           \
    .abi = ASSAY_MODEL_ABI, .struct_size = sizeof(assay_model_class),                              \
    .inputs = assay__field_inputs, .input_count = 1, .destroy = destroy, .infer = infer,           \
    .parameters = parameters, .forward = forward, .gradient = gradient, .update = update,          \
    .example = example, .describe = describe, .memory = memory
/* clang-format on */

const assay_model_class assay__mlp_class = {
    SHARED_FUNCTIONS,
    .name = "mlp",
    .summary = "multilayer perceptron for function regression",
    .options = mlp_options,
    .option_count = sizeof mlp_options / sizeof *mlp_options,
    .create = create_mlp,
};

const assay_model_class assay__siren_class = {
    SHARED_FUNCTIONS,
    .name = "siren",
    .summary = "perceptron with sines for functions with fine detail (SIREN)",
    .options = siren_options,
    .option_count = sizeof siren_options / sizeof *siren_options,
    .create = create_siren,
};
