/* A layer is one matrix product. Values lie feature by feature, (width, rows of the block). So the
 * basis functions of one input are computed for all rows in whole vectors, and written as whole
 * rows of the matrix `basis`:
 *
 *     basis (in (C + 1), rows): for each input its C splines and its SiLU,
 *     packed (out, in (C + 1)): for each edge its scaled spline weights and its base weight,
 *     y (out, rows) = packed basis.
 *
 * Backward takes two more products; the first layer needs only one of them. The inputs are taken in
 * groups, so that their rows of `basis` or of its gradient are still in the first-level cache when
 * they are multiplied or differentiated. The layers have few outputs, so these are the products
 * that copy nothing (narrow_product() and row_products() in kernels.def).
 *
 * The kernels compute whole vectors, so a block is computed as a multiple of 16 rows. The rows past
 * the end repeat the last row of x, and the gradient of their output is 0, so that they add nothing
 * to the gradients.
 *
 * For each value only order + 1 splines differ from 0. Gathering only their weights would save
 * arithmetic, but each weight would be loaded from an index of its own. At the usual grids (5 to 20
 * intervals) the dense product is faster. */
#include "models/field/kan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "models/field/spline.h"
#include "models/kernel/kernels.h"

enum {
    MOST_ROWS = 256,
    LEAST_ROWS = 32,
    BLOCK_ELEMENTS = 1 << 16, /* of the largest basis matrix, 256 KB */
    GROUP_ELEMENTS = 1 << 13, /* of the part of a basis matrix that is computed at a time, 32 KB */
};

typedef struct layer {
    int64_t in, out;
    int64_t terms; /* in (C + 1) */
    float *base;   /* (out, in) */
    float *spline; /* (out, in, C) */
    float *scaler; /* (out, in), or NULL */
    float *dbase, *dspline, *dscaler;
    float *packed;     /* (out, terms) */
    float *turned;     /* (terms, out): packed, transposed */
    float *dpacked;    /* (out, terms) */
    float *basis;      /* (terms, block) */
    float *silu_slope; /* (in, block) */
    float *y;          /* (out, block) */
} layer;

typedef struct kan_net {
    assay__neural_net net;
    assay__kan_shape shape;
    assay__spline knots;
    int64_t layer_count;
    layer *layers;
    float *x;             /* (input, block) */
    float *above, *below; /* (widest, block): gradients of a layer's output and input */
    int64_t group;        /* inputs whose basis is computed at a time */
    float *dbasis;        /* (group (C + 1), block) */
} kan_net;

/* ---- Making ---- */

static assay_status check_shape(const assay__kan_shape *shape, assay_error *error)
{
    if (shape->input < 1 || shape->hidden < 1 || shape->output < 1 || shape->hidden_layers < 0 ||
        shape->grid < 1) {
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "a KAN of input %lld, hidden %lld, output %lld and grid %lld with %lld "
                           "hidden layers; each has to be at least 1, the layers 0",
                           (long long)shape->input, (long long)shape->hidden,
                           (long long)shape->output, (long long)shape->grid,
                           (long long)shape->hidden_layers);
    }
    if (shape->order < 1 || shape->order > ASSAY__KAN_MOST_ORDER) {
        return assay__fail(error, ASSAY_E_ARGUMENT, "splines of order %lld; give 1 to %d",
                           (long long)shape->order, ASSAY__KAN_MOST_ORDER);
    }
    return ASSAY_OK;
}

static int64_t tensors_of_layer(const kan_net *kan)
{
    return kan->shape.scaler ? 3 : 2;
}

