/* The passes of the next-road model. The input of the scorer's first layer is a concatenation of
 * state, successor, destination and features. Its product with the weights is the sum of four
 * products. The state's product is the same for all candidates of a position, and the destination's
 * for all positions of a trajectory. So each is computed once and added where it is needed, both
 * forward and backward, and nothing is concatenated. */
#include "models/road/next_road.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "models/kernel/elementary.h"
#include "models/kernel/kernels.h"
#include "models/kernel/linear.h"
#include "models/kernel/matmul.h"
#include "models/kernel/threads.h"

assay__next_road_shape assay__next_road_shape_of(assay__next_road_size size, int64_t roads)
{
    return size == ASSAY__NEXT_ROAD_VANILLA ? (assay__next_road_shape){roads, 32, 64, 64}
                                            : (assay__next_road_shape){roads, 16, 32, 32};
}

int64_t assay__next_road_score_columns(const assay__next_road_shape *shape)
{
    return shape->hidden + 2 * shape->embedding + ASSAY__ROAD_FEATURES;
}

static void declare(assay__next_road *model)
{
    const assay__next_road_shape *s = &model->shape;
    assay__parameters *p = &model->parameters;
    assay__next_road_weights *at = &model->at;
    int64_t gates = 3 * s->hidden;
    at->road =
        assay__parameters_add(p, 2, (int64_t[]){s->roads, s->embedding}, "road_embedding.weight");
    at->destination = assay__parameters_add(p, 2, (int64_t[]){s->roads, s->embedding},
                                            "destination_embedding.weight");
    at->input = assay__parameters_add(p, 2, (int64_t[]){gates, s->embedding}, "gru.weight_ih_l0");
    at->recurrent = assay__parameters_add(p, 2, (int64_t[]){gates, s->hidden}, "gru.weight_hh_l0");
    at->input_bias = assay__parameters_add(p, 1, &gates, "gru.bias_ih_l0");
    at->recurrent_bias = assay__parameters_add(p, 1, &gates, "gru.bias_hh_l0");
    at->score = assay__parameters_add(
        p, 2, (int64_t[]){s->scorer, assay__next_road_score_columns(s)}, "score.0.weight");
    at->score_bias = assay__parameters_add(p, 1, &s->scorer, "score.0.bias");
    at->out = assay__parameters_add(p, 2, (int64_t[]){1, s->scorer}, "score.2.weight");
}

/* Draw the weights within PyTorch's bounds for GRU and Linear. Embeddings start small, so that the
 * features dominate at first. The bounds are in the order in which the parameters are declared. */
static void draw(assay__next_road *model, uint64_t seed)
{
    const assay__next_road_shape *s = &model->shape;
    assay__random random;
    assay__random_init(&random, seed);
    float state = 1 / sqrtf((float)s->hidden),
          in = 1 / sqrtf((float)assay__next_road_score_columns(s));
    const float bounds[] = {
        0.1F, 0.1F, state, state, state, state, in, in, 1 / sqrtf((float)s->scorer)};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        assay__parameters_uniform(&model->parameters, i, bounds[i], &random);
}

assay_status assay__next_road_new(const assay__next_road_shape *shape, uint64_t seed,
                                  assay_error *error, assay__next_road **model)
{
    *model = NULL;
    if (shape->roads < 1 || shape->embedding < 1 || shape->hidden < 1 || shape->scorer < 1 ||
        shape->roads > ASSAY__ROADS_MAX) {
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "a next-road model needs 1 to %d roads and sizes of at least 1",
                           ASSAY__ROADS_MAX);
    }
    assay__next_road *self = calloc(1, sizeof *self);
    if (self == NULL || (self->memory = assay__memory_new()) == NULL) {
        free(self);
        return assay__fail(error, ASSAY_E_MEMORY, "no memory for a next-road model");
    }
    assay__models_start();
    self->shape = *shape;
    assay__parameters_init(&self->parameters);
    declare(self);
    assay_status status = assay__parameters_allocate(&self->parameters, self->memory);
    if (status != ASSAY_OK) {
        assay__next_road_free(self);
        return assay__fail(error, status, "no memory for a next-road model of %lld roads",
                           (long long)shape->roads);
    }
    draw(self, seed);
    *model = self;
    return ASSAY_OK;
}

