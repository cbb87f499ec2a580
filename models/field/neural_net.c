/* Rows go through all layers, forward and back, one block at a time. So the arrays that forward
 * leaves are still in the second-level cache when backward reads them. The gradients of the blocks
 * add up. Compared with one product over all rows, this saves accesses to memory, and the memory
 * itself. */
#include "models/field/neural_net.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "models/kernel/kernels.h"
#include "models/kernel/loss.h"
#include "models/kernel/threads.h"

enum { MAX_PARTS = 64, LEAST_ROWS = 32 /* of a block that a thread takes */ };

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
    for (int i = 0; i < net->twin_count; i++)
        assay__neural_net_free(net->twins[i]);
    free(net->twins);
    net->kind->release(net);
    assay__parameters_release(&net->parameters);
    assay__memory_free(net->memory);
    free(net);
}

/* Returns the number of rows in each of the fewest blocks of equal size that have at most `most`
 * rows. `most` is a multiple of 16, and so is the result. */
static int64_t block_of(int64_t rows, int64_t most)
{
    int64_t blocks = (rows + most - 1) / most;
    int64_t even = (rows + blocks - 1) / blocks;
    return (even + 15) / 16 * 16;
}

/* ---- Threads ---- */

/* Makes twins until there are `count`, one for each thread but the first. */
static assay_status take_twins(assay__neural_net *net, int count)
{
    if (count <= net->twin_count)
        return ASSAY_OK;
    assay__neural_net **twins = realloc(net->twins, (size_t)count * sizeof(*twins));
    if (twins == NULL)
        return ASSAY_E_MEMORY;
    net->twins = twins;
    while (net->twin_count < count) {
        assay_status status = net->kind->twin(net, &twins[net->twin_count]);
        if (status != ASSAY_OK)
            return status;
        net->twin_count++;
    }
    return ASSAY_OK;
}

void assay__neural_net_memory(const assay__neural_net *net, assay_model_memory *figures)
{
    assay__memory_figures(net->memory, figures);
    for (int i = 0; i < net->twin_count; i++) {
        assay_model_memory twin;
        assay__memory_figures(net->twins[i]->memory, &twin);
        figures->workspace += twin.parameters + twin.gradients + twin.activations + twin.workspace;
    }
}

/* ---- A call ---- */

/* One call: forward of all rows, and backward if `training`. */
typedef struct call {
    assay__neural_net *net;
    int64_t rows, block;
    int parts;
    bool training;
    const float *x, *target, *dy; /* in training either target or dy is given */
    float *dx;                    /* NULL if not needed */
    double losses[MAX_PARTS];
} call;

static assay_status begin(call *c, assay_error *error)
{
    assay__neural_net *net = c->net;
    if (c->rows < 1) {
        return assay__fail(error, ASSAY_E_ARGUMENT, "%lld rows; give at least 1",
                           (long long)c->rows);
    }
    int64_t each = c->rows / assay__threads() / 16 * 16;
    c->block = block_of(c->rows, each < LEAST_ROWS   ? LEAST_ROWS
                                 : each > net->block ? net->block
                                                     : each);
    c->parts = assay__parts((c->rows + c->block - 1) / c->block, 1);
    c->parts = c->parts < MAX_PARTS ? c->parts : MAX_PARTS;
    if (c->rows > INT64_MAX / net->output ||
        assay__memory_resize(net->memory, ASSAY__ACTIVATIONS, (size_t)(c->rows * net->output),
                             sizeof *net->y, &net->y) != ASSAY_OK ||
        take_twins(net, c->parts - 1) != ASSAY_OK) {
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for the output of %lld rows",
                           (long long)c->rows);
    }
    return ASSAY_OK;
}

/* Returns the contribution of these rows to the loss over all rows of the call, and writes their
 * gradient to dy. */
static double block_loss(const call *c, int64_t rows, const float *y, const float *target,
                         float *dy)
{
    double share = (double)rows / (double)c->rows;
    double mean = assay__loss(c->net->training.loss, rows, c->net->output, y, target, dy);
    assay__scale_by(rows * c->net->output, (float)share, dy);
    return share * mean;
}

