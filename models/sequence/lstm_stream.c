/* One step of one sequence, or of a few, is a product of a vector by a matrix. It is as fast as the
 * weights come out of the cache. So the weights are laid out in the order of their use: for every
 * block of 16 units first the biases of its four gates, then for every input and state the weights
 * of the four gates,
 *
 *     layer (blocks, 1 + input + hidden, 4 gates, 16 units),
 *     head (blocks of 16 outputs, 1 + hidden, 16),
 *
 * with zeros where there is no unit. The gates of a block end in registers, ready for the
 * elementwise part (kernel/level/lstm.c).
 *
 * A stream holds the cell and hidden state of every layer, (layers, 2, padded hidden), and then one
 * row of (padded hidden) for the hidden state that a step is computing. */
#include <string.h>

#include "models/sequence/lstm_state.h"

enum { UNITS = ASSAY__LSTM_UNITS, GATES = 4, ROW = GATES * UNITS };

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
        for (int64_t u = 0; u < units; u++)
            for (int64_t k = start; k < end; k++)
                to[k * row + u] = weight[u * columns + k];
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
        if (status == ASSAY_OK)
            pack_layer(model, layer);
    }
    if (status == ASSAY_OK) {
        status = assay__memory_resize(model->memory, ASSAY__WORKSPACE, head, sizeof(float),
                                      &model->packed_fc);
    }
    if (status == ASSAY_OK)
        pack_head(model);
    return status;
}

void assay__lstm_stream_head(const assay__lstm *model, const float *stream, float *y)
{
    size_t width = padded(model->shape.hidden);
    const float *state = stream + (2 * (size_t)model->shape.layers - 1) * width;
    assay__lstm_head_packed(model->shape.hidden, model->shape.output, model->packed_fc, state, y);
}

/* Advances `rows` streams, `stride` floats apart, by one step with x (rows, input; row stride
 * x_stride). */
static void advance(const assay__lstm *model, int64_t rows, float *streams, int64_t stride,
                    const float *x, int64_t x_stride)
{
    int64_t width = (int64_t)padded(model->shape.hidden);
    float *fresh = streams + 2 * model->shape.layers * width;
    for (int64_t l = 0; l < model->shape.layers; l++) {
        const assay__lstm_layer *layer = &model->layers[l];
        float *cell = streams + 2 * l * width, *state = cell + width;
        assay__lstm_step_packed(rows, model->shape.hidden, layer->input, layer->packed, x, x_stride,
                                state, cell, fresh, stride);
        for (int64_t r = 0; r < rows; r++)
            memcpy(state + r * stride, fresh + r * stride, (size_t)width * sizeof *state);
        x = state;
        x_stride = stride;
    }
}

/* Streams read all weights again for each few sequences. So they are fast for few sequences, and
 * for more only if the weights stay in the cache. Packing the weights is repaid after some steps,
 * counted over all sequences. */
bool assay__lstm_streams_pay(const assay__lstm *model, int64_t batch, int64_t steps)
{
    enum { STEPS_REPAY_PACKING = 8, CACHED_FLOATS = 1 << 17, FEW = 8 };
    int64_t hidden = model->shape.hidden;
    bool cached = 4 * hidden * (model->shape.input + hidden) <= CACHED_FLOATS;
    bool fast = batch == 1 || cached || batch <= FEW;
    return fast && batch * steps >= STEPS_REPAY_PACKING;
}

void assay__lstm_step_streams(const assay__lstm *model, int64_t count, float *streams,
                              const float *x, int64_t x_stride)
{
    advance(model, count, streams, (int64_t)assay__lstm_stream_floats(model), x, x_stride);
}

void assay__lstm_step(const assay__lstm *model, float *stream, const float *x, float *y)
{
    advance(model, 1, stream, 0, x, 0);
    if (y != NULL)
        assay__lstm_stream_head(model, stream, y);
}
