/* Making a model, and passes over whole sequences.
 *
 * The pass that keeps activations works on (time, batch, ...) arrays. One product computes the
 * inputs' part of the gates of all steps. Then each step adds the part of its states, a product of
 * (batch, hidden) by (hidden, 4 hidden), and does the elementwise part. Evaluation keeps only the
 * states. It goes step by step over packed weights where that is faster (lstm_stream.c), and else
 * through the matrix products of one step. */
#include "models/sequence/lstm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "models/kernel/dropout.h"
#include "models/kernel/matmul.h"
#include "models/kernel/threads.h"
#include "models/sequence/lstm_state.h"

static float *value_of(const assay__lstm *model, size_t parameter)
{
    return assay__parameters_value(&model->parameters, parameter);
}

static void declare(assay__lstm *model)
{
    int64_t hidden = model->shape.hidden, output = model->shape.output;
    assay__parameters *table = &model->parameters;
    for (int64_t l = 0; l < model->shape.layers; l++) {
        assay__lstm_layer *layer = &model->layers[l];
        layer->input = l == 0 ? model->shape.input : hidden;
        layer->weight_ih = assay__parameters_add(table, 2, (int64_t[]){4 * hidden, layer->input},
                                                 "lstm.weight_ih_l%lld", (long long)l);
        layer->weight_hh = assay__parameters_add(table, 2, (int64_t[]){4 * hidden, hidden},
                                                 "lstm.weight_hh_l%lld", (long long)l);
        layer->bias_ih = assay__parameters_add(table, 1, (int64_t[]){4 * hidden},
                                               "lstm.bias_ih_l%lld", (long long)l);
        layer->bias_hh = assay__parameters_add(table, 1, (int64_t[]){4 * hidden},
                                               "lstm.bias_hh_l%lld", (long long)l);
    }
    model->fc_weight =
        assay__parameters_add(table, 2, (int64_t[]){output, hidden}, "%s", "fc.weight");
    model->fc_bias = assay__parameters_add(table, 1, (int64_t[]){output}, "%s", "fc.bias");
}

static assay_status build(assay__lstm *model, uint64_t seed)
{
    model->memory = assay__memory_new();
    if (model->memory == NULL)
        return ASSAY_E_MEMORY;
    model->layers = assay__memory_take(model->memory, ASSAY__WORKSPACE, (size_t)model->shape.layers,
                                       sizeof *model->layers);
    if (model->layers == NULL)
        return ASSAY_E_MEMORY;
    declare(model);
    assay_status status = assay__parameters_allocate(&model->parameters, model->memory);
    if (status != ASSAY_OK)
        return status;
    assay__random random;
    assay__random_init(&random, seed);
    for (size_t i = 0; i < model->parameters.count; i++) {
        assay__parameters_uniform(&model->parameters, i,
                                  (float)(1 / sqrt((double)model->shape.hidden)), &random);
    }
    return ASSAY_OK;
}

assay_status assay__lstm_new(const assay__lstm_shape *shape, uint64_t seed, assay_error *error,
                             assay__lstm **out)
{
    if (shape->input < 1 || shape->hidden < 1 || shape->layers < 1 || shape->output < 1 ||
        shape->truncate < 0 || !(shape->dropout >= 0 && shape->dropout <= 1)) {
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "lstm: input, hidden, layers and output must be at least 1, truncate at "
                           "least 0, dropout within 0 and 1");
    }
    if (shape->hidden > INT32_MAX / 8 || shape->input > INT32_MAX) {
        return assay__fail(error, ASSAY_E_LIMIT, "lstm: %lld inputs and %lld units are too many",
                           (long long)shape->input, (long long)shape->hidden);
    }
    assay__models_start();
    assay__lstm *model = calloc(1, sizeof *model);
    if (model == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "lstm: out of memory");
    *model = (assay__lstm){.shape = *shape, .how.seed = seed};
    assay__parameters_init(&model->parameters);
    assay_status status = build(model, seed);
    if (status != ASSAY_OK) {
        assay__lstm_free(model);
        return assay__fail(error, status, "lstm: no memory for its parameters");
    }
    *out = model;
    return ASSAY_OK;
}

