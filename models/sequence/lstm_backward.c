/* Backpropagation through time. Only one product has to be computed step by step: the gradient with
 * respect to the states before the step. Everything else (weights, biases, the layer below) is one
 * product over all steps. It is taken from the gradients of the gates, which have replaced the
 * gates by then.
 *
 * Truncation: gradients stop at step time - truncate, and the states before that step count as
 * constants. In this file, a slope is a gradient of the loss. */
#include <string.h>

#include "models/kernel/dropout.h"
#include "models/kernel/kernels.h"
#include "models/kernel/linear.h"
#include "models/kernel/loss.h"
#include "models/kernel/matmul.h"
#include "models/kernel/threads.h"
#include "models/sequence/lstm_state.h"

static float *value_of(const assay__lstm *model, size_t parameter)
{
    return assay__parameters_value(&model->parameters, parameter);
}

static float *gradient_of(const assay__lstm *model, size_t parameter)
{
    return assay__parameters_gradient(&model->parameters, parameter);
}

/* Returns whether the gradient of a layer's weight_ih is computed transposed. With few inputs the
 * product has few columns, and its transpose, which has few rows, is faster. Only the first layer
 * may have so few inputs that it matters. */
static bool transposes(const assay__lstm *model, const assay__lstm_layer *layer)
{
    enum { FEW = 32 };
    return layer == model->layers && layer->input <= FEW &&
           assay__product_pays(2 * FEW, 4 * model->shape.hidden, false, 1, false);
}

/* Takes the workspace of backward, for a target after the last step or, with `all`, after every
 * step. */
static assay_status backward_room(assay__lstm *model, int64_t batch, int64_t time, bool all)
{
    size_t block = (size_t)(batch * model->shape.hidden);
    size_t outputs = (size_t)((all ? time : 1) * batch * model->shape.output);
    size_t between = model->shape.layers > 1 || all ? (size_t)time * block : 0;
    const struct {
        size_t floats;
        float **to;
    } rooms[] = {{outputs, &model->output_slope},
                 {all ? outputs : 0, &model->targets},
                 {block, &model->hidden_slope},
                 {block, &model->cell_slope},
                 {between, &model->sequence_slope},
                 {transposes(model, model->layers)
                      ? (size_t)(model->shape.input * 4 * model->shape.hidden)
                      : 0,
                  &model->input_gradient}};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
        if (assay__memory_resize(model->memory, ASSAY__WORKSPACE, rooms[i].floats, sizeof(float),
                                 rooms[i].to) != ASSAY_OK)
            return ASSAY_E_MEMORY;
    return ASSAY_OK;
}

/* Goes backwards through the steps start ... time - 1 of a layer, and replaces its gates by their
 * gradients. `above` (time, batch, hidden) has the gradients with respect to all hidden states of
 * the layer. If only the last hidden state has one, `above` is NULL and `last` (batch, hidden)
 * holds that gradient. The array that is used is also workspace. */
static void through_time(assay__lstm *model, const assay__lstm_layer *layer, int64_t batch,
                         int64_t start, int64_t time, float *last, float *above)
{
    int64_t hidden = model->shape.hidden, block = batch * hidden;
    memset(model->cell_slope, 0, (size_t)block * sizeof(float));
    for (int64_t t = time - 1; t >= start; t--) {
        float *gates = layer->gates + 4 * t * block;
        assay__lstm_cell_backward(batch, hidden, above != NULL ? above + t * block : last,
                                  layer->cell + t * block, layer->tanh_cell + t * block, gates,
                                  model->cell_slope);
        if (t > start) {
            assay__matmul(batch, hidden, 4 * hidden, 1, (assay__matrix){gates, 4 * hidden, false},
                          (assay__matrix){value_of(model, layer->weight_hh), hidden, false},
                          above != NULL ? 1 : 0, above != NULL ? above + (t - 1) * block : last,
                          hidden);
        }
    }
}

/* The product of the inputs (rows, input), transposed, and the slopes (rows, 4 hidden). */
typedef struct input_product {
    int64_t rows, input, gates;
    const float *x, *slopes;
    float *gradient; /* (input, gates) */
} input_product;

static void input_range(void *context, int64_t first, int64_t count)
{
    const input_product *p = context;
    assay__narrow_product(p->input, count, p->rows, p->x, 1, p->input, p->slopes + first, p->gates,
                          NULL, false, p->gradient + first, p->gates);
}

/* Computes the gradient of weight_ih from `rows` rows of inputs and slopes. */
static void gather_inputs(assay__lstm *model, const assay__lstm_layer *layer, int64_t rows,
                          const float *x, const float *slopes)
{
    enum { GRAIN = 32, LEAST = 200000 }; /* multiply-adds of a part, as in kernel/matmul.c */
    const int64_t in = layer->input, gates = 4 * model->shape.hidden;
    float *gradient = gradient_of(model, layer->weight_ih);
    if (!transposes(model, layer)) {
        assay__matmul(gates, in, rows, 1, (assay__matrix){slopes, gates, true},
                      (assay__matrix){x, in, false}, 1, gradient, in);
        return;
    }
    input_product p = {rows, in, gates, x, slopes, model->input_gradient};
    assay__parallel_ranges(gates, GRAIN, LEAST / (rows * in + 1) + 1, input_range, &p);
    assay__transpose(in, gates, p.gradient, gates, gradient, in);
}

/* Computes the gradients of a layer's parameters from the gradients of its gates in steps start ...
 * time - 1. */