void assay__next_road_free(assay__next_road *model)
{
    if (model != NULL) {
        assay__parameters_release(&model->parameters);
        assay__memory_free(model->memory);
        free(model);
    }
}

assay_status assay__next_road_update(assay__next_road *model, double learning_rate)
{
    return assay__adam_step(&model->adam, model->memory, &model->parameters, learning_rate, NULL);
}

/* ---- Memory ---- */

typedef assay__next_road_array need;

static assay_status reserve(assay__memory *memory, assay__memory_use use, const need *needs,
                            size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assay_status status = assay__memory_resize(memory, use, (size_t)needs[i].count,
                                                   sizeof(float), needs[i].block);
        if (status != ASSAY_OK)
            return status;
    }
    return ASSAY_OK;
}

void assay__next_road_forward_arrays(const assay__next_road_shape *shape,
                                     const assay__road_batch *batch,
                                     assay__next_road_activations *act,
                                     assay__next_road_array arrays[ASSAY__NEXT_ROAD_FORWARD_ARRAYS])
{
    int64_t P = batch->time * batch->trajectories, B = batch->trajectories, C = batch->candidates;
    const need needs[] = {{P * shape->embedding, &act->driven},
                          {P * 3 * shape->hidden, &act->gates},
                          {P * 3 * shape->hidden, &act->recurrent},
                          {(P + B) * shape->hidden, &act->state},
                          {P * shape->scorer, &act->context},
                          {C * shape->embedding, &act->choice},
                          {B * shape->embedding, &act->goal},
                          {B * shape->scorer, &act->goal_score},
                          {C * shape->scorer, &act->hidden},
                          {C, &act->logits},
                          {C, &act->probability}};
    _Static_assert(sizeof needs == ASSAY__NEXT_ROAD_FORWARD_ARRAYS * sizeof *needs,
                   "all arrays of a forward pass are listed");
    memcpy(arrays, needs, sizeof needs);
}

static assay_status reserve_forward(assay__next_road *model, const assay__road_batch *batch)
{
    assay__next_road_array arrays[ASSAY__NEXT_ROAD_FORWARD_ARRAYS];
    assay__next_road_forward_arrays(&model->shape, batch, &model->act, arrays);
    return reserve(model->memory, ASSAY__ACTIVATIONS, arrays, ASSAY__NEXT_ROAD_FORWARD_ARRAYS);
}

static assay_status reserve_backward(assay__next_road *model, const assay__road_batch *batch)
{
    const assay__next_road_shape *s = &model->shape;
    assay__next_road_activations *act = &model->act;
    int64_t P = batch->time * batch->trajectories, B = batch->trajectories, C = batch->candidates;
    const need needs[] = {{C, &act->dlogits},
                          {C * s->scorer, &act->dhidden},
                          {P * s->scorer, &act->dcontext},
                          {B * s->scorer, &act->dgoal_score},
                          {B * s->embedding, &act->dgoal},
                          {C * s->embedding, &act->dchoice},
                          {P * s->hidden, &act->dstate},
                          {P * 3 * s->hidden, &act->dgi},
                          {P * 3 * s->hidden, &act->dgh},
                          {P * s->embedding, &act->ddriven},
                          {B * s->hidden, &act->carry}};
    return reserve(model->memory, ASSAY__WORKSPACE, needs, sizeof needs / sizeof *needs);
}

/* ---- Embeddings ---- */

/* Row i of to (count, width) = row index[i] of the table, or zeros if index[i] is -1. */
static void look_up(int64_t count, int64_t width, const int32_t *index, const float *table,
                    float *to)
{
    for (int64_t i = 0; i < count; i++)
        if (index[i] >= 0)
            memcpy(to + i * width, table + index[i] * width, (size_t)width * sizeof *to);
        else
            memset(to + i * width, 0, (size_t)width * sizeof *to);
}

