/* LSTM forecaster: stacked LSTM layers and a linear head on the last hidden state, float32, with
 * PyTorch's arithmetic and names (nn.LSTM with batch_first, then nn.Linear):
 *
 *     lstm.weight_ih_l0 (4 hidden, input), lstm.weight_hh_l0 (4 hidden, hidden),
 *     lstm.bias_ih_l0 (4 hidden), lstm.bias_hh_l0 (4 hidden), ..._l1 (input is hidden) ...,
 *     fc.weight (output, hidden), fc.bias (output);
 *     the rows of a layer are its gates i, f, g, o, `hidden` of each:
 *     c_t = sigmoid(f) c_{t-1} + sigmoid(i) tanh(g),  h_t = sigmoid(o) tanh(c_t).
 *
 * Inputs are (batch, time, input). States begin at zero. A model belongs to one thread at a time;
 * passes with shapes no larger than earlier ones allocate nothing. Outputs are the model's and
 * valid until its next pass. */
#ifndef ASSAY_MODELS_SEQUENCE_LSTM_H
#define ASSAY_MODELS_SEQUENCE_LSTM_H

#include "assay/model.h"
#include "models/kernel/memory.h"
#include "models/kernel/optimizer.h"
#include "models/kernel/parameters.h"

typedef struct assay__lstm_shape {
    int64_t input, hidden, layers, output; /* each at least 1 */
    double dropout;                        /* rate between layers in training mode, 0 ... 1 */
    int64_t truncate; /* gradients go back through the last so many steps; 0: through all */
} assay__lstm_shape;

typedef struct assay__lstm assay__lstm;

/* Parameters are drawn from U(-1 / sqrt(hidden), 1 / sqrt(hidden)), as PyTorch's. */
ASSAY_MUST_USE assay_status assay__lstm_new(const assay__lstm_shape *shape, uint64_t seed,
                                            assay_error *error, assay__lstm **model);
void assay__lstm_free(assay__lstm *model);

const assay__lstm_shape *assay__lstm_shape_of(const assay__lstm *model);
assay__parameters *assay__lstm_parameters(assay__lstm *model);
assay__memory *assay__lstm_memory(assay__lstm *model);
/* Dropout active or not; the latter at first. */
void assay__lstm_set_training(assay__lstm *model, bool training);

/* ---- Whole sequences ---- */

/* y (batch, output) from x (batch, time, input); time at least 1. In training mode every activation
 * is kept, else only the states. */
ASSAY_MUST_USE assay_status assay__lstm_forward(assay__lstm *model, int64_t batch, int64_t time,
                                                const float *x, const float **y);

/* y (batch, steps, output): what follows x, each value fed back as the next input with the states
 * carried on; output must equal input. Never with dropout. */
ASSAY_MUST_USE assay_status assay__lstm_forecast(assay__lstm *model, int64_t batch, int64_t time,
                                                 const float *x, int64_t steps, const float **y);

/* How it is trained: the model's own, to be changed between calls. */
assay_model_training *assay__lstm_training(assay__lstm *model);

/* forward(), the loss, by default the mean squared error, against target (batch, output), and its
 * gradient in the parameters' gradients (overwritten). */
ASSAY_MUST_USE assay_status assay__lstm_gradient(assay__lstm *model, int64_t batch, int64_t time,
                                                 const float *x, const float *target, double *loss);

/* The same with a target after every step: targets (batch, time, output), the mean over all of
 * them. A sequence then teaches as many forecasts as it has steps. Slopes go through all steps,
 * whatever `truncate` says. */
ASSAY_MUST_USE assay_status assay__lstm_gradient_all(assay__lstm *model, int64_t batch,
                                                     int64_t time, const float *x,
                                                     const float *targets, double *loss);

/* One step of the optimizer, by default Adam, by the gradients that stand there. */
ASSAY_MUST_USE assay_status assay__lstm_update(assay__lstm *model, double learning_rate,
                                               assay_error *error);

/* ---- One step at a time ----
 * A stream is an array of the caller's that holds states: assay__lstm_stream_floats() of them, best
 * aligned to 64 bytes; clear it to begin. Steps neither allocate nor change the model, so
 * several streams, on several threads, may share one.
 *
 *     if (assay__lstm_pack(model) != ASSAY_OK) ...
 *     memset(stream, 0, assay__lstm_stream_floats(model) * sizeof *stream);
 *     while (...) assay__lstm_step(model, stream, x, y);
 */

/* Lay the weights out for steps. Again after they have changed. */
ASSAY_MUST_USE assay_status assay__lstm_pack(assay__lstm *model);
size_t assay__lstm_stream_floats(const assay__lstm *model);

/* y (output; NULL: not wanted) after x (input) and everything before it. */
void assay__lstm_step(const assay__lstm *model, float *stream, const float *x, float *y);

/* ---- For passes that are computed elsewhere (models/cuda) ---- */

/* The model of a state that the class made. */
assay__lstm *assay__lstm_of(void *state);
/* What the class checks before a pass: its input, a target (batch, output) or (batch, time, output)
 * for it, and the steps of a forecast. */
ASSAY_MUST_USE assay_status assay__lstm_check_input(const assay__lstm *lstm,
                                                    const assay_tensor *input, assay_error *error);
ASSAY_MUST_USE assay_status assay__lstm_check_target(const assay__lstm *lstm,
                                                     const assay_tensor *input,
                                                     const assay_tensor *target,
                                                     assay_error *error);
ASSAY_MUST_USE assay_status assay__lstm_check_steps(const assay__lstm *lstm, int64_t steps,
                                                    assay_error *error);

/* Options: input-dim, hidden-dim, num-layers, output-dim, dropout, truncate, batch-size, seq-len.
 * Input "input" (batch, time, input-dim), output (batch, output-dim). */
extern const assay_model_class assay__lstm_class;

#endif