static void gather(assay__lstm *model, const assay__lstm_layer *layer, int64_t batch, int64_t start,
                   int64_t time)
{
    int64_t hidden = model->shape.hidden, rows = (time - start) * batch, skipped = start * batch;
    const float *slopes = layer->gates + skipped * 4 * hidden;
    assay__matrix by_gate = {slopes, 4 * hidden, true};
    gather_inputs(model, layer, rows, layer->input_x + skipped * layer->input, slopes);
    int64_t zero_rows = start == 0 ? batch : 0; /* the states before step 0 are zero */
    by_gate.data += zero_rows * 4 * hidden;
    assay__matmul(4 * hidden, hidden, rows - zero_rows, 1, by_gate,
                  (assay__matrix){layer->hidden + (skipped + zero_rows) * hidden, hidden, false}, 1,
                  gradient_of(model, layer->weight_hh), hidden);
    float *bias = gradient_of(model, layer->bias_ih);
    assay__column_sums(rows, 4 * hidden, slopes, bias);
    memcpy(gradient_of(model, layer->bias_hh), bias, (size_t)(4 * hidden) * sizeof(float));
}

/* below (time, batch, hidden) = the gradient with respect to the outputs of layer l - 1 */
static void pass_down(assay__lstm *model, int64_t l, int64_t batch, int64_t start, int64_t time,
                      float *below)
{
    const assay__lstm_layer *layer = &model->layers[l];
    int64_t hidden = model->shape.hidden, rows = (time - start) * batch, skipped = start * batch;
    assay__matmul(rows, hidden, 4 * hidden, 1,
                  (assay__matrix){layer->gates + skipped * 4 * hidden, 4 * hidden, false},
                  (assay__matrix){value_of(model, layer->weight_ih), hidden, false}, 0,
                  below + skipped * hidden, hidden);
    if (layer->input_x == model->layers[l - 1].dropped) {
        /* The mask is a function of the element's index, so dropout has to start where the whole
         * array starts. */
        memset(below, 0, (size_t)(skipped * hidden) * sizeof *below);
        assay__dropout(time * batch * hidden, (float)model->shape.dropout,
                       assay__lstm_dropout_key(model, l - 1), below, below);
    }
}

/* Returns the loss of the head's outputs for `rows` states of the top layer. Computes the gradients
 * of the head's parameters, and writes the gradients with respect to the states to `slopes`. */
static double head_backward(assay__lstm *model, int64_t rows, const float *states,
                            const float *target, float *slopes)
{
    int64_t hidden = model->shape.hidden, output = model->shape.output;
    double loss =
        assay__loss(model->how.loss, rows, output, model->output, target, model->output_slope);
    assay__linear_backward(
        rows, hidden, output, model->output_slope, states, value_of(model, model->fc_weight),
        slopes, gradient_of(model, model->fc_weight), gradient_of(model, model->fc_bias));
    return loss;
}

/* Goes backwards through all layers. The gradient with respect to the last state of the top layer
 * is in hidden_slope, or, with `all`, the gradients with respect to all of its states are in
 * sequence_slope. */
static void layers_backward(assay__lstm *model, int64_t batch, int64_t start, int64_t time,
                            bool all)
{
    int64_t top = model->shape.layers - 1;
    for (int64_t l = top; l >= 0; l--) {
        through_time(model, &model->layers[l], batch, start, time, model->hidden_slope,
                     l == top && !all ? NULL : model->sequence_slope);
        gather(model, &model->layers[l], batch, start, time);
        if (l > 0) /* the layer has used sequence_slope by now */
            pass_down(model, l, batch, start, time, model->sequence_slope);
    }
}

assay_status assay__lstm_gradient(assay__lstm *model, int64_t batch, int64_t time, const float *x,
                                  const float *target, double *loss)
{
    if (assay__lstm_forward_kept(model, batch, time, x) != ASSAY_OK ||
        backward_room(model, batch, time, false) != ASSAY_OK)
        return ASSAY_E_MEMORY;
    int64_t truncate = model->shape.truncate;
    int64_t start = truncate > 0 && truncate < time ? time - truncate : 0;
    const assay__lstm_layer *top = &model->layers[model->shape.layers - 1];
    assay__parameters_zero_gradients(&model->parameters);
    *loss = head_backward(model, batch, top->hidden + time * batch * model->shape.hidden, target,
                          model->hidden_slope);
    layers_backward(model, batch, start, time, false);
    return ASSAY_OK;
}

assay_status assay__lstm_gradient_all(assay__lstm *model, int64_t batch, int64_t time,
                                      const float *x, const float *targets, double *loss)
{
    int64_t rows = time * batch, output = model->shape.output;
    if (assay__lstm_forward_kept(model, batch, time, x) != ASSAY_OK ||
        backward_room(model, batch, time, true) != ASSAY_OK ||
        assay__memory_resize(model->memory, ASSAY__ACTIVATIONS, (size_t)(rows * output),
                             sizeof(float), &model->output) != ASSAY_OK)
        return ASSAY_E_MEMORY;
    const float *states =
        model->layers[model->shape.layers - 1].hidden + batch * model->shape.hidden;
    assay__lstm_head(model, rows, states, model->output, output);
    assay__lstm_to_time_major(batch, time, output, targets, model->targets);
    assay__parameters_zero_gradients(&model->parameters);
    *loss = head_backward(model, rows, states, model->targets, model->sequence_slope);
    layers_backward(model, batch, 0, time, true);
    return ASSAY_OK;
}

assay_status assay__lstm_update(assay__lstm *model, double learning_rate, assay_error *error)
{
    return assay__optimizer_step(model->how.optimizer, &model->adam, model->memory,
                                 &model->parameters, learning_rate, error);
}
