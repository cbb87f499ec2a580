/* A model for assay in one file: linear regression, y = x W' + b.
 *
 *     cc -O2 -shared -fPIC -I include examples/plugin/linear.c -o linear.so
 *     assay model info  --model ./linear.so --input-dim 3
 *     assay model train --model ./linear.so --input x.npy --target y.npy --output w.safetensors
 *     assay model eval  --model ./linear.so --weights w.safetensors --input x.npy --output y.npy
 *
 * A plugin needs the header <assay/model.h> and links nothing of assay. It fills one table of
 * functions, assay_model_class, and exports one function that returns the table. The header says
 * what each function has to do. A function that is NULL here (forecast, fit) is one that this model
 * does not offer.
 *
 * Build your own model from this file: change the options and inputs, the tensors, and the
 * arithmetic in forward() and gradient(). */
#include <assay/model.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The settings of the model: on the command line --input-dim, --output-dim, ... ---- */

enum { INPUT_DIM, OUTPUT_DIM, BATCH_SIZE, OPTION_COUNT };

static const assay_model_option options[OPTION_COUNT] = {
    [INPUT_DIM] = {"input-dim", "columns of the input", 8, 1, 4096, true, NULL},
    [OUTPUT_DIM] = {"output-dim", "columns of the output", 1, 1, 4096, true, NULL},
    [BATCH_SIZE] = {"batch-size", "rows of made-up data", 32, 1, 1e6, true, NULL},
};

/* assay matches inputs by name and checks rank and element type before it calls the model. */
static const assay_model_input inputs[] = {
    {"input", "(rows, input-dim)", ASSAY_F32, 2, false},
};

/* ---- The state: everything that one instance owns ---- */

enum { WEIGHT, BIAS, TENSORS };

typedef struct linear {
    int64_t in, out, batch;
    size_t total;                              /* elements of all tensors */
    float *values, *gradients;                 /* (total) */
    assay_model_parameter parameters[TENSORS]; /* weight (out, in), bias (out) */
    float *output;                             /* (capacity, out); capacity grows with the rows */
    int64_t capacity;
    float *example; /* (batch, in) inputs, then (batch, out) targets */
} linear;

static assay_status fail(assay_error *error, assay_status status, const char *message)
{
    if (error != NULL) {
        error->status = status;
        snprintf(error->message, sizeof error->message, "linear: %s", message);
    }
    return status;
}

/* Uniform in [-1, 1), from a 64-bit linear congruential generator (Knuth's MMIX constants). */
static float draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (float)(*seed >> 40) / (float)(1 << 23) - 1.0f;
}

static void destroy(void *state)
{
    linear *self = state;
    free(self->values);
    free(self->gradients);
    free(self->output);
    free(self->example);
    free(self);
}

static assay_status create(const double *settings, uint64_t seed, assay_error *error, void **state)
{
    linear *self = calloc(1, sizeof *self);
    if (self == NULL)
        return fail(error, ASSAY_E_MEMORY, "out of memory");
    self->in = (int64_t)settings[INPUT_DIM]; /* assay has checked the limits above */
    self->out = (int64_t)settings[OUTPUT_DIM];
    self->batch = (int64_t)settings[BATCH_SIZE];
    self->total = (size_t)(self->out * self->in + self->out);
    self->values = calloc(self->total, sizeof *self->values);
    self->gradients = calloc(self->total, sizeof *self->gradients);
    if (self->values == NULL || self->gradients == NULL) {
        destroy(self);
        return fail(error, ASSAY_E_MEMORY, "out of memory");
    }
    const size_t bias_at = (size_t)(self->out * self->in);
    self->parameters[WEIGHT] = (assay_model_parameter){
        {"weight", ASSAY_F32, 2, {self->out, self->in}, self->values}, self->gradients};
    self->parameters[BIAS] = (assay_model_parameter){
        {"bias", ASSAY_F32, 1, {self->out}, self->values + bias_at}, self->gradients + bias_at};
    for (size_t i = 0; i < self->total; i++)
        self->values[i] = draw(&seed) / sqrtf((float)self->in);
    *state = self;
    return ASSAY_OK;
}

static const assay_model_parameter *parameters(void *state, size_t *count)
{
    *count = TENSORS;
    return ((linear *)state)->parameters;
}

/* With --weights the user need not give the shape: this function reads it from the tensors. */
static assay_status infer(const assay_tensor *weights, size_t count, double *settings,
                          assay_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(weights[i].name, "weight") == 0 && weights[i].rank == 2) {
            settings[OUTPUT_DIM] = (double)weights[i].shape[0];
            settings[INPUT_DIM] = (double)weights[i].shape[1];
            return ASSAY_OK;
        }
    return fail(error, ASSAY_E_FORMAT, "there is no tensor 'weight' (output-dim, input-dim)");
}

/* ---- The arithmetic ---- */

/* Allocates memory only when a call has more rows than any call before. */
static assay_status reserve(linear *self, int64_t rows, assay_error *error)
{
    if (rows <= self->capacity)
        return ASSAY_OK;
    float *output = realloc(self->output, (size_t)(rows * self->out) * sizeof *output);
    if (output == NULL)
        return fail(error, ASSAY_E_MEMORY, "out of memory");
    self->output = output;
    self->capacity = rows;
    return ASSAY_OK;
}

