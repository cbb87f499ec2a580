/* next_road as a model class. Its inputs are rectangular tensors padded with -1, as PyTorch would
 * take them. This file checks them and packs the candidates without gaps (road/features.h). */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "models/kernel/describe.h"
#include "models/road/city.h"
#include "models/road/next_road.h"

enum { SIZE, ROADS, EMBEDDING, HIDDEN, SCORER, BATCH, TIME };
enum { TRAJECTORIES, DESTINATIONS, CANDIDATES = ASSAY__NEXT_ROAD_CANDIDATES, FEATURES, INPUTS };

static const char *const sizes[] = {"vanilla", "distilled", NULL};

static const assay_model_option options[] = {
    [SIZE] = {"size", "vanilla (32, 64, 64) or distilled (16, 32, 32)", 0, 0, 1, true, sizes},
    [ROADS] = {"num-nodes", "roads of the network", 1000, 1, ASSAY__ROADS_MAX, true, NULL},
    [EMBEDDING] = {"embedding-dim", "width of a road's embedding; 0: as the size says", 0, 0, 4096,
                   true, NULL},
    [HIDDEN] = {"hidden-dim", "width of the recurrent state; 0: as the size says", 0, 0, 4096, true,
                NULL},
    [SCORER] = {"ffn-dim", "width of the scorer; 0: as the size says", 0, 0, 4096, true, NULL},
    [BATCH] = {"batch-size", "trajectories of made-up data", 32, 1, 1e6, true, NULL},
    [TIME] = {"seq-len", "roads of each at most", 20, 1, 1e6, true, NULL},
};

static const assay_model_input inputs_taken[] = {
    [TRAJECTORIES] = {"trajectories", "(batch, time): roads driven, -1 after the end", ASSAY_I64, 2,
                      false},
    [DESTINATIONS] = {"destinations", "(batch): where each is going", ASSAY_I64, 1, false},
    [CANDIDATES] = {"candidates", "(batch, time, choices): the roads that may follow, then -1",
                    ASSAY_I64, 3, false},
    [FEATURES] = {"features", "(batch, time, choices, 6): of each choice, see docs/models.md",
                  ASSAY_F32, 4, false},
};

typedef struct state {
    assay__next_road *model;
    assay__road_batch batch;
    float *output; /* (batch, time, choices), of model->memory */
    int64_t example_batch, example_time;
    assay__memory *example;
    void *example_data[INPUTS + 1]; /* the last is the target */
} state;

assay__next_road *assay__next_road_of(void *of)
{
    return ((state *)of)->model;
}

static void destroy(void *of)
{
    state *self = of;
    assay__next_road_free(self->model);
    assay__road_batch_release(&self->batch);
    assay__memory_free(self->example);
    free(self);
}

static assay_status create(const double *settings, uint64_t seed, assay_error *error, void **of)
{
    state *self = calloc(1, sizeof *self);
    if (self == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "no memory for a next-road model");
    assay__next_road_shape shape = assay__next_road_shape_of(
        settings[SIZE] == 0 ? ASSAY__NEXT_ROAD_VANILLA : ASSAY__NEXT_ROAD_DISTILLED,
        (int64_t)settings[ROADS]);
    shape.embedding = settings[EMBEDDING] > 0 ? (int64_t)settings[EMBEDDING] : shape.embedding;
    shape.hidden = settings[HIDDEN] > 0 ? (int64_t)settings[HIDDEN] : shape.hidden;
    shape.scorer = settings[SCORER] > 0 ? (int64_t)settings[SCORER] : shape.scorer;
    self->example_batch = (int64_t)settings[BATCH];
    self->example_time = (int64_t)settings[TIME];
    self->example = assay__memory_new();
    assay_status status = assay__road_batch_init(&self->batch);
    if (status == ASSAY_OK && self->example != NULL)
        status = assay__next_road_new(&shape, seed, error, &self->model);
    else
        status = assay__fail(error, ASSAY_E_MEMORY, "no memory for a next-road model");
    if (status == ASSAY_OK)
        *of = self;
    else
        destroy(self);
    return status;
}

