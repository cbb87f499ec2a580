/* What the graph transformer keeps on a device; shared by the files that implement it there. */
#ifndef ASSAY_MODELS_CUDA_TRANSFORMER_H
#define ASSAY_MODELS_CUDA_TRANSFORMER_H

#include "models/cuda/dropout.h"
#include "models/cuda/instance.h"
#include "models/graph/transformer.h"

enum { MOST_LAYERS = 1024 }; /* as the option allows */

typedef assay__graph_transformer_shape shape;

typedef struct device_adjacency {
    long long *offsets;
    int *neighbours;
} device_adjacency;

/* What forward leaves for backward, slices of one block; graph/layer.h says what they are. */
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
    uint64_t version;          /* of the graph that the following belong to */
    device_adjacency in, out, attended, attending;
    float *gcn_scale;
    long long *graph_offsets;
    unsigned char *distances;
    assay__attention_tile *tiles; /* (tile_count) of full attention */
    int64_t tile_count;

    float *states, *pooled, *y; /* as in graph/transformer.c */
    float *scratch; /* dnext, dh, dmerged, a branch's, and room for parts; then `along` */
    float *along;   /* (heads, nodes) */
    kept_layer kept[MOST_LAYERS];
} transformer;

/* Copy the graph of the next pass to the device, unless it is there. */
void assay__gpu_send_graph(assay__gpu_model *model);

#endif