void assay__lstm_free(assay__lstm *model)
{
    if (model != NULL) {
        assay__parameters_release(&model->parameters);
        assay__memory_free(model->memory);
        free(model);
    }
}

const assay__lstm_shape *assay__lstm_shape_of(const assay__lstm *model)
{
    return &model->shape;
}

assay__parameters *assay__lstm_parameters(assay__lstm *model)
{
    return &model->parameters;
}

assay__memory *assay__lstm_memory(assay__lstm *model)
{
    return model->memory;
}

void assay__lstm_set_training(assay__lstm *model, bool training)
{
    model->training = training;
}

assay_status assay__lstm_sum_biases(assay__lstm *model)
{
    size_t count = 4 * (size_t)model->shape.hidden;
    for (int64_t l = 0; l < model->shape.layers; l++) {
        assay__lstm_layer *layer = &model->layers[l];
        if (assay__memory_resize(model->memory, ASSAY__WORKSPACE, count, sizeof(float),
                                 &layer->bias) != ASSAY_OK)
            return ASSAY_E_MEMORY;
        const float *ih = value_of(model, layer->bias_ih), *hh = value_of(model, layer->bias_hh);
        for (size_t i = 0; i < count; i++)
            layer->bias[i] = ih[i] + hh[i];
    }
    return ASSAY_OK;
}

void assay__lstm_head(const assay__lstm *model, int64_t batch, const float *hidden, float *y,
                      int64_t stride)
{
    int64_t in = model->shape.hidden, out = model->shape.output;
    const float *weight = value_of(model, model->fc_weight);
    for (int64_t b = 0; b < batch; b++)
        memcpy(y + b * stride, value_of(model, model->fc_bias), (size_t)out * sizeof *y);
    assay__matmul(batch, out, in, 1, (assay__matrix){hidden, in, false},
                  (assay__matrix){weight, in, true}, 1, y, stride);
}

/* gates (rows, 4 hidden) = x (rows, input; row stride `stride`) weight (4 hidden, input)^T; with
 * `add` the product is added to the gates. */
static void project(const assay__lstm *model, int64_t rows, const float *x, int64_t stride,
                    int64_t input, size_t weight, bool add, float *gates)
{
    assay__matmul(rows, 4 * model->shape.hidden, input, 1, (assay__matrix){x, stride, false},
                  (assay__matrix){value_of(model, weight), input, true}, add ? 1 : 0, gates,
                  4 * model->shape.hidden);
}

/* ---- The pass that keeps activations ---- */

assay_model_training *assay__lstm_training(assay__lstm *model)
{
    return &model->how;
}

uint64_t assay__lstm_dropout_key(const assay__lstm *model, int64_t layer)
{
    uint64_t pass = model->how.passes * (uint64_t)model->shape.layers + (uint64_t)layer;
    return model->how.seed ^ (pass + 1) * 0x9e3779b97f4a7c15U; /* 2^64 / the golden ratio */
}

static bool drops(const assay__lstm *model, int64_t layer)
{
    return model->training && !model->how.no_dropout && model->shape.dropout > 0 &&
           layer + 1 < model->shape.layers;
}

/* Returns whether the recurrent weights are transposed once, so that the product of each step need
 * not do it. It pays for many sequences, if the transposed weights stay in a near cache. */
static bool transposes(const assay__lstm *model, int64_t batch)
{
    enum { MANY = 32, NEAR = 16384 };
    return batch >= MANY && 4 * model->shape.hidden * model->shape.hidden <= NEAR;
}

