/* The LSTM on a device.
 *
 * Evaluation of a small model is one kernel: a block of threads takes one sequence through all its
 * steps, with the states in shared memory and the weights in the cache. Larger weights would not
 * stay in the cache, so larger models go step by step through matrix products, which all
 * multiprocessors share. Training works as on the host (sequence/lstm.c, lstm_backward.c): one
 * product computes the inputs' part of all steps, and each step adds the part of its states. */
#include <string.h>

#include "models/cuda/dropout.h"
#include "models/cuda/instance.h"
#include "models/sequence/lstm_state.h"

enum { SMALL_WEIGHTS = 1 << 18 /* floats: 1 MiB */, MOST_LAYERS = 1000 };

typedef struct layer {
    float *gates;     /* (time, batch, 4 hidden) */
    float *cell;      /* (time + 1, batch, hidden) */
    float *tanh_cell; /* (time, batch, hidden) */
    float *hidden;    /* (time + 1, batch, hidden) */
    float *dropped;   /* (time, batch, hidden) */
    const float *x;   /* (time, batch, input) */
} layer;

typedef struct recurrent {
    int64_t batch, time;
    layer layers[MOST_LAYERS];
    float *input;                                  /* (time, batch, input) */
    float *y, *ordered;                            /* outputs */
    float *packed;                                 /* weights for the kernel of forecasts */
    float *states, *step_gates;                    /* of evaluation by products */
    float *hidden_slope, *cell_slope, *all_slopes; /* of backward */
    float *targets;                                /* in the order given by the caller */
} recurrent;

static const assay__lstm_shape *shape_of(const assay__gpu_model *model)
{
    return assay__lstm_shape_of(assay__lstm_of(model->state));
}

static int64_t input_of(const assay__lstm_shape *shape, int64_t l)
{
    return l == 0 ? shape->input : shape->hidden;
}

enum { WEIGHT_IH, WEIGHT_HH, BIAS_IH, BIAS_HH, EACH_LAYER };

static size_t parameter(int64_t l, size_t which)
{
    return EACH_LAYER * (size_t)l + which;
}

static void reorder(assay__gpu *gpu, int64_t a, int64_t b, int64_t width, const float *x, float *y)
{
    ASSAY__LAUNCH(gpu, reorder, assay__gpu_blocks(a * b * width), 1, ASSAY__BLOCK, .a = a, .b = b,
                  .width = width, .x = x, .y = y);
}

static assay_status check(assay__gpu_model *model, const assay_tensor *inputs,
                          const assay_tensor *target, int64_t steps, assay_error *error,
                          assay_tensor *output)
{
    const assay__lstm *lstm = assay__lstm_of(model->state);
    const int64_t batch = inputs->shape[0], width = assay__lstm_shape_of(lstm)->output;
    *output = steps > 0 ? (assay_tensor){"output", ASSAY_F32, 3, {batch, steps, width}, NULL}
                        : (assay_tensor){"output", ASSAY_F32, 2, {batch, width}, NULL};
    assay_status status = assay__lstm_check_input(lstm, inputs, error);
    if (status == ASSAY_OK && target != NULL)
        status = assay__lstm_check_target(lstm, inputs, target, error);
    if (status == ASSAY_OK && steps > 0)
        status = assay__lstm_check_steps(lstm, steps, error);
    return status;
}

static void take_input(assay__gpu_model *model, const assay_tensor *inputs)
{
    recurrent *own = model->own;
    const size_t floats = (size_t)assay_tensor_count(inputs);
    own->batch = inputs->shape[0];
    own->time = inputs->shape[1];
    assay__gpu_room(model, ASSAY__ACTIVATIONS, floats, &model->input);
    assay__gpu_copy_in(model->gpu, model->input, floats * sizeof(float), inputs->data);
}

/* y (rows, output), contiguous, from states (rows, hidden) */
static void head(assay__gpu_model *model, int64_t rows, const float *states, float *y)
{
    const assay__lstm_shape *shape = shape_of(model);
    const size_t weight = parameter(shape->layers, 0);
    assay__gpu_linear(model->gpu, rows, shape->hidden, shape->output, states,
                      assay__gpu_value(model, weight), y);
    assay__gpu_bias_activate(model->gpu, rows, shape->output, assay__gpu_value(model, weight + 1),
                             1, 0, y, NULL);
}

/* ---- Evaluation ---- */

