/* Next-road models on a device.
 *
 * The host's class checks the inputs and makes a batch of them, in which the candidates lie one
 * after the other without padding. The batch is copied to the device. Passes work as on the host
 * (road/next_road.c): the scorer's first layer is the sum of four products, of the state, the
 * candidate, the destination and the features. Each product is computed once and added where it is
 * needed. Threads add up the gradients of the embeddings in any order, so these do not repeat
 * exactly. */
#include "models/road/next_road.h"

#include <string.h>

#include "base/error.h"
#include "models/cuda/instance.h"

typedef struct chooser {
    /* The batch of the inputs that were checked last. It belongs to the host's instance. */
    const assay__road_batch *batch;
    /* The arrays of the batch on the device; `given` are the candidates as the caller passed them,
     * (trajectories, time, choices). */
    int *roads, *destinations, *choices;
    long long *first, *given;
    float *features;
    assay__next_road_activations act; /* on the device; model->dy is used in place of dlogits */
    float *output;                    /* (trajectories, time, choices), on the device */
} chooser;

typedef assay__next_road_array need;

static const assay__next_road *host_of(const assay__gpu_model *model)
{
    return assay__next_road_of(model->state);
}

static assay_status check(assay__gpu_model *model, const assay_tensor *inputs,
                          const assay_tensor *target, int64_t steps, assay_error *error,
                          assay_tensor *output)
{
    (void)steps;
    chooser *own = model->own;
    const assay_tensor *candidates = &inputs[ASSAY__NEXT_ROAD_CANDIDATES];
    *output = *candidates;
    output->name = "probabilities";
    output->element = ASSAY_F32;
    assay_status status =
        assay__next_road_take_inputs(model->state, inputs, target, error, &own->batch);
    if (status == ASSAY_OK && target != NULL && own->batch->decisions == 0)
        status = assay__fail(error, ASSAY_E_DATA, "the target is 0 for every candidate");
    return status;
}

/* ---- Room and copies ---- */

static void reserve(assay__gpu_model *model, assay__memory_use use, const need *needs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assay__gpu_room(model, use, (size_t)needs[i].count, needs[i].block);
}

static void reserve_forward(assay__gpu_model *model, int64_t choices)
{
    chooser *own = model->own;
    assay__next_road_array arrays[ASSAY__NEXT_ROAD_FORWARD_ARRAYS];
    const int64_t positions = own->batch->time * own->batch->trajectories;
    assay__next_road_forward_arrays(&host_of(model)->shape, own->batch, &own->act, arrays);
    reserve(model, ASSAY__ACTIVATIONS, arrays, ASSAY__NEXT_ROAD_FORWARD_ARRAYS);
    assay__gpu_room(model, ASSAY__ACTIVATIONS, (size_t)(positions * choices), &own->output);
}

static void reserve_backward(assay__gpu_model *model)
{
    const assay__next_road_shape *s = &host_of(model)->shape;
    const chooser *own = model->own;
    assay__next_road_activations *act = &((chooser *)model->own)->act;
    const int64_t B = own->batch->trajectories, P = own->batch->time * B,
                  C = own->batch->candidates;
    const need needs[] = {{C * s->scorer, &act->dhidden},     {P * s->scorer, &act->dcontext},
                          {B * s->scorer, &act->dgoal_score}, {B * s->embedding, &act->dgoal},
                          {C * s->embedding, &act->dchoice},  {P * s->hidden, &act->dstate},
                          {P * 3 * s->hidden, &act->dgi},     {P * 3 * s->hidden, &act->dgh},
                          {P * s->embedding, &act->ddriven},  {B * s->hidden, &act->carry}};
    reserve(model, ASSAY__WORKSPACE, needs, sizeof needs / sizeof *needs);
}

static void send_batch(assay__gpu_model *model, const assay_tensor *candidates)
{
    chooser *own = model->own;
    const assay__road_batch *batch = own->batch;
    const size_t B = (size_t)batch->trajectories, P = (size_t)batch->time * B;
    const size_t C = (size_t)batch->candidates;
    const struct {
        size_t bytes;
        const void *from;
        void *array_pointer;
    } copies[] = {
        {P * sizeof *batch->roads, batch->roads, &own->roads},
        {B * sizeof *batch->destinations, batch->destinations, &own->destinations},
        {C * sizeof *batch->choices, batch->choices, &own->choices},
        {(P + 1) * sizeof *batch->first, batch->first, &own->first},
        {C * ASSAY__ROAD_FEATURES * sizeof *batch->features, batch->features, &own->features},
        {(size_t)assay_tensor_count(candidates) * sizeof(int64_t), candidates->data, &own->given}};
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        void *to;
        assay__gpu_resize(model->gpu, &model->heap, ASSAY__WORKSPACE, copies[i].bytes,
                          copies[i].array_pointer);
        memcpy(&to, copies[i].array_pointer, sizeof to);
        assay__gpu_copy_in(model->gpu, to, copies[i].bytes, copies[i].from);
    }
}

