/* The passes of a layer of the graph transformer. A residual connection and the norm after it are
 * one pass over memory. The gradient of a residual connection stays in one array: the products of
 * backward add to it there. */
#include "models/graph/layer.h"

#include <math.h>
#include <string.h>

#include "models/graph/activate.h"
#include "models/kernel/dropout.h"
#include "models/kernel/kernels.h"
#include "models/kernel/linear.h"
#include "models/kernel/threads.h"

static const float EPSILON = 1e-5F; /* PyTorch's default of nn.LayerNorm */

/* ---- Parameters ---- */

assay__layer assay__layer_declare(const assay__graph_transformer_shape *shape, int64_t index,
                                  assay__parameters *parameters)
{
    const long long l = index;
    const int64_t hidden = shape->hidden, packed = 3 * hidden, ffn = shape->ffn;
    assay__layer layer = {.message =
                              assay__message_declare(shape->message, hidden, index, parameters)};
    layer.in_proj = assay__parameters_add(parameters, 2, (int64_t[]){packed, hidden},
                                          "layers.%lld.attn.in_proj_weight", l);
    assay__parameters_add(parameters, 1, &packed, "layers.%lld.attn.in_proj_bias", l);
    layer.out_proj = assay__parameters_add(parameters, 2, (int64_t[]){hidden, hidden},
                                           "layers.%lld.attn.out_proj.weight", l);
    assay__parameters_add(parameters, 1, &hidden, "layers.%lld.attn.out_proj.bias", l);
    if (shape->bias_distance > 0) {
        layer.distance_bias = assay__parameters_add(
            parameters, 2, (int64_t[]){shape->bias_distance + 2, shape->heads},
            "layers.%lld.attn.distance_bias.weight", l);
    }
    for (int i = 0; i < 3; i++) {
        layer.norm[i] =
            assay__parameters_add(parameters, 1, &hidden, "layers.%lld.norm%d.weight", l, i + 1);
        assay__parameters_add(parameters, 1, &hidden, "layers.%lld.norm%d.bias", l, i + 1);
    }
    layer.ffn[0] = assay__parameters_add(parameters, 2, (int64_t[]){ffn, hidden},
                                         "layers.%lld.ffn.0.weight", l);
    assay__parameters_add(parameters, 1, &ffn, "layers.%lld.ffn.0.bias", l);
    layer.ffn[1] = assay__parameters_add(parameters, 2, (int64_t[]){hidden, ffn},
                                         "layers.%lld.ffn.2.weight", l);
    assay__parameters_add(parameters, 1, &hidden, "layers.%lld.ffn.2.bias", l);
    return layer;
}

/* Draw a weight and the bias after it from U(-1/sqrt(in), 1/sqrt(in)). */
static void draw_linear(assay__parameters *parameters, size_t weight, int64_t in,
                        assay__random *random)
{
    float bound = 1 / sqrtf((float)in);
    assay__parameters_uniform(parameters, weight, bound, random);
    assay__parameters_uniform(parameters, weight + 1, bound, random);
}

void assay__layer_draw(const assay__layer *layer, const assay__graph_transformer_shape *shape,
                       assay__parameters *parameters, assay__random *random)
{
    for (size_t i = layer->message.first; i < layer->in_proj; i += 2)
        draw_linear(parameters, i, shape->hidden, random);
    assay__parameters_uniform(parameters, layer->in_proj, sqrtf(6 / (4 * (float)shape->hidden)),
                              random);
    assay__parameters_uniform(parameters, layer->out_proj, 1 / sqrtf((float)shape->hidden), random);
    for (int i = 0; i < 3; i++)
        assay__parameters_fill(parameters, layer->norm[i], 1);
    draw_linear(parameters, layer->ffn[0], shape->hidden, random);
    draw_linear(parameters, layer->ffn[1], shape->ffn, random);
}

/* ---- Memory ---- */

