/* The surrogate's data, the order of its samples, its batches and its evaluation. The arithmetic of
 * the net is in field/mlp.h. */
#include "models/pde/burgers_surrogate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "models/kernel/memory.h"

struct assay__burgers_surrogate {
    assay__burgers_surrogate_shape shape;
    assay__neural_net *net;
    assay__burgers_data *data;
    assay__random order_random;
    assay__memory *memory;
    int64_t *order;                     /* (samples) */
    float *initial, *later;             /* (samples + held out, points) */
    float *batch_initial, *batch_later; /* (batch, points) */
};

static assay_status check(const assay__burgers_surrogate_shape *shape, assay_error *error)
{
    if (shape->data.snapshots != 1) {
        return assay__fail(error, ASSAY_E_ARGUMENT, "the surrogate learns one snapshot, not %lld",
                           (long long)shape->data.snapshots);
    }
    if (shape->samples < 1 || shape->held_out < 1) {
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "samples and held-out samples must be at least 1");
    }
    if (shape->batch < 1 || shape->batch > shape->samples) {
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "a batch must be 1 to the %lld samples, not %lld",
                           (long long)shape->samples, (long long)shape->batch);
    }
    return ASSAY_OK;
}

static assay_status allocate(assay__burgers_surrogate *surrogate)
{
    const assay__burgers_surrogate_shape *shape = &surrogate->shape;
    size_t points = (size_t)shape->data.points, batch = (size_t)shape->batch * points;
    size_t all = (size_t)(shape->samples + shape->held_out);
    surrogate->memory = assay__memory_new();
    if (surrogate->memory == NULL || all > SIZE_MAX / 16 / points)
        return ASSAY_E_MEMORY;
    assay__memory *memory = surrogate->memory;
    surrogate->order =
        assay__memory_take(memory, ASSAY__WORKSPACE, (size_t)shape->samples, sizeof(int64_t));
    surrogate->initial = assay__memory_floats(memory, ASSAY__WORKSPACE, all * points);
    surrogate->later = assay__memory_floats(memory, ASSAY__WORKSPACE, all * points);
    surrogate->batch_initial = assay__memory_floats(memory, ASSAY__WORKSPACE, batch);
    surrogate->batch_later = assay__memory_floats(memory, ASSAY__WORKSPACE, batch);
    bool complete = surrogate->order != NULL && surrogate->initial != NULL &&
                    surrogate->later != NULL && surrogate->batch_initial != NULL &&
                    surrogate->batch_later != NULL;
    return complete ? ASSAY_OK : ASSAY_E_MEMORY;
}

assay__mlp_shape assay__burgers_surrogate_net_shape(int64_t points, int64_t hidden,
                                                    int64_t hidden_layers)
{
    return (assay__mlp_shape){.input = points,
                              .hidden = hidden,
                              .output = points,
                              .hidden_layers = hidden_layers,
                              .activation = ASSAY__GELU};
}

assay_status assay__burgers_surrogate_new(const assay__burgers_surrogate_shape *shape,
                                          uint64_t seed, assay_error *error,
                                          assay__burgers_surrogate **surrogate)
{
    assay_status status = check(shape, error);
    if (status != ASSAY_OK)
        return status;
    assay__burgers_surrogate *made = calloc(1, sizeof *made);
    if (made == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for a surrogate");
    made->shape = *shape;
    assay__mlp_shape net =
        assay__burgers_surrogate_net_shape(shape->data.points, shape->hidden, shape->hidden_layers);
    status = assay__burgers_data_new(&shape->data, seed, error, &made->data);
    if (status == ASSAY_OK)
        status = assay__mlp_new(&net, seed, error, &made->net);
    if (status == ASSAY_OK && allocate(made) != ASSAY_OK) {
        status = assay__fail(error, ASSAY_E_MEMORY, "out of memory for %lld samples",
                             (long long)(shape->samples + shape->held_out));
    }
    if (status != ASSAY_OK) {
        assay__burgers_surrogate_free(made);
        return status;
    }
    assay__random_init(&made->order_random, ~seed);
    for (int64_t i = 0; i < shape->samples; i++)
        made->order[i] = i;
    *surrogate = made;
    return ASSAY_OK;
}

void assay__burgers_surrogate_free(assay__burgers_surrogate *surrogate)
{
    if (surrogate != NULL) {
        assay__neural_net_free(surrogate->net);
        assay__burgers_data_free(surrogate->data);
        assay__memory_free(surrogate->memory);
        free(surrogate);
    }
}

assay__neural_net *assay__burgers_surrogate_net(assay__burgers_surrogate *surrogate)
{
    return surrogate->net;
}

void assay__burgers_surrogate_make_with(assay__burgers_surrogate *surrogate,
                                        assay__burgers_data *data, int64_t index)
{
    int64_t at = index * surrogate->shape.data.points;
    assay__burgers_data_sample(data, index, surrogate->initial + at, surrogate->later + at);
}

void assay__burgers_surrogate_make(assay__burgers_surrogate *surrogate, int64_t index)
{
    assay__burgers_surrogate_make_with(surrogate, surrogate->data, index);
}

void assay__burgers_surrogate_shuffle(assay__burgers_surrogate *surrogate)
{
    assay__random_shuffle(&surrogate->order_random, surrogate->order,
                          (size_t)surrogate->shape.samples, sizeof *surrogate->order);
}

int64_t assay__burgers_surrogate_batches(const assay__burgers_surrogate *surrogate)
{
    return surrogate->shape.samples / surrogate->shape.batch;
}

/* A ring has no beginning: shifted initial values have the shifted solution. So each batch shifts
 * every sample by a random distance of its own, and the epochs differ from one another. */
static void roll(int64_t points, int64_t shift, const float *from, float *to)
{
    memcpy(to, from + shift, (size_t)(points - shift) * sizeof *to);
    memcpy(to + points - shift, from, (size_t)shift * sizeof *to);
}

assay_status assay__burgers_surrogate_train(assay__burgers_surrogate *surrogate, int64_t index,
                                            double learning_rate, assay_error *error, double *loss)
{
    int64_t points = surrogate->shape.data.points, batch = surrogate->shape.batch;
    for (int64_t b = 0; b < batch; b++) {
        int64_t sample = surrogate->order[index * batch + b];
        int64_t shift = (int64_t)assay__random_below(&surrogate->order_random, (uint64_t)points);
        roll(points, shift, surrogate->initial + sample * points,
             surrogate->batch_initial + b * points);
        roll(points, shift, surrogate->later + sample * points,
             surrogate->batch_later + b * points);
    }
    return assay__neural_net_train(surrogate->net, batch, surrogate->batch_initial,
                                   surrogate->batch_later, learning_rate, error, loss);
}

assay_status assay__burgers_surrogate_evaluate(assay__burgers_surrogate *surrogate,
                                               assay_error *error, double *loss, double *relative)
{
    const assay__burgers_surrogate_shape *shape = &surrogate->shape;
    int64_t from = shape->samples * shape->data.points,
            count = shape->held_out * shape->data.points;
    const float *y, *truth = surrogate->later + from;
    assay_status status = assay__neural_net_forward(surrogate->net, shape->held_out,
                                                    surrogate->initial + from, error, &y);
    if (status != ASSAY_OK)
        return status;
    double off = 0, size = 0;
    for (int64_t i = 0; i < count; i++) {
        off += ((double)y[i] - (double)truth[i]) * ((double)y[i] - (double)truth[i]);
        size += (double)truth[i] * (double)truth[i];
    }
    *loss = off / (double)count;
    *relative = size > 0 ? sqrt(off / size) : INFINITY;
    return ASSAY_OK;
}