/* ---- Forward ---- */

static void look_up(assay__gpu_model *model, int64_t count, const int *index, size_t table,
                    float *to)
{
    const int64_t width = host_of(model)->shape.embedding;
    ASSAY__LAUNCH(model->gpu, look_up, assay__gpu_blocks(count * width), 1, ASSAY__BLOCK,
                  .count = count, .width = width, .index = index,
                  .table = assay__gpu_value(model, table), .to = to);
}

/* Runs the GRU along the roads that were driven. One product computes the inputs' part of all
 * steps, and each step adds the part of its states. */
static void drive(assay__gpu_model *model)
{
    const assay__next_road *host = host_of(model);
    const chooser *own = model->own;
    const assay__next_road_activations *act = &own->act;
    const int64_t B = own->batch->trajectories, time = own->batch->time;
    const int64_t H = host->shape.hidden, gates = 3 * H, block = B * H;
    look_up(model, time * B, own->roads, host->at.road, act->driven);
    assay__gpu_linear(model->gpu, time * B, host->shape.embedding, gates, act->driven,
                      assay__gpu_value(model, host->at.input), act->gates);
    assay__gpu_zero(model->gpu, act->state, (size_t)block);
    /* The first state is 0, and so is its product. */
    assay__gpu_zero(model->gpu, act->recurrent, (size_t)(B * gates));
    for (int64_t t = 0; t < time; t++) {
        float *previous = act->state + t * block, *recurrent = act->recurrent + t * B * gates;
        if (t > 0)
            assay__gpu_linear(model->gpu, B, H, gates, previous,
                              assay__gpu_value(model, host->at.recurrent), recurrent);
        ASSAY__LAUNCH(model->gpu, gru_cell, assay__gpu_blocks(block), 1, ASSAY__BLOCK, .batch = B,
                      .hidden = H, .input_bias = assay__gpu_value(model, host->at.input_bias),
                      .recurrent_bias = assay__gpu_value(model, host->at.recurrent_bias),
                      .gates = act->gates + t * B * gates, .recurrent = recurrent,
                      .before = previous, .state = previous + block);
    }
}

/* y (rows, scorer) = x (rows, width) times the scorer's columns from `column` on. With `add`, the
 * product is added to y. */
static void score_part(assay__gpu_model *model, int64_t rows, int64_t width, int64_t column,
                       const float *x, bool add, float *y)
{
    const assay__next_road *host = host_of(model);
    const float *weight = assay__gpu_value(model, host->at.score) + column;
    assay__gpu_matmul(model->gpu, rows, host->shape.scorer, width, 1,
                      (assay__matrix){x, width, false},
                      (assay__matrix){weight, assay__next_road_score_columns(&host->shape), true},
                      add ? 1 : 0, y, host->shape.scorer);
}

static void score(assay__gpu_model *model)
{
    const assay__next_road *host = host_of(model);
    const chooser *own = model->own;
    const assay__next_road_activations *act = &own->act;
    const int64_t B = own->batch->trajectories, P = own->batch->time * B,
                  C = own->batch->candidates;
    const int64_t H = host->shape.hidden, E = host->shape.embedding;
    look_up(model, C, own->choices, host->at.road, act->choice);
    look_up(model, B, own->destinations, host->at.destination, act->goal);
    score_part(model, P, H, 0, act->state + B * H, false, act->context);
    score_part(model, C, E, H, act->choice, false, act->hidden);
    score_part(model, B, E, H + E, act->goal, false, act->goal_score);
    score_part(model, C, ASSAY__ROAD_FEATURES, H + 2 * E, own->features, true, act->hidden);
    ASSAY__LAUNCH(model->gpu, road_score, assay__gpu_blocks(32 * P), 1, ASSAY__BLOCK,
                  .positions = P, .trajectories = B, .scorer = host->shape.scorer,
                  .first = own->first, .bias = assay__gpu_value(model, host->at.score_bias),
                  .context = act->context, .goal = act->goal_score,
                  .out = assay__gpu_value(model, host->at.out), .hidden = act->hidden,
                  .logits = act->logits);
}