static int64_t packed_floats(const assay__lstm_shape *shape)
{
    int64_t floats = shape->hidden * shape->output;
    for (int64_t l = 0; l < shape->layers; l++)
        floats += 4 * shape->hidden * (input_of(shape, l) + shape->hidden);
    return floats;
}

static bool fits_a_block(const assay__lstm_shape *shape)
{
    const int64_t wide = shape->input > shape->output ? shape->input : shape->output;
    return packed_floats(shape) <= SMALL_WEIGHTS &&
           wide + (4 + 2 * shape->layers) * shape->hidden <= ASSAY__FORECAST_FLOATS;
}

static bool fits_the_registers(const assay__lstm_shape *shape)
{
    return shape->layers == 1 && shape->input + shape->hidden <= ASSAY__KEPT_WEIGHTS &&
           4 * shape->hidden <= ASSAY__KEPT_GATES &&
           shape->output * (shape->hidden + 1) <= ASSAY__KEPT_HEAD;
}

static void pack(assay__gpu_model *model)
{
    const assay__lstm_shape *shape = shape_of(model);
    recurrent *own = model->own;
    assay__gpu_room(model, ASSAY__WORKSPACE, (size_t)packed_floats(shape), &own->packed);
    float *to = own->packed;
    for (int64_t l = 0; l < shape->layers; l++) {
        const int64_t in = input_of(shape, l), gates = 4 * shape->hidden;
        reorder(model->gpu, gates, in, 1, assay__gpu_value(model, parameter(l, WEIGHT_IH)), to);
        reorder(model->gpu, gates, shape->hidden, 1,
                assay__gpu_value(model, parameter(l, WEIGHT_HH)), to + gates * in);
        to += gates * (in + shape->hidden);
    }
    reorder(model->gpu, shape->output, shape->hidden, 1,
            assay__gpu_value(model, parameter(shape->layers, 0)), to);
}

static float *forecast_in_blocks(assay__gpu_model *model, int64_t steps)
{
    const assay__lstm_shape *shape = shape_of(model);
    recurrent *own = model->own;
    const int64_t wanted = (4 * shape->hidden + 31) / 32 * 32;
    pack(model);
    assay__gpu_room(model, ASSAY__ACTIVATIONS, (size_t)(own->batch * steps * shape->output),
                    &own->y);
    const assay__lstm_forecast_arguments arguments = {.time = own->time,
                                                      .steps = steps,
                                                      .input = (int)shape->input,
                                                      .hidden = (int)shape->hidden,
                                                      .layers = (int)shape->layers,
                                                      .output = (int)shape->output,
                                                      .x = model->input,
                                                      .packed = own->packed,
                                                      .values = model->values,
                                                      .y = own->y};
    assay__gpu_launch(model->gpu,
                      fits_the_registers(shape) ? ASSAY__KERNEL_lstm_forecast_kept
                                                : ASSAY__KERNEL_lstm_forecast,
                      own->batch, 1, wanted < 1024 ? (unsigned)wanted : 1024, &arguments);
    return own->y;
}

/* Advances all layers by one step with x (batch, input; row stride `stride`). Returns the state of
 * the last layer. */
static const float *advance(assay__gpu_model *model, const float *x, int64_t stride)
{
    const assay__lstm_shape *shape = shape_of(model);
    const recurrent *own = model->own;
    const int64_t hidden = shape->hidden, block = own->batch * hidden;
    for (int64_t l = 0; l < shape->layers; l++) {
        float *cell = own->states + 2 * l * block, *state = cell + block;
        const int64_t in = input_of(shape, l);
        assay__gpu_matmul(
            model->gpu, own->batch, 4 * hidden, in, 1, (assay__matrix){x, stride, false},
            (assay__matrix){assay__gpu_value(model, parameter(l, WEIGHT_IH)), in, true}, 0,
            own->step_gates, 4 * hidden);
        assay__gpu_matmul(
            model->gpu, own->batch, 4 * hidden, hidden, 1, (assay__matrix){state, hidden, false},
            (assay__matrix){assay__gpu_value(model, parameter(l, WEIGHT_HH)), hidden, true}, 1,
            own->step_gates, 4 * hidden);
        ASSAY__LAUNCH(model->gpu, lstm_cell, assay__gpu_blocks(block), 1, ASSAY__BLOCK,
                      .batch = own->batch, .hidden = hidden,
                      .bias_ih = assay__gpu_value(model, parameter(l, BIAS_IH)),
                      .bias_hh = assay__gpu_value(model, parameter(l, BIAS_HH)),
                      .gates = own->step_gates, .before = cell, .cell = cell, .state = state);
        x = state;
        stride = hidden;
    }
    return x;
}