static assay_status keep_room(assay__lstm *model, int64_t batch, int64_t time)
{
    size_t block = (size_t)(batch * model->shape.hidden), steps = (size_t)time;
    assay_status status = assay__lstm_sum_biases(model);
    for (int64_t l = 0; l < model->shape.layers && status == ASSAY_OK; l++) {
        assay__lstm_layer *layer = &model->layers[l];
        const struct {
            size_t blocks;
            float **to;
        } rooms[] = {{4 * steps, &layer->gates},
                     {steps + 1, &layer->cell},
                     {steps, &layer->tanh_cell},
                     {steps + 1, &layer->hidden},
                     {drops(model, l) ? steps : 0, &layer->dropped}};
        for (size_t i = 0; i < sizeof rooms / sizeof *rooms && status == ASSAY_OK; i++) {
            status = assay__memory_resize(model->memory, ASSAY__ACTIVATIONS,
                                          rooms[i].blocks * block, sizeof(float), rooms[i].to);
        }
    }
    if (status == ASSAY_OK) {
        status = assay__memory_resize(model->memory, ASSAY__ACTIVATIONS,
                                      steps * (size_t)(batch * model->shape.input), sizeof(float),
                                      &model->input);
    }
    if (status == ASSAY_OK) {
        status = assay__memory_resize(model->memory, ASSAY__ACTIVATIONS,
                                      (size_t)(batch * model->shape.output), sizeof(float),
                                      &model->output);
    }
    if (status == ASSAY_OK && transposes(model, batch)) {
        status = assay__memory_resize(model->memory, ASSAY__WORKSPACE,
                                      4 * (size_t)model->shape.hidden * (size_t)model->shape.hidden,
                                      sizeof(float), &model->across);
    }
    return status;
}

void assay__lstm_to_time_major(int64_t batch, int64_t time, int64_t width, const float *x,
                               float *to)
{
    for (int64_t t = 0; t < time; t++) {
        for (int64_t b = 0; b < batch; b++) {
            memcpy(to + (t * batch + b) * width, x + (b * time + t) * width,
                   (size_t)width * sizeof *to);
        }
    }
}

static void run_layer(assay__lstm *model, int64_t l, int64_t batch, int64_t time)
{
    assay__lstm_layer *layer = &model->layers[l];
    int64_t hidden = model->shape.hidden, block = batch * hidden;
    memset(layer->cell, 0, (size_t)block * sizeof(float));
    memset(layer->hidden, 0, (size_t)block * sizeof(float));
    project(model, time * batch, layer->input_x, layer->input, layer->input, layer->weight_ih,
            false, layer->gates);
    const bool across = transposes(model, batch);
    assay__matrix weight = {value_of(model, layer->weight_hh), hidden, true};
    if (across) {
        assay__transpose(4 * hidden, hidden, weight.data, hidden, model->across, 4 * hidden);
        weight = (assay__matrix){model->across, 4 * hidden, false};
    }
    for (int64_t t = 0; t < time; t++) {
        float *gates = layer->gates + 4 * t * block;
        if (t > 0) {
            assay__matmul(batch, 4 * hidden, hidden, 1,
                          (assay__matrix){layer->hidden + t * block, hidden, false}, weight, 1,
                          gates, 4 * hidden);
        }
        assay__lstm_cell_forward(batch, hidden, layer->bias, gates, layer->cell + t * block,
                                 layer->cell + (t + 1) * block, layer->tanh_cell + t * block,
                                 layer->hidden + (t + 1) * block);
    }
}

assay_status assay__lstm_forward_kept(assay__lstm *model, int64_t batch, int64_t time,
                                      const float *x)
{
    assay_status status = keep_room(model, batch, time);
    if (status != ASSAY_OK)
        return status;
    int64_t block = batch * model->shape.hidden;
    assay__lstm_to_time_major(batch, time, model->shape.input, x, model->input);
    const float *sequence = model->input;
    model->how.passes++;
    for (int64_t l = 0; l < model->shape.layers; l++) {
        assay__lstm_layer *layer = &model->layers[l];
        layer->input_x = sequence;
        run_layer(model, l, batch, time);
        sequence = layer->hidden + block;
        if (drops(model, l)) {
            assay__dropout(time * block, (float)model->shape.dropout,
                           assay__lstm_dropout_key(model, l), sequence, layer->dropped);
            sequence = layer->dropped;
        }
    }
    assay__lstm_head(model, batch, sequence + (time - 1) * block, model->output,
                     model->shape.output);
    return ASSAY_OK;
}

/* ---- Evaluation ---- */

typedef struct evaluation {
    int64_t batch;
    bool streamed;
} evaluation;

static float *state_of(const assay__lstm *model, int64_t batch, int64_t layer)
{
    return model->states + 2 * layer * batch * model->shape.hidden;
}

