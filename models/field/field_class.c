/* The functions of field_class.h: they check shapes, call the network, make example data, and
 * derive widths from weights. */
#include "models/field/field_class.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/random.h"

const assay_model_input assay__field_inputs[1] = {
    {.name = "input", .help = "(rows, input-dim)", .element = ASSAY_F32, .rank = 2}};

assay_status assay__field_create(assay__neural_net *net, int64_t batch, assay_error *error,
                                 void **state)
{
    assay__field_model *made = calloc(1, sizeof *made);
    if (made == NULL) {
        assay__neural_net_free(net);
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for a model");
    }
    made->net = net;
    made->batch = batch;
    *state = made;
    return ASSAY_OK;
}

void assay__field_destroy(void *state)
{
    assay__field_model *model = state;
    assay__neural_net_free(model->net);
    assay__memory_free(model->example.memory);
    free(model);
}

assay_model_training *assay__field_training(void *state)
{
    return &((assay__field_model *)state)->net->training;
}

const assay_model_parameter *assay__field_parameters(void *state, size_t *count)
{
    return assay__parameters_list(&((assay__field_model *)state)->net->parameters, count);
}

assay_status assay__field_check(const assay__neural_net *net, const assay_tensor *input,
                                const assay_tensor *target, assay_error *error)
{
    int64_t rows = input->shape[0];
    if (input->shape[1] != net->input)
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "'input' has %lld columns, the model takes input-dim %lld",
                           (long long)input->shape[1], (long long)net->input);
    if (rows < 1)
        return assay__fail(error, ASSAY_E_ARGUMENT, "'input' has no rows; give at least one");
    if (target != NULL && (target->element != ASSAY_F32 || target->rank != 2 ||
                           target->shape[0] != rows || target->shape[1] != net->output))
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "the target has to be float32 of shape (%lld, %lld), a row for each of "
                           "the input's and output-dim columns",
                           (long long)rows, (long long)net->output);
    return ASSAY_OK;
}

static assay_tensor tensor_of(const char *name, int64_t rows, int64_t width, const float *data)
{
    return (assay_tensor){name, ASSAY_F32, 2, {rows, width}, (float *)data};
}

assay_status assay__field_forward(void *state, const assay_tensor *inputs, size_t count,
                                  assay_error *error, assay_tensor *output)
{
    (void)count;
    assay__neural_net *net = ((assay__field_model *)state)->net;
    int64_t rows = inputs[0].shape[0];
    const float *y;
    assay_status status = assay__field_check(net, &inputs[0], NULL, error);
    if (status == ASSAY_OK)
        status = assay__neural_net_forward(net, rows, inputs[0].data, error, &y);
    if (status == ASSAY_OK)
        *output = tensor_of("output", rows, net->output, y);
    return status;
}

assay_status assay__field_gradient(void *state, const assay_tensor *inputs, size_t count,
                                   const assay_tensor *target, assay_error *error, double *loss)
{
    (void)count;
    assay__neural_net *net = ((assay__field_model *)state)->net;
    assay_status status = assay__field_check(net, &inputs[0], target, error);
    if (status != ASSAY_OK)
        return status;
    return assay__neural_net_gradient(net, inputs[0].shape[0], inputs[0].data, target->data, error,
                                      loss);
}

assay_status assay__field_update(void *state, double learning_rate, assay_error *error)
{
    return assay__neural_net_update(((assay__field_model *)state)->net, learning_rate, error);
}

assay_status assay__field_describe(void *state, const assay_tensor *inputs, size_t count,
                                   assay_term_sink sink, void *context, assay_error *error)
{
    (void)count;
    const assay__neural_net *net = ((assay__field_model *)state)->net;
    assay_status status = assay__field_check(net, &inputs[0], NULL, error);
    if (status == ASSAY_OK)
        net->kind->describe(net, inputs[0].shape[0], sink, context);
    return status;
}

void assay__field_memory(void *state, assay_model_memory *figures)
{
    assay__neural_net_memory(((assay__field_model *)state)->net, figures);
}

/* ---- Made-up data ---- */

assay_status assay__field_example_room(assay__field_model *model, assay_error *error,
                                       assay_tensor *input, assay_tensor *target)
{
    assay__field_data *data = &model->example;
    const assay__neural_net *net = model->net;
    size_t rows = (size_t)model->batch;
    if (data->memory == NULL)
        data->memory = assay__memory_new();
    if (data->memory == NULL ||
        assay__memory_resize(data->memory, ASSAY__WORKSPACE, rows * (size_t)net->input,
                             sizeof *data->x, &data->x) != ASSAY_OK ||
        assay__memory_resize(data->memory, ASSAY__WORKSPACE, rows * (size_t)net->output,
                             sizeof *data->target, &data->target) != ASSAY_OK)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for %lld rows of example data",
                           (long long)model->batch);
    *input = tensor_of(assay__field_inputs[0].name, model->batch, net->input, data->x);
    *target = tensor_of("target", model->batch, net->output, data->target);
    return ASSAY_OK;
}

static double example_value(const float *x, int64_t width, int64_t output)
{
    double value = sin(M_PI * ((double)x[0] + 0.25 * (double)output));
    for (int64_t i = 1; i < width; i++)
        value *= cos(M_PI * (double)x[i] / (double)(i + 1));
    return value;
}

assay_status assay__field_example(void *state, uint64_t seed, assay_error *error,
                                  assay_tensor *inputs, assay_tensor *target)
{
    assay__field_model *model = state;
    assay_status status = assay__field_example_room(model, error, &inputs[0], target);
    if (status != ASSAY_OK)
        return status;
    int64_t input = model->net->input, output = model->net->output;
    assay__random random;
    assay__random_init(&random, seed);
    for (int64_t row = 0; row < model->batch; row++) {
        float *x = model->example.x + row * input;
        for (int64_t i = 0; i < input; i++)
            x[i] = (float)(2 * assay__random_uniform(&random) - 1);
        for (int64_t o = 0; o < output; o++)
            model->example.target[row * output + o] = (float)example_value(x, input, o);
    }
    return ASSAY_OK;
}

/* ---- Weights ---- */

const assay_tensor *assay__field_find(const assay_tensor *weights, size_t count, int64_t layer,
                                      const char *kind, uint32_t rank)
{
    char name[64];
    snprintf(name, sizeof name, "layers.%lld.%s", (long long)layer, kind);
    return assay__tensor_find(weights, count, name, rank);
}

assay_status assay__field_infer(const assay_tensor *weights, size_t count, const char *kind,
                                uint32_t rank, int64_t least, assay_error *error,
                                assay__field_widths *widths)
{
    const assay_tensor *first = assay__field_find(weights, count, 0, kind, rank), *last = first;
    int64_t layers = 0;
    for (const assay_tensor *next = first; next != NULL && layers < (int64_t)count; layers++) {
        last = next;
        next = assay__field_find(weights, count, layers + 1, kind, rank);
    }
    if (layers < least) {
        return assay__fail(error, ASSAY_E_FORMAT,
                           "the weights hold no layers.%lld.%s with %u axes: another model's?",
                           (long long)layers, kind, rank);
    }
    *widths = (assay__field_widths){.input = first->shape[1],
                                    .hidden = first->shape[0],
                                    .output = last->shape[0],
                                    .hidden_layers = layers - 1};
    return ASSAY_OK;
}