static assay_status forward(void *state, const assay_tensor *given, size_t count,
                            assay_error *error, assay_tensor *output)
{
    (void)count;
    linear *self = state;
    const int64_t rows = given->shape[0];
    if (given->shape[1] != self->in)
        return fail(error, ASSAY_E_ARGUMENT, "the input has another width than input-dim");
    assay_status status = reserve(self, rows, error);
    if (status != ASSAY_OK)
        return status;
    const float *x = given->data, *w = self->parameters[WEIGHT].value.data;
    const float *b = self->parameters[BIAS].value.data;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t o = 0; o < self->out; o++) {
            float sum = b[o];
            for (int64_t i = 0; i < self->in; i++)
                sum += x[r * self->in + i] * w[o * self->in + i];
            self->output[r * self->out + o] = sum;
        }
    *output = (assay_tensor){"output", ASSAY_F32, 2, {rows, self->out}, self->output};
    return ASSAY_OK;
}

/* Computes the mean squared error over all elements, and its gradient for every tensor. */
static assay_status gradient(void *state, const assay_tensor *given, size_t count,
                             const assay_tensor *target, assay_error *error, double *loss)
{
    linear *self = state;
    assay_tensor output;
    assay_status status = forward(state, given, count, error, &output);
    if (status != ASSAY_OK)
        return status;
    if (target->element != ASSAY_F32 || target->rank != 2 || target->shape[0] != output.shape[0] ||
        target->shape[1] != output.shape[1])
        return fail(error, ASSAY_E_ARGUMENT, "the target is not (rows, output-dim)");
    const int64_t rows = output.shape[0];
    const float *x = given->data, *y = target->data;
    const float scale = 2.0f / (float)(rows * self->out);
    float *dw = self->parameters[WEIGHT].gradient, *db = self->parameters[BIAS].gradient;
    memset(self->gradients, 0, self->total * sizeof *self->gradients);
    double sum = 0;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t o = 0; o < self->out; o++) {
            float residual = self->output[r * self->out + o] - y[r * self->out + o];
            sum += (double)residual * (double)residual;
            db[o] += scale * residual;
            for (int64_t i = 0; i < self->in; i++)
                dw[o * self->in + i] += scale * residual * x[r * self->in + i];
        }
    *loss = sum / (double)(rows * self->out);
    return ASSAY_OK;
}

/* Plain gradient descent; the built-in models use Adam. */
static assay_status update(void *state, double learning_rate, assay_error *error)
{
    (void)error;
    linear *self = state;
    for (size_t i = 0; i < self->total; i++)
        self->values[i] -= (float)learning_rate * self->gradients[i];
    return ASSAY_OK;
}

/* ---- For profiles: example data, the arithmetic as sizes, the bytes held ---- */

static assay_status example(void *state, uint64_t seed, assay_error *error, assay_tensor *made,
                            assay_tensor *target)
{
    linear *self = state;
    const int64_t rows = self->batch, values = rows * (self->in + self->out);
    if (self->example == NULL)
        self->example = malloc((size_t)values * sizeof *self->example);
    if (self->example == NULL)
        return fail(error, ASSAY_E_MEMORY, "out of memory");
    for (int64_t i = 0; i < values; i++)
        self->example[i] = draw(&seed);
    float *y = self->example + rows * self->in;
    made[0] = (assay_tensor){"input", ASSAY_F32, 2, {rows, self->in}, self->example};
    *target = (assay_tensor){"target", ASSAY_F32, 2, {rows, self->out}, y};
    return ASSAY_OK;
}

static assay_status describe(void *state, const assay_tensor *given, size_t count,
                             assay_term_sink sink, void *context, assay_error *error)
{
    (void)count;
    (void)error;
    const linear *self = state;
    const int64_t rows = given->shape[0];
    /* The backward pass has one gradient, that of the weights, because the other operand is data.
     */
    sink(context, &(assay_term){.component = "linear",
                                .kind = ASSAY_TERM_MATMUL,
                                .count = 1,
                                .m = rows,
                                .k = self->in,
                                .n = self->out,
                                .operand_gradients = 1});
    sink(context,
         &(assay_term){
             .component = "bias", .kind = ASSAY_TERM_BIAS, .count = 1, .m = rows, .n = self->out});
    return ASSAY_OK;
}

static void memory(void *state, assay_model_memory *bytes)
{
    const linear *self = state;
    bytes->parameters = bytes->gradients = self->total * sizeof *self->values;
    bytes->activations = (uint64_t)(self->capacity * self->out) * sizeof *self->output;
}

/* ---- The table, and the one function that assay looks for ---- */

static const assay_model_class linear_class = {
    .abi = ASSAY_MODEL_ABI,
    .struct_size = sizeof(assay_model_class),
    .name = "linear",
    .summary = "linear regression, the worked example of a plugin",
    .options = options,
    .option_count = OPTION_COUNT,
    .inputs = inputs,
    .input_count = sizeof inputs / sizeof *inputs,
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

const assay_model_class *assay_model_plugin(void);

const assay_model_class *assay_model_plugin(void)
{
    return &linear_class;
}