static assay_status begin(assay__lstm *model, int64_t batch, int64_t steps, evaluation *e)
{
    *e = (evaluation){batch, assay__lstm_streams_pay(model, batch, steps)};
    size_t rows = (size_t)batch, hidden = (size_t)model->shape.hidden;
    if (e->streamed) {
        size_t floats = rows * assay__lstm_stream_floats(model);
        if (assay__lstm_pack(model) != ASSAY_OK ||
            assay__memory_resize(model->memory, ASSAY__WORKSPACE, floats, sizeof(float),
                                 &model->streams) != ASSAY_OK)
            return ASSAY_E_MEMORY;
        memset(model->streams, 0, floats * sizeof(float));
        return ASSAY_OK;
    }
    size_t floats = 2 * (size_t)model->shape.layers * rows * hidden;
    if (assay__lstm_sum_biases(model) != ASSAY_OK ||
        assay__memory_resize(model->memory, ASSAY__WORKSPACE, floats, sizeof(float),
                             &model->states) != ASSAY_OK ||
        assay__memory_resize(model->memory, ASSAY__WORKSPACE, 4 * rows * hidden, sizeof(float),
                             &model->step_gates) != ASSAY_OK)
        return ASSAY_E_MEMORY;
    memset(model->states, 0, floats * sizeof(float));
    return ASSAY_OK;
}

/* Advances all sequences by one step with x (batch, input; row stride `stride`). `first` says that
 * the states are zero, so that their product can be left out. */
static void advance(assay__lstm *model, const evaluation *e, const float *x, int64_t stride,
                    bool first)
{
    if (e->streamed) {
        assay__lstm_step_streams(model, e->batch, model->streams, x, stride);
        return;
    }
    int64_t hidden = model->shape.hidden;
    for (int64_t l = 0; l < model->shape.layers; l++) {
        assay__lstm_layer *layer = &model->layers[l];
        float *cell = state_of(model, e->batch, l), *state = cell + e->batch * hidden;
        project(model, e->batch, x, stride, layer->input, layer->weight_ih, false,
                model->step_gates);
        if (!first) {
            project(model, e->batch, state, hidden, hidden, layer->weight_hh, true,
                    model->step_gates);
        }
        assay__lstm_cell_advance(e->batch, hidden, layer->bias, model->step_gates, cell, state);
        x = state;
        stride = hidden;
    }
}

/* y (batch, output; row stride `stride`) from the present states. */
static void read_head(assay__lstm *model, const evaluation *e, float *y, int64_t stride)
{
    size_t floats = assay__lstm_stream_floats(model);
    for (int64_t b = 0; b < e->batch && e->streamed; b++)
        assay__lstm_stream_head(model, model->streams + (size_t)b * floats, y + b * stride);
    if (!e->streamed) {
        int64_t last = model->shape.layers - 1;
        const float *state = state_of(model, e->batch, last) + e->batch * model->shape.hidden;
        assay__lstm_head(model, e->batch, state, y, stride);
    }
}

assay_status assay__lstm_forecast(assay__lstm *model, int64_t batch, int64_t time, const float *x,
                                  int64_t steps, const float **y)
{
    evaluation e;
    int64_t in = model->shape.input, out = model->shape.output;
    assay_status status = begin(model, batch, time + steps - 1, &e);
    if (status != ASSAY_OK ||
        assay__memory_resize(model->memory, ASSAY__ACTIVATIONS, (size_t)(batch * steps * out),
                             sizeof(float), &model->output) != ASSAY_OK)
        return ASSAY_E_MEMORY;
    for (int64_t t = 0; t < time; t++)
        advance(model, &e, x + t * in, time * in, t == 0);
    for (int64_t step = 0; step < steps; step++) {
        float *next = model->output + step * out;
        if (step > 0)
            advance(model, &e, next - out, steps * out, false);
        read_head(model, &e, next, steps * out);
    }
    *y = model->output;
    return ASSAY_OK;
}

assay_status assay__lstm_forward(assay__lstm *model, int64_t batch, int64_t time, const float *x,
                                 const float **y)
{
    if (!model->training)
        return assay__lstm_forecast(model, batch, time, x, 1, y);
    assay_status status = assay__lstm_forward_kept(model, batch, time, x);
    *y = model->output;
    return status;
}