static float *forward(assay__gpu_model *model, const assay_tensor *inputs, int64_t steps, bool keep)
{
    (void)steps;
    (void)keep; /* every pass keeps its activations: it needs nearly all of them anyway */
    chooser *own = model->own;
    const assay_tensor *candidates = &inputs[ASSAY__NEXT_ROAD_CANDIDATES];
    const int64_t B = own->batch->trajectories, P = own->batch->time * B;
    send_batch(model, candidates);
    reserve_forward(model, candidates->shape[2]);
    drive(model);
    score(model);
    ASSAY__LAUNCH(model->gpu, road_choice, assay__gpu_blocks(P), 1, ASSAY__BLOCK, .positions = P,
                  .trajectories = B, .choices = candidates->shape[2], .first = own->first,
                  .given = own->given, .logits = own->act.logits,
                  .probability = own->act.probability, .output = own->output);
    return own->output;
}

/* ---- Backward ---- */

/* Copies the targets of the batch, which has one for each candidate and none for padding. */
static float *outputs_for(assay__gpu_model *model, const assay_tensor *target, float *y)
{
    (void)target;
    const assay__road_batch *batch = ((const chooser *)model->own)->batch;
    assay__gpu_copy_in(model->gpu, model->target, (size_t)batch->candidates * sizeof *y,
                       batch->targets);
    return y;
}

static void loss(assay__gpu_model *model, int64_t blocks)
{
    const chooser *own = model->own;
    ASSAY__LAUNCH(model->gpu, road_loss, blocks, 1, ASSAY__BLOCK,
                  .positions = own->batch->time * own->batch->trajectories,
                  .share = 1 / (double)own->batch->decisions, .first = own->first,
                  .probability = own->act.probability, .target = model->target,
                  .dlogits = model->dy, .sums = model->sums);
}

static void scatter(assay__gpu_model *model, int64_t count, const int *index, const float *from,
                    size_t table)
{
    const int64_t width = host_of(model)->shape.embedding;
    ASSAY__LAUNCH(model->gpu, scatter_add, assay__gpu_blocks(count * width), 1, ASSAY__BLOCK,
                  .count = count, .width = width, .index = index, .from = from,
                  .to = assay__gpu_gradient(model, table));
}

static void sum_columns(assay__gpu *gpu, int64_t rows, int64_t columns, const float *x, float *sum)
{
    ASSAY__LAUNCH(gpu, column_sum, (columns + ASSAY__SUM_COLUMNS - 1) / ASSAY__SUM_COLUMNS, 1,
                  ASSAY__SUM_COLUMNS * ASSAY__SUM_ROWS, .rows = rows, .columns = columns, .x = x,
                  .sum = sum);
}

/* From model->dy, the gradient by the logits, computes the gradients by the products that the
 * scorer's first layer adds up, and the gradients of its bias and of the last layer. The
 * destination's product is the same at all times of a trajectory, so its gradient is a sum over
 * time. */
static void score_backward(assay__gpu_model *model)
{
    const assay__next_road *host = host_of(model);
    const chooser *own = model->own;
    const assay__next_road_activations *act = &own->act;
    const int64_t B = own->batch->trajectories, P = own->batch->time * B,
                  C = own->batch->candidates;
    const int64_t S = host->shape.scorer;
    ASSAY__LAUNCH(model->gpu, road_score_backward, assay__gpu_blocks(P * S), 1, ASSAY__BLOCK,
                  .positions = P, .scorer = S, .first = own->first, .dlogits = model->dy,
                  .hidden = act->hidden, .out = assay__gpu_value(model, host->at.out),
                  .dhidden = act->dhidden, .dcontext = act->dcontext);
    sum_columns(model->gpu, own->batch->time, B * S, act->dcontext, act->dgoal_score);
    sum_columns(model->gpu, B, S, act->dgoal_score,
                assay__gpu_gradient(model, host->at.score_bias));
    assay__gpu_matmul(model->gpu, 1, S, C, 1, (assay__matrix){model->dy, C, false},
                      (assay__matrix){act->hidden, S, false}, 0,
                      assay__gpu_gradient(model, host->at.out), S);
}

/* From `slope` (rows, scorer), the gradient by one product, computes the gradient of the scorer's
 * columns from `column` on and, unless it is NULL, dinput (rows, width). */