static float *forecast_by_products(assay__gpu_model *model, int64_t steps)
{
    const assay__lstm_shape *shape = shape_of(model);
    recurrent *own = model->own;
    const int64_t block = own->batch * shape->hidden, each = own->batch * shape->output;
    assay__gpu_room(model, ASSAY__WORKSPACE, (size_t)(2 * shape->layers * block), &own->states);
    assay__gpu_room(model, ASSAY__WORKSPACE, (size_t)(4 * block), &own->step_gates);
    assay__gpu_room(model, ASSAY__ACTIVATIONS, (size_t)(steps * each), &own->y);
    assay__gpu_room(model, ASSAY__ACTIVATIONS, (size_t)(steps * each), &own->ordered);
    assay__gpu_zero(model->gpu, own->states, (size_t)(2 * shape->layers * block));
    const float *state = NULL;
    for (int64_t t = 0; t < own->time; t++)
        state = advance(model, model->input + t * shape->input, own->time * shape->input);
    for (int64_t step = 0; step < steps; step++) {
        if (step > 0)
            state = advance(model, own->y + (step - 1) * each, shape->output);
        head(model, own->batch, state, own->y + step * each);
    }
    if (steps == 1)
        return own->y;
    reorder(model->gpu, steps, own->batch, shape->output, own->y, own->ordered);
    return own->ordered;
}

/* ---- Training ---- */

static bool drops(const assay__gpu_model *model, int64_t l)
{
    const assay__lstm_shape *shape = shape_of(model);
    return model->training && !model->host->training(model->state)->no_dropout &&
           shape->dropout > 0 && l + 1 < shape->layers;
}

static void drop(assay__gpu_model *model, int64_t l, const float *x, float *y)
{
    const recurrent *own = model->own;
    const assay__lstm *lstm = assay__lstm_of(model->state);
    assay__gpu_dropout(model->gpu, own->time * own->batch * shape_of(model)->hidden,
                       (float)shape_of(model)->dropout, assay__lstm_dropout_key(lstm, l), x, y);
}

static void keep_room(assay__gpu_model *model, int64_t l)
{
    recurrent *own = model->own;
    layer *at = &own->layers[l];
    const size_t block = (size_t)(own->batch * shape_of(model)->hidden), time = (size_t)own->time;
    assay__gpu_room(model, ASSAY__ACTIVATIONS, 4 * time * block, &at->gates);
    assay__gpu_room(model, ASSAY__ACTIVATIONS, (time + 1) * block, &at->cell);
    assay__gpu_room(model, ASSAY__ACTIVATIONS, time * block, &at->tanh_cell);
    assay__gpu_room(model, ASSAY__ACTIVATIONS, (time + 1) * block, &at->hidden);
    assay__gpu_room(model, ASSAY__ACTIVATIONS, drops(model, l) ? time * block : 0, &at->dropped);
}

static void run_layer(assay__gpu_model *model, int64_t l)
{
    recurrent *own = model->own;
    layer *at = &own->layers[l];
    const assay__lstm_shape *shape = shape_of(model);
    const int64_t hidden = shape->hidden, block = own->batch * hidden, in = input_of(shape, l);
    keep_room(model, l);
    assay__gpu_zero(model->gpu, at->cell, (size_t)block);
    assay__gpu_zero(model->gpu, at->hidden, (size_t)block);
    assay__gpu_linear(model->gpu, own->time * own->batch, in, 4 * hidden, at->x,
                      assay__gpu_value(model, parameter(l, WEIGHT_IH)), at->gates);
    for (int64_t t = 0; t < own->time; t++) {
        float *gates = at->gates + 4 * t * block;
        if (t > 0)
            assay__gpu_matmul(
                model->gpu, own->batch, 4 * hidden, hidden, 1,
                (assay__matrix){at->hidden + t * block, hidden, false},
                (assay__matrix){assay__gpu_value(model, parameter(l, WEIGHT_HH)), hidden, true}, 1,
                gates, 4 * hidden);
        ASSAY__LAUNCH(
            model->gpu, lstm_cell, assay__gpu_blocks(block), 1, ASSAY__BLOCK, .batch = own->batch,
            .hidden = hidden, .bias_ih = assay__gpu_value(model, parameter(l, BIAS_IH)),
            .bias_hh = assay__gpu_value(model, parameter(l, BIAS_HH)), .gates = gates,
            .before = at->cell + t * block, .cell = at->cell + (t + 1) * block,
            .tanh_cell = at->tanh_cell + t * block, .state = at->hidden + (t + 1) * block);
    }
}

