/* The model class "lstm": the table of functions through which every command uses the LSTM. */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/random.h"
#include "models/kernel/describe.h"
#include "models/sequence/lstm.h"

enum {
    INPUT_DIM,
    HIDDEN_DIM,
    NUM_LAYERS,
    OUTPUT_DIM,
    DROPOUT,
    TRUNCATE,
    BATCH_SIZE,
    SEQ_LEN,
    OPTIONS
};

static const assay_model_option options[OPTIONS] = {
    {"input-dim", "features of a step", 20, 1, 1e6, true, NULL},
    {"hidden-dim", "units of a layer", 64, 1, 1e6, true, NULL},
    {"num-layers", "LSTM layers", 1, 1, 1000, true, NULL},
    {"output-dim", "values forecast from the last state", 20, 1, 1e6, true, NULL},
    {"dropout", "rate between layers while training", 0, 0, 1, false, NULL},
    {"truncate", "steps gradients go back through; 0: all", 0, 0, 1e9, true, NULL},
    {"batch-size", "sequences of made-up data", 32, 1, 1e9, true, NULL},
    {"seq-len", "steps of made-up data", 20, 1, 1e9, true, NULL},
};

static const assay_model_input inputs_taken[] = {
    {"input", "(batch, time, input-dim)", ASSAY_F32, 3, false},
};

typedef struct instance {
    assay__lstm *lstm;
    int64_t batch, time;
    float *example;
} instance;

static assay_status create(const double *settings, uint64_t seed, assay_error *error, void **state)
{
    instance *self = calloc(1, sizeof *self);
    if (self == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "lstm: out of memory");
    self->batch = (int64_t)settings[BATCH_SIZE];
    self->time = (int64_t)settings[SEQ_LEN];
    assay__lstm_shape shape = {.input = (int64_t)settings[INPUT_DIM],
                               .hidden = (int64_t)settings[HIDDEN_DIM],
                               .layers = (int64_t)settings[NUM_LAYERS],
                               .output = (int64_t)settings[OUTPUT_DIM],
                               .dropout = settings[DROPOUT],
                               .truncate = (int64_t)settings[TRUNCATE]};
    assay_status status = assay__lstm_new(&shape, seed, error, &self->lstm);
    if (status == ASSAY_OK)
        *state = self;
    else
        free(self);
    return status;
}

static void destroy(void *state)
{
    instance *self = state;
    assay__lstm_free(self->lstm);
    free(self);
}

static assay_status infer(const assay_tensor *weights, size_t count, double *settings,
                          assay_error *error)
{
    const assay_tensor *first = assay__tensor_find(weights, count, "lstm.weight_ih_l0", 2);
    const assay_tensor *head = assay__tensor_find(weights, count, "fc.weight", 2);
    if (first == NULL || first->shape[0] % 4 != 0) {
        return assay__fail(error, ASSAY_E_FORMAT,
                           "lstm: weights need a tensor \"lstm.weight_ih_l0\" (4 hidden-dim, "
                           "input-dim)");
    }
    if (head == NULL) {
        return assay__fail(error, ASSAY_E_FORMAT,
                           "lstm: weights need a tensor \"fc.weight\" (output-dim, hidden-dim)");
    }
    int layers = 1;
    for (char name[64];; layers++) {
        snprintf(name, sizeof name, "lstm.weight_ih_l%d", layers);
        if (assay__tensor_find(weights, count, name, 2) == NULL)
            break;
    }
    settings[INPUT_DIM] = (double)first->shape[1];
    settings[HIDDEN_DIM] = (double)(first->shape[0] / 4);
    settings[NUM_LAYERS] = layers;
    settings[OUTPUT_DIM] = (double)head->shape[0];
    return ASSAY_OK;
}

static const assay_model_parameter *parameters(void *state, size_t *count)
{
    return assay__parameters_list(assay__lstm_parameters(((instance *)state)->lstm), count);
}

static assay_model_training *training_of(void *state)
{
    return assay__lstm_training(((instance *)state)->lstm);
}

static void set_training(void *state, bool training)
{
    assay__lstm_set_training(((instance *)state)->lstm, training);
}

assay__lstm *assay__lstm_of(void *state)
{
    return ((instance *)state)->lstm;
}