/* ---- Forward ---- */

static float *value(const assay__next_road *model, size_t index)
{
    return assay__parameters_value(&model->parameters, index);
}

static float *gradient(const assay__next_road *model, size_t index)
{
    return assay__parameters_gradient(&model->parameters, index);
}

static void drive(assay__next_road *model, const assay__road_batch *batch)
{
    const assay__next_road_shape *s = &model->shape;
    assay__next_road_activations *act = &model->act;
    int64_t B = batch->trajectories, gates = 3 * s->hidden;
    look_up(batch->time * B, s->embedding, batch->roads, value(model, model->at.road), act->driven);
    assay__linear_forward(batch->time * B, s->embedding, gates, act->driven,
                          value(model, model->at.input), value(model, model->at.input_bias),
                          act->gates);
    memset(act->state, 0, (size_t)(B * s->hidden) * sizeof(float));
    for (int64_t t = 0; t < batch->time; t++) {
        float *previous = act->state + t * B * s->hidden;
        float *recurrent = act->recurrent + t * B * gates, *gate = act->gates + t * B * gates;
        assay__linear_forward(B, s->hidden, gates, previous, value(model, model->at.recurrent),
                              value(model, model->at.recurrent_bias), recurrent);
        assay__gru_gates(B, s->hidden, gate, recurrent, gates, previous, gate,
                         previous + B * s->hidden);
    }
}

/* The probabilities of the logits divided by the temperature. The two arrays may be the same. */
static void soften(int64_t count, const float *logits, double temperature, float *probability)
{
    double largest = (double)assay__largest(count, logits) / temperature, sum = 0;
    for (int64_t i = 0; i < count; i++) {
        double e = exp((double)logits[i] / temperature - largest);
        probability[i] = (float)e;
        sum += e;
    }
    for (int64_t i = 0; i < count; i++)
        probability[i] = (float)((double)probability[i] / sum);
}

assay_status assay__next_road_forward(assay__next_road *model, const assay__road_batch *batch)
{
    assay_status status = reserve_forward(model, batch);
    if (status != ASSAY_OK)
        return status;
    const assay__next_road_shape *s = &model->shape;
    assay__next_road_activations *act = &model->act;
    int64_t B = batch->trajectories, P = batch->time * B, C = batch->candidates;
    int64_t K = assay__next_road_score_columns(s);
    const float *score = value(model, model->at.score);
    drive(model, batch);
    look_up(C, s->embedding, batch->choices, value(model, model->at.road), act->choice);
    look_up(B, s->embedding, batch->destinations, value(model, model->at.destination), act->goal);
    const assay__matrix of_state = {score, K, true};
    const assay__matrix of_choice = {score + s->hidden, K, true};
    const assay__matrix of_goal = {score + s->hidden + s->embedding, K, true};
    const assay__matrix of_features = {score + s->hidden + 2 * s->embedding, K, true};
    assay__matmul(P, s->scorer, s->hidden, 1,
                  (assay__matrix){act->state + B * s->hidden, s->hidden, false}, of_state, 0,
                  act->context, s->scorer);
    assay__matmul(B, s->scorer, s->embedding, 1, (assay__matrix){act->goal, s->embedding, false},
                  of_goal, 0, act->goal_score, s->scorer);
    assay__matmul(C, s->scorer, s->embedding, 1, (assay__matrix){act->choice, s->embedding, false},
                  of_choice, 0, act->hidden, s->scorer);
    assay__matmul(C, s->scorer, ASSAY__ROAD_FEATURES, 1,
                  (assay__matrix){batch->features, ASSAY__ROAD_FEATURES, false}, of_features, 1,
                  act->hidden, s->scorer);
    assay__road_score(P, B, batch->first, s->scorer, value(model, model->at.score_bias),
                      act->context, act->goal_score, value(model, model->at.out), act->hidden,
                      act->logits);
    for (int64_t p = 0; p < P; p++) {
        int64_t first = batch->first[p];
        soften(batch->first[p + 1] - first, act->logits + first, 1, act->probability + first);
    }
    return ASSAY_OK;
}

