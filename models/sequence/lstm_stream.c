/* One step of one sequence: a product of a vector by a matrix, which is as fast as the weights come
 * out of the cache. So they are laid out in the order they are used in: for every block of 16 units
 * the biases of its four gates, then for every input and state the four gates' weights,
 *
 *     layer (blocks, 1 + input + hidden, 4 gates, 16 units),
 *     head (blocks of 16 outputs, 1 + hidden, 16),
 *
 * zero where there is no unit. A block's gates end in registers, ready for the elementwise part.
 * Vectors of 16 floats are written out (a GNU extension gcc and clang share), since compilers do
 * not keep an array of sums in registers by themselves.
 *
 * Stream: (layers, 2, padded hidden) cell and hidden, then one (padded hidden) for the state in the
 * making. */
#include <string.h>

#include "kernel/elementary.h"
#include "sequence/lstm_state.h"

enum { UNITS = 16, GATES = 4, ROW = GATES * UNITS };

typedef float vector
    __attribute__((vector_size(UNITS * sizeof(float)), aligned(sizeof(float)), may_alias));

static int64_t blocks_of(int64_t count)
{
    return (count + UNITS - 1) / UNITS;
}

static size_t padded(int64_t count)
{
    return (size_t)(blocks_of(count) * UNITS);
}

size_t assay__lstm_stream_floats(const assay__lstm *model)
{
    return (size_t)(2 * model->shape.layers + 1) * padded(model->shape.hidden);
}

/* to[k row + u] = weight[u, k] for u < units; weight (units, columns) */
static void transpose(int64_t units, int64_t columns, const float *weight, int64_t row, float *to)
{
    for (int64_t start = 0; start < columns; start += UNITS) { /* squares stay in the cache */
        int64_t end = start + UNITS < columns ? start + UNITS : columns;
        for (int64_t u = 0; u < units; u++) {
            for (int64_t k = start; k < end; k++) {
                to[k * row + u] = weight[u * columns + k];
            }
        }
    }
}

static int64_t units_in(int64_t block, int64_t count)
{
    return count - block * UNITS < UNITS ? count - block * UNITS : UNITS;
}

static void pack_layer(const assay__lstm *model, const assay__lstm_layer *layer)
{
    int64_t hidden = model->shape.hidden, input = layer->input;
    const float *ih = assay__parameters_value(&model->parameters, layer->weight_ih);
    const float *hh = assay__parameters_value(&model->parameters, layer->weight_hh);
    for (int64_t block = 0; block < blocks_of(hidden); block++) {
        float *to = layer->packed + block * (1 + input + hidden) * ROW;
        int64_t units = units_in(block, hidden);
        for (int64_t gate = 0; gate < GATES; gate++, to += UNITS) {
            int64_t first = gate * hidden + block * UNITS;
            memcpy(to, layer->bias + first, (size_t)units * sizeof *to);
            transpose(units, input, ih + first * input, ROW, to + ROW);
            transpose(units, hidden, hh + first * hidden, ROW, to + (1 + input) * ROW);
        }
    }
}

static void pack_head(const assay__lstm *model)
{
    int64_t hidden = model->shape.hidden, output = model->shape.output;
    const float *weight = assay__parameters_value(&model->parameters, model->fc_weight);
    const float *bias = assay__parameters_value(&model->parameters, model->fc_bias);
    for (int64_t block = 0; block < blocks_of(output); block++) {
        float *to = model->packed_fc + block * (1 + hidden) * UNITS;
        int64_t units = units_in(block, output);
        memcpy(to, bias + block * UNITS, (size_t)units * sizeof *to);
        transpose(units, hidden, weight + block * UNITS * hidden, UNITS, to + UNITS);
    }
}

