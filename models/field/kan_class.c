/* kan as a model class. */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "field/field.h"
#include "field/kan.h"

typedef struct state {
    assay__kan *kan;
    int64_t batch; /* rows of an example */
    assay__field_data example;
} state;

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

static void destroy(void *of)
{
    state *made = of;
    assay__kan_free(made->kan);
    assay__field_data_release(&made->example);
    free(made);
}

static assay_status create(const double *settings, uint64_t seed, assay_error *error, void **of)
{
    state *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for a model");
    }
    made->batch = (int64_t)settings[BATCH];
    assay__kan_shape shape = {.input = (int64_t)settings[INPUT],
                              .hidden = (int64_t)settings[HIDDEN],
                              .output = (int64_t)settings[OUTPUT],
                              .hidden_layers = (int64_t)settings[LAYERS],
                              .grid = (int64_t)settings[GRID],
                              .order = (int64_t)settings[ORDER],
                              .scaler = settings[SCALER] != 0};
    assay_status status = assay__kan_new(&shape, seed, error, &made->kan);
    if (status != ASSAY_OK) {
        destroy(made);
        return status;
    }
    *of = made;
    return ASSAY_OK;
}

/* There are grid + order coefficients an edge: the order stays as set where it can, the grid
 * follows. */
static assay_status infer(const assay_tensor *weights, size_t count, double *settings,
                          assay_error *error)
{
    assay__field_widths widths;
    assay_status status = assay__field_infer(weights, count, "spline_weight", 3, 1, error, &widths);
    if (status != ASSAY_OK) {
        return status;
    }
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

static const assay_model_parameter *parameters(void *of, size_t *count)
{
    state *model = of;
    const assay__parameters *all = assay__kan_parameters(model->kan);
    *count = all->count;
    return all->list;
}

static assay_status forward(void *of, const assay_tensor *inputs, size_t count, assay_error *error,
                            assay_tensor *output)
{
    (void)count;
    state *model = of;
    const assay__kan_shape *shape = assay__kan_shape_of(model->kan);
    int64_t rows;
    const float *y;
    assay_status status =
        assay__field_check(shape->input, shape->output, &inputs[0], NULL, error, &rows);
    if (status == ASSAY_OK) {
        status = assay__kan_forward(model->kan, rows, inputs[0].data, error, &y);
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
    const assay__kan_shape *shape = assay__kan_shape_of(model->kan);
    int64_t rows;
    assay_status status =
        assay__field_check(shape->input, shape->output, &inputs[0], target, error, &rows);
    if (status != ASSAY_OK) {
        return status;
    }
    return assay__kan_gradient(model->kan, rows, inputs[0].data, target->data, error, loss);
}

static assay_status update(void *of, double learning_rate, assay_error *error)
{
    state *model = of;
    return assay__kan_update(model->kan, learning_rate, error);
}

static assay_status example(void *of, uint64_t seed, assay_error *error, assay_tensor *inputs,
                            assay_tensor *target)
{
    state *model = of;
    const assay__kan_shape *shape = assay__kan_shape_of(model->kan);
    return assay__field_example(&model->example, model->batch, shape->input, shape->output, seed,
                                error, &inputs[0], target);
}

/* The formula's arithmetic: both branches as products of their own, whether or not they are
 * computed as one. */
static void describe_layer(const assay__kan_shape *shape, int64_t rows, int64_t index,
                           assay_operation_sink sink, void *context)
{
    int64_t in = index == 0 ? shape->input : shape->hidden;
    int64_t out = index == shape->hidden_layers ? shape->output : shape->hidden;
    int64_t functions = shape->grid + shape->order;
    int operands = index == 0 ? 1 : 2;
    char base[48], spline[48];
    snprintf(base, sizeof base, "layers.%lld.base", (long long)index);
    snprintf(spline, sizeof spline, "layers.%lld.spline", (long long)index);
    const assay_operation operations[] = {
        {base, ASSAY_OP_SIGMOID, 1, rows, 0, in, 0}, /* SiLU */
        {base, ASSAY_OP_MULTIPLY, 1, rows, 0, in, 0},
        {base, ASSAY_OP_MATMUL, 1, rows, in, out, operands},
        {spline, ASSAY_OP_SPLINE, 1, rows, functions, in, 0},
        {spline, ASSAY_OP_MATMUL, 1, rows, in * functions, out, operands},
        {spline, ASSAY_OP_ADD, 1, rows, 0, out, 0},
        {spline, ASSAY_OP_MULTIPLY, 1, out * in, 0, functions, 0}, /* the scaler */
    };
    size_t count = sizeof operations / sizeof *operations - (shape->scaler ? 0 : 1);
    for (size_t i = 0; i < count; i++) {
        sink(context, &operations[i]);
    }
}

static assay_status describe(void *of, const assay_tensor *inputs, size_t count,
                             assay_operation_sink sink, void *context, assay_error *error)
{
    (void)count;
    state *model = of;
    const assay__kan_shape *shape = assay__kan_shape_of(model->kan);
    int64_t rows;
    assay_status status =
        assay__field_check(shape->input, shape->output, &inputs[0], NULL, error, &rows);
    for (int64_t i = 0; status == ASSAY_OK && i <= shape->hidden_layers; i++) {
        describe_layer(shape, rows, i, sink, context);
    }
    return status;
}

static void memory(void *of, assay_model_memory *figures)
{
    state *model = of;
    assay__kan_memory(model->kan, figures);
}

const assay_model_class assay__kan_class = {
    .abi = ASSAY_MODEL_ABI,
    .struct_size = sizeof(assay_model_class),
    .name = "kan",
    .summary = "Kolmogorov-Arnold network: learnt B-splines on every edge (KAN)",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .inputs = assay__field_inputs,
    .input_count = 1,
    .create = create,
    .destroy = destroy,
    .infer = infer,
    .parameters = parameters,
    .forward = forward,
    .gradient = gradient,
    .update = update,
    .example = example,
    .describe = describe,
    .memory = memory,
};