/* ---- Backward ---- */

static void drive_backward(assay__next_road *model, const assay__road_batch *batch)
{
    const assay__next_road_shape *s = &model->shape;
    assay__next_road_activations *act = &model->act;
    int64_t B = batch->trajectories, P = batch->time * B, gates = 3 * s->hidden;
    const assay__matrix recurrent = {value(model, model->at.recurrent), s->hidden, false};
    memset(act->carry, 0, (size_t)(B * s->hidden) * sizeof(float));
    for (int64_t t = batch->time; t-- > 0;) {
        float *dh = act->dstate + t * B * s->hidden, *dgh = act->dgh + t * B * gates;
        for (int64_t i = 0; i < B * s->hidden; i++)
            dh[i] += act->carry[i];
        assay__gru_gates_backward(B, s->hidden, dh, act->gates + t * B * gates,
                                  act->recurrent + t * B * gates, act->state + t * B * s->hidden,
                                  act->dgi + t * B * gates, dgh, act->carry);
        assay__matmul(B, s->hidden, gates, 1, (assay__matrix){dgh, gates, false}, recurrent, 1,
                      act->carry, s->hidden);
    }
    assay__linear_backward(P, s->hidden, gates, act->dgh, act->state, NULL, NULL,
                           gradient(model, model->at.recurrent),
                           gradient(model, model->at.recurrent_bias));
    assay__linear_backward(P, s->embedding, gates, act->dgi, act->driven,
                           value(model, model->at.input), act->ddriven,
                           gradient(model, model->at.input), gradient(model, model->at.input_bias));
    assay__scatter_add(P, s->embedding, batch->roads, act->ddriven,
                       gradient(model, model->at.road));
}

/* Compute all gradients from model->act.dlogits. */
static void backward(assay__next_road *model, const assay__road_batch *batch)
{
    const assay__next_road_shape *s = &model->shape;
    assay__next_road_activations *act = &model->act;
    int64_t B = batch->trajectories, P = batch->time * B, C = batch->candidates;
    int64_t K = assay__next_road_score_columns(s), E = s->embedding;
    const float *score = value(model, model->at.score);
    float *dscore = gradient(model, model->at.score);
    assay__parameters_zero_gradients(&model->parameters);
    memset(act->dcontext, 0, (size_t)(P * s->scorer) * sizeof(float));
    memset(act->dgoal_score, 0, (size_t)(B * s->scorer) * sizeof(float));
    assay__road_score_backward(batch->time * B, B, batch->first, s->scorer, act->dlogits,
                               act->hidden, value(model, model->at.out), act->dhidden,
                               act->dcontext, act->dgoal_score, gradient(model, model->at.out),
                               gradient(model, model->at.score_bias));
    const struct {
        int64_t rows, width;
        const float *slope, *input; /* (rows, scorer), (rows, width) */
        float *dinput;              /* (rows, width); NULL for data, which need none */
    } parts[] = {{P, s->hidden, act->dcontext, act->state + B * s->hidden, act->dstate},
                 {C, E, act->dhidden, act->choice, act->dchoice},
                 {B, E, act->dgoal_score, act->goal, act->dgoal},
                 {C, ASSAY__ROAD_FEATURES, act->dhidden, batch->features, NULL}};
    int64_t column = 0;
    for (size_t i = 0; i < 4; column += parts[i++].width) {
        int64_t rows = parts[i].rows, width = parts[i].width;
        assay__matmul(s->scorer, width, rows, 1, (assay__matrix){parts[i].slope, s->scorer, true},
                      (assay__matrix){parts[i].input, width, false}, 0, dscore + column, K);
        if (parts[i].dinput != NULL) {
            assay__matmul(rows, width, s->scorer, 1,
                          (assay__matrix){parts[i].slope, s->scorer, false},
                          (assay__matrix){score + column, K, false}, 0, parts[i].dinput, width);
        }
    }
    assay__scatter_add(C, E, batch->choices, act->dchoice, gradient(model, model->at.road));
    assay__scatter_add(B, E, batch->destinations, act->dgoal,
                       gradient(model, model->at.destination));
    drive_backward(model, batch);
}