static void describe_layers(kan_net *kan)
{
    const assay__kan_shape *shape = &kan->shape;
    int64_t functions = assay__spline_functions(kan->knots), most_terms = 1;
    for (int64_t i = 0; i < kan->layer_count; i++) {
        layer *at = &kan->layers[i];
        at->in = i == 0 ? shape->input : shape->hidden;
        at->out = i == kan->layer_count - 1 ? shape->output : shape->hidden;
        at->terms = at->in * (functions + 1);
        most_terms = at->terms > most_terms ? at->terms : most_terms;
        int64_t dimensions[] = {at->out, at->in, functions};
        assay__parameters_add(&kan->net.parameters, 2, dimensions, "layers.%lld.base_weight",
                              (long long)i);
        assay__parameters_add(&kan->net.parameters, 3, dimensions, "layers.%lld.spline_weight",
                              (long long)i);
        if (shape->scaler) {
            assay__parameters_add(&kan->net.parameters, 2, dimensions, "layers.%lld.spline_scaler",
                                  (long long)i);
        }
    }
    int64_t rows = BLOCK_ELEMENTS / most_terms / 16 * 16;
    kan->net.block = rows < LEAST_ROWS ? LEAST_ROWS : rows > MOST_ROWS ? MOST_ROWS : rows;
    int64_t group = GROUP_ELEMENTS / ((functions + 1) * kan->net.block);
    kan->group = group < 1 ? 1 : group;
}

/* Takes (rows, columns) floats from the network's memory. Sets `failed` and returns NULL if that is
 * not possible, or if `failed` is set already. */
static float *take(kan_net *kan, assay__memory_use use, int64_t rows, int64_t columns, bool *failed)
{
    size_t count;
    if (*failed || __builtin_mul_overflow((size_t)rows, (size_t)columns, &count)) {
        *failed = true;
        return NULL;
    }
    float *taken = assay__memory_floats(kan->net.memory, use, count);
    *failed = taken == NULL;
    return taken;
}

static void take_buffers(kan_net *kan, int64_t index, bool *failed)
{
    layer *at = &kan->layers[index];
    const assay__parameters *parameters = &kan->net.parameters;
    size_t first = (size_t)(index * tensors_of_layer(kan));
    at->base = assay__parameters_value(parameters, first);
    at->dbase = assay__parameters_gradient(parameters, first);
    at->spline = assay__parameters_value(parameters, first + 1);
    at->dspline = assay__parameters_gradient(parameters, first + 1);
    if (kan->shape.scaler) {
        at->scaler = assay__parameters_value(parameters, first + 2);
        at->dscaler = assay__parameters_gradient(parameters, first + 2);
    }
    at->packed = take(kan, ASSAY__WORKSPACE, at->out, at->terms, failed);
    at->turned = take(kan, ASSAY__WORKSPACE, at->terms, at->out, failed);
    at->dpacked = take(kan, ASSAY__WORKSPACE, at->out, at->terms, failed);
    at->basis = take(kan, ASSAY__ACTIVATIONS, at->terms, kan->net.block, failed);
    at->silu_slope = take(kan, ASSAY__ACTIVATIONS, at->in, kan->net.block, failed);
    at->y = take(kan, ASSAY__ACTIVATIONS, at->out, kan->net.block, failed);
}

static assay_status take_memory(kan_net *kan)
{
    describe_layers(kan);
    assay_status status = assay__parameters_allocate(&kan->net.parameters, kan->net.memory);
    if (status != ASSAY_OK)
        return status;
    bool failed = false;
    int64_t widest = 1, widest_in = 1;
    for (int64_t i = 0; i < kan->layer_count; i++) {
        const layer *at = &kan->layers[i];
        widest_in = at->in > widest_in ? at->in : widest_in;
        widest = at->out > widest ? at->out : widest;
        take_buffers(kan, i, &failed);
    }
    widest = widest_in > widest ? widest_in : widest;
    kan->group = kan->group < widest_in ? kan->group : widest_in;
    kan->x = take(kan, ASSAY__ACTIVATIONS, kan->shape.input, kan->net.block, &failed);
    kan->above = take(kan, ASSAY__WORKSPACE, widest, kan->net.block, &failed);
    kan->below = take(kan, ASSAY__WORKSPACE, widest, kan->net.block, &failed);
    int64_t terms = kan->group * (assay__spline_functions(kan->knots) + 1);
    kan->dbasis = take(kan, ASSAY__WORKSPACE, terms, kan->net.block, &failed);
    kan->net.dy = take(kan, ASSAY__WORKSPACE, kan->net.block, kan->shape.output, &failed);
    return failed ? ASSAY_E_MEMORY : ASSAY_OK;
}

