/* The graph transformer on a device. Its steps are those of graph/layer.c; each step is a product
 * or a kernel over all nodes. Biases are added by the kernel that reads the product next. Residual,
 * dropout and norm are one kernel. The host computes everything that is derived from a graph
 * (encodings, distances, adjacency); it is copied when the graph changes. */
#include "models/cuda/transformer.h"

#include <math.h>
#include <string.h>

#include "models/kernel/activation.h"

enum { MESSAGE, ATTENTION, FEED_FORWARD };

static const shape *shape_of(const assay__gpu_model *model)
{
    return assay__graph_transformer_shape_of(((transformer *)model->own)->host);
}

static int64_t width_of(const shape *s)
{
    return s->input + s->laplacian + s->walk;
}

/* The indices of a layer's parameters, in the order of graph/transformer.h. A bias follows its
 * weight. */
typedef struct indices {
    size_t message, in_proj, out_proj, distance_bias, norm[3], ffn[2];
} indices;

static indices indices_of(const shape *s, int64_t layer)
{
    const size_t maps = s->message == ASSAY__GIN ? 2 : s->message == ASSAY__GCN ? 1 : 4;
    const size_t bias = s->bias_distance > 0 ? 1 : 0, each = 2 * maps + 4 + bias + 6 + 4;
    const size_t first = 2 + (size_t)layer * each, attention = first + 2 * maps;
    const size_t norm = attention + 4 + bias;
    return (indices){.message = first,
                     .in_proj = attention,
                     .out_proj = attention + 2,
                     .distance_bias = attention + 4,
                     .norm = {norm, norm + 2, norm + 4},
                     .ffn = {norm + 6, norm + 8}};
}

static size_t head_of(const shape *s)
{
    return indices_of(s, s->layers).message;
}

static int64_t output_rows(const assay__gpu_model *model)
{
    const assay__graph *graph = ((transformer *)model->own)->graph;
    return shape_of(model)->pooled ? graph->graphs : graph->nodes;
}

static assay_status check(assay__gpu_model *model, const assay_tensor *inputs,
                          const assay_tensor *target, int64_t steps, assay_error *error,
                          assay_tensor *output)
{
    (void)steps;
    transformer *own = model->own;
    assay_status status =
        assay__graph_transformer_take(model->state, inputs, target, error, &own->host);
    if (status != ASSAY_OK)
        return status;
    own->graph = assay__graph_transformer_graph(own->host);
    *output =
        (assay_tensor){"output", ASSAY_F32, 2, {output_rows(model), shape_of(model)->output}, NULL};
    return ASSAY_OK;
}

/* ---- Memory ---- */

static void reserve_layer(assay__gpu_model *model, kept_layer *kept, bool keep)
{
    const shape *s = shape_of(model);
    const size_t nodes = (size_t)((transformer *)model->own)->graph->nodes;
    const size_t wide = nodes * (size_t)s->hidden, ffn = nodes * (size_t)s->ffn;
    struct {
        float **slice;
        size_t floats;
    } const slices[] = {{&kept->message[0], wide},
                        {&kept->message[1], wide},
                        {&kept->message[2], s->message == ASSAY__GATED_GCN ? wide : 0},
                        {&kept->message[3], s->message == ASSAY__GATED_GCN ? wide : 0},
                        {&kept->message_slope, wide},
                        {&kept->qkv, 3 * wide},
                        {&kept->mixed, wide},
                        {&kept->merged, wide},
                        {&kept->sum[0], wide},
                        {&kept->sum[1], wide},
                        {&kept->sum[2], wide},
                        {&kept->ffn, ffn},
                        {&kept->ffn_slope, ffn},
                        {&kept->log_sum, (size_t)s->heads * nodes},
                        {&kept->mean[0], nodes},
                        {&kept->mean[1], nodes},
                        {&kept->mean[2], nodes},
                        {&kept->rstd[0], nodes},
                        {&kept->rstd[1], nodes},
                        {&kept->rstd[2], nodes}};
    const size_t count = sizeof slices / sizeof *slices;
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += (slices[i].floats + 63) / 64 * 64;
    assay__gpu_room(model, ASSAY__ACTIVATIONS, total, &kept->block);
    float *next = kept->block;
    for (size_t i = 0; i < count; i++) {
        *slices[i].slice = next;
        next += (slices[i].floats + 63) / 64 * 64;
    }
    if (!keep)
        kept->message_slope = kept->ffn_slope = NULL;
}

