/* Forward passes of a route search on a device. The host stages all arrays that a step needs one
 * after the other, as words of 32 bits, and copies them to the device at once. Each array is only
 * as long as this step needs it. */
#include "models/cuda/road_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "models/cuda/instance.h"
#include "models/road/searcher.h"

typedef struct searching {
    assay__gpu *gpu;
    assay__gpu_heap heap;
    uint64_t version; /* of the tables on the device; 0: none yet */
    /* Arrays on the device. road/searcher.h has the shapes, except that `reached` is (W, 3 H): it
     * holds only the gates' part of the product. */
    float *road_input, *road_score, *product, *product_bias, *feature_weight, *out;
    float *state[2], *reached[2]; /* before and after a step */
    float *logits;
    int32_t *words;  /* the arrays of a step, as step_layout says */
    int32_t *staged; /* the same on the host */
} searching;

/* The index in the words of a step at which each array begins. The roads begin at 0. */
typedef struct step_layout {
    size_t parents, first, choice, goal, features, end;
} step_layout;

static step_layout lay_out(size_t routes, size_t candidates, size_t scorer)
{
    step_layout at = {.parents = routes};
    at.first = at.parents + routes;
    at.choice = at.first + routes + 1;
    at.goal = at.choice + candidates;
    at.features = at.goal + scorer;
    at.end = at.features + candidates * ASSAY__ROAD_MOVING_FEATURES;
    return at;
}

static void close_search(void *state)
{
    searching *self = state;
    assay__gpu_heap_release(self->gpu, &self->heap);
    free(self->staged);
    free(self);
}

static void take_room(searching *self, const assay__road_searcher *searcher, size_t words)
{
    const assay__next_road_shape *s = &searcher->model->shape;
    const size_t roads = (size_t)searcher->network->roads, W = (size_t)searcher->max_width;
    const size_t H = (size_t)s->hidden, S = (size_t)s->scorer, gates = 3 * H;
    const struct {
        size_t count;
        void *block_pointer;
    } needs[] = {{roads * gates, &self->road_input},
                 {roads * S, &self->road_score},
                 {H * (gates + S), &self->product},
                 {gates + S, &self->product_bias},
                 {ASSAY__ROAD_MOVING_FEATURES * S, &self->feature_weight},
                 {S, &self->out},
                 {W * H, &self->state[0]},
                 {W * H, &self->state[1]},
                 {W * gates, &self->reached[0]},
                 {W * gates, &self->reached[1]},
                 {W * (size_t)searcher->network->max_successors, &self->logits},
                 {words, &self->words}};
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        assay__gpu_resize(self->gpu, &self->heap, ASSAY__WORKSPACE, needs[i].count * sizeof(float),
                          needs[i].block_pointer);
}

static assay_status open_search(void *device, const assay__road_searcher *searcher,
                                assay_error *error, void **state)
{
    const assay__next_road_shape *s = &searcher->model->shape;
    const size_t W = (size_t)searcher->max_width;
    const size_t words =
        lay_out(W, W * (size_t)searcher->network->max_successors, (size_t)s->scorer).end;
    if (s->hidden + s->scorer > ASSAY__STEP_FLOATS)
        return assay__fail(error, ASSAY_E_UNSUPPORTED,
                           "a model with %lld hidden units and a scorer of %lld cannot search on a "
                           "device: together they are at most %d",
                           (long long)s->hidden, (long long)s->scorer, ASSAY__STEP_FLOATS);
    searching *self = calloc(1, sizeof *self);
    if (self == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "no memory for a search");
    self->gpu = device;
    self->staged = calloc(words, sizeof *self->staged);
    if (self->staged == NULL) {
        free(self);
        return assay__fail(error, ASSAY_E_MEMORY, "no memory for a search");
    }
    assay__gpu_begin(self->gpu);
    take_room(self, searcher, words);
    assay_status status = assay__gpu_end(self->gpu, error);
    if (status == ASSAY_OK)
        *state = self;
    else
        close_search(self);
    return status;
}

/* Copies the tables to the device, unless the device has this version of them. The owner of the
 * tables counts the versions; that is another searcher if this one is a twin. */