assay_status assay__lstm_pack(assay__lstm *model)
{
    int64_t hidden = model->shape.hidden;
    size_t head = padded(model->shape.output) * (size_t)(1 + hidden);
    assay_status status = assay__lstm_sum_biases(model);
    for (int64_t l = 0; l < model->shape.layers && status == ASSAY_OK; l++) {
        assay__lstm_layer *layer = &model->layers[l];
        status = assay__memory_resize(model->memory, ASSAY__WORKSPACE,
                                      padded(hidden) * (size_t)(1 + layer->input + hidden),
                                      GATES * sizeof(float), &layer->packed);
        if (status == ASSAY_OK) {
            pack_layer(model, layer);
        }
    }
    if (status == ASSAY_OK) {
        status = assay__memory_resize(model->memory, ASSAY__WORKSPACE, head, sizeof(float),
                                      &model->packed_fc);
    }
    if (status == ASSAY_OK) {
        pack_head(model);
    }
    return status;
}

/* sum (4 gates of a block) += x (count) weights (count, 4, 16) */
ASSAY__ELEMENT void accumulate(int64_t count, const float *x, const float *weights, vector *sum)
{
    vector s0 = sum[0], s1 = sum[1], s2 = sum[2], s3 = sum[3];
    for (int64_t k = 0; k < count; k++, weights += ROW) {
        const vector *w = (const vector *)weights;
        s0 += x[k] * w[0];
        s1 += x[k] * w[1];
        s2 += x[k] * w[2];
        s3 += x[k] * w[3];
    }
    sum[0] = s0;
    sum[1] = s1;
    sum[2] = s2;
    sum[3] = s3;
}

/* cell (padded) before and after; `after` (padded) the hidden state from x (input) and `before`
 * (hidden) */
ASSAY__SIMD static void step_layer(int64_t hidden, int64_t input, const float *packed,
                                   const float *x, const float *before, float *restrict cell,
                                   float *restrict after)
{
    for (int64_t block = 0; block < blocks_of(hidden); block++) {
        vector sum[GATES];
        memcpy(sum, packed, sizeof sum);
        accumulate(input, x, packed + ROW, sum);
        accumulate(hidden, before, packed + (1 + input) * ROW, sum);
        float gates[ROW];
        memcpy(gates, sum, sizeof gates);
        ASSAY__LANES
        for (int j = 0; j < UNITS; j++) {
            float i = assay__sigmoid1(gates[j]), f = assay__sigmoid1(gates[UNITS + j]);
            float g = assay__tanh1(gates[2 * UNITS + j]), o = assay__sigmoid1(gates[3 * UNITS + j]);
            float c = f * cell[block * UNITS + j] + i * g;
            cell[block * UNITS + j] = c;
            after[block * UNITS + j] = o * assay__tanh1(c);
        }
        packed += (1 + input + hidden) * ROW;
    }
}

ASSAY__SIMD static void step_head(int64_t hidden, int64_t output, const float *packed,
                                  const float *state, float *y)
{
    for (int64_t block = 0; block < blocks_of(output); block++) {
        const vector *w = (const vector *)packed;
        vector sum = w[0], odd = {0};
        int64_t k = 0;
        for (; k + 1 < hidden; k += 2) {
            sum += state[k] * w[1 + k];
            odd += state[k + 1] * w[2 + k];
        }
        if (k < hidden) {
            sum += state[k] * w[1 + k];
        }
        sum += odd;
        memcpy(y + block * UNITS, &sum, (size_t)units_in(block, output) * sizeof *y);
        packed += (1 + hidden) * UNITS;
    }
}

void assay__lstm_stream_head(const assay__lstm *model, const float *stream, float *y)
{
    size_t width = padded(model->shape.hidden);
    const float *state = stream + (2 * (size_t)model->shape.layers - 1) * width;
    step_head(model->shape.hidden, model->shape.output, model->packed_fc, state, y);
}

void assay__lstm_step(const assay__lstm *model, float *stream, const float *x, float *y)
{
    size_t width = padded(model->shape.hidden);
    float *fresh = stream + 2 * (size_t)model->shape.layers * width;
    for (int64_t l = 0; l < model->shape.layers; l++) {
        const assay__lstm_layer *layer = &model->layers[l];
        float *cell = stream + 2 * (size_t)l * width, *state = cell + width;
        step_layer(model->shape.hidden, layer->input, layer->packed, x, state, cell, fresh);
        memcpy(state, fresh, width * sizeof *state);
        x = state;
    }
    if (y != NULL) {
        assay__lstm_stream_head(model, stream, y);
    }
}