static void reserve(assay__gpu_model *model, bool keep)
{
    const shape *s = shape_of(model);
    transformer *own = model->own;
    const size_t nodes = (size_t)own->graph->nodes, wide = nodes * (size_t)s->hidden;
    const size_t rows = (size_t)output_rows(model);
    const size_t most = 5 * wide > nodes * (size_t)s->ffn ? 5 * wide : nodes * (size_t)s->ffn;
    assay__gpu_room(model, ASSAY__ACTIVATIONS, nodes * (size_t)width_of(s), &model->input);
    assay__gpu_room(model, ASSAY__ACTIVATIONS, (keep ? (size_t)s->layers + 1 : 2) * wide,
                    &own->states);
    assay__gpu_room(model, ASSAY__ACTIVATIONS, rows * (size_t)s->output, &own->y);
    assay__gpu_room(model, ASSAY__ACTIVATIONS, s->pooled ? rows * (size_t)s->hidden : 0,
                    &own->pooled);
    assay__gpu_room(model, ASSAY__WORKSPACE, keep ? 4 * wide + most + (size_t)s->heads * nodes : 0,
                    &own->scratch);
    for (int64_t l = 0; l < (keep ? s->layers : 1); l++)
        reserve_layer(model, &own->kept[l], keep);
}

static float *state_of(const assay__gpu_model *model, int64_t layer, bool keep)
{
    const transformer *own = model->own;
    return own->states + (keep ? layer : layer % 2) * own->graph->nodes * shape_of(model)->hidden;
}

/* ---- Forward ---- */

static void neighbours(assay__gpu_model *model, const device_adjacency *of, const float *factor,
                       const float *x, float *y, bool add)
{
    const int64_t nodes = ((transformer *)model->own)->graph->nodes;
    ASSAY__LAUNCH(model->gpu, neighbours, nodes, 1, ASSAY__BLOCK, .nodes = nodes,
                  .width = shape_of(model)->hidden, .offsets = of->offsets,
                  .neighbours = of->neighbours, .factor = factor, .x = x, .y = y, .add = add);
}

static void linear(assay__gpu_model *model, size_t weight, int64_t in, int64_t out, const float *x,
                   float *y)
{
    assay__gpu_linear(model->gpu, ((transformer *)model->own)->graph->nodes, in, out, x,
                      assay__gpu_value(model, weight), y);
}

static void biased(assay__gpu_model *model, size_t bias, int64_t columns, int activation, float *y,
                   float *slope)
{
    assay__gpu_bias_activate(model->gpu, ((transformer *)model->own)->graph->nodes, columns,
                             assay__gpu_value(model, bias), 1, activation, y, slope);
}

/* Computes the branch of message passing. Returns it, and the bias that the caller still has to add
 * to it in `bias` (NULL if there is none). */
static const float *message_forward(assay__gpu_model *model, size_t first, const float *h,
                                    kept_layer *kept, const float **bias)
{
    const shape *s = shape_of(model);
    transformer *own = model->own;
    const int64_t hidden = s->hidden, nodes = own->graph->nodes;
    *bias = NULL;
    switch (s->message) {
    case ASSAY__GIN:
        neighbours(model, &own->in, NULL, h, kept->message[0], false);
        linear(model, first, hidden, hidden, kept->message[0], kept->message[1]);
        biased(model, first + 1, hidden, ASSAY__RELU, kept->message[1], kept->message_slope);
        linear(model, first + 2, hidden, hidden, kept->message[1], kept->sum[MESSAGE]);
        *bias = assay__gpu_value(model, first + 3);
        return kept->sum[MESSAGE];
    case ASSAY__GCN:
        neighbours(model, &own->in, own->gcn_scale, h, kept->message[0], false);
        linear(model, first, hidden, hidden, kept->message[0], kept->sum[MESSAGE]);
        *bias = assay__gpu_value(model, first + 1);
        return kept->sum[MESSAGE];
    case ASSAY__GATED_GCN:
        for (size_t map = 0; map < 4; map++) {
            linear(model, first + 2 * map, hidden, hidden, h, kept->message[map]);
            biased(model, first + 2 * map + 1, hidden, ASSAY__IDENTITY, kept->message[map], NULL);
        }
        ASSAY__LAUNCH(model->gpu, gated, nodes, 1, ASSAY__BLOCK, .nodes = nodes, .width = hidden,
                      .offsets = own->in.offsets, .neighbours = own->in.neighbours,
                      .b = kept->message[1], .d = kept->message[2], .e = kept->message[3],
                      .y = kept->message[0], .slope = kept->message_slope);
        return kept->message[0];
    }
    return NULL;
}

