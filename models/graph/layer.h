/* One layer of the graph transformer; transformer.h says what it computes. */
#ifndef ASSAY_MODELS_GRAPH_LAYER_H
#define ASSAY_MODELS_GRAPH_LAYER_H

#include "models/graph/attention.h"
#include "models/graph/message.h"
#include "models/graph/transformer.h"

/* The indices of a layer's parameters. */
typedef struct assay__layer {
    assay__message message;
    size_t in_proj, out_proj; /* each a weight, followed by its bias */
    size_t distance_bias;     /* if the shape has one */
    size_t norm[3];           /* scale, followed by shift */
    size_t ffn[2];            /* weight, followed by bias */
} assay__layer;

/* The activations that forward leaves for backward. The arrays are slices of one block. */
typedef struct assay__layer_kept {
    float *block;         /* of ASSAY__ACTIVATIONS */
    float *message;       /* assay__message_kept() */
    float *qkv;           /* (nodes, 3 hidden) */
    float *mixed;         /* (nodes, hidden) output of attention, before out_proj */
    float *log_sum;       /* (heads, nodes) */
    float *sum[3];        /* (nodes, hidden) input of each norm */
    float *mean[3];       /* (nodes) */
    float *rstd[3];       /* (nodes) */
    float *merged;        /* (nodes, hidden) l + a */
    float *ffn;           /* (nodes, ffn) after the activation */
    float *ffn_before;    /* (nodes, ffn) before it; with relu, the same array as ffn */
    uint64_t dropout_key; /* of this layer and pass; MPNN, MHA and FFN each have a mask */
    float dropout;        /* 0 outside training */
} assay__layer_kept;

/* The surroundings that all layers of a pass share. */
typedef struct assay__layer_place {
    const assay__graph_transformer_shape *shape;
    const assay__parameters *parameters;
    const assay__graph *graph;
    assay__attention attention; /* without the bias, which each layer has itself */
    float *scratch;             /* assay__layer_scratch() */
} assay__layer_place;

/* Declare the parameters of layer `index`; draw their initial values. */
assay__layer assay__layer_declare(const assay__graph_transformer_shape *shape, int64_t index,
                                  assay__parameters *parameters);
void assay__layer_draw(const assay__layer *layer, const assay__graph_transformer_shape *shape,
                       assay__parameters *parameters, assay__random *random);

/* Make `kept` large enough for the graph. The block is an activation of `memory`, which frees it.
 * The only failure is ASSAY_E_MEMORY. */
ASSAY_MUST_USE assay_status assay__layer_reserve(const assay__layer *layer,
                                                 const assay__layer_place *place,
                                                 assay__memory *memory, assay__layer_kept *kept);

/* The number of floats that a layer needs as scratch. Backward needs more than forward. */
size_t assay__layer_scratch(const assay__layer *layer, const assay__layer_place *place,
                            bool backward);

/* Compute next (nodes, hidden) from h (nodes, hidden), and write `kept`. */
void assay__layer_forward(const assay__layer *layer, const assay__layer_place *place,
                          const float *h, assay__layer_kept *kept, float *next);

/* Compute dh (nodes, hidden) from dnext (nodes, hidden), and add the gradients of the parameters to
 * their present values. Both arrays are overwritten. */
void assay__layer_backward(const assay__layer *layer, const assay__layer_place *place,
                           const float *h, const assay__layer_kept *kept, float *dnext, float *dh);

/* Report the operations of a forward pass of layer `index` to `sink`. */
void assay__layer_describe(const assay__layer *layer, const assay__layer_place *place,
                           int64_t index, assay_term_sink sink, void *context);

#endif
