/* Tables and forward pass of a searcher. The values that depend on a road alone are computed once
 * for all roads: its input to the recurrent unit, and its part in the first layer of the scorer.
 * The destination's part is computed once per search. A forward pass then needs two products and a
 * short loop over the successors. The first product multiplies by W_hh the states that the routes
 * continue. It is computed only now because no route may continue a state, or several routes the
 * same one. The second multiplies the new states by the scorer's columns for the state. */
#include "models/road/searcher.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "models/kernel/kernels.h"
#include "models/kernel/linear.h"
#include "models/kernel/matmul.h"

/* ---- Set-up ---- */

static assay_status take_memory(assay__road_searcher *self)
{
    const assay__next_road_shape *s = &self->model->shape;
    size_t roads = (size_t)self->network->roads, W = (size_t)self->max_width;
    size_t H = (size_t)s->hidden, S = (size_t)s->scorer;
    size_t X = W * (size_t)self->network->max_successors + ASSAY__ROAD_BLOCK;
    size_t steps = (size_t)self->max_steps;
    const struct {
        size_t count, size;
        void *block;
    } needs[] = {
        {roads * 3 * H, sizeof(float), &self->road_input},
        {roads * S, sizeof(float), &self->road_score},
        {H * (3 * H + S), sizeof(float), &self->product},
        {3 * H + S, sizeof(float), &self->product_bias},
        {ASSAY__ROAD_MOVING_FEATURES * S, sizeof(float), &self->feature_weight},
        {S, sizeof(float), &self->goal_score},
        {W * H, sizeof(float), &self->state[0]},
        {W * H, sizeof(float), &self->state[1]},
        {W, sizeof(int32_t), &self->last_road},
        {W, sizeof(int32_t), &self->row},
        {W, sizeof(int32_t), &self->row_of},
        {W * H, sizeof(float), &self->parents},
        {W * 3 * H, sizeof(float), &self->reached},
        {W * 2 * H, sizeof(float), &self->gates},
        {W * S, sizeof(float), &self->context},
        {W, sizeof(assay__route_held), &self->beam},
        {X, sizeof(int32_t), &self->route_of},
        {X, sizeof(int32_t), &self->origin},
        {X, sizeof(int32_t), &self->choice},
        {W + 1, sizeof(int64_t), &self->first},
        {X * ASSAY__ROAD_MOVING_FEATURES, sizeof(float), &self->features},
        {X, sizeof(float), &self->logits},
        {X, sizeof(float), &self->powers},
        {X, sizeof(assay__route_held), &self->options},
        {1 + W * steps, sizeof(assay__route_node), &self->nodes},
        {roads, sizeof(assay__road_mark), &self->marks},
        {roads, sizeof(int32_t), &self->queue},
        {roads, sizeof(uint32_t), &self->seen},
        {1 + steps, sizeof(int32_t), &self->route},
    };
    enum { TABLES = 5 }; /* the first five are tables, which a twin shares */
    for (size_t i = self->first_of_twins != NULL ? TABLES : 0; i < sizeof needs / sizeof *needs;
         i++) {
        assay_status status = assay__memory_resize(self->memory, ASSAY__WORKSPACE, needs[i].count,
                                                   needs[i].size, needs[i].block);
        if (status != ASSAY_OK)
            return status;
    }
    return ASSAY_OK;
}

static const float *weight(const assay__road_searcher *self, size_t index)
{
    return assay__parameters_value(&self->model->parameters, index);
}