/* y = norm `part` of (x + dropout(branch + bias)), plus `also` unless that is NULL */
static void merge(assay__gpu_model *model, const indices *at, int part, const float *x,
                  const float *branch, const float *bias, const float *also, kept_layer *kept,
                  float *y)
{
    const int64_t nodes = ((transformer *)model->own)->graph->nodes;
    const uint64_t key = kept->dropout_key * 3 + (uint64_t)part;
    ASSAY__LAUNCH(model->gpu, layer_norm, (nodes + 7) / 8, 1, ASSAY__BLOCK, .rows = nodes,
                  .columns = shape_of(model)->hidden, .x = x, .branch = branch, .bias = bias,
                  .scale = assay__gpu_value(model, at->norm[part]),
                  .shift = assay__gpu_value(model, at->norm[part] + 1), .also = also,
                  .keep = kept->dropout > 0 ? 1 / (1 - kept->dropout) : 0,
                  .threshold = (unsigned)((double)kept->dropout * 0x1p32), .low = (unsigned)key,
                  .high = (unsigned)(key >> 32), .sum = kept->sum[part], .y = y,
                  .mean = kept->mean[part], .rstd = kept->rstd[part]);
}

static assay__attention_arguments attention_of(const assay__gpu_model *model, const indices *at,
                                               const kept_layer *kept)
{
    const shape *s = shape_of(model);
    const transformer *own = model->own;
    const int64_t width = s->hidden / s->heads;
    const bool has_bias = s->bias_distance > 0;
    return (assay__attention_arguments){
        .nodes = own->graph->nodes,
        .heads = (int)s->heads,
        .width = (int)width,
        .scale = 1 / sqrtf((float)width),
        .tiles = own->tiles,
        .offsets = own->attended.offsets,
        .neighbours = own->attended.neighbours,
        .bias = has_bias ? assay__gpu_value(model, at->distance_bias) : NULL,
        .buckets = has_bias ? (int)s->bias_distance + 2 : 0,
        .distances = own->distances,
        .qkv = kept->qkv,
        .output = kept->mixed,
        .log_sum = kept->log_sum,
        .dbias = has_bias ? assay__gpu_gradient(model, at->distance_bias) : NULL};
}

static void launch_heads(assay__gpu_model *model, assay__kernel full, assay__kernel sparse,
                         const assay__attention_arguments *arguments)
{
    const transformer *own = model->own;
    const shape *s = shape_of(model);
    assay__gpu_launch(model->gpu, s->sparse ? sparse : full,
                      s->sparse ? (own->graph->nodes + 7) / 8 : own->tile_count,
                      s->heads * own->slabs, ASSAY__BLOCK, arguments);
}

static void layer_forward(assay__gpu_model *model, int64_t layer, const float *h, kept_layer *kept,
                          float *next)
{
    const shape *s = shape_of(model);
    const indices at = indices_of(s, layer);
    const int64_t hidden = s->hidden;
    const float *bias, *branch = message_forward(model, at.message, h, kept, &bias);
    merge(model, &at, MESSAGE, h, branch, bias, NULL, kept, kept->merged);

    linear(model, at.in_proj, hidden, 3 * hidden, h, kept->qkv);
    biased(model, at.in_proj + 1, 3 * hidden, ASSAY__IDENTITY, kept->qkv, NULL);
    const assay__attention_arguments attention = attention_of(model, &at, kept);
    launch_heads(model, ASSAY__KERNEL_attention_forward, ASSAY__KERNEL_sparse_forward, &attention);
    linear(model, at.out_proj, hidden, hidden, kept->mixed, kept->sum[ATTENTION]);
    merge(model, &at, ATTENTION, h, kept->sum[ATTENTION], assay__gpu_value(model, at.out_proj + 1),
          kept->merged, kept, kept->merged);

    linear(model, at.ffn[0], hidden, s->ffn, kept->merged, kept->ffn);
    biased(model, at.ffn[0] + 1, s->ffn, s->gelu ? ASSAY__GELU : ASSAY__RELU, kept->ffn,
           kept->ffn_slope);
    linear(model, at.ffn[1], s->ffn, hidden, kept->ffn, kept->sum[FEED_FORWARD]);
    merge(model, &at, FEED_FORWARD, kept->merged, kept->sum[FEED_FORWARD],
          assay__gpu_value(model, at.ffn[1] + 1), NULL, kept, next);
}