/* Also checks that products of a batch's sizes fit into the 32-bit integers of BLAS. */
assay_status assay__lstm_check_input(const assay__lstm *lstm, const assay_tensor *input,
                                     assay_error *error)
{
    const assay__lstm_shape *shape = assay__lstm_shape_of(lstm);
    int64_t batch = input->shape[0], time = input->shape[1], rows;
    if (input->shape[2] != shape->input || batch < 1 || time < 1) {
        return assay__fail(
            error, ASSAY_E_ARGUMENT,
            "lstm: the input is (%lld, %lld, %lld), expected (batch, time, %lld) with "
            "at least one sequence and one step",
            (long long)batch, (long long)time, (long long)input->shape[2], (long long)shape->input);
    }
    if (__builtin_mul_overflow(batch, time, &rows) || rows > INT32_MAX ||
        time > INT32_MAX / shape->input) {
        return assay__fail(error, ASSAY_E_LIMIT,
                           "lstm: %lld sequences of %lld steps are too many for one batch",
                           (long long)batch, (long long)time);
    }
    return ASSAY_OK;
}

static assay_status out_of_memory(assay_status status, const assay_tensor *input,
                                  assay_error *error)
{
    return assay__fail(error, status, "lstm: no memory for %lld sequences of %lld steps",
                       (long long)input->shape[0], (long long)input->shape[1]);
}

static assay_status forward(void *state, const assay_tensor *inputs, size_t count,
                            assay_error *error, assay_tensor *output)
{
    (void)count;
    assay__lstm *lstm = ((instance *)state)->lstm;
    const float *y = NULL;
    assay_status status = assay__lstm_check_input(lstm, inputs, error);
    if (status != ASSAY_OK)
        return status;
    status = assay__lstm_forward(lstm, inputs->shape[0], inputs->shape[1], inputs->data, &y);
    if (status != ASSAY_OK)
        return out_of_memory(status, inputs, error);
    *output = (assay_tensor){
        "output", ASSAY_F32, 2, {inputs->shape[0], assay__lstm_shape_of(lstm)->output}, (void *)y};
    return ASSAY_OK;
}

assay_status assay__lstm_check_steps(const assay__lstm *lstm, int64_t steps, assay_error *error)
{
    const assay__lstm_shape *shape = assay__lstm_shape_of(lstm);
    if (shape->output != shape->input) {
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "lstm: a forecast feeds outputs back as inputs: output-dim (%lld) must "
                           "equal input-dim (%lld)",
                           (long long)shape->output, (long long)shape->input);
    }
    if (steps < 1 || steps > INT32_MAX / shape->output)
        return assay__fail(error, ASSAY_E_ARGUMENT, "lstm: a forecast takes 1 to %lld steps",
                           (long long)(INT32_MAX / shape->output));
    return ASSAY_OK;
}

static assay_status forecast(void *state, const assay_tensor *inputs, size_t count, int64_t steps,
                             assay_error *error, assay_tensor *output)
{
    (void)count;
    assay__lstm *lstm = ((instance *)state)->lstm;
    const assay__lstm_shape *shape = assay__lstm_shape_of(lstm);
    const float *y = NULL;
    assay_status status = assay__lstm_check_input(lstm, inputs, error);
    if (status != ASSAY_OK)
        return status;
    status = assay__lstm_check_steps(lstm, steps, error);
    if (status != ASSAY_OK)
        return status;
    status =
        assay__lstm_forecast(lstm, inputs->shape[0], inputs->shape[1], inputs->data, steps, &y);
    if (status != ASSAY_OK)
        return out_of_memory(status, inputs, error);
    *output =
        (assay_tensor){"output", ASSAY_F32, 3, {inputs->shape[0], steps, shape->output}, (void *)y};
    return ASSAY_OK;
}

assay_status assay__lstm_check_target(const assay__lstm *lstm, const assay_tensor *inputs,
                                      const assay_tensor *target, assay_error *error)
{
    const int64_t output = assay__lstm_shape_of(lstm)->output;
    bool all = target->rank == 3;
    if ((target->rank != 2 && !all) || target->shape[0] != inputs->shape[0] ||
        (all && target->shape[1] != inputs->shape[1]) || target->shape[all ? 2 : 1] != output ||
        target->element != ASSAY_F32)
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "lstm: the target must be (%lld, %lld) float32 or, with one after every "
                           "step, (%lld, %lld, %lld)",
                           (long long)inputs->shape[0], (long long)output,
                           (long long)inputs->shape[0], (long long)inputs->shape[1],
                           (long long)output);
    if (all && assay__lstm_shape_of(lstm)->truncate > 0)
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "lstm: with targets after every step gradients go back through all "
                           "steps; 'truncate' must be 0");
    return ASSAY_OK;
}