static void refresh_road_score(assay__road_searcher *self)
{
    const assay__next_road_shape *s = &self->model->shape;
    int64_t K = assay__next_road_score_columns(s), roads = self->network->roads;
    const float *score = weight(self, self->model->at.score);
    const float *bias = weight(self, self->model->at.score_bias);
    const float *still = score + s->hidden + 2 * s->embedding + ASSAY__ROAD_MOVING_FEATURES;
    for (int64_t road = 0; road < roads; road++) {
        float feature[ASSAY__ROAD_FEATURES - ASSAY__ROAD_MOVING_FEATURES];
        assay__road_still_features(self->network, (int32_t)road, feature);
        for (int64_t j = 0; j < s->scorer; j++) {
            self->road_score[road * s->scorer + j] =
                bias[j] + still[j * K] * feature[0] + still[j * K + 1] * feature[1];
        }
    }
    assay__matmul(roads, s->scorer, s->embedding, 1,
                  (assay__matrix){weight(self, self->model->at.road), s->embedding, false},
                  (assay__matrix){score + s->hidden, K, true}, 1, self->road_score, s->scorer);
}

void assay__road_searcher_refresh(assay__road_searcher *self)
{
    const assay__next_road_shape *s = &self->model->shape;
    const assay__next_road_weights *at = &self->model->at;
    int64_t K = assay__next_road_score_columns(s), gates = 3 * s->hidden, wide = gates + s->scorer;
    const float *score = weight(self, at->score), *recurrent = weight(self, at->recurrent);
    assay__linear_forward(self->network->roads, s->embedding, gates, weight(self, at->road),
                          weight(self, at->input), weight(self, at->input_bias), self->road_input);
    refresh_road_score(self);
    for (int64_t i = 0; i < s->hidden; i++) {
        float *row = self->product + i * wide;
        for (int64_t j = 0; j < gates; j++)
            row[j] = recurrent[j * s->hidden + i];
        for (int64_t j = 0; j < s->scorer; j++)
            row[gates + j] = score[j * K + i];
    }
    memcpy(self->product_bias, weight(self, at->recurrent_bias), (size_t)gates * sizeof(float));
    for (int64_t f = 0; f < ASSAY__ROAD_MOVING_FEATURES; f++) {
        for (int64_t j = 0; j < s->scorer; j++) {
            self->feature_weight[f * s->scorer + j] =
                score[j * K + s->hidden + 2 * s->embedding + f];
        }
    }
    self->version++;
}

assay_status assay__road_searcher_new(const assay__road_network *network,
                                      const assay__next_road *model, int64_t max_width,
                                      int64_t max_steps, assay_error *error,
                                      assay__road_searcher **searcher)
{
    *searcher = NULL;
    if (model->shape.roads < network->roads) {
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "the model knows %lld roads, the network has %lld",
                           (long long)model->shape.roads, (long long)network->roads);
    }
    if (max_width < 1 || max_width > ASSAY__ROUTE_MAX_WIDTH || max_steps < 1 ||
        max_steps > INT32_MAX / (2 * max_width)) {
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "a search of width %lld and %lld steps: widths "
                           "are 1 to %d",
                           (long long)max_width, (long long)max_steps, ASSAY__ROUTE_MAX_WIDTH);
    }
    assay__road_searcher *self = calloc(1, sizeof *self);
    if (self == NULL || (self->memory = assay__memory_new()) == NULL) {
        free(self);
        return assay__fail(error, ASSAY_E_MEMORY, "no memory for a search");
    }
    self->network = network;
    self->model = model;
    self->max_width = max_width;
    /* No road is entered twice, so more steps than roads are never needed. */
    self->max_steps = max_steps < network->roads ? max_steps : network->roads;
    assay_status status = take_memory(self);
    if (status != ASSAY_OK) {
        assay__road_searcher_free(self);
        return assay__fail(error, status, "no memory for a search");
    }
    assay__road_searcher_refresh(self);
    *searcher = self;
    return ASSAY_OK;
}

