/* The insides of an assay__lstm, shared by the files that implement it. */
#ifndef ASSAY_MODELS_SEQUENCE_LSTM_STATE_H
#define ASSAY_MODELS_SEQUENCE_LSTM_STATE_H

#include "models/kernel/kernels.h"
#include "models/sequence/lstm.h"

typedef struct assay__lstm_layer {
    int64_t input;
    size_t weight_ih, weight_hh, bias_ih, bias_hh; /* indices of parameters */

    /* Kept from forward for backward. Block t of `cell` and `hidden` is the state before step t. */
    float *gates;         /* (time, batch, 4 hidden) i f g o; backward replaces them by gradients */
    float *cell;          /* (time + 1, batch, hidden) */
    float *tanh_cell;     /* (time, batch, hidden) */
    float *hidden;        /* (time + 1, batch, hidden) */
    float *dropped;       /* (time, batch, hidden): with dropout, the input of the layer above */
    const float *input_x; /* (time, batch, input): the input of this layer; borrowed */

    float *bias;   /* (4 hidden) bias_ih + bias_hh */
    float *packed; /* see lstm_stream.c */
} assay__lstm_layer;

struct assay__lstm {
    assay__lstm_shape shape;
    assay__memory *memory;
    assay__parameters parameters;
    assay__lstm_layer *layers;
    size_t fc_weight, fc_bias;
    assay__adam adam;
    bool training;
    assay_model_training how; /* loss, optimizer, and the seed and pass of dropout's masks */

    float *input;  /* (time, batch, input) */
    float *output; /* (batch, steps, output) */
    float *across; /* (hidden, 4 hidden): weight_hh of the present layer, transposed */

    /* Workspace of backward. */
    float *output_slope;   /* (batch, output); (time, batch, output) with targets after all steps */
    float *targets;        /* (time, batch, output), with targets after all steps */
    float *hidden_slope;   /* (batch, hidden) */
    float *cell_slope;     /* (batch, hidden) */
    float *sequence_slope; /* (time, batch, hidden): from the layer above, then for the one below */
    float *input_gradient; /* (input, 4 hidden): the gradient of weight_ih, transposed */

    /* Workspace of evaluation. */
    float *states;     /* (layers, 2, batch, hidden): cell, hidden */
    float *step_gates; /* (batch, 4 hidden) */
    float *streams;    /* (batch, stream floats) */
    float *packed_fc;  /* see lstm_stream.c */
};

/* ---- lstm.c ---- */

/* Sets `bias` = bias_ih + bias_hh of every layer. */
ASSAY_MUST_USE assay_status assay__lstm_sum_biases(assay__lstm *model);
/* y (batch, output; row stride `stride`) = the head, fc, of hidden (batch, hidden) */
void assay__lstm_head(const assay__lstm *model, int64_t batch, const float *hidden, float *y,
                      int64_t stride);
/* The forward pass of training and gradients. It keeps the activations, applies dropout in training
 * mode, and writes model->output (batch, output). */
ASSAY_MUST_USE assay_status assay__lstm_forward_kept(assay__lstm *model, int64_t batch,
                                                     int64_t time, const float *x);
/* (batch, time, width) to (time, batch, width) */
void assay__lstm_to_time_major(int64_t batch, int64_t time, int64_t width, const float *x,
                               float *to);
/* The key of the dropout after layer `layer` in the current pass. */
uint64_t assay__lstm_dropout_key(const assay__lstm *model, int64_t layer);

/* ---- lstm_stream.c ---- */

/* Returns whether packing the weights and stepping streams is faster than matrix products. */
bool assay__lstm_streams_pay(const assay__lstm *model, int64_t batch, int64_t steps);
/* Advances `count` streams, which lie one after the other in memory, by one step with x (count,
 * input; row stride x_stride). It computes no outputs. */
void assay__lstm_step_streams(const assay__lstm *model, int64_t count, float *streams,
                              const float *x, int64_t x_stride);
/* y (output) from the present state of a stream, over packed weights. */
void assay__lstm_stream_head(const assay__lstm *model, const float *stream, float *y);

#endif