static assay_status infer(const assay_tensor *weights, size_t count, double *settings,
                          assay_error *error)
{
    const assay_tensor *road = assay__tensor_find(weights, count, "road_embedding.weight", 2);
    const assay_tensor *recurrent = assay__tensor_find(weights, count, "gru.weight_hh_l0", 2);
    const assay_tensor *bias = assay__tensor_find(weights, count, "score.0.bias", 1);
    if (road == NULL || recurrent == NULL || bias == NULL) {
        return assay__fail(error, ASSAY_E_FORMAT,
                           "not a next-road model: road_embedding.weight, gru.weight_hh_l0 or "
                           "score.0.bias is missing");
    }
    settings[ROADS] = (double)road->shape[0];
    settings[EMBEDDING] = (double)road->shape[1];
    settings[HIDDEN] = (double)recurrent->shape[1];
    settings[SCORER] = (double)bias->shape[0];
    return ASSAY_OK;
}

static const assay_model_parameter *parameters(void *of, size_t *count)
{
    return assay__parameters_list(&((state *)of)->model->parameters, count);
}

/* ---- From padded tensors to a batch ---- */

static assay_status check_shapes(const assay_tensor *inputs, const assay_tensor *target,
                                 assay_error *error)
{
    const int64_t *shape = inputs[CANDIDATES].shape; /* (batch, time, choices) */
    const int64_t *driven = inputs[TRAJECTORIES].shape, *features = inputs[FEATURES].shape;
    if (driven[0] < 1 || driven[1] < 1 || driven[0] != shape[0] || driven[1] != shape[1] ||
        inputs[DESTINATIONS].shape[0] != shape[0]) {
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "trajectories (%lld, %lld), destinations (%lld) and candidates (%lld, "
                           "%lld, ...) differ in batch or time",
                           (long long)driven[0], (long long)driven[1],
                           (long long)inputs[DESTINATIONS].shape[0], (long long)shape[0],
                           (long long)shape[1]);
    }
    if (memcmp(features, shape, 3 * sizeof *shape) != 0 || features[3] != ASSAY__ROAD_FEATURES) {
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "features are (%lld, %lld, %lld, %lld), not candidates' shape and %d",
                           (long long)features[0], (long long)features[1], (long long)features[2],
                           (long long)features[3], ASSAY__ROAD_FEATURES);
    }
    if (target != NULL &&
        (target->rank != 3 || memcmp(target->shape, shape, 3 * sizeof *shape) != 0))
        return assay__fail(error, ASSAY_E_ARGUMENT, "the target needs the shape of candidates");
    return ASSAY_OK;
}

/* Check that every index is below `roads`. If `padded`, -1 is allowed. */
static assay_status check_roads(const assay_tensor *tensor, const char *name, int64_t roads,
                                bool padded, assay_error *error)
{
    const int64_t *values = tensor->data;
    for (int64_t i = 0, count = assay_tensor_count(tensor); i < count; i++) {
        if (values[i] >= roads || values[i] < (padded ? -1 : 0)) {
            return assay__fail(error, ASSAY_E_DATA, "%s: element %lld is %lld; roads are 0 to %lld",
                               name, (long long)i, (long long)values[i], (long long)roads - 1);
        }
    }
    return ASSAY_OK;
}

static assay_status check_inputs(const state *self, const assay_tensor *inputs,
                                 const assay_tensor *target, assay_error *error)
{
    int64_t roads = self->model->shape.roads;
    assay_status status = check_shapes(inputs, target, error);
    for (size_t i = TRAJECTORIES; status == ASSAY_OK && i <= CANDIDATES; i++)
        status = check_roads(&inputs[i], inputs_taken[i].name, roads, i != DESTINATIONS, error);
    if (status != ASSAY_OK)
        return status;
    const int64_t *driven = inputs[TRAJECTORIES].data, *choices = inputs[CANDIDATES].data;
    int64_t T = inputs[CANDIDATES].shape[1], K = inputs[CANDIDATES].shape[2];
    for (int64_t row = 0; row < inputs[CANDIDATES].shape[0] * T; row++) {
        if (row % T > 0 && driven[row] >= 0 && driven[row - 1] < 0) {
            return assay__fail(error, ASSAY_E_DATA, "trajectory %lld goes on after its end (-1)",
                               (long long)(row / T));
        }
        for (int64_t k = 0; k < K && driven[row] < 0; k++) {
            if (choices[row * K + k] >= 0) {
                return assay__fail(error, ASSAY_E_DATA,
                                   "trajectory %lld has candidates after its end",
                                   (long long)(row / T));
            }
        }
    }
    return ASSAY_OK;
}