static void pool(assay__gpu_model *model, const float *x, float *y, bool backward)
{
    const transformer *own = model->own;
    ASSAY__LAUNCH(model->gpu, pool, own->graph->graphs, 1, ASSAY__BLOCK,
                  .graphs = own->graph->graphs, .width = shape_of(model)->hidden,
                  .offsets = own->graph_offsets, .x = x, .y = y, .backward = backward);
}

static float *forward(assay__gpu_model *model, const assay_tensor *inputs, int64_t steps, bool keep)
{
    (void)steps;
    const shape *s = shape_of(model);
    transformer *own = model->own;
    assay_model_training *training = model->host->training(model->state);
    const float dropout = model->training && !training->no_dropout ? s->dropout : 0;
    own->slabs = assay__gpu_prepare_heads(model->gpu, s->hidden / s->heads);
    assay__gpu_send_graph(model);
    reserve(model, keep);
    assay__gpu_copy_in(model->gpu, model->input,
                       (size_t)(own->graph->nodes * width_of(s)) * sizeof(float),
                       assay__graph_transformer_encoder_input(own->host, inputs[0].data));
    training->passes += dropout > 0;
    linear(model, 0, width_of(s), s->hidden, model->input, state_of(model, 0, keep));
    biased(model, 1, s->hidden, ASSAY__IDENTITY, state_of(model, 0, keep), NULL);
    for (int64_t l = 0; l < s->layers; l++) {
        kept_layer *kept = &own->kept[keep ? l : 0];
        kept->dropout = dropout;
        kept->dropout_key = training->seed + training->passes * (uint64_t)s->layers + (uint64_t)l;
        layer_forward(model, l, state_of(model, l, keep), kept, state_of(model, l + 1, keep));
    }
    const float *last = state_of(model, s->layers, keep);
    if (s->pooled)
        pool(model, last, own->pooled, false);
    assay__gpu_linear(model->gpu, output_rows(model), s->hidden, s->output,
                      s->pooled ? own->pooled : last, assay__gpu_value(model, head_of(s)), own->y);
    assay__gpu_bias_activate(model->gpu, output_rows(model), s->output,
                             assay__gpu_value(model, head_of(s) + 1), 1, ASSAY__IDENTITY, own->y,
                             NULL);
    return own->y;
}

/* ---- Backward ---- */

/* Computes dsum from dy, both (nodes, hidden), through norm `part`. They must not be the same
 * array. */
static void norm_backward(assay__gpu_model *model, const indices *at, int part,
                          const kept_layer *kept, const float *dy, float *dsum)
{
    const int64_t nodes = ((transformer *)model->own)->graph->nodes;
    const int64_t hidden = shape_of(model)->hidden;
    ASSAY__LAUNCH(model->gpu, layer_norm_parameters,
                  (hidden + ASSAY__SUM_COLUMNS - 1) / ASSAY__SUM_COLUMNS, 1,
                  ASSAY__SUM_COLUMNS * ASSAY__SUM_ROWS, .rows = nodes, .columns = hidden, .dy = dy,
                  .x = kept->sum[part], .mean = kept->mean[part], .rstd = kept->rstd[part],
                  .dscale = assay__gpu_gradient(model, at->norm[part]),
                  .dshift = assay__gpu_gradient(model, at->norm[part] + 1));
    ASSAY__LAUNCH(model->gpu, layer_norm_backward, (nodes + 7) / 8, 1, ASSAY__BLOCK, .rows = nodes,
                  .columns = hidden, .dy = dy, .x = kept->sum[part],
                  .scale = assay__gpu_value(model, at->norm[part]), .mean = kept->mean[part],
                  .rstd = kept->rstd[part], .dx = dsum);
}

/* Passes `dsum` through dropout. Returns the result, which is in `room`, or `dsum` itself if
 * nothing is dropped. */
