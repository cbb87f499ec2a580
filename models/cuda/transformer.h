/* The data that the graph transformer keeps on a device. Only transformer.c and transformer_graph.c
 * include it. */
#ifndef ASSAY_MODELS_CUDA_TRANSFORMER_H
#define ASSAY_MODELS_CUDA_TRANSFORMER_H

#include "models/cuda/dropout.h"
#include "models/cuda/instance.h"
#include "models/graph/transformer.h"

enum { MOST_LAYERS = 1024 }; /* the limit of the option */

typedef assay__graph_transformer_shape shape;

typedef struct device_adjacency {
    long long *offsets;
    int *neighbours;
} device_adjacency;

/* The arrays that forward leaves for backward. They are slices of `block`, and graph/layer.h
 * describes them. */
typedef struct kept_layer {
    float *block;
    float *message[4]; /* GIN: sum, inner; GCN: sum; gated: A (then the result), B, D, E */
    float *message_slope, *qkv, *mixed, *merged, *sum[3], *ffn, *ffn_slope, *log_sum;
    float *mean[3], *rstd[3];
    uint64_t dropout_key;
    float dropout;
} kept_layer;

typedef struct transformer {
    assay__graph_transformer *host;
    const assay__graph *graph; /* the host's */
    uint64_t version;          /* of the graph that the arrays below belong to */
    device_adjacency in, out, attended, attending;
    float *gcn_scale;
    long long *graph_offsets;
    unsigned char *distances;
    assay__attention_tile *tiles; /* (tile_count) of full attention */
    int64_t tile_count;
    int64_t slabs; /* blocks into which each head is divided: 1 unless heads are wide */

    float *states, *pooled, *y; /* as in graph/transformer.c */
    float *scratch; /* dnext, dh, dmerged, dbranch, workspace of the parts, then `along` */
    float *along;   /* (heads, nodes) */
    kept_layer kept[MOST_LAYERS];
} transformer;

/* Copies the graph of the next pass to the device, unless it is already there. */
void assay__gpu_send_graph(assay__gpu_model *model);

#endif