assay_status assay__layer_reserve(const assay__layer *layer, const assay__layer_place *place,
                                  assay__memory *memory, assay__layer_kept *kept)
{
    const assay__graph_transformer_shape *shape = place->shape;
    size_t nodes = (size_t)place->graph->nodes, wide = nodes * (size_t)shape->hidden;
    size_t ffn = nodes * (size_t)shape->ffn;
    struct {
        float **slice;
        size_t floats;
    } const slices[] = {{&kept->qkv, 3 * wide},
                        {&kept->mixed, wide},
                        {&kept->merged, wide},
                        {&kept->sum[0], wide},
                        {&kept->sum[1], wide},
                        {&kept->sum[2], wide},
                        {&kept->ffn, ffn},
                        {&kept->ffn_before, shape->gelu ? ffn : 0},
                        {&kept->message, assay__message_kept(&layer->message, (int64_t)nodes)},
                        {&kept->log_sum, (size_t)shape->heads * nodes},
                        {&kept->mean[0], nodes},
                        {&kept->mean[1], nodes},
                        {&kept->mean[2], nodes},
                        {&kept->rstd[0], nodes},
                        {&kept->rstd[1], nodes},
                        {&kept->rstd[2], nodes}};
    size_t total = 0, count = sizeof slices / sizeof *slices;
    for (size_t i = 0; i < count; i++)
        total += slices[i].floats;
    assay_status status =
        assay__memory_resize(memory, ASSAY__ACTIVATIONS, total, sizeof(float), &kept->block);
    if (status != ASSAY_OK)
        return status;
    float *next = kept->block;
    for (size_t i = 0; i < count; i++) {
        *slices[i].slice = next;
        next += slices[i].floats;
    }
    if (!shape->gelu)
        kept->ffn_before = kept->ffn;
    return ASSAY_OK;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Forward needs one (nodes, hidden) and the scratch of attention. Backward needs two (nodes,
 * hidden) and a rest that the feed-forward part, message passing and attention use in turn. */
size_t assay__layer_scratch(const assay__layer *layer, const assay__layer_place *place,
                            bool backward)
{
    size_t nodes = (size_t)place->graph->nodes, wide = nodes * (size_t)place->shape->hidden;
    size_t attention = assay__attention_scratch(&place->attention);
    if (!backward)
        return wide + attention;
    size_t most = larger(nodes * (size_t)place->shape->ffn, 4 * wide + attention);
    return 2 * wide + larger(most, assay__message_scratch(&layer->message, (int64_t)nodes));
}

/* ---- Forward ---- */

enum { MESSAGE, ATTENTION, FEED_FORWARD };

static uint64_t mask_of(const assay__layer_kept *kept, uint64_t part)
{
    return kept->dropout_key * 3 + part;
}

/* How values are split among the threads: LEAST_VALUES take some microseconds. */
enum { GRAIN = 64, LEAST_VALUES = 16384 };

typedef struct norm_pass {
    int64_t columns;
    const float *x, *scale, *shift;
    float *sum, *y, *mean, *rstd;
} norm_pass;

static void norm_range(void *context, int64_t first, int64_t rows)
{
    const norm_pass *p = context;
    const int64_t at = first * p->columns;
    assay__layer_norm_residual(rows, p->columns, EPSILON, p->sum + at, p->x + at, p->scale,
                               p->shift, p->sum + at, p->y + at, p->mean + first, p->rstd + first);
}

/* y = norm `part` of (x + dropout(branch)); branch (nodes, hidden) is in kept->sum[part]. */
static void merge(const assay__layer *layer, const assay__layer_place *place, const float *x,
                  int part, assay__layer_kept *kept, float *y)
{
    int64_t nodes = place->graph->nodes, hidden = place->shape->hidden;
    float *branch = kept->sum[part];
    if (kept->dropout > 0) {
        assay__dropout(nodes * hidden, kept->dropout, mask_of(kept, (uint64_t)part), branch,
                       branch);
    }
    norm_pass pass = {.columns = hidden,
                      .x = x,
                      .scale = assay__parameters_value(place->parameters, layer->norm[part]),
                      .shift = assay__parameters_value(place->parameters, layer->norm[part] + 1),
                      .sum = branch,
                      .y = y,
                      .mean = kept->mean[part],
                      .rstd = kept->rstd[part]};
    assay__parallel_ranges(nodes, 1, LEAST_VALUES / hidden + 1, norm_range, &pass);
}

static void linear(const assay__layer_place *place, size_t weight, int64_t in, int64_t out,
                   const float *x, float *y)
{
    assay__linear_forward(place->graph->nodes, in, out, x,
                          assay__parameters_value(place->parameters, weight),
                          assay__parameters_value(place->parameters, weight + 1), y);
}

/* y (count) += x */
typedef struct addition {
    const float *x;
    float *y;
} addition;

static void add_range(void *context, int64_t first, int64_t count)
{
    const addition *p = context;
    assay__add(count, p->x + first, p->y + first);
}

static void add(int64_t count, const float *x, float *y)
{
    assay__parallel_ranges(count, GRAIN, LEAST_VALUES, add_range, &(addition){x, y});
}

static assay__attention attention_of(const assay__layer *layer, const assay__layer_place *place)
{
    assay__attention attention = place->attention;
    if (attention.buckets > 0)
        attention.bias = assay__parameters_value(place->parameters, layer->distance_bias);
    return attention;
}

void assay__layer_forward(const assay__layer *layer, const assay__layer_place *place,
                          const float *h, assay__layer_kept *kept, float *next)
{
    const assay__graph_transformer_shape *shape = place->shape;
    const int64_t nodes = place->graph->nodes, hidden = shape->hidden;
    float *attended = place->scratch, *rest = place->scratch + nodes * hidden;

    assay__message_forward(&layer->message, place->parameters, place->graph, h, kept->message,
                           kept->sum[MESSAGE]);
    merge(layer, place, h, MESSAGE, kept, kept->merged);

    const assay__attention attention = attention_of(layer, place);
    linear(place, layer->in_proj, hidden, 3 * hidden, h, kept->qkv);
    assay__attention_forward(&attention, kept->qkv, rest, kept->mixed, kept->log_sum);
    linear(place, layer->out_proj, hidden, hidden, kept->mixed, kept->sum[ATTENTION]);
    merge(layer, place, h, ATTENTION, kept, attended);
    add(nodes * hidden, attended, kept->merged);

    linear(place, layer->ffn[0], hidden, shape->ffn, kept->merged, kept->ffn_before);
    assay__graph_activate(shape->gelu, nodes * shape->ffn, kept->ffn_before, kept->ffn);
    linear(place, layer->ffn[1], shape->ffn, hidden, kept->ffn, kept->sum[FEED_FORWARD]);
    merge(layer, place, kept->merged, FEED_FORWARD, kept, next);
}

/* ---- Backward ---- */

typedef struct norm_gradient {
    int64_t rows, columns;
    int parts;
    const float *dy, *x, *scale, *mean, *rstd;
    float *dx, *dscale, *dshift;
    float *sums; /* (parts - 1, 2, columns): dscale and dshift of all parts but the first */
} norm_gradient;

static void norm_gradient_part(void *context, int part)
{
    const norm_gradient *p = context;
    const int64_t first = assay__part_start(p->rows, 1, p->parts, part);
    const int64_t rows = assay__part_start(p->rows, 1, p->parts, part + 1) - first;
    const int64_t at = first * p->columns;
    float *dscale = p->dscale, *dshift = p->dshift;
    if (part > 0) {
        dscale = p->sums + (part - 1) * 2 * p->columns;
        dshift = dscale + p->columns;
        memset(dscale, 0, (size_t)(2 * p->columns) * sizeof *dscale);
    }
    assay__layer_norm_backward(rows, p->columns, p->dy + at, p->x + at, p->scale, p->mean + first,
                               p->rstd + first, p->dx + at, dscale, dshift);
}

/* Backward through norm `part`: from dy compute dsum (nodes, hidden), the gradient of its input.
 * `sums` (nodes, hidden) is scratch. A part has at least two nodes, so that it is large enough. */
static void norm_backward(const assay__layer *layer, const assay__layer_place *place, int part,
                          const assay__layer_kept *kept, const float *dy, float *sums, float *dsum)
{
    const assay__parameters *parameters = place->parameters;
    const int64_t nodes = place->graph->nodes, hidden = place->shape->hidden;
    norm_gradient pass = {.rows = nodes,
                          .columns = hidden,
                          .parts = assay__parts(nodes, LEAST_VALUES / hidden + 2),
                          .dy = dy,
                          .x = kept->sum[part],
                          .scale = assay__parameters_value(parameters, layer->norm[part]),
                          .mean = kept->mean[part],
                          .rstd = kept->rstd[part],
                          .dx = dsum,
                          .dscale = assay__parameters_gradient(parameters, layer->norm[part]),
                          .dshift = assay__parameters_gradient(parameters, layer->norm[part] + 1),
                          .sums = sums};
    assay__parallel(pass.parts, norm_gradient_part, &pass);
    for (int64_t i = 0; i < pass.parts - 1; i++) {
        assay__add(hidden, sums + 2 * i * hidden, pass.dscale);
        assay__add(hidden, sums + (2 * i + 1) * hidden, pass.dshift);
    }
}

/* The gradient of a branch, from `dsum`, the gradient of the sum that the branch was added to. With
 * dropout it is written to `branch` (nodes, hidden); without, it is dsum itself. Returns the array
 * that holds the gradient. */
static float *branch_backward(const assay__layer_place *place, int part,
                              const assay__layer_kept *kept, float *dsum, float *branch)
{
    if (kept->dropout == 0)
        return dsum;
    assay__dropout(place->graph->nodes * place->shape->hidden, kept->dropout,
                   mask_of(kept, (uint64_t)part), dsum, branch);
    return branch;
}

/* Overwrite dx (nodes, in), unless it is NULL, and add to the gradients of the parameters. */
static void linear_backward(const assay__layer_place *place, size_t weight, int64_t in, int64_t out,
                            const float *dy, const float *x, float *dx)
{
    assay__linear_backward(place->graph->nodes, in, out, dy, x,
                           assay__parameters_value(place->parameters, weight), dx,
                           assay__parameters_gradient(place->parameters, weight),
                           assay__parameters_gradient(place->parameters, weight + 1));
}

/* The same, but dx += dy W. */
static void linear_backward_add(const assay__layer_place *place, size_t weight, int64_t in,
                                int64_t out, const float *dy, const float *x, float *dx)
{
    linear_backward(place, weight, in, out, dy, x, NULL);
    assay__linear_backward_add(place->graph->nodes, in, out, dy,
                               assay__parameters_value(place->parameters, weight), dx);
}

/* Replace dnext (nodes, hidden) by the gradient of the feed-forward part's input, kept->merged. */
static void feed_forward_backward(const assay__layer *layer, const assay__layer_place *place,
                                  const assay__layer_kept *kept, float *dnext, float *scratch)
{
    const assay__graph_transformer_shape *shape = place->shape;
    const int64_t nodes = place->graph->nodes, hidden = shape->hidden;
    float *dffn = scratch + nodes * hidden;
    norm_backward(layer, place, FEED_FORWARD, kept, dnext, scratch, dnext);
    float *dbranch = branch_backward(place, FEED_FORWARD, kept, dnext, scratch);
    linear_backward(place, layer->ffn[1], shape->ffn, hidden, dbranch, kept->ffn, dffn);
    assay__graph_activate_backward(shape->gelu, nodes * shape->ffn, kept->ffn_before, dffn);
    linear_backward_add(place, layer->ffn[0], hidden, shape->ffn, dffn, kept->merged, dnext);
}

static void attention_backward(const assay__layer *layer, const assay__layer_place *place,
                               const float *h, const assay__layer_kept *kept, float *dbranch,
                               float *scratch, float *dh)
{
    const int64_t hidden = place->shape->hidden, wide = place->graph->nodes * hidden;
    float *dmixed = scratch, *dqkv = scratch + wide, *rest = scratch + 4 * wide;
    const assay__attention attention = attention_of(layer, place);
    linear_backward(place, layer->out_proj, hidden, hidden, dbranch, kept->mixed, dmixed);
    assay__attention_backward(
        &attention, kept->qkv, kept->mixed, kept->log_sum, dmixed, rest, dqkv,
        attention.buckets == 0
            ? NULL
            : assay__parameters_gradient(place->parameters, layer->distance_bias));
    linear_backward_add(place, layer->in_proj, hidden, 3 * hidden, dqkv, h, dh);
}

void assay__layer_backward(const assay__layer *layer, const assay__layer_place *place,
                           const float *h, const assay__layer_kept *kept, float *dnext, float *dh)
{
    const int64_t wide = place->graph->nodes * place->shape->hidden;
    float *dsum = place->scratch, *branch = dsum + wide, *rest = branch + wide;

    feed_forward_backward(layer, place, kept, dnext, dsum);

    norm_backward(layer, place, MESSAGE, kept, dnext, dsum, dh);
    float *dbranch = branch_backward(place, MESSAGE, kept, dh, branch);
    if (dbranch == dh) { /* message passing adds to dh while it reads dbranch */
        memcpy(branch, dh, (size_t)wide * sizeof *dh);
        dbranch = branch;
    }
    assay__message_backward(&layer->message, place->parameters, place->graph, h, kept->message,
                            dbranch, rest, dh);

    norm_backward(layer, place, ATTENTION, kept, dnext, branch, dsum);
    add(wide, dsum, dh);
    dbranch = branch_backward(place, ATTENTION, kept, dsum, branch);
    attention_backward(layer, place, h, kept, dbranch, rest, dh);
}