static float *branch_backward(assay__gpu_model *model, int part, const kept_layer *kept,
                              float *dsum, float *room)
{
    const int64_t count = ((transformer *)model->own)->graph->nodes * shape_of(model)->hidden;
    if (!(kept->dropout > 0))
        return dsum;
    assay__gpu_dropout(model->gpu, count, kept->dropout, kept->dropout_key * 3 + (uint64_t)part,
                       dsum, room);
    return room;
}

static void linear_backward(assay__gpu_model *model, size_t weight, int64_t in, int64_t out,
                            const float *dy, const float *x, float *dx, bool add)
{
    assay__gpu_linear_backward(model->gpu, ((transformer *)model->own)->graph->nodes, in, out, dy,
                               x, assay__gpu_value(model, weight), dx, add,
                               assay__gpu_gradient(model, weight),
                               assay__gpu_gradient(model, weight + 1));
}

static void scale_by_slope(assay__gpu_model *model, int64_t columns, const float *slope, float *dy)
{
    const int64_t count = ((transformer *)model->own)->graph->nodes * columns;
    ASSAY__LAUNCH(model->gpu, scale_by_slope, assay__gpu_blocks(count), 1, ASSAY__BLOCK,
                  .count = count, .slope = slope, .dy = dy);
}

static void gated_backward(assay__gpu_model *model, size_t first, const float *h,
                           const kept_layer *kept, float *dy, float *room, float *dh)
{
    const transformer *own = model->own;
    const int64_t hidden = shape_of(model)->hidden, nodes = own->graph->nodes;
    const int64_t wide = nodes * hidden;
    float *share = room, *mean = room + wide, *dd = room + 2 * wide, *db = room + 3 * wide,
          *de = room + 4 * wide;
    float *const gradients[] = {dy, db, dd, de};
    scale_by_slope(model, hidden, kept->message_slope, dy);
    ASSAY__LAUNCH(model->gpu, gated_backward_targets, nodes, 1, ASSAY__BLOCK, .nodes = nodes,
                  .width = hidden, .offsets = own->in.offsets, .neighbours = own->in.neighbours,
                  .b = kept->message[1], .d = kept->message[2], .e = kept->message[3], .dy = dy,
                  .share = share, .mean = mean, .dd = dd);
    ASSAY__LAUNCH(model->gpu, gated_backward_sources, nodes, 1, ASSAY__BLOCK, .nodes = nodes,
                  .width = hidden, .offsets = own->out.offsets, .neighbours = own->out.neighbours,
                  .b = kept->message[1], .d = kept->message[2], .e = kept->message[3],
                  .share = share, .mean = mean, .db = db, .de = de);
    for (size_t map = 0; map < 4; map++)
        linear_backward(model, first + 2 * map, hidden, hidden, gradients[map], h, dh, true);
}

/* Adds the gradient with respect to h to dh, from dy. dy may be dh; if it is not, it may be
 * overwritten. */
static void message_backward(assay__gpu_model *model, size_t first, const float *h,
                             const kept_layer *kept, const float *dy, float *room, float *dh)
{
    const shape *s = shape_of(model);
    const transformer *own = model->own;
    const int64_t hidden = s->hidden, wide = own->graph->nodes * hidden;
    float *dinner = room, *dsum = room + wide;
    switch (s->message) {
    case ASSAY__GIN:
        linear_backward(model, first + 2, hidden, hidden, dy, kept->message[1], dinner, false);
        scale_by_slope(model, hidden, kept->message_slope, dinner);
        linear_backward(model, first, hidden, hidden, dinner, kept->message[0], dsum, false);
        neighbours(model, &own->out, NULL, dsum, dh, true);
        break;
    case ASSAY__GCN:
        linear_backward(model, first, hidden, hidden, dy, kept->message[0], dsum, false);
        neighbours(model, &own->out, own->gcn_scale, dsum, dh, true);
        break;
    case ASSAY__GATED_GCN: {
        float *copy = own->scratch + 3 * wide; /* also where dropout writes its result */
        if (dy != copy)
            assay__gpu_copy(model->gpu, copy, (size_t)wide * sizeof *copy, dy);
        gated_backward(model, first, h, kept, copy, room, dh);
        break;
    }
    }
}