static void send_tables(searching *self, const assay__road_searcher *searcher)
{
    const assay__next_road *model = searcher->model;
    const assay__road_searcher *owner =
        searcher->first_of_twins != NULL ? searcher->first_of_twins : searcher;
    const size_t roads = (size_t)searcher->network->roads;
    const size_t H = (size_t)model->shape.hidden, S = (size_t)model->shape.scorer, gates = 3 * H;
    const struct {
        float *to;
        size_t count;
        const float *from;
    } tables[] = {{self->road_input, roads * gates, searcher->road_input},
                  {self->road_score, roads * S, searcher->road_score},
                  {self->product, H * (gates + S), searcher->product},
                  {self->product_bias, gates + S, searcher->product_bias},
                  {self->feature_weight, ASSAY__ROAD_MOVING_FEATURES * S, searcher->feature_weight},
                  {self->out, S, assay__parameters_value(&model->parameters, model->at.out)}};
    if (self->version == owner->version)
        return;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        assay__gpu_copy_in(self->gpu, tables[i].to, tables[i].count * sizeof(float),
                           tables[i].from);
    self->version = owner->version;
}

/* Fills the words of a step. A route that is only the origin has no parent, which is written -1. */
static step_layout stage(searching *self, const assay__road_searcher *searcher)
{
    const size_t routes = (size_t)searcher->beam_count, S = (size_t)searcher->model->shape.scorer;
    const size_t candidates = (size_t)searcher->first[routes];
    const step_layout at = lay_out(routes, candidates, S);
    int32_t *words = self->staged;
    for (size_t i = 0; i < routes; i++) {
        words[i] = searcher->beam[i].road;
        words[at.parents + i] = searcher->beam[i].node == 0 ? -1 : searcher->beam[i].parent;
    }
    for (size_t i = 0; i <= routes; i++)
        words[at.first + i] = (int32_t)searcher->first[i];
    memcpy(words + at.choice, searcher->choice, candidates * sizeof *searcher->choice);
    memcpy(words + at.goal, searcher->goal_score, S * sizeof *searcher->goal_score);
    memcpy(words + at.features, searcher->features,
           candidates * ASSAY__ROAD_MOVING_FEATURES * sizeof *searcher->features);
    return at;
}

static void swap(float **a, float **b)
{
    float *kept = *a;
    *a = *b;
    *b = kept;
}

static assay_status forward(void *state, const assay__road_searcher *searcher, assay_error *error)
{
    searching *self = state;
    const assay__next_road_shape *s = &searcher->model->shape;
    const step_layout at = stage(self, searcher);
    assay__gpu_begin(self->gpu);
    send_tables(self, searcher);
    assay__gpu_copy_in(self->gpu, self->words, at.end * sizeof *self->words, self->staged);
    ASSAY__LAUNCH(self->gpu, road_step, searcher->beam_count, 1, ASSAY__BLOCK,
                  .hidden = (int)s->hidden, .scorer = (int)s->scorer,
                  .road_input = self->road_input, .road_score = self->road_score,
                  .product = self->product, .product_bias = self->product_bias,
                  .feature_weight = self->feature_weight, .out = self->out, .roads = self->words,
                  .parents = self->words + at.parents, .first = self->words + at.first,
                  .choice = self->words + at.choice, .goal = (float *)(self->words + at.goal),
                  .features = (float *)(self->words + at.features), .state_before = self->state[0],
                  .reached_before = self->reached[0], .state = self->state[1],
                  .reached = self->reached[1], .logits = self->logits);
    assay__gpu_copy_out(self->gpu, searcher->logits,
                        (size_t)searcher->first[searcher->beam_count] * sizeof *searcher->logits,
                        self->logits);
    swap(&self->state[0], &self->state[1]);
    swap(&self->reached[0], &self->reached[1]);
    assay_status status = assay__gpu_end(self->gpu, error);
    if (status != ASSAY_OK)
        self->version = 0; /* the tables may not have arrived; the next pass copies them again */
    return status;
}

assay__road_engine assay__gpu_road_engine(const assay_model_class *class_)
{
    return (assay__road_engine){.open = open_search,
                                .close = close_search,
                                .forward = forward,
                                .device = assay__gpu_of_class(class_)};
}