/* ---- Losses ---- */

static bool is_decision(int64_t count, const float *targets)
{
    for (int64_t i = 0; i < count; i++)
        if (targets[i] != 0)
            return true;
    return false;
}

static double log_of(float probability)
{
    return log(fmax((double)probability, 1e-30));
}

/* The cross-entropy of one position, times `weight`. dlogits is overwritten. */
static double learn_targets(int64_t count, const float *targets, const float *probability,
                            double weight, float *dlogits)
{
    double loss = 0, total = 0;
    for (int64_t i = 0; i < count; i++) {
        total += (double)targets[i];
        loss -= targets[i] != 0 ? (double)targets[i] * log_of(probability[i]) : 0;
    }
    for (int64_t i = 0; i < count; i++)
        dlogits[i] = (float)(weight * (total * (double)probability[i] - (double)targets[i]));
    return weight * loss;
}

/* temperature^2 KL(teacher || student) of one position, times `weight`. Its gradient is added to
 * dlogits. `softened` (count) and the student's logits are overwritten with probabilities. */
static double learn_teacher(int64_t count, const float *teacher_logits, double temperature,
                            double weight, float *softened, float *logits, float *dlogits)
{
    double loss = 0;
    soften(count, teacher_logits, temperature, softened);
    soften(count, logits, temperature, logits);
    for (int64_t i = 0; i < count; i++) {
        double q = (double)softened[i];
        loss += q > 0 ? q * (log(q) - log_of(logits[i])) : 0;
        dlogits[i] += (float)(weight * temperature * ((double)logits[i] - q));
    }
    return weight * temperature * temperature * loss;
}

assay_status assay__next_road_gradient(assay__next_road *model, const assay__road_batch *batch,
                                       double *loss)
{
    return assay__next_road_distill(model, NULL, batch, 0, 1, loss);
}

assay_status assay__next_road_distill(assay__next_road *student, assay__next_road *teacher,
                                      const assay__road_batch *batch, double share,
                                      double temperature, double *loss)
{
    assay__next_road_activations *act = &student->act;
    if (!(share >= 0 && share <= 1 && temperature > 0) ||
        (share > 0 && (teacher == NULL || teacher->shape.roads != student->shape.roads)))
        return ASSAY_E_ARGUMENT;
    if (batch->decisions == 0)
        return ASSAY_E_DATA;
    assay_status status = assay__next_road_forward(student, batch);
    if (status == ASSAY_OK)
        status = reserve_backward(student, batch);
    if (status == ASSAY_OK && share > 0)
        status = assay__next_road_forward(teacher, batch);
    if (status != ASSAY_OK)
        return status;
    double each = 1 / (double)batch->decisions;
    *loss = 0;
    for (int64_t p = 0; p < batch->time * batch->trajectories; p++) {
        int64_t first = batch->first[p], count = batch->first[p + 1] - first;
        if (!is_decision(count, batch->targets + first)) {
            memset(act->dlogits + first, 0, (size_t)count * sizeof(float));
            continue;
        }
        *loss += learn_targets(count, batch->targets + first, act->probability + first,
                               (1 - share) * each, act->dlogits + first);
        if (share > 0) {
            *loss += learn_teacher(count, teacher->act.logits + first, temperature, share * each,
                                   teacher->act.probability + first, act->logits + first,
                                   act->dlogits + first);
        }
    }
    backward(student, batch);
    return ASSAY_OK;
}