static void attention_backward(assay__gpu_model *model, const indices *at, const float *h,
                               const kept_layer *kept, const float *dy, float *room, float *dh)
{
    const shape *s = shape_of(model);
    const transformer *own = model->own;
    const int64_t hidden = s->hidden, nodes = own->graph->nodes, wide = nodes * hidden;
    float *dmixed = room, *dqkv = room + wide;
    linear_backward(model, at->out_proj, hidden, hidden, dy, kept->mixed, dmixed, false);
    assay__attention_arguments attention = attention_of(model, at, kept);
    attention.doutput = dmixed;
    attention.dqkv = dqkv;
    attention.along = own->along;
    if (attention.dbias != NULL)
        assay__gpu_zero(model->gpu, attention.dbias, (size_t)(attention.buckets * s->heads));
    assay__gpu_launch(model->gpu, ASSAY__KERNEL_attention_along, (nodes + 7) / 8, s->heads,
                      ASSAY__BLOCK, &attention);
    launch_heads(model, ASSAY__KERNEL_attention_queries, ASSAY__KERNEL_sparse_queries, &attention);
    attention.offsets = own->attending.offsets;
    attention.neighbours = own->attending.neighbours;
    launch_heads(model, ASSAY__KERNEL_attention_keys, ASSAY__KERNEL_sparse_keys, &attention);
    linear_backward(model, at->in_proj, hidden, 3 * hidden, dqkv, h, dh, true);
}

/* dh (nodes, hidden) from dnext (nodes, hidden) */
static void layer_backward(assay__gpu_model *model, int64_t layer, const float *h,
                           const kept_layer *kept, const float *dnext, float *dh)
{
    const shape *s = shape_of(model);
    const transformer *own = model->own;
    const indices at = indices_of(s, layer);
    const int64_t wide = own->graph->nodes * s->hidden;
    float *dmerged = own->scratch + 2 * wide, *branch = own->scratch + 3 * wide,
          *room = own->scratch + 4 * wide;

    norm_backward(model, &at, FEED_FORWARD, kept, dnext, dmerged);
    const float *dbranch = branch_backward(model, FEED_FORWARD, kept, dmerged, branch);
    linear_backward(model, at.ffn[1], s->ffn, s->hidden, dbranch, kept->ffn, room, false);
    scale_by_slope(model, s->ffn, kept->ffn_slope, room);
    linear_backward(model, at.ffn[0], s->hidden, s->ffn, room, kept->merged, dmerged, true);

    norm_backward(model, &at, MESSAGE, kept, dmerged, dh);
    dbranch = branch_backward(model, MESSAGE, kept, dh, branch);
    message_backward(model, at.message, h, kept, dbranch, room, dh);

    norm_backward(model, &at, ATTENTION, kept, dmerged, branch);
    ASSAY__LAUNCH(model->gpu, add, assay__gpu_blocks(wide), 1, ASSAY__BLOCK, .count = wide,
                  .x = branch, .y = dh);
    dbranch = branch_backward(model, ATTENTION, kept, branch, branch);
    attention_backward(model, &at, h, kept, dbranch, room, dh);
}

static void backward(assay__gpu_model *model, const assay_tensor *inputs,
                     const assay_tensor *target)
{
    (void)inputs;
    (void)target;
    const shape *s = shape_of(model);
    transformer *own = model->own;
    const int64_t wide = own->graph->nodes * s->hidden, rows = output_rows(model);
    const int64_t most =
        5 * wide > own->graph->nodes * s->ffn ? 5 * wide : own->graph->nodes * s->ffn;
    float *dnext = own->scratch, *dh = own->scratch + wide;
    own->along = own->scratch + 4 * wide + most;
    assay__gpu_linear_backward(model->gpu, rows, s->hidden, s->output, model->dy,
                               s->pooled ? own->pooled : state_of(model, s->layers, true),
                               assay__gpu_value(model, head_of(s)), s->pooled ? dh : dnext, false,
                               assay__gpu_gradient(model, head_of(s)),
                               assay__gpu_gradient(model, head_of(s) + 1));
    if (s->pooled)
        pool(model, dh, dnext, true);
    for (int64_t l = s->layers - 1; l >= 0; l--) {
        layer_backward(model, l, state_of(model, l, true), &own->kept[l], dnext, dh);
        float *swapped = dnext;
        dnext = dh;
        dh = swapped;
    }
    linear_backward(model, 0, width_of(s), s->hidden, dnext, model->input, NULL, false);
}

const assay__gpu_kind assay__gpu_graph_transformer = {.host = &assay__graph_transformer_class,
                                                      .own_bytes = sizeof(transformer),
                                                      .check = check,
                                                      .forward = forward,
                                                      .backward = backward};
