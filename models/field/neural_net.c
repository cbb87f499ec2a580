/* Rows go through all layers, forward and back, a block at a time, so that what forward leaves is
 * still in the second-level cache when backward reads it; gradients of the blocks add up. Against
 * one product over all rows this saves the trips to memory and the memory itself. */
#include "models/field/neural_net.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "models/kernel/kernels.h"
#include "models/kernel/threads.h"

assay_status assay__neural_net_init(assay__neural_net *net, const assay__neural_net_kind *kind,
                                    int64_t input, int64_t output)
{
    assay__models_start();
    net->kind = kind;
    net->input = input;
    net->output = output;
    assay__parameters_init(&net->parameters);
    net->memory = assay__memory_new();
    return net->memory == NULL ? ASSAY_E_MEMORY : ASSAY_OK;
}

void assay__neural_net_free(assay__neural_net *net)
{
    if (net == NULL)
        return;
    net->kind->release(net);
    assay__parameters_release(&net->parameters);
    assay__memory_free(net->memory);
    free(net);
}

/* Rows in each of the fewest equal blocks of at most `most`, which is a multiple of 16, as is the
 * result. */
static int64_t block_of(int64_t rows, int64_t most)
{
    int64_t blocks = (rows + most - 1) / most;
    int64_t even = (rows + blocks - 1) / blocks;
    return (even + 15) / 16 * 16;
}

static assay_status begin(assay__neural_net *net, int64_t rows, bool training, assay_error *error)
{
    if (rows < 1)
        return assay__fail(error, ASSAY_E_ARGUMENT, "%lld rows; give at least 1", (long long)rows);
    if (rows > INT64_MAX / net->output ||
        assay__memory_resize(net->memory, ASSAY__ACTIVATIONS, (size_t)(rows * net->output),
                             sizeof *net->y, &net->y) != ASSAY_OK)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for the output of %lld rows",
                           (long long)rows);
    net->kind->begin(net, rows, training);
    return ASSAY_OK;
}

assay_status assay__neural_net_forward(assay__neural_net *net, int64_t rows, const float *x,
                                       assay_error *error, const float **y)
{
    assay_status status = begin(net, rows, false, error);
    if (status != ASSAY_OK)
        return status;
    int64_t block = block_of(rows, net->block);
    for (int64_t row = 0; row < rows; row += block)
        net->kind->forward(net, block < rows - row ? block : rows - row, x + row * net->input,
                           false, net->y + row * net->output);
    *y = net->y;
    return ASSAY_OK;
}

/* A block's part of the mean squared error over all rows, and of its gradient dy: `count` elements,
 * `share` of all. */
static double block_loss(int64_t count, double share, const float *y, const float *target,
                         float *dy)
{
    double mean = assay__mse(count, y, target, dy);
    for (int64_t i = 0; i < count; i++)
        dy[i] *= (float)share;
    return share * mean;
}

/* Forward and backward of every block. Either `target` is given, and the loss against it returned,
 * or dy; dx may be NULL. */
static double pass(assay__neural_net *net, int64_t rows, const float *x, const float *target,
                   const float *dy, float *dx)
{
    const assay__neural_net_kind *kind = net->kind;
    int64_t block = block_of(rows, net->block), input = net->input, output = net->output;
    double loss = 0;
    for (int64_t row = 0; row < rows; row += block) {
        int64_t here = block < rows - row ? block : rows - row;
        float *y = net->y + row * output;
        kind->forward(net, here, x + row * input, true, y);
        if (target != NULL)
            loss += block_loss(here * output, (double)here / (double)rows, y, target + row * output,
                               net->dy);
        else
            memcpy(net->dy, dy + row * output, (size_t)(here * output) * sizeof *dy);
        kind->backward(net, here, x + row * input, dx == NULL ? NULL : dx + row * input);
    }
    if (kind->end != NULL)
        kind->end(net);
    return loss;
}

assay_status assay__neural_net_gradient(assay__neural_net *net, int64_t rows, const float *x,
                                        const float *target, assay_error *error, double *loss)
{
    assay_status status = begin(net, rows, true, error);
    if (status == ASSAY_OK)
        *loss = pass(net, rows, x, target, NULL, NULL);
    return status;
}

assay_status assay__neural_net_backward(assay__neural_net *net, int64_t rows, const float *x,
                                        const float *dy, assay_error *error, float *dx)
{
    assay_status status = begin(net, rows, true, error);
    if (status == ASSAY_OK)
        (void)pass(net, rows, x, NULL, dy, dx);
    return status;
}

assay_status assay__neural_net_update(assay__neural_net *net, double learning_rate,
                                      assay_error *error)
{
    return assay__adam_step(&net->adam, net->memory, &net->parameters, learning_rate, error);
}

assay_status assay__neural_net_train(assay__neural_net *net, int64_t rows, const float *x,
                                     const float *target, double learning_rate, assay_error *error,
                                     double *loss)
{
    assay_status status = assay__neural_net_gradient(net, rows, x, target, error, loss);
    return status == ASSAY_OK ? assay__neural_net_update(net, learning_rate, error) : status;
}
