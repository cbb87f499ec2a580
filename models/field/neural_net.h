/* What the networks of this folder have in common: each maps rows, x (rows, input) -> y (rows,
 * output), every row by itself.
 *
 * Any number of rows, at least 1, may be given to any call. They are worked on in blocks that pass
 * through the whole network while they are in the cache, so a kind of network is four functions of
 * one block (assay__neural_net_kind) and keeps activations for one block only. Nothing is allocated
 * after it is made but the output (rows, output), when rows grow, and Adam's moments at the first
 * update. One thread at a time calls; where more threads are allowed (threads.h), blocks of one
 * call are shared among them, each with a twin of the network that has blocks and gradients of its
 * own.
 *
 * A kind has assay__neural_net as its first member, so that the address of one is that of the
 * other. */
#ifndef ASSAY_MODELS_FIELD_NEURAL_NET_H
#define ASSAY_MODELS_FIELD_NEURAL_NET_H

#include "assay/model.h"
#include "models/kernel/memory.h"
#include "models/kernel/optimizer.h"
#include "models/kernel/parameters.h"

typedef struct assay__neural_net assay__neural_net;

typedef struct assay__neural_net_kind {
    /* Before the blocks of a call of so many rows; `training`: they will go backward too, so
     * gradients start from 0. */
    void (*begin)(assay__neural_net *net, int64_t rows, bool training);
    /* x (rows, input) to y (rows, output), rows at most net->block; with `training`, what
     * backward() needs is kept. */
    void (*forward)(assay__neural_net *net, int64_t rows, const float *x, bool training, float *y);
    /* From net->dy (rows, output), which may be overwritten, and the forward() just before: adds to
     * the gradients; writes dx (rows, input) unless NULL. */
    void (*backward)(assay__neural_net *net, int64_t rows, const float *x, float *dx);
    /* After the blocks of a call that went backward; NULL: nothing to do. */
    void (*end)(assay__neural_net *net);
    /* The arithmetic of forward on so many rows. */
    void (*describe)(const assay__neural_net *net, int64_t rows, assay_term_sink sink,
                     void *context);
    /* A second network of the same shape; its weights do not matter. ASSAY_E_MEMORY. */
    assay_status (*twin)(const assay__neural_net *net, assay__neural_net **twin);
    /* Frees what the kind owns beside net->memory, not the network itself. */
    void (*release)(assay__neural_net *net);
} assay__neural_net_kind;

struct assay__neural_net {
    const assay__neural_net_kind *kind;
    int64_t input, output; /* widths, at least 1 */
    int64_t block;         /* most rows of a block, a multiple of 16; the kind's to set */
    assay__memory *memory;
    assay__parameters parameters; /* the kind declares and allocates them */
    float *dy;                    /* (block, output) or larger; the kind takes it from memory */
    float *y;                     /* (rows of the largest call so far, output) */
    assay__adam adam;
    assay_model_training training; /* of the first of them; twins follow it */
    assay__neural_net **twins;     /* (twin_count): what the threads but the first work with */
    int twin_count;
};

/* `net` zeroed and the first member of what malloc gave; assay__neural_net_free() is safe from here
 * on, also when this fails, as it does with ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__neural_net_init(assay__neural_net *net,
                                                   const assay__neural_net_kind *kind,
                                                   int64_t input, int64_t output);
void assay__neural_net_free(assay__neural_net *net);

/* What the network holds, its twins included. */
void assay__neural_net_memory(const assay__neural_net *net, assay_model_memory *figures);

/* x (rows, input); *y (rows, output) is the network's until the next call. */
ASSAY_MUST_USE assay_status assay__neural_net_forward(assay__neural_net *net, int64_t rows,
                                                      const float *x, assay_error *error,
                                                      const float **y);

/* The loss, by default the mean squared error over all elements, against target (rows, output), and
 * its gradient in every parameter (overwritten). Costs a forward and a backward pass. */
ASSAY_MUST_USE assay_status assay__neural_net_gradient(assay__neural_net *net, int64_t rows,
                                                       const float *x, const float *target,
                                                       assay_error *error, double *loss);

/* The gradient of any other loss, from dy (rows, output), its derivative by y: in every parameter
 * (overwritten) and, unless NULL, in dx (rows, input). Makes the activations again from x, so it
 * costs a forward pass more than backward alone. */
ASSAY_MUST_USE assay_status assay__neural_net_backward(assay__neural_net *net, int64_t rows,
                                                       const float *x, const float *dy,
                                                       assay_error *error, float *dx);

/* One step of the optimizer, by default Adam, with the present gradients. */
ASSAY_MUST_USE assay_status assay__neural_net_update(assay__neural_net *net, double learning_rate,
                                                     assay_error *error);

/* _gradient, then _update. */
ASSAY_MUST_USE assay_status assay__neural_net_train(assay__neural_net *net, int64_t rows,
                                                    const float *x, const float *target,
                                                    double learning_rate, assay_error *error,
                                                    double *loss);

#endif
