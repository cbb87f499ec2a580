/* LSTM forecaster: stacked LSTM layers and a linear head on the last hidden state, float32, with
 * PyTorch's arithmetic and names (nn.LSTM with batch_first, then nn.Linear):
 *
 *     lstm.weight_ih_l0 (4 hidden, input), lstm.weight_hh_l0 (4 hidden, hidden),
 *     lstm.bias_ih_l0 (4 hidden), lstm.bias_hh_l0 (4 hidden), ..._l1 (input is hidden) ...,
 *     fc.weight (output, hidden), fc.bias (output);
 *     the rows of a layer are its gates i, f, g, o, `hidden` of each:
 *     c_t = sigmoid(f) c_{t-1} + sigmoid(i) tanh(g),  h_t = sigmoid(o) tanh(c_t).
 *
 * Inputs are (batch, time, input). States begin at zero. A model belongs to one thread at a time.
 * Passes with shapes no larger than earlier ones allocate nothing. Outputs belong to the model and
 * are valid until its next pass. */
#ifndef ASSAY_MODELS_SEQUENCE_LSTM_H
#define ASSAY_MODELS_SEQUENCE_LSTM_H

#include "assay/model.h"
#include "models/kernel/memory.h"
#include "models/kernel/optimizer.h"
#include "models/kernel/parameters.h"

typedef struct assay__lstm_shape {
    int64_t input, hidden, layers, output; /* each at least 1 */
    double dropout;                        /* rate between layers in training mode, 0 ... 1 */
    int64_t truncate; /* gradients go back through this many steps, the last ones; 0: through all */
} assay__lstm_shape;

typedef struct assay__lstm assay__lstm;

/* Makes a model. The parameters are drawn from U(-1 / sqrt(hidden), 1 / sqrt(hidden)), as PyTorch
 * draws them. ASSAY_E_ARGUMENT, ASSAY_E_LIMIT or ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__lstm_new(const assay__lstm_shape *shape, uint64_t seed,
                                            assay_error *error, assay__lstm **model);
void assay__lstm_free(assay__lstm *model);

const assay__lstm_shape *assay__lstm_shape_of(const assay__lstm *model);
assay__parameters *assay__lstm_parameters(assay__lstm *model);
assay__memory *assay__lstm_memory(assay__lstm *model);
/* Turns training mode, and with it dropout, on or off. It is off at first. */
void assay__lstm_set_training(assay__lstm *model, bool training);

/* ---- Whole sequences ---- */

/* y (batch, output) from x (batch, time, input); time must be at least 1. Training mode keeps every
 * activation; evaluation keeps only the states. */
ASSAY_MUST_USE assay_status assay__lstm_forward(assay__lstm *model, int64_t batch, int64_t time,
                                                const float *x, const float **y);

/* Forecasts the `steps` values that follow x: y (batch, steps, output). Each value is fed back as
 * the next input, and the states are carried on; output must equal input. There is never
 * dropout. */
ASSAY_MUST_USE assay_status assay__lstm_forecast(assay__lstm *model, int64_t batch, int64_t time,
                                                 const float *x, int64_t steps, const float **y);

/* How the model is trained. The struct belongs to the model, and the caller may change it between
 * calls. */
assay_model_training *assay__lstm_training(assay__lstm *model);

/* Runs forward() and computes the loss against target (batch, output), by default the mean squared
 * error. The parameters' gradients are overwritten with the gradient of the loss. */
ASSAY_MUST_USE assay_status assay__lstm_gradient(assay__lstm *model, int64_t batch, int64_t time,
                                                 const float *x, const float *target, double *loss);

/* The same with a target after every step: targets (batch, time, output), and the loss is the mean
 * over all of them. So a sequence teaches as many forecasts as it has steps. Gradients go back
 * through all steps, whatever `truncate` says. */
ASSAY_MUST_USE assay_status assay__lstm_gradient_all(assay__lstm *model, int64_t batch,
                                                     int64_t time, const float *x,
                                                     const float *targets, double *loss);

/* Makes one step of the optimizer, by default Adam, with the present gradients. */
ASSAY_MUST_USE assay_status assay__lstm_update(assay__lstm *model, double learning_rate,
                                               assay_error *error);

/* ---- One step at a time ----
 *
 * A stream is an array of the caller's that holds the states of one sequence. It has
 * assay__lstm_stream_floats() floats and is best aligned to 64 bytes. Clear it to begin a sequence.
 * Steps neither allocate nor change the model, so several streams, on several threads, may share
 * one model.
 *
 *     if (assay__lstm_pack(model) != ASSAY_OK) ...
 *     memset(stream, 0, assay__lstm_stream_floats(model) * sizeof *stream);
 *     while (...) assay__lstm_step(model, stream, x, y);
 */

/* Lays the weights out for steps. Call it again after the weights have changed. */
ASSAY_MUST_USE assay_status assay__lstm_pack(assay__lstm *model);
size_t assay__lstm_stream_floats(const assay__lstm *model);

/* Advances the stream by one step with x (input), and writes the forecast after it to y (output).
 * Pass NULL for y if you do not need it. */
void assay__lstm_step(const assay__lstm *model, float *stream, const float *x, float *y);

/* ---- For passes that are computed elsewhere (models/cuda) ---- */

/* The model inside a state that the class made. */
assay__lstm *assay__lstm_of(void *state);
/* The checks that the class makes before a pass: of its input, of a target (batch, output) or
 * (batch, time, output) for that input, and of the number of steps of a forecast. */
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