/* Passes one block, the rows from `row` on, through `net`, which may be a twin. Returns the block's
 * contribution to the loss. */
static double pass_block(const call *c, assay__neural_net *net, int64_t row)
{
    const int64_t here = c->block < c->rows - row ? c->block : c->rows - row;
    const int64_t input = net->input, output = net->output;
    float *y = c->net->y + row * output;
    double loss = 0;
    net->kind->forward(net, here, c->x + row * input, c->training, y);
    if (!c->training)
        return 0;
    if (c->target != NULL) {
        loss = block_loss(c, here, y, c->target + row * output, net->dy);
    } else {
        memcpy(net->dy, c->dy + row * output, (size_t)(here * output) * sizeof *net->dy);
    }
    net->kind->backward(net, here, c->x + row * input, c->dx == NULL ? NULL : c->dx + row * input);
    return loss;
}

/* Computes one part of the blocks, one block after the other. So the sums are the same whichever
 * thread computes the part. */
static void call_part(void *context, int part)
{
    call *c = context;
    assay__neural_net *net = part == 0 ? c->net : c->net->twins[part - 1];
    if (part > 0) {
        memcpy(net->parameters.values, c->net->parameters.values,
               net->parameters.total * sizeof *net->parameters.values);
    }
    net->kind->begin(net, c->rows, c->training);
    double loss = 0;
    const int64_t end = assay__part_start(c->rows, c->block, c->parts, part + 1);
    for (int64_t row = assay__part_start(c->rows, c->block, c->parts, part); row < end;
         row += c->block)
        loss += pass_block(c, net, row);
    if (c->training && net->kind->end != NULL)
        net->kind->end(net);
    c->losses[part] = loss;
}

/* Runs all blocks, adds up the gradients of the twins, and returns the loss. */
static double run(call *c)
{
    assay__parallel(c->parts, call_part, c);
    double loss = c->losses[0];
    for (int part = 1; part < c->parts; part++) {
        loss += c->losses[part];
        if (c->training) {
            assay__add((int64_t)c->net->parameters.total,
                       c->net->twins[part - 1]->parameters.gradients, c->net->parameters.gradients);
        }
    }
    return loss;
}

assay_status assay__neural_net_forward(assay__neural_net *net, int64_t rows, const float *x,
                                       assay_error *error, const float **y)
{
    call c = {.net = net, .rows = rows, .x = x};
    assay_status status = begin(&c, error);
    if (status != ASSAY_OK)
        return status;
    (void)run(&c);
    *y = net->y;
    return ASSAY_OK;
}

assay_status assay__neural_net_gradient(assay__neural_net *net, int64_t rows, const float *x,
                                        const float *target, assay_error *error, double *loss)
{
    call c = {.net = net, .rows = rows, .training = true, .x = x, .target = target};
    assay_status status = begin(&c, error);
    if (status == ASSAY_OK)
        *loss = run(&c);
    return status;
}

assay_status assay__neural_net_backward(assay__neural_net *net, int64_t rows, const float *x,
                                        const float *dy, assay_error *error, float *dx)
{
    call c = {.net = net, .rows = rows, .training = true, .x = x, .dy = dy, .dx = dx};
    assay_status status = begin(&c, error);
    if (status == ASSAY_OK)
        (void)run(&c);
    return status;
}

assay_status assay__neural_net_update(assay__neural_net *net, double learning_rate,
                                      assay_error *error)
{
    return assay__optimizer_step(net->training.optimizer, &net->adam, net->memory, &net->parameters,
                                 learning_rate, error);
}

assay_status assay__neural_net_train(assay__neural_net *net, int64_t rows, const float *x,
                                     const float *target, double learning_rate, assay_error *error,
                                     double *loss)
{
    assay_status status = assay__neural_net_gradient(net, rows, x, target, error, loss);
    return status == ASSAY_OK ? assay__neural_net_update(net, learning_rate, error) : status;
}