static void part_backward(assay__gpu_model *model, int64_t rows, int64_t width, int64_t column,
                          const float *slope, const float *input, float *dinput)
{
    const assay__next_road *host = host_of(model);
    const int64_t S = host->shape.scorer, K = assay__next_road_score_columns(&host->shape);
    assay__gpu_matmul(model->gpu, S, width, rows, 1, (assay__matrix){slope, S, true},
                      (assay__matrix){input, width, false}, 0,
                      assay__gpu_gradient(model, host->at.score) + column, K);
    if (dinput != NULL)
        assay__gpu_matmul(
            model->gpu, rows, width, S, 1, (assay__matrix){slope, S, false},
            (assay__matrix){assay__gpu_value(model, host->at.score) + column, K, false}, 0, dinput,
            width);
}

/* From act.dstate, the gradient by the states, computes the gradients of the GRU, and adds those of
 * the embeddings of the roads driven. */
static void drive_backward(assay__gpu_model *model)
{
    const assay__next_road *host = host_of(model);
    const chooser *own = model->own;
    const assay__next_road_activations *act = &own->act;
    const int64_t B = own->batch->trajectories, P = own->batch->time * B;
    const int64_t H = host->shape.hidden, gates = 3 * H, block = B * H;
    float *recurrent = assay__gpu_value(model, host->at.recurrent);
    assay__gpu_zero(model->gpu, act->carry, (size_t)block);
    for (int64_t t = own->batch->time; t-- > 0;) {
        float *dgh = act->dgh + t * B * gates;
        ASSAY__LAUNCH(model->gpu, gru_cell_backward, assay__gpu_blocks(block), 1, ASSAY__BLOCK,
                      .batch = B, .hidden = H, .dstate = act->dstate + t * block,
                      .gates = act->gates + t * B * gates,
                      .recurrent = act->recurrent + t * B * gates, .before = act->state + t * block,
                      .dgi = act->dgi + t * B * gates, .dgh = dgh, .carry = act->carry);
        if (t > 0)
            assay__gpu_matmul(model->gpu, B, H, gates, 1, (assay__matrix){dgh, gates, false},
                              (assay__matrix){recurrent, H, false}, 1, act->carry, H);
    }
    assay__gpu_linear_backward(model->gpu, P, H, gates, act->dgh, act->state, recurrent, NULL,
                               false, assay__gpu_gradient(model, host->at.recurrent),
                               assay__gpu_gradient(model, host->at.recurrent_bias));
    assay__gpu_linear_backward(model->gpu, P, host->shape.embedding, gates, act->dgi, act->driven,
                               assay__gpu_value(model, host->at.input), act->ddriven, false,
                               assay__gpu_gradient(model, host->at.input),
                               assay__gpu_gradient(model, host->at.input_bias));
    scatter(model, P, own->roads, act->ddriven, host->at.road);
}

static void backward(assay__gpu_model *model, const assay_tensor *inputs,
                     const assay_tensor *target)
{
    (void)inputs;
    (void)target;
    const assay__next_road *host = host_of(model);
    const assay__next_road_shape *s = &host->shape;
    const chooser *own = model->own;
    const assay__next_road_activations *act = &own->act;
    const int64_t B = own->batch->trajectories, P = own->batch->time * B,
                  C = own->batch->candidates;
    const int64_t H = s->hidden, E = s->embedding;
    reserve_backward(model);
    assay__gpu_zero(model->gpu, assay__gpu_gradient(model, host->at.road), (size_t)(s->roads * E));
    assay__gpu_zero(model->gpu, assay__gpu_gradient(model, host->at.destination),
                    (size_t)(s->roads * E));
    score_backward(model);
    part_backward(model, P, H, 0, act->dcontext, act->state + B * H, act->dstate);
    part_backward(model, C, E, H, act->dhidden, act->choice, act->dchoice);
    part_backward(model, B, E, H + E, act->dgoal_score, act->goal, act->dgoal);
    part_backward(model, C, ASSAY__ROAD_FEATURES, H + 2 * E, act->dhidden, own->features, NULL);
    scatter(model, C, own->choices, act->dchoice, host->at.road);
    scatter(model, B, own->destinations, act->dgoal, host->at.destination);
    drive_backward(model);
}

const assay__gpu_kind assay__gpu_next_road = {.host = &assay__next_road_class,
                                              .own_bytes = sizeof(chooser),
                                              .check = check,
                                              .forward = forward,
                                              .outputs_for = outputs_for,
                                              .loss = loss,
                                              .backward = backward};
