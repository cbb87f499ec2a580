/* The life and the passes of models on a device, for all kinds, and the pieces of passes that kinds
 * share. The kind computes the forward and backward pass; the loss and the optimizer are here. The
 * host's instance does everything else. */
#include "models/cuda/parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { LOSS_BLOCKS = 256 };

/* ---- Parameters ---- */

static assay_status take_parameters(assay__gpu_model *model, assay_error *error)
{
    size_t count = 0;
    const assay_model_parameter *list = model->host->parameters(model->state, &count);
    model->list = calloc(count, sizeof *list);
    if (model->list == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for a list of parameters");
    memcpy(model->list, list, count * sizeof *list);
    for (size_t i = 0; i < count; i++)
        model->total += (size_t)assay_tensor_count(&list[i].value);
    model->host_values = list[0].value.data; /* one block of all tensors: kernel/parameters.h */
    model->host_gradients = list[0].gradient;
    assay__gpu_begin(model->gpu);
    assay__gpu_resize(model->gpu, &model->heap, ASSAY__PARAMETERS, model->total * sizeof(float),
                      &model->values);
    assay__gpu_resize(model->gpu, &model->heap, ASSAY__GRADIENTS, model->total * sizeof(float),
                      &model->gradients);
    assay__gpu_copy_in(model->gpu, model->values, model->total * sizeof(float), model->host_values);
    assay__gpu_zero(model->gpu, model->gradients, model->total);
    return assay__gpu_end(model->gpu, error);
}

float *assay__gpu_value(const assay__gpu_model *model, size_t index)
{
    size_t count;
    const assay_model_parameter *list = model->host->parameters(model->state, &count);
    return model->values + ((float *)list[index].value.data - model->host_values);
}

float *assay__gpu_gradient(const assay__gpu_model *model, size_t index)
{
    return model->gradients + (assay__gpu_value(model, index) - model->values);
}

/* Copies parameters and gradients to the device before a pass, if the caller may have changed
 * them. */
static void send_parameters(assay__gpu_model *model)
{
    if (!model->shared)
        return;
    const size_t bytes = model->total * sizeof(float);
    assay__gpu_copy_in(model->gpu, model->values, bytes, model->host_values);
    assay__gpu_copy_in(model->gpu, model->gradients, bytes, model->host_gradients);
    model->shared = !assay__gpu_good(model->gpu);
}

assay_status assay__gpu_model_fetch(void *state, assay_error *error)
{
    assay__gpu_model *model = state;
    if (model->shared)
        return ASSAY_OK;
    const size_t bytes = model->total * sizeof(float);
    assay__gpu_begin(model->gpu);
    assay__gpu_copy_out(model->gpu, model->host_values, bytes, model->values);
    assay__gpu_copy_out(model->gpu, model->host_gradients, bytes, model->gradients);
    assay_status status = assay__gpu_end(model->gpu, error);
    model->shared = status == ASSAY_OK;
    return status;
}

/* Values that could not be copied are NULL, rather than those of an earlier time. */
static const assay_model_parameter *parameters(void *state, size_t *count)
{
    assay__gpu_model *model = state;
    const bool known = assay__gpu_model_fetch(state, NULL) == ASSAY_OK;
    const assay_model_parameter *list = model->host->parameters(model->state, count);
    for (size_t i = 0; i < *count; i++) {
        model->list[i].value.data = known ? list[i].value.data : NULL;
        model->list[i].gradient = known ? list[i].gradient : NULL;
    }
    return model->list;
}

/* ---- Life ---- */

void assay__gpu_room(assay__gpu_model *model, assay__memory_use use, size_t floats, float **array)
{
    assay__gpu_resize(model->gpu, &model->heap, use, floats * sizeof(float), array);
}

void assay__gpu_model_free(void *state)
{
    assay__gpu_model *model = state;
    if (model == NULL)
        return;
    assay__gpu_heap_release(model->gpu, &model->heap);
    if (model->state != NULL)
        model->host->destroy(model->state);
    free(model->own);
    free(model->list);
    free(model->output);
    free(model);
}

assay_status assay__gpu_model_make(const assay__gpu_kind *kind, assay__gpu *gpu,
                                   const double *settings, uint64_t seed, assay_error *error,
                                   void **state)
{
    assay__gpu_model *made = calloc(1, sizeof *made);
    if (made == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for a model");
    made->kind = kind;
    made->host = kind->host;
    made->gpu = gpu;
    made->own = calloc(1, kind->own_bytes);
    assay_status status = made->own == NULL
                              ? assay__fail(error, ASSAY_E_MEMORY, "out of memory for a model")
                              : kind->host->create(settings, seed, error, &made->state);
    if (status == ASSAY_OK)
        status = take_parameters(made, error);
    else
        made->state = NULL;
    if (status == ASSAY_OK)
        *state = made;
    else
        assay__gpu_model_free(made);
    return status;
}

/* ---- Passes ---- */

static assay_status host_room(assay__gpu_model *model, size_t floats, assay_error *error)
{
    if (floats <= model->output_capacity)
        return ASSAY_OK;
    float *room = realloc(model->output, floats * sizeof *room);
    if (room == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for an output");
    model->output = room;
    model->output_capacity = floats;
    return ASSAY_OK;
}

static assay_status pass(assay__gpu_model *model, const assay_tensor *inputs, int64_t steps,
                         assay_error *error, assay_tensor *output)
{
    assay_status status = model->kind->check(model, inputs, NULL, steps, error, output);
    size_t floats = status == ASSAY_OK ? (size_t)assay_tensor_count(output) : 0;
    if (status == ASSAY_OK)
        status = host_room(model, floats, error);
    if (status != ASSAY_OK)
        return status;
    assay__gpu_begin(model->gpu);
    send_parameters(model);
    float *y = model->kind->forward(model, inputs, steps, model->training && steps == 0);
    assay__gpu_copy_out(model->gpu, model->output, floats * sizeof *y, y);
    output->data = model->output;
    return assay__gpu_end(model->gpu, error);
}

static assay_status forward(void *state, const assay_tensor *inputs, size_t count,
                            assay_error *error, assay_tensor *output)
{
    (void)count;
    return pass(state, inputs, 0, error, output);
}

static assay_status forecast(void *state, const assay_tensor *inputs, size_t count, int64_t steps,
                             assay_error *error, assay_tensor *output)
{
    (void)count;
    return pass(state, inputs, steps, error, output);
}

/* Writes the gradient of the loss to model->dy. When the device is done, the parts of the loss are
 * in `sums`; returns the number of parts. */
static size_t compare(assay__gpu_model *model, const assay_tensor *target, const float *y,
                      double sums[LOSS_BLOCKS])
{
    const int64_t count = assay_tensor_count(target), width = target->shape[target->rank - 1];
    const int64_t needed = assay__gpu_blocks(count);
    const size_t blocks = needed < LOSS_BLOCKS ? (size_t)needed : LOSS_BLOCKS;
    assay__gpu_room(model, ASSAY__WORKSPACE, (size_t)count, &model->dy);
    assay__gpu_resize(model->gpu, &model->heap, ASSAY__WORKSPACE, LOSS_BLOCKS * sizeof *sums,
                      &model->sums);
    if (model->kind->loss != NULL)
        model->kind->loss(model, (int64_t)blocks);
    else
        ASSAY__LAUNCH(model->gpu, loss, (int64_t)blocks, 1, ASSAY__BLOCK, .rows = count / width,
                      .width = width, .loss = (int)model->host->training(model->state)->loss,
                      .y = y, .target = model->target, .dy = model->dy, .sums = model->sums);
    assay__gpu_copy_out(model->gpu, sums, blocks * sizeof *sums, model->sums);
    return blocks;
}

static assay_status gradient(void *state, const assay_tensor *inputs, size_t count,
                             const assay_tensor *target, assay_error *error, double *loss)
{
    (void)count;
    assay__gpu_model *model = state;
    assay_tensor output;
    double sums[LOSS_BLOCKS];
    assay_status status = model->kind->check(model, inputs, target, 0, error, &output);
    if (status != ASSAY_OK)
        return status;
    const size_t floats = (size_t)assay_tensor_count(target);
    assay__gpu_begin(model->gpu);
    send_parameters(model);
    float *y = model->kind->forward(model, inputs, 0, true);
    assay__gpu_room(model, ASSAY__WORKSPACE, floats, &model->target);
    if (model->kind->outputs_for != NULL)
        y = model->kind->outputs_for(model, target, y);
    else
        assay__gpu_copy_in(model->gpu, model->target, floats * sizeof *y, target->data);
    const size_t blocks = compare(model, target, y, sums);
    model->kind->backward(model, inputs, target);
    status = assay__gpu_end(model->gpu, error);
    *loss = 0;
    for (size_t i = 0; status == ASSAY_OK && i < blocks; i++)
        *loss += sums[i];
    return status;
}

static assay_status update(void *state, double learning_rate, assay_error *error)
{
    assay__gpu_model *model = state;
    /* A class without training() fixes its optimizer, which is Adam. */
    const assay_optimizer optimizer = model->host->training != NULL
                                          ? model->host->training(model->state)->optimizer
                                          : ASSAY_OPTIMIZER_ADAM;
    const bool adam = optimizer == ASSAY_OPTIMIZER_ADAM || optimizer == ASSAY_OPTIMIZER_ADAMW;
    double rate = learning_rate, correction = 1;
    if (adam) {
        model->step++;
        rate /= 1 - pow(0.9, (double)model->step);
        correction = 1 / sqrt(1 - pow(0.999, (double)model->step));
    }
    assay__gpu_begin(model->gpu);
    send_parameters(model);
    float **moments[] = {&model->first, &model->second};
    for (int i = 0; i < 2; i++) {
        if (*moments[i] != NULL || optimizer == ASSAY_OPTIMIZER_SGD || (i == 1 && !adam))
            continue;
        assay__gpu_room(model, ASSAY__OPTIMIZER, model->total, moments[i]);
        assay__gpu_zero(model->gpu, *moments[i], model->total);
    }
    ASSAY__LAUNCH(model->gpu, optimize, assay__gpu_blocks((int64_t)model->total), 1, ASSAY__BLOCK,
                  .count = (long long)model->total, .optimizer = (int)optimizer,
                  .rate = (float)rate, .correction = (float)correction,
                  .kept = (float)(1 - 0.01 * learning_rate), .gradient = model->gradients,
                  .first = model->first, .second = model->second, .value = model->values);
    return assay__gpu_end(model->gpu, error);
}

/* ---- What the host does ---- */

static void set_training(void *state, bool training)
{
    assay__gpu_model *model = state;
    model->training = training;
    if (model->host->set_training != NULL)
        model->host->set_training(model->state, training);
}

static assay_model_training *training_of(void *state)
{
    const assay__gpu_model *model = state;
    return model->host->training(model->state);
}

static assay_status example(void *state, uint64_t seed, assay_error *error, assay_tensor *inputs,
                            assay_tensor *target)
{
    const assay__gpu_model *model = state;
    return model->host->example(model->state, seed, error, inputs, target);
}

static assay_status describe(void *state, const assay_tensor *inputs, size_t count,
                             assay_term_sink sink, void *context, assay_error *error)
{
    const assay__gpu_model *model = state;
    return model->host->describe(model->state, inputs, count, sink, context, error);
}

static void memory(void *state, assay_model_memory *figures)
{
    assay__gpu_heap_figures(&((const assay__gpu_model *)state)->heap, figures);
}

static assay_status create(const double *settings, uint64_t seed, assay_error *error, void **state)
{
    (void)settings;
    (void)seed;
    (void)state;
    return assay__fail(error, ASSAY_E_UNSUPPORTED,
                       "a model on a device is made by assay_model_new(), not by its class");
}

void assay__gpu_class_fill(const assay_model_class *host, assay_model_class *class_)
{
    *class_ = *host;
    class_->create = create;
    class_->destroy = assay__gpu_model_free;
    class_->parameters = parameters;
    class_->set_training = set_training;
    class_->forward = forward;
    class_->forecast = host->forecast != NULL ? forecast : NULL;
    class_->gradient = gradient;
    class_->update = update;
    class_->fit = NULL;
    class_->example = example;
    class_->describe = describe;
    class_->memory = memory;
    class_->figures = NULL;
    class_->training = host->training != NULL ? training_of : NULL;
}

/* ---- Pieces of passes ---- */

void assay__gpu_linear(assay__gpu *gpu, int64_t rows, int64_t in, int64_t out, const float *x,
                       const float *weight, float *y)
{
    assay__gpu_matmul(gpu, rows, out, in, 1, (assay__matrix){x, in, false},
                      (assay__matrix){weight, in, true}, 0, y, out);
}

void assay__gpu_linear_backward(assay__gpu *gpu, int64_t rows, int64_t in, int64_t out,
                                const float *dy, const float *x, const float *weight, float *dx,
                                bool add, float *dweight, float *dbias)
{
    assay__gpu_matmul(gpu, out, in, rows, 1, (assay__matrix){dy, out, true},
                      (assay__matrix){x, in, false}, 0, dweight, in);
    if (dbias != NULL)
        ASSAY__LAUNCH(gpu, column_sum, (out + ASSAY__SUM_COLUMNS - 1) / ASSAY__SUM_COLUMNS, 1,
                      ASSAY__SUM_COLUMNS * ASSAY__SUM_ROWS, .rows = rows, .columns = out, .x = dy,
                      .sum = dbias);
    if (dx != NULL)
        assay__gpu_matmul(gpu, rows, in, out, 1, (assay__matrix){dy, out, false},
                          (assay__matrix){weight, in, false}, add ? 1 : 0, dx, in);
}

void assay__gpu_bias_activate(assay__gpu *gpu, int64_t rows, int64_t columns, const float *bias,
                              float scale, int activation, float *y, float *slope)
{
    ASSAY__LAUNCH(gpu, bias_activate, assay__gpu_blocks(rows * columns), 1, ASSAY__BLOCK,
                  .rows = rows, .columns = columns, .bias = bias, .scale = scale,
                  .activation = activation, .y = y, .slope = slope);
}