/* Append the candidates of one position, with their features and, unless NULL, their targets. */
static void take_position(assay__road_batch *batch, int64_t K, const int64_t *choices,
                          const float *features, const float *targets)
{
    bool decision = false;
    for (int64_t k = 0; k < K; k++) {
        if (choices[k] < 0)
            continue;
        int64_t at = batch->candidates++;
        batch->choices[at] = (int32_t)choices[k];
        batch->targets[at] = targets != NULL ? targets[k] : 0;
        decision = decision || batch->targets[at] != 0;
        memcpy(batch->features + at * ASSAY__ROAD_FEATURES, features + k * ASSAY__ROAD_FEATURES,
               ASSAY__ROAD_FEATURES * sizeof *features);
    }
    batch->decisions += decision;
}

static assay_status take_inputs(state *self, const assay_tensor *inputs, const assay_tensor *target,
                                assay_error *error)
{
    assay_status status = check_inputs(self, inputs, target, error);
    if (status != ASSAY_OK)
        return status;
    const int64_t *shape = inputs[CANDIDATES].shape, *driven = inputs[TRAJECTORIES].data;
    const int64_t *goals = inputs[DESTINATIONS].data, *choices = inputs[CANDIDATES].data;
    const float *features = inputs[FEATURES].data, *targets = target != NULL ? target->data : NULL;
    int64_t B = shape[0], T = shape[1], K = shape[2];
    assay__road_batch *batch = &self->batch;
    status = assay__road_batch_reserve(batch, B, T, B * T * K);
    if (status != ASSAY_OK)
        return assay__fail(error, status, "no memory for a batch");
    for (int64_t b = 0; b < B; b++)
        batch->destinations[b] = (int32_t)goals[b];
    for (int64_t position = 0; position < T * B; position++) {
        int64_t row = position % B * T + position / B; /* from time-major to batch-major */
        batch->roads[position] = (int32_t)driven[row];
        batch->first[position] = batch->candidates;
        take_position(batch, K, choices + row * K, features + row * K * ASSAY__ROAD_FEATURES,
                      targets != NULL ? targets + row * K : NULL);
    }
    batch->first[T * B] = batch->candidates;
    return ASSAY_OK;
}

assay_status assay__next_road_take_inputs(void *of, const assay_tensor *inputs,
                                          const assay_tensor *target, assay_error *error,
                                          const assay__road_batch **batch)
{
    state *self = of;
    *batch = &self->batch;
    return take_inputs(self, inputs, target, error);
}

/* ---- Passes ---- */

static assay_status forward(void *of, const assay_tensor *inputs, size_t count, assay_error *error,
                            assay_tensor *output)
{
    (void)count;
    state *self = of;
    assay_status status = take_inputs(self, inputs, NULL, error);
    if (status != ASSAY_OK)
        return status;
    const int64_t *shape = inputs[CANDIDATES].shape, *choices = inputs[CANDIDATES].data;
    int64_t B = shape[0], T = shape[1], K = shape[2];
    status = assay__next_road_forward(self->model, &self->batch);
    if (status == ASSAY_OK) {
        status = assay__memory_resize(self->model->memory, ASSAY__ACTIVATIONS, (size_t)(B * T * K),
                                      sizeof(float), &self->output);
    }
    if (status != ASSAY_OK)
        return assay__fail(error, status, "no memory for a forward pass");
    const float *probability = self->model->act.probability;
    for (int64_t position = 0; position < T * B; position++) {
        int64_t row = position % B * T + position / B, at = self->batch.first[position];
        for (int64_t k = 0; k < K; k++)
            self->output[row * K + k] = choices[row * K + k] >= 0 ? probability[at++] : 0;
    }
    *output = (assay_tensor){"probabilities", ASSAY_F32, 3, {B, T, K}, self->output};
    return ASSAY_OK;
}

static assay_status gradient(void *of, const assay_tensor *inputs, size_t count,
                             const assay_tensor *target, assay_error *error, double *loss)
{
    (void)count;
    state *self = of;
    assay_status status = take_inputs(self, inputs, target, error);
    if (status == ASSAY_OK) {
        status = assay__next_road_gradient(self->model, &self->batch, loss);
        if (status != ASSAY_OK) {
            assay__fail(error, status,
                        status == ASSAY_E_DATA ? "the target is 0 for every candidate"
                                               : "no memory for a backward pass");
        }
    }
    return status;
}

static assay_status update(void *of, double learning_rate, assay_error *error)
{
    state *self = of;
    assay_status status = assay__next_road_update(self->model, learning_rate);
    return status == ASSAY_OK ? status : assay__fail(error, status, "no memory for Adam's moments");
}