static float *forward_kept(assay__gpu_model *model)
{
    const assay__lstm_shape *shape = shape_of(model);
    recurrent *own = model->own;
    const int64_t block = own->batch * shape->hidden;
    assay__gpu_room(model, ASSAY__ACTIVATIONS, (size_t)(own->time * own->batch * shape->input),
                    &own->input);
    reorder(model->gpu, own->batch, own->time, shape->input, model->input, own->input);
    const float *sequence = own->input;
    model->host->training(model->state)->passes++;
    for (int64_t l = 0; l < shape->layers; l++) {
        layer *at = &own->layers[l];
        at->x = sequence;
        run_layer(model, l);
        sequence = at->hidden + block;
        if (drops(model, l)) {
            drop(model, l, sequence, at->dropped);
            sequence = at->dropped;
        }
    }
    assay__gpu_room(model, ASSAY__ACTIVATIONS, (size_t)(own->batch * shape->output), &own->y);
    head(model, own->batch, sequence + (own->time - 1) * block, own->y);
    return own->y;
}

static float *forward(assay__gpu_model *model, const assay_tensor *inputs, int64_t steps, bool keep)
{
    take_input(model, inputs);
    if (keep)
        return forward_kept(model);
    steps = steps > 0 ? steps : 1;
    return fits_a_block(shape_of(model)) ? forecast_in_blocks(model, steps)
                                         : forecast_by_products(model, steps);
}

static float *outputs_for(assay__gpu_model *model, const assay_tensor *target, float *y)
{
    const assay__lstm_shape *shape = shape_of(model);
    recurrent *own = model->own;
    const size_t floats = (size_t)assay_tensor_count(target);
    if (target->rank == 2) {
        assay__gpu_copy_in(model->gpu, model->target, floats * sizeof *y, target->data);
        return y;
    }
    assay__gpu_room(model, ASSAY__WORKSPACE, floats, &own->targets);
    assay__gpu_room(model, ASSAY__ACTIVATIONS, floats, &own->ordered);
    assay__gpu_copy_in(model->gpu, own->targets, floats * sizeof *y, target->data);
    reorder(model->gpu, own->batch, own->time, shape->output, own->targets, model->target);
    const layer *top = &own->layers[shape->layers - 1];
    head(model, own->time * own->batch, top->hidden + own->batch * shape->hidden, own->ordered);
    return own->ordered;
}

/* `last` and `above` are as in sequence/lstm_backward.c. */
static void through_time(assay__gpu_model *model, int64_t l, int64_t start, float *last,
                         float *above)
{
    recurrent *own = model->own;
    const layer *at = &own->layers[l];
    const int64_t hidden = shape_of(model)->hidden, block = own->batch * hidden;
    assay__gpu_zero(model->gpu, own->cell_slope, (size_t)block);
    for (int64_t t = own->time - 1; t >= start; t--) {
        float *gates = at->gates + 4 * t * block;
        ASSAY__LAUNCH(model->gpu, lstm_cell_backward, assay__gpu_blocks(block), 1, ASSAY__BLOCK,
                      .batch = own->batch, .hidden = hidden,
                      .dstate = above != NULL ? above + t * block : last,
                      .before = at->cell + t * block, .tanh_cell = at->tanh_cell + t * block,
                      .gates = gates, .dcell = own->cell_slope);
        if (t > start)
            assay__gpu_matmul(
                model->gpu, own->batch, hidden, 4 * hidden, 1,
                (assay__matrix){gates, 4 * hidden, false},
                (assay__matrix){assay__gpu_value(model, parameter(l, WEIGHT_HH)), hidden, false},
                above != NULL ? 1 : 0, above != NULL ? above + (t - 1) * block : last, hidden);
    }
}

/* Computes the gradients of a layer's parameters from the gradients that have replaced its
 * gates. */