assay_status assay__road_searcher_twin(const assay__road_searcher *searcher, assay_error *error,
                                       assay__road_searcher **twin)
{
    assay__road_searcher *self = calloc(1, sizeof *self);
    *twin = NULL;
    if (self == NULL || (self->memory = assay__memory_new()) == NULL) {
        free(self);
        return assay__fail(error, ASSAY_E_MEMORY, "no memory for a search");
    }
    self->first_of_twins = searcher->first_of_twins != NULL ? searcher->first_of_twins : searcher;
    self->network = searcher->network;
    self->model = searcher->model;
    self->max_width = searcher->max_width;
    self->max_steps = searcher->max_steps;
    self->road_input = searcher->road_input;
    self->road_score = searcher->road_score;
    self->product = searcher->product;
    self->product_bias = searcher->product_bias;
    self->feature_weight = searcher->feature_weight;
    assay_status status = take_memory(self);
    if (status != ASSAY_OK)
        assay__fail(error, status, "no memory for a search");
    else if (searcher->elsewhere != NULL)
        status = assay__road_searcher_move(self, &searcher->engine, error);
    if (status == ASSAY_OK)
        *twin = self;
    else
        assay__road_searcher_free(self);
    return status;
}

assay_status assay__road_searcher_move(assay__road_searcher *searcher,
                                       const assay__road_engine *engine, assay_error *error)
{
    void *state = NULL;
    assay_status status = engine->open(engine->device, searcher, error, &state);
    if (status == ASSAY_OK) {
        searcher->engine = *engine;
        searcher->elsewhere = state;
    }
    return status;
}

void assay__road_searcher_free(assay__road_searcher *searcher)
{
    if (searcher != NULL) {
        if (searcher->elsewhere != NULL)
            searcher->engine.close(searcher->elsewhere);
        assay__memory_free(searcher->memory);
        free(searcher);
    }
}

void assay__road_searcher_set_hook(assay__road_searcher *searcher,
                                   const assay__road_search_hook *hook)
{
    searcher->hook = hook != NULL ? *hook : (assay__road_search_hook){0};
}

/* ---- The forward pass ---- */

static void swap(float **a, float **b)
{
    float *kept = *a;
    *a = *b;
    *b = kept;
}

/* Copy the states that the present routes continue, each once, and multiply them by W_hh. Several
 * routes often continue the same one, and some continue none. */
static void reach(assay__road_searcher *self)
{
    const int64_t H = self->model->shape.hidden, gates = 3 * H;
    int64_t count = 0;
    for (int64_t i = 0; i < self->beam_count; i++)
        self->row_of[self->beam[i].parent] = -1;
    for (int64_t i = 0; i < self->beam_count; i++) {
        const int32_t parent = self->beam[i].parent;
        if (self->row_of[parent] < 0) {
            memcpy(self->parents + count * H, self->state[0] + parent * H,
                   (size_t)H * sizeof(float));
            self->row_of[parent] = (int32_t)count++;
        }
        self->row[i] = self->row_of[parent];
        self->last_road[i] = self->beam[i].road;
    }
    assay__narrow_product(count, gates, H, self->parents, H, 1, self->product,
                          gates + self->model->shape.scorer, self->product_bias, false,
                          self->reached, gates);
}

assay_status assay__road_searcher_forward(assay__road_searcher *self, assay_error *error)
{
    if (self->elsewhere != NULL)
        return self->engine.forward(self->elsewhere, self, error);
    const int64_t H = self->model->shape.hidden, gates = 3 * H, S = self->model->shape.scorer;
    reach(self);
    assay__gru_advance(self->beam_count, H, self->road_input, self->last_road, self->reached,
                       self->row, self->parents, self->gates, self->state[1]);
    assay__narrow_product(self->beam_count, S, H, self->state[1], H, 1, self->product + gates,
                          gates + S, self->goal_score, false, self->context, S);
    assay__road_score_routes(self->first[self->beam_count], self->route_of, S, self->choice,
                             self->features, self->road_score, self->context, self->feature_weight,
                             weight(self, self->model->at.out), self->logits);
    swap(&self->state[0], &self->state[1]);
    return ASSAY_OK;
}

void assay__road_searcher_aim(assay__road_searcher *self, int32_t destination)
{
    const assay__next_road_shape *s = &self->model->shape;
    const assay__next_road_weights *at = &self->model->at;
    assay__matvec(s->scorer, s->embedding, weight(self, at->score) + s->hidden + s->embedding,
                  assay__next_road_score_columns(s),
                  weight(self, at->destination) + destination * s->embedding, 0, self->goal_score);
}