static void memory(void *of, assay_model_memory *figures)
{
    state *self = of;
    assay_model_memory batch;
    assay__memory_figures(self->model->memory, figures);
    assay__memory_figures(self->batch.memory, &batch);
    figures->workspace += batch.workspace;
}

/* ---- Made-up data ---- */

static assay_status reserve_example(state *self, int64_t K)
{
    size_t B = (size_t)self->example_batch, rows = B * (size_t)self->example_time * (size_t)K;
    const size_t counts[] = {B * (size_t)self->example_time, B, rows, rows * ASSAY__ROAD_FEATURES,
                             rows};
    for (size_t i = 0; i < INPUTS + 1; i++) {
        assay_status status = assay__memory_resize(self->example, ASSAY__WORKSPACE, counts[i],
                                                   i < FEATURES ? sizeof(int64_t) : sizeof(float),
                                                   &self->example_data[i]);
        if (status != ASSAY_OK)
            return status;
    }
    return ASSAY_OK;
}

/* Write position t of trajectory b to the padded tensors, which are batch-major. */
static void put_position(state *self, const assay__road_batch *batch, int64_t b, int64_t t,
                         int64_t K)
{
    int64_t row = b * self->example_time + t, position = t * batch->trajectories + b;
    int64_t first = t < batch->time ? batch->first[position] : 0;
    int64_t count = t < batch->time ? batch->first[position + 1] - first : 0;
    ((int64_t *)self->example_data[TRAJECTORIES])[row] =
        t < batch->time ? batch->roads[position] : -1;
    for (int64_t k = 0; k < K; k++) {
        int64_t at = row * K + k;
        float *features = (float *)self->example_data[FEATURES] + at * ASSAY__ROAD_FEATURES;
        ((int64_t *)self->example_data[CANDIDATES])[at] =
            k < count ? batch->choices[first + k] : -1;
        ((float *)self->example_data[INPUTS])[at] = k < count ? batch->targets[first + k] : 0;
        for (int64_t f = 0; f < ASSAY__ROAD_FEATURES; f++)
            features[f] = k < count ? batch->features[(first + k) * ASSAY__ROAD_FEATURES + f] : 0;
    }
}

static assay_status make_example(state *self, const assay__road_network *city,
                                 const assay__trajectories *drives)
{
    int64_t B = self->example_batch, K = city->max_successors;
    int64_t *which = calloc((size_t)B, sizeof *which);
    assay_status status = which == NULL ? ASSAY_E_MEMORY : reserve_example(self, K);
    for (int64_t b = 0; status == ASSAY_OK && b < B; b++)
        which[b] = b;
    if (status == ASSAY_OK)
        status = assay__road_batch_fill(&self->batch, city, drives, which, B, self->example_time);
    for (int64_t b = 0; status == ASSAY_OK && b < B; b++) {
        ((int64_t *)self->example_data[DESTINATIONS])[b] = self->batch.destinations[b];
        for (int64_t t = 0; t < self->example_time; t++)
            put_position(self, &self->batch, b, t, K);
    }
    free(which);
    return status;
}

static assay_status example(void *of, uint64_t seed, assay_error *error, assay_tensor *inputs,
                            assay_tensor *target)
{
    state *self = of;
    assay__road_network *city = NULL;
    assay__trajectories drives;
    assay__trajectories_init(&drives);
    assay_status status = assay__city_new(self->model->shape.roads, seed, error, &city);
    if (status == ASSAY_OK)
        status = assay__city_drive(city, self->example_batch, seed + 1, error, &drives);
    if (status == ASSAY_OK) {
        status = make_example(self, city, &drives);
        if (status != ASSAY_OK)
            assay__fail(error, status, "no memory for made-up data");
    }
    int64_t K = city != NULL ? city->max_successors : 0;
    const int64_t shape[] = {self->example_batch, self->example_time, K, ASSAY__ROAD_FEATURES};
    for (size_t i = 0; status == ASSAY_OK && i < INPUTS; i++) {
        inputs[i] = (assay_tensor){.name = inputs_taken[i].name,
                                   .element = inputs_taken[i].element,
                                   .rank = inputs_taken[i].rank,
                                   .data = self->example_data[i]};
        memcpy(inputs[i].shape, shape, inputs[i].rank * sizeof *shape);
    }
    *target = (assay_tensor){
        "target", ASSAY_F32, 3, {shape[0], shape[1], shape[2]}, self->example_data[INPUTS]};
    assay__trajectories_release(&drives);
    assay__road_network_free(city);
    return status;
}