static void draw(kan_net *kan, uint64_t seed)
{
    assay__random random;
    assay__random_init(&random, seed);
    int64_t functions = assay__spline_functions(kan->knots);
    for (int64_t l = 0; l < kan->layer_count; l++) {
        const layer *at = &kan->layers[l];
        size_t first = (size_t)(l * tensors_of_layer(kan));
        float bound = sqrtf(6 / (float)(at->in + at->out));
        assay__parameters_uniform(&kan->net.parameters, first, bound, &random);
        for (int64_t i = 0; i < at->out * at->in * functions; i++)
            at->spline[i] = 0.1F * (float)assay__random_normal(&random);
        if (at->scaler != NULL)
            assay__parameters_fill(&kan->net.parameters, first + 2, 1);
    }
}

static const assay__neural_net_kind kolmogorov_arnold;

assay_status assay__kan_new(const assay__kan_shape *shape, uint64_t seed, assay_error *error,
                            assay__neural_net **net)
{
    assay_status status = check_shape(shape, error);
    if (status != ASSAY_OK)
        return status;
    kan_net *made = calloc(1, sizeof *made);
    if (made == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for a KAN");
    status = assay__neural_net_init(&made->net, &kolmogorov_arnold, shape->input, shape->output);
    made->shape = *shape;
    made->knots = (assay__spline){shape->grid, shape->order};
    made->layer_count = shape->hidden_layers + 1;
    made->layers = calloc((size_t)made->layer_count, sizeof *made->layers);
    if (status == ASSAY_OK)
        status = made->layers == NULL ? ASSAY_E_MEMORY : take_memory(made);
    if (status != ASSAY_OK) {
        assay__neural_net_free(&made->net);
        return assay__fail(error, status,
                           "no memory for a KAN of %lld hidden layers of %lld; make it smaller",
                           (long long)shape->hidden_layers, (long long)shape->hidden);
    }
    draw(made, seed);
    *net = &made->net;
    return ASSAY_OK;
}

static assay_status twin(const assay__neural_net *net, assay__neural_net **made)
{
    return assay__kan_new(&((const kan_net *)net)->shape, 0, NULL, made);
}

static void release(assay__neural_net *net)
{
    free(((kan_net *)net)->layers);
}

/* ---- Weights as one matrix, and back ---- */

static void pack(const layer *at, int64_t functions, bool training)
{
    for (int64_t edge = 0; edge < at->out * at->in; edge++) {
        float scale = at->scaler == NULL ? 1 : at->scaler[edge];
        float *packed = at->packed + edge * (functions + 1);
        for (int64_t c = 0; c < functions; c++)
            packed[c] = scale * at->spline[edge * functions + c];
        packed[functions] = at->base[edge];
    }
    if (training)
        assay__transpose(at->out, at->terms, at->packed, at->terms, at->turned, at->out);
}

static void unpack_gradient(const layer *at, int64_t functions)
{
    for (int64_t edge = 0; edge < at->out * at->in; edge++) {
        float scale = at->scaler == NULL ? 1 : at->scaler[edge], dscale = 0;
        const float *dpacked = at->dpacked + edge * (functions + 1);
        for (int64_t c = 0; c < functions; c++) {
            dscale += dpacked[c] * at->spline[edge * functions + c];
            at->dspline[edge * functions + c] = scale * dpacked[c];
        }
        at->dbase[edge] = dpacked[functions];
        if (at->dscaler != NULL)
            at->dscaler[edge] = dscale;
    }
}

/* ---- One block of rows ---- */

/* The number of rows that are computed for a block of so many. */
static int64_t whole_rows(int64_t rows)
{
    return (rows + 15) / 16 * 16;
}

/* Writes x (rows, columns) to `to` (columns, whole rows; row stride `block`). The rows past the end
 * repeat the last one, or are 0 if `zeros`. */
static void turn_in(int64_t rows, int64_t columns, const float *x, bool zeros, float *to,
                    int64_t block)
{
    assay__transpose(rows, columns, x, columns, to, block);
    for (int64_t j = 0; j < columns; j++)
        for (int64_t row = rows; row < whole_rows(rows); row++)
            to[j * block + row] = zeros ? 0 : to[j * block + rows - 1];
}

/* Computes the basis of `count` inputs from x (count, rows). */
static void basis_of(const kan_net *kan, int64_t count, int64_t rows, const float *x, float *basis,
                     float *slope)
{
    int64_t block = kan->net.block, functions = assay__spline_functions(kan->knots);
    for (int64_t i = 0; i < count; i++, x += block, basis += block) {
        assay__spline_basis(kan->knots.order, kan->knots.grid, rows, x, basis, block);
        basis += functions * block; /* the row of the SiLU */
        if (slope != NULL)
            assay__activate_with_slope(ASSAY__SILU, rows, x, basis, slope + i * block);
        else
            assay__activate(ASSAY__SILU, rows, x, basis);
    }
}

/* Computes at->y (out, rows) from x (in, rows); the row stride of both is the block. */
static void layer_forward(const kan_net *kan, const layer *at, int64_t rows, const float *x,
                          bool training)
{
    int64_t block = kan->net.block, terms = assay__spline_functions(kan->knots) + 1;
    for (int64_t i = 0, count; i < at->in; i += count) {
        count = kan->group < at->in - i ? kan->group : at->in - i;
        float *basis = at->basis + i * terms * block;
        basis_of(kan, count, rows, x + i * block, basis,
                 training ? at->silu_slope + i * block : NULL);
        assay__narrow_product(at->out, rows, count * terms, at->packed + i * terms, at->terms, 1,
                              basis, block, NULL, i > 0, at->y, block);
    }
}

static void begin(assay__neural_net *net, int64_t rows, bool training)
{
    (void)rows;
    const kan_net *kan = (kan_net *)net;
    for (int64_t l = 0; l < kan->layer_count; l++) {
        const layer *at = &kan->layers[l];
        pack(at, assay__spline_functions(kan->knots), training);
        if (training)
            memset(at->dpacked, 0, (size_t)(at->out * at->terms) * sizeof *at->dpacked);
    }
}

static void forward(assay__neural_net *net, int64_t rows, const float *x, bool training, float *y)
{
    kan_net *kan = (kan_net *)net;
    int64_t block = net->block;
    turn_in(rows, kan->shape.input, x, false, kan->x, block);
    const float *from = kan->x;
    for (int64_t l = 0; l < kan->layer_count; l++) {
        layer_forward(kan, &kan->layers[l], whole_rows(rows), from, training);
        from = kan->layers[l].y;
    }
    assay__transpose(kan->shape.output, rows, from, block, y, kan->shape.output);
}

/* Adds to at->dpacked from dy (out, rows), and writes dx (in, rows) unless it is NULL. */
static void layer_backward(const kan_net *kan, const layer *at, int64_t rows, const float *x,
                           const float *dy, float *dx)
{
    int64_t block = kan->net.block, functions = assay__spline_functions(kan->knots);
    assay__row_products(at->out, at->terms, rows, dy, block, at->basis, block, at->dpacked,
                        at->terms);
    for (int64_t i = 0; dx != NULL && i < at->in; i++) {
        const float *dbasis = kan->dbasis + i % kan->group * (functions + 1) * block;
        const float *dsilu = dbasis + functions * block, *slope = at->silu_slope + i * block;
        float *to = dx + i * block;
        if (i % kan->group == 0) {
            int64_t count = kan->group < at->in - i ? kan->group : at->in - i;
            assay__narrow_product(count * (functions + 1), rows, at->out,
                                  at->turned + i * (functions + 1) * at->out, at->out, 1, dy, block,
                                  NULL, false, kan->dbasis, block);
        }
        for (int64_t row = 0; row < rows; row++)
            to[row] = dsilu[row] * slope[row];
        assay__spline_backward(kan->knots.order, kan->knots.grid, rows, x + i * block, dbasis,
                               block, to);
    }
}

/* forward() has left the transposed x of the block in kan->x. */
static void backward(assay__neural_net *net, int64_t rows, const float *unused, float *dx)
{
    (void)unused;
    kan_net *kan = (kan_net *)net;
    float *dy = kan->above, *below = kan->below;
    turn_in(rows, net->output, net->dy, true, dy, net->block);
    for (int64_t l = kan->layer_count - 1; l >= 0; l--) {
        const float *x = l == 0 ? kan->x : kan->layers[l - 1].y;
        float *to = l == 0 && dx == NULL ? NULL : below;
        layer_backward(kan, &kan->layers[l], whole_rows(rows), x, dy, to);
        below = dy;
        dy = to;
    }
    if (dx != NULL)
        assay__transpose(kan->shape.input, rows, dy, kan->net.block, dx, kan->shape.input);
}

static void end(assay__neural_net *net)
{
    const kan_net *kan = (kan_net *)net;
    for (int64_t l = 0; l < kan->layer_count; l++)
        unpack_gradient(&kan->layers[l], assay__spline_functions(kan->knots));
}

/* ---- Description ---- */

/* Reports the arithmetic of the formula. Both branches count as products of their own, although the
 * code computes them as one. */
static void describe_layer(const assay__kan_shape *shape, int64_t rows, int64_t index,
                           assay_term_sink sink, void *context)
{
    int64_t in = index == 0 ? shape->input : shape->hidden;
    int64_t out = index == shape->hidden_layers ? shape->output : shape->hidden;
    int64_t functions = shape->grid + shape->order;
    int operands = index == 0 ? 1 : 2;
    char base[48], spline[48];
    snprintf(base, sizeof base, "layers.%lld.base", (long long)index);
    snprintf(spline, sizeof spline, "layers.%lld.spline", (long long)index);
    const assay_term operations[] = {
        {base, ASSAY_TERM_SIGMOID, 1, rows, 0, in, 0}, /* SiLU */
        {base, ASSAY_TERM_MULTIPLY, 1, rows, 0, in, 0},
        {base, ASSAY_TERM_MATMUL, 1, rows, in, out, operands},
        {spline, ASSAY_TERM_SPLINE, 1, rows, functions, in, 0},
        {spline, ASSAY_TERM_MATMUL, 1, rows, in * functions, out, operands},
        {spline, ASSAY_TERM_ADD, 1, rows, 0, out, 0},
        {spline, ASSAY_TERM_MULTIPLY, 1, out * in, 0, functions, 0}, /* the scaler */
    };
    size_t count = sizeof operations / sizeof *operations - (shape->scaler ? 0 : 1);
    for (size_t i = 0; i < count; i++)
        sink(context, &operations[i]);
}

static void describe(const assay__neural_net *net, int64_t rows, assay_term_sink sink,
                     void *context)
{
    const assay__kan_shape *shape = &((const kan_net *)net)->shape;
    for (int64_t i = 0; i <= shape->hidden_layers; i++)
        describe_layer(shape, rows, i, sink, context);
}

static const assay__neural_net_kind kolmogorov_arnold = {.begin = begin,
                                                         .forward = forward,
                                                         .backward = backward,
                                                         .end = end,
                                                         .describe = describe,
                                                         .twin = twin,
                                                         .release = release};