static assay_status gradient(void *state, const assay_tensor *inputs, size_t count,
                             const assay_tensor *target, assay_error *error, double *loss)
{
    (void)count;
    assay__lstm *lstm = ((instance *)state)->lstm;
    assay_status status = assay__lstm_check_input(lstm, inputs, error);
    if (status != ASSAY_OK)
        return status;
    status = assay__lstm_check_target(lstm, inputs, target, error);
    if (status != ASSAY_OK)
        return status;
    const bool all = target->rank == 3;
    status = (all ? assay__lstm_gradient_all : assay__lstm_gradient)(
        lstm, inputs->shape[0], inputs->shape[1], inputs->data, target->data, loss);
    return status == ASSAY_OK ? ASSAY_OK : out_of_memory(status, inputs, error);
}

static assay_status update(void *state, double learning_rate, assay_error *error)
{
    return assay__lstm_update(((instance *)state)->lstm, learning_rate, error);
}

static assay_status example(void *state, uint64_t seed, assay_error *error, assay_tensor *inputs,
                            assay_tensor *target)
{
    instance *self = state;
    const assay__lstm_shape *shape = assay__lstm_shape_of(self->lstm);
    int64_t batch = self->batch, time = self->time, values;
    if (__builtin_mul_overflow(batch, time * shape->input + shape->output, &values) ||
        assay__memory_resize(assay__lstm_memory(self->lstm), ASSAY__WORKSPACE, (size_t)values,
                             sizeof(float), &self->example) != ASSAY_OK) {
        return assay__fail(error, ASSAY_E_MEMORY,
                           "lstm: no memory for %lld sequences of %lld steps", (long long)batch,
                           (long long)time);
    }
    assay__random random;
    assay__random_init(&random, seed);
    for (int64_t i = 0; i < values; i++)
        self->example[i] = (float)assay__random_normal(&random);
    inputs[0] = (assay_tensor){"input", ASSAY_F32, 3, {batch, time, shape->input}, self->example};
    *target = (assay_tensor){"target",
                             ASSAY_F32,
                             2,
                             {batch, shape->output},
                             self->example + batch * time * shape->input};
    return ASSAY_OK;
}

static void describe_layer(const assay__lstm_shape *shape, int64_t layer, const assay__teller *to,
                           int64_t batch, int64_t time)
{
    int64_t n = shape->hidden, rows = batch * time;
    assay__tell_product(to, "input", layer == 0 ? 1 : 2, 1, rows, layer == 0 ? shape->input : n,
                        4 * n);
    assay__tell_product(to, "recurrent", 2, time, batch, n, 4 * n);
    assay__tell(to, "cell", ASSAY_TERM_LSTM_CELL, 1, rows, n);
    if (shape->dropout > 0 && layer + 1 < shape->layers)
        assay__tell(to, "dropout", ASSAY_TERM_DROPOUT, 1, rows, n);
}

static assay_status describe(void *state, const assay_tensor *inputs, size_t count,
                             assay_term_sink sink, void *context, assay_error *error)
{
    (void)count;
    const assay__lstm *lstm = ((instance *)state)->lstm;
    const assay__lstm_shape *shape = assay__lstm_shape_of(lstm);
    assay_status status = assay__lstm_check_input(lstm, inputs, error);
    if (status != ASSAY_OK)
        return status;
    assay__teller to = {.sink = sink, .context = context};
    for (int64_t l = 0; l < shape->layers; l++) {
        snprintf(to.prefix, sizeof to.prefix, "lstm.%lld.", (long long)l);
        describe_layer(shape, l, &to, inputs->shape[0], inputs->shape[1]);
    }
    to.prefix[0] = '\0';
    assay__tell_linear(&to, "fc", 2, inputs->shape[0], shape->hidden, shape->output);
    return ASSAY_OK;
}

static void memory(void *state, assay_model_memory *figures)
{
    assay__memory_figures(assay__lstm_memory(((instance *)state)->lstm), figures);
}

const assay_model_class assay__lstm_class = {
    .abi = ASSAY_MODEL_ABI,
    .struct_size = sizeof(assay_model_class),
    .name = "lstm",
    .summary = "LSTM layers and a linear head on the last hidden state, as PyTorch's nn.LSTM",
    .options = options,
    .option_count = OPTIONS,
    .inputs = inputs_taken,
    .input_count = 1,
    .create = create,
    .destroy = destroy,
    .infer = infer,
    .parameters = parameters,
    .set_training = set_training,
    .training = training_of,
    .forward = forward,
    .forecast = forecast,
    .gradient = gradient,
    .update = update,
    .example = example,
    .describe = describe,
    .memory = memory,
};
