/* The model as its definition reads, one number at a time, in double: what the fast paths are held
 * against, and smooth enough for finite differences. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/sequence/lstm_state.h"
#include "tests/reference/reference.h"

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* bias_ih[row] + bias_hh[row] + weight_ih[row, :] x + weight_hh[row, :] h */
static double gate(const assay__lstm *model, const assay__lstm_layer *layer, int64_t row,
                   const double *x, const double *h)
{
    const assay__parameters *p = &model->parameters;
    int64_t hidden = model->shape.hidden;
    const float *ih = assay__parameters_value(p, layer->weight_ih) + row * layer->input;
    const float *hh = assay__parameters_value(p, layer->weight_hh) + row * hidden;
    double sum = (double)assay__parameters_value(p, layer->bias_ih)[row] +
                 (double)assay__parameters_value(p, layer->bias_hh)[row];
    for (int64_t k = 0; k < layer->input; k++)
        sum += (double)ih[k] * x[k];
    for (int64_t k = 0; k < hidden; k++)
        sum += (double)hh[k] * h[k];
    return sum;
}

/* states (layers, 3, hidden): cell, hidden, and the hidden state in the making */
static void step(const assay__lstm *model, const double *x, double *states)
{
    int64_t hidden = model->shape.hidden;
    for (int64_t l = 0; l < model->shape.layers; l++) {
        const assay__lstm_layer *layer = &model->layers[l];
        double *cell = states + 3 * l * hidden, *h = cell + hidden, *fresh = h + hidden;
        for (int64_t j = 0; j < hidden; j++) {
            double i = sigmoid(gate(model, layer, j, x, h));
            double f = sigmoid(gate(model, layer, hidden + j, x, h));
            double g = tanh(gate(model, layer, 2 * hidden + j, x, h));
            double o = sigmoid(gate(model, layer, 3 * hidden + j, x, h));
            cell[j] = f * cell[j] + i * g;
            fresh[j] = o * tanh(cell[j]);
        }
        memcpy(h, fresh, (size_t)hidden * sizeof *h);
        x = h;
    }
}

static void head(const assay__lstm *model, const double *h, double *y)
{
    int64_t hidden = model->shape.hidden;
    const float *weight = assay__parameters_value(&model->parameters, model->fc_weight);
    const float *bias = assay__parameters_value(&model->parameters, model->fc_bias);
    for (int64_t i = 0; i < model->shape.output; i++) {
        y[i] = (double)bias[i];
        for (int64_t k = 0; k < hidden; k++)
            y[i] += (double)weight[i * hidden + k] * h[k];
    }
}

assay_status reference_lstm(const assay__lstm *model, int64_t batch, int64_t time, const float *x,
                            int64_t steps, double *y)
{
    int64_t input = model->shape.input, output = model->shape.output, hidden = model->shape.hidden;
    size_t floats = (size_t)(3 * model->shape.layers * hidden);
    double *states = calloc(floats + (size_t)input, sizeof *states), *now = states + floats;
    if (states == NULL)
        return ASSAY_E_MEMORY;
    const double *top = states + (3 * model->shape.layers - 2) * hidden;
    for (int64_t b = 0; b < batch; b++) {
        memset(states, 0, floats * sizeof *states);
        for (int64_t t = 0; t < time; t++) {
            for (int64_t k = 0; k < input; k++)
                now[k] = (double)x[(b * time + t) * input + k];
            step(model, now, states);
        }
        for (int64_t s = 0; s < steps; s++) {
            double *next = y + (b * steps + s) * output;
            if (s > 0)
                step(model, next - output, states);
            head(model, top, next);
        }
    }
    free(states);
    return ASSAY_OK;
}