/* ---- The arithmetic ---- */

static void tell_gru(const assay__teller *to, const assay__next_road_shape *s, int64_t B, int64_t T)
{
    int64_t H = s->hidden;
    assay__tell(to, "road_embedding", ASSAY_TERM_EMBEDDING, 1, T * B, s->embedding);
    assay__tell_product(to, "gru.input", 2, 1, T * B, s->embedding, 3 * H);
    assay__tell(to, "gru.input", ASSAY_TERM_BIAS, 1, T * B, 3 * H);
    assay__tell_product(to, "gru.recurrent", 2, T, B, H, 3 * H);
    assay__tell(to, "gru.recurrent", ASSAY_TERM_BIAS, T, B, 3 * H);
    assay__tell(to, "gru.gates", ASSAY_TERM_ADD, T, B, 2 * H);
    assay__tell(to, "gru.gates", ASSAY_TERM_SIGMOID, T, B, 2 * H);
    assay__tell(to, "gru.gates", ASSAY_TERM_MULTIPLY, T, B, H); /* n = tanh(gi + r gh) */
    assay__tell(to, "gru.gates", ASSAY_TERM_ADD, T, B, H);
    assay__tell(to, "gru.gates", ASSAY_TERM_TANH, T, B, H);
    assay__tell(to, "gru.state", ASSAY_TERM_ADD, 2 * T, B, H); /* h' = n + z (h - n) */
    assay__tell(to, "gru.state", ASSAY_TERM_MULTIPLY, T, B, H);
}

static assay_status describe(void *of, const assay_tensor *inputs, size_t count,
                             assay_term_sink sink, void *context, assay_error *error)
{
    (void)count;
    state *self = of;
    const assay__next_road_shape *s = &self->model->shape;
    assay_status status = check_shapes(inputs, NULL, error);
    if (status != ASSAY_OK)
        return status;
    const assay__teller to = {.sink = sink, .context = context};
    const int64_t *choices = inputs[CANDIDATES].data;
    int64_t B = inputs[CANDIDATES].shape[0], T = inputs[CANDIDATES].shape[1];
    int64_t K = inputs[CANDIDATES].shape[2], C = 0, S = s->scorer;
    for (int64_t i = 0; i < B * T * K; i++)
        C += choices[i] >= 0;
    tell_gru(&to, s, B, T);
    assay__tell_product(&to, "score.0.state", 2, 1, T * B, s->hidden, S);
    assay__tell(&to, "score.0.candidate", ASSAY_TERM_EMBEDDING, 1, C, s->embedding);
    assay__tell_product(&to, "score.0.candidate", 2, 1, C, s->embedding, S);
    assay__tell(&to, "score.0.destination", ASSAY_TERM_EMBEDDING, 1, B, s->embedding);
    assay__tell_product(&to, "score.0.destination", 2, 1, B, s->embedding, S);
    assay__tell_product(&to, "score.0.features", 1, 1, C, ASSAY__ROAD_FEATURES, S);
    assay__tell(&to, "score.0", ASSAY_TERM_ADD, 3, C, S);
    assay__tell(&to, "score.0", ASSAY_TERM_BIAS, 1, C, S);
    assay__tell(&to, "score.1", ASSAY_TERM_RELU, 1, C, S);
    assay__tell_product(&to, "score.2", 2, 1, C, S, 1);
    for (int64_t width = 1; width <= K; width++) {
        int64_t rows = 0;
        for (int64_t row = 0; row < B * T; row++) {
            int64_t here = 0;
            for (int64_t k = 0; k < K; k++)
                here += choices[row * K + k] >= 0;
            rows += here == width;
        }
        if (rows > 0)
            assay__tell(&to, "probabilities", ASSAY_TERM_SOFTMAX, 1, rows, width);
    }
    return ASSAY_OK;
}

const assay_model_class assay__next_road_class = {
    .abi = ASSAY_MODEL_ABI,
    .struct_size = sizeof(assay_model_class),
    .name = "next_road",
    .summary = "which road a driver takes next, from those before and the destination; the loss is "
               "cross-entropy",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .inputs = inputs_taken,
    .input_count = INPUTS,
    .create = create,
    .destroy = destroy,
    .infer = infer,
    .parameters = parameters,
    .forward = forward,
    .gradient = gradient,
    .update = update,
    .example = example,
    .describe = describe,
    .memory = memory,
};
