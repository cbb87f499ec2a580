/* The common part of the networks of this folder. Each maps rows, x (rows, input) -> y (rows,
 * output), every row by itself.
 *
 * Any call takes any number of rows, at least 1. The rows are worked on in blocks, which pass
 * through the whole network while they are in the cache. So a kind of network consists mainly of
 * four functions of one block (assay__neural_net_kind), and keeps activations for one block only.
 * After a network is made, only two things are allocated: the output (rows, output), when the
 * number of rows grows, and the moments of the optimizer at the first update.
 *
 * One thread at a time calls a network. Where more threads are allowed (threads.h), they share the
 * blocks of one call. Each thread but the first has a twin of the network, with activations and
 * gradients of its own.
 *
 * A kind of network has assay__neural_net as its first member, so that a pointer to the one is also
 * a pointer to the other. */
#ifndef ASSAY_MODELS_FIELD_NEURAL_NET_H
#define ASSAY_MODELS_FIELD_NEURAL_NET_H

#include "assay/model.h"
#include "models/kernel/memory.h"
#include "models/kernel/optimizer.h"
#include "models/kernel/parameters.h"

typedef struct assay__neural_net assay__neural_net;

typedef struct assay__neural_net_kind {
    /* Called before the blocks of a call of so many rows. `training` says that the blocks will go
     * backward too, so the gradients have to start from 0. */
    void (*begin)(assay__neural_net *net, int64_t rows, bool training);
    /* Computes y (rows, output) from x (rows, input); rows are at most net->block. With `training`
     * it keeps the arrays that backward() needs. */
    void (*forward)(assay__neural_net *net, int64_t rows, const float *x, bool training, float *y);
    /* Follows the forward() of the same block. From net->dy (rows, output), which it may overwrite,
     * it adds to the gradients, and writes dx (rows, input) unless dx is NULL. */
    void (*backward)(assay__neural_net *net, int64_t rows, const float *x, float *dx);
    /* Called after the blocks of a call that went backward. NULL if the kind has nothing to do
     * then. */
    void (*end)(assay__neural_net *net);
    /* Reports the arithmetic of forward() on so many rows to the sink. */
    void (*describe)(const assay__neural_net *net, int64_t rows, assay_term_sink sink,
                     void *context);
    /* Makes a second network of the same shape; its weights do not matter. ASSAY_E_MEMORY. */
    assay_status (*twin)(const assay__neural_net *net, assay__neural_net **twin);
    /* Frees the memory that the kind owns beside net->memory, but not the network itself. */
    void (*release)(assay__neural_net *net);
} assay__neural_net_kind;

struct assay__neural_net {
    const assay__neural_net_kind *kind;
    int64_t input, output; /* widths, at least 1 */
    int64_t block;         /* most rows of a block, a multiple of 16; set by the kind */
    assay__memory *memory;
    assay__parameters parameters; /* the kind declares and allocates them */
    float *dy;                    /* (block, output) or larger; the kind takes it from `memory` */
    float *y;                     /* (rows of the largest call so far, output) */
    assay__adam adam;
    assay_model_training training; /* of the network itself; a twin has no settings of its own */
    assay__neural_net **twins;     /* (twin_count): one for each thread but the first */
    int twin_count;
};

/* Initialises `net`, which must be zeroed and the first member of a block from malloc.
 * ASSAY_E_MEMORY is the only failure. After this call assay__neural_net_free() is safe, even if the
 * call failed. */
ASSAY_MUST_USE assay_status assay__neural_net_init(assay__neural_net *net,
                                                   const assay__neural_net_kind *kind,
                                                   int64_t input, int64_t output);
void assay__neural_net_free(assay__neural_net *net);

/* The memory of the network and its twins. All memory of the twins counts as workspace. */
void assay__neural_net_memory(const assay__neural_net *net, assay_model_memory *figures);

/* Computes *y (rows, output) from x (rows, input). *y belongs to the network and is valid until the
 * next call. */
ASSAY_MUST_USE assay_status assay__neural_net_forward(assay__neural_net *net, int64_t rows,
                                                      const float *x, assay_error *error,
                                                      const float **y);

/* Computes the loss against target (rows, output), by default the mean squared error over all
 * elements, and overwrites the gradient of every parameter. Costs a forward and a backward pass. */
ASSAY_MUST_USE assay_status assay__neural_net_gradient(assay__neural_net *net, int64_t rows,
                                                       const float *x, const float *target,
                                                       assay_error *error, double *loss);

/* Computes the gradient of any other loss from dy (rows, output), the derivative of that loss by y.
 * Overwrites the gradient of every parameter and, unless it is NULL, dx (rows, input). The
 * activations are computed again from x, so the call costs a forward pass in addition to the
 * backward pass. */
ASSAY_MUST_USE assay_status assay__neural_net_backward(assay__neural_net *net, int64_t rows,
                                                       const float *x, const float *dy,
                                                       assay_error *error, float *dx);

/* One step of the optimizer, by default Adam, with the present gradients. */
ASSAY_MUST_USE assay_status assay__neural_net_update(assay__neural_net *net, double learning_rate,
                                                     assay_error *error);

/* Calls assay__neural_net_gradient(), then assay__neural_net_update(). */
ASSAY_MUST_USE assay_status assay__neural_net_train(assay__neural_net *net, int64_t rows,
                                                    const float *x, const float *target,
                                                    double learning_rate, assay_error *error,
                                                    double *loss);

#endif