static void gather(assay__gpu_model *model, int64_t l, int64_t start)
{
    recurrent *own = model->own;
    const layer *at = &own->layers[l];
    const assay__lstm_shape *shape = shape_of(model);
    const int64_t hidden = shape->hidden, rows = (own->time - start) * own->batch,
                  skipped = start * own->batch, in = input_of(shape, l);
    const float *slopes = at->gates + skipped * 4 * hidden;
    const int64_t zero_rows = start == 0 ? own->batch : 0; /* the states before step 0 are zero */
    assay__gpu_matmul(model->gpu, 4 * hidden, in, rows, 1,
                      (assay__matrix){slopes, 4 * hidden, true},
                      (assay__matrix){at->x + skipped * in, in, false}, 0,
                      assay__gpu_gradient(model, parameter(l, WEIGHT_IH)), in);
    float *recurrent_weight = assay__gpu_gradient(model, parameter(l, WEIGHT_HH));
    if (rows == zero_rows)
        assay__gpu_zero(model->gpu, recurrent_weight, (size_t)(4 * hidden * hidden));
    else
        assay__gpu_matmul(
            model->gpu, 4 * hidden, hidden, rows - zero_rows, 1,
            (assay__matrix){slopes + zero_rows * 4 * hidden, 4 * hidden, true},
            (assay__matrix){at->hidden + (skipped + zero_rows) * hidden, hidden, false}, 0,
            recurrent_weight, hidden);
    ASSAY__LAUNCH(model->gpu, column_sum,
                  (4 * hidden + ASSAY__SUM_COLUMNS - 1) / ASSAY__SUM_COLUMNS, 1,
                  ASSAY__SUM_COLUMNS * ASSAY__SUM_ROWS, .rows = rows, .columns = 4 * hidden,
                  .x = slopes, .sum = assay__gpu_gradient(model, parameter(l, BIAS_IH)),
                  .copy = assay__gpu_gradient(model, parameter(l, BIAS_HH)));
}

/* all_slopes = the gradient with respect to the outputs of layer l - 1 */
static void pass_down(assay__gpu_model *model, int64_t l, int64_t start)
{
    recurrent *own = model->own;
    const int64_t hidden = shape_of(model)->hidden, skipped = start * own->batch;
    assay__gpu_matmul(
        model->gpu, (own->time - start) * own->batch, hidden, 4 * hidden, 1,
        (assay__matrix){own->layers[l].gates + skipped * 4 * hidden, 4 * hidden, false},
        (assay__matrix){assay__gpu_value(model, parameter(l, WEIGHT_IH)), hidden, false}, 0,
        own->all_slopes + skipped * hidden, hidden);
    if (drops(model, l - 1)) {
        assay__gpu_zero(model->gpu, own->all_slopes, (size_t)(skipped * hidden));
        drop(model, l - 1, own->all_slopes, own->all_slopes);
    }
}

static void backward(assay__gpu_model *model, const assay_tensor *inputs,
                     const assay_tensor *target)
{
    (void)inputs;
    const assay__lstm_shape *shape = shape_of(model);
    recurrent *own = model->own;
    const bool all = target->rank == 3;
    const int64_t hidden = shape->hidden, block = own->batch * hidden, top = shape->layers - 1;
    const int64_t start = !all && shape->truncate > 0 && shape->truncate < own->time
                              ? own->time - shape->truncate
                              : 0;
    const size_t weight = parameter(shape->layers, 0);
    assay__gpu_room(model, ASSAY__WORKSPACE, (size_t)block, &own->hidden_slope);
    assay__gpu_room(model, ASSAY__WORKSPACE, (size_t)block, &own->cell_slope);
    assay__gpu_room(model, ASSAY__WORKSPACE,
                    shape->layers > 1 || all ? (size_t)(own->time * block) : 0, &own->all_slopes);
    assay__gpu_linear_backward(
        model->gpu, all ? own->time * own->batch : own->batch, hidden, shape->output, model->dy,
        own->layers[top].hidden + (all ? 1 : own->time) * block, assay__gpu_value(model, weight),
        all ? own->all_slopes : own->hidden_slope, false, assay__gpu_gradient(model, weight),
        assay__gpu_gradient(model, weight + 1));
    for (int64_t l = top; l >= 0; l--) {
        through_time(model, l, start, own->hidden_slope, l == top && !all ? NULL : own->all_slopes);
        gather(model, l, start);
        if (l > 0)
            pass_down(model, l, start);
    }
}

const assay__gpu_kind assay__gpu_lstm = {.host = &assay__lstm_class,
                                         .own_bytes = sizeof(recurrent),
                                         .check = check,
                                         .forward = forward,
                                         .outputs_for = outputs_for,
                                         .backward = backward};
