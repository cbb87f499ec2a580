/* A network runs over blocks of rows (neural_net.c), so that the data of a block stays in the
 * cache. The size of a block was chosen for the products that OpenBLAS computes with AVX-512. Up to
 * 10^6 multiply-adds it skips the packing of the operands (sgemm_small_kernel_permit_skylakex.c),
 * and it is fastest if neither operand is transposed. So the weights are transposed once per call,
 * where there are enough rows to repay it. Where assay__product() computes the products itself,
 * blocks of 128, 192 and 240 rows take equal times (hidden 32 to 256, AMD with AVX-512 and with
 * AVX2).
 *
 * One pass computes an activation and its slope (kernel/activation.h). One pass of backward
 * multiplies dy by the slope and sums it over the rows, which gives the gradient of the bias. */
#include "models/field/mlp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "models/kernel/describe.h"
#include "models/kernel/kernels.h"
#include "models/kernel/linear.h"
#include "models/kernel/matmul.h"

enum {
    SMALL_PRODUCT = 1000000, /* multiply-adds, see above */
    LEAST_SMALL_ROWS = 32,   /* with fewer rows the small path is no faster */
    MOST_ROWS = 256,
    PACKED_ROWS = 192,   /* a block where products are too large for the small path */
    TURN_FROM_ROWS = 64, /* fewer rows do not repay transposing the weights */
};

typedef struct layer {
    int64_t in, out;
    assay__activation activation;
    float scale;         /* y = f(scale (W x + b)) */
    const float *weight; /* (out, in) */
    const float *bias;   /* (out) */
    float *dweight, *dbias;
    float *turned; /* (in, out): the transposed weight; NULL if never used */
    float *y;      /* (block, out); the last layer writes to the output */
    float *slope;  /* (block, out); NULL in the last layer */
} layer;

typedef struct mlp_net {
    assay__neural_net net; /* its dy is (block, widest) */
    assay__mlp_shape shape;
    int64_t layer_count; /* hidden_layers + 1 */
    layer *layers;
    bool turned; /* in this call, use layers[].turned */
    float *dx;   /* (block, widest) */
} mlp_net;

/* ---- Making ---- */

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t small_rows(int64_t hidden)
{
    return hidden < 1000 ? SMALL_PRODUCT / (hidden * hidden) / 16 * 16 : 0;
}

static bool takes_small_path(int64_t hidden)
{
    return small_rows(hidden) >= LEAST_SMALL_ROWS;
}

static int64_t block_rows(int64_t hidden)
{
    return takes_small_path(hidden) ? smaller(small_rows(hidden), MOST_ROWS) : PACKED_ROWS;
}

static assay_status check_shape(const assay__mlp_shape *shape, assay_error *error)
{
    if (shape->input < 1 || shape->hidden < 1 || shape->output < 1 || shape->hidden_layers < 1) {
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "a network of input %lld, hidden %lld, output %lld and %lld hidden "
                           "layers; each has to be at least 1",
                           (long long)shape->input, (long long)shape->hidden,
                           (long long)shape->output, (long long)shape->hidden_layers);
    }
    if ((unsigned)shape->activation >= ASSAY__ACTIVATIONS_COUNT) {
        return assay__fail(error, ASSAY_E_ARGUMENT, "activation %d is none of those there are",
                           (int)shape->activation);
    }
    return ASSAY_OK;
}

static void describe_layers(mlp_net *mlp)
{
    const assay__mlp_shape *shape = &mlp->shape;
    for (int64_t i = 0; i < mlp->layer_count; i++) {
        layer *at = &mlp->layers[i];
        bool last = i == mlp->layer_count - 1;
        float scale = i == 0 ? shape->first_scale : shape->hidden_scale;
        at->in = i == 0 ? shape->input : shape->hidden;
        at->out = last ? shape->output : shape->hidden;
        at->activation = last ? ASSAY__IDENTITY : shape->activation;
        at->scale = last || scale == 0 ? 1 : scale;
        assay__parameters_add(&mlp->net.parameters, 2, (int64_t[]){at->out, at->in},
                              "layers.%lld.weight", (long long)i);
        assay__parameters_add(&mlp->net.parameters, 1, &at->out, "layers.%lld.bias", (long long)i);
    }
}

/* Takes the buffers of one layer for a block. Returns false when out of memory. */
static bool take_buffers(mlp_net *mlp, int64_t index)
{
    layer *at = &mlp->layers[index];
    size_t weight = 2 * (size_t)index, bias = weight + 1;
    at->weight = assay__parameters_value(&mlp->net.parameters, weight);
    at->bias = assay__parameters_value(&mlp->net.parameters, bias);
    at->dweight = assay__parameters_gradient(&mlp->net.parameters, weight);
    at->dbias = assay__parameters_gradient(&mlp->net.parameters, bias);
    size_t elements = (size_t)mlp->net.block * (size_t)at->out;
    if (index < mlp->layer_count - 1) {
        at->y = assay__memory_floats(mlp->net.memory, ASSAY__ACTIVATIONS, elements);
        at->slope = assay__memory_floats(mlp->net.memory, ASSAY__ACTIVATIONS, elements);
        if (at->y == NULL || at->slope == NULL)
            return false;
    }
    if (takes_small_path(mlp->shape.hidden)) {
        at->turned = assay__memory_floats(mlp->net.memory, ASSAY__WORKSPACE,
                                          (size_t)at->in * (size_t)at->out);
        return at->turned != NULL;
    }
    return true;
}

static assay_status take_memory(mlp_net *mlp)
{
    describe_layers(mlp);
    assay_status status = assay__parameters_allocate(&mlp->net.parameters, mlp->net.memory);
    if (status != ASSAY_OK)
        return status;
    int64_t widest = larger(larger(mlp->shape.input, mlp->shape.hidden), mlp->shape.output);
    size_t elements = (size_t)mlp->net.block * (size_t)widest;
    mlp->net.dy = assay__memory_floats(mlp->net.memory, ASSAY__WORKSPACE, elements);
    mlp->dx = assay__memory_floats(mlp->net.memory, ASSAY__WORKSPACE, elements);
    bool taken = mlp->net.dy != NULL && mlp->dx != NULL;
    for (int64_t i = 0; taken && i < mlp->layer_count; i++)
        taken = take_buffers(mlp, i);
    return taken ? ASSAY_OK : ASSAY_E_MEMORY;
}

static void draw(mlp_net *mlp, uint64_t seed)
{
    assay__random random;
    assay__random_init(&random, seed);
    for (int64_t i = 0; i < mlp->layer_count; i++) {
        float bound = 1 / sqrtf((float)mlp->layers[i].in);
        assay__parameters_uniform(&mlp->net.parameters, 2 * (size_t)i, bound, &random);
        assay__parameters_uniform(&mlp->net.parameters, 2 * (size_t)i + 1, bound, &random);
    }
}

static const assay__neural_net_kind perceptron;

assay_status assay__mlp_new(const assay__mlp_shape *shape, uint64_t seed, assay_error *error,
                            assay__neural_net **net)
{
    assay_status status = check_shape(shape, error);
    if (status != ASSAY_OK)
        return status;
    mlp_net *made = calloc(1, sizeof *made);
    if (made == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for a network");
    status = assay__neural_net_init(&made->net, &perceptron, shape->input, shape->output);
    made->net.block = block_rows(shape->hidden);
    made->shape = *shape;
    made->layer_count = shape->hidden_layers + 1;
    made->layers = calloc((size_t)made->layer_count, sizeof *made->layers);
    if (status == ASSAY_OK)
        status = made->layers == NULL ? ASSAY_E_MEMORY : take_memory(made);
    if (status != ASSAY_OK) {
        assay__neural_net_free(&made->net);
        return assay__fail(error, status,
                           "no memory for a network of %lld hidden layers of %lld; make it smaller",
                           (long long)shape->hidden_layers, (long long)shape->hidden);
    }
    draw(made, seed);
    *net = &made->net;
    return ASSAY_OK;
}

const assay__mlp_shape *assay__mlp_shape_of(const assay__neural_net *net)
{
    return &((const mlp_net *)net)->shape;
}

static assay_status twin(const assay__neural_net *net, assay__neural_net **made)
{
    return assay__mlp_new(&((const mlp_net *)net)->shape, 0, NULL, made);
}

static void release(assay__neural_net *net)
{
    free(((mlp_net *)net)->layers);
}

/* ---- One block of rows ---- */

/* z (rows, out) = scale (W x + b) */
static void linear(const mlp_net *mlp, const layer *at, int64_t rows, const float *x, float *z)
{
    if (mlp->turned && at->out > 1) {
        assay__matmul_bias(rows, at->out, at->in, (assay__matrix){x, at->in, false},
                           (assay__matrix){at->turned, at->out, false}, at->bias, z, at->out);
    } else {
        assay__linear_forward(rows, at->in, at->out, x, at->weight, at->bias, z);
    }
    /* The scale is not left to the product's alpha: PyTorch rounds W x + b first. With omega 30 the
     * difference in rounding would show in the sine. */
    if (at->scale != 1)
        assay__scale_by(rows * at->out, at->scale, z);
}

/* Prepares a call of `rows` rows: transposes the weights if they will be used often enough. */
static void begin(assay__neural_net *net, int64_t rows, bool training)
{
    mlp_net *mlp = (mlp_net *)net;
    mlp->turned = mlp->layers[0].turned != NULL && rows >= TURN_FROM_ROWS;
    for (int64_t l = 0; mlp->turned && l < mlp->layer_count; l++) {
        const layer *at = &mlp->layers[l];
        assay__transpose(at->out, at->in, at->weight, at->in, at->turned, at->out);
    }
    if (training)
        assay__parameters_zero_gradients(&net->parameters);
}

static void forward(assay__neural_net *net, int64_t rows, const float *x, bool training, float *y)
{
    mlp_net *mlp = (mlp_net *)net;
    for (int64_t i = 0; i < mlp->layer_count - 1; i++) {
        layer *at = &mlp->layers[i];
        int64_t count = rows * at->out;
        linear(mlp, at, rows, x, at->y);
        if (training)
            assay__activate_with_slope(at->activation, count, at->y, at->y, at->slope);
        else
            assay__activate(at->activation, count, at->y, at->y);
        x = at->y;
    }
    linear(mlp, &mlp->layers[mlp->layer_count - 1], rows, x, y);
}

static void backward(assay__neural_net *net, int64_t rows, const float *x, float *dx)
{
    mlp_net *mlp = (mlp_net *)net;
    float *dy = net->dy, *below = mlp->dx;
    for (int64_t i = mlp->layer_count - 1; i >= 0; i--) {
        layer *at = &mlp->layers[i];
        if (at->slope != NULL)
            assay__slope_backward(rows, at->out, at->scale, at->slope, dy, at->dbias);
        else
            assay__column_sum(rows, at->out, dy, at->out, at->dbias);
        const float *from = i == 0 ? x : mlp->layers[i - 1].y;
        float *to = i == 0 ? dx : below;
        assay__linear_backward(rows, at->in, at->out, dy, from, at->weight, to, at->dweight, NULL);
        below = dy;
        dy = to;
    }
}

/* ---- Description ---- */

/* Returns the operation of an activation. SiLU counts as the sigmoid of x and a product with x. */
static assay_term_kind operation_of(assay__activation activation)
{
    switch (activation) {
    case ASSAY__GELU:
        return ASSAY_TERM_GELU;
    case ASSAY__TANH:
        return ASSAY_TERM_TANH;
    case ASSAY__SIGMOID:
    case ASSAY__SILU:
        return ASSAY_TERM_SIGMOID;
    case ASSAY__SINE:
        return ASSAY_TERM_SINE;
    default:
        return ASSAY_TERM_RELU;
    }
}

static void describe_activation(const assay__mlp_shape *shape, int64_t rows, bool scaled,
                                const assay__teller *to)
{
    if (scaled)
        assay__tell(to, "", ASSAY_TERM_MULTIPLY, 1, rows, shape->hidden);
    assay__tell(to, "", operation_of(shape->activation), 1, rows, shape->hidden);
    if (shape->activation == ASSAY__SILU)
        assay__tell(to, "", ASSAY_TERM_MULTIPLY, 1, rows, shape->hidden);
}

static void describe(const assay__neural_net *net, int64_t rows, assay_term_sink sink,
                     void *context)
{
    const assay__mlp_shape *shape = &((const mlp_net *)net)->shape;
    assay__teller to = {.sink = sink, .context = context};
    for (int64_t i = 0; i <= shape->hidden_layers; i++) {
        bool last = i == shape->hidden_layers;
        snprintf(to.prefix, sizeof to.prefix, "layers.%lld", (long long)i);
        assay__tell_linear(&to, "", i == 0 ? 1 : 2, rows, i == 0 ? shape->input : shape->hidden,
                           last ? shape->output : shape->hidden);
        if (!last)
            describe_activation(shape, rows,
                                (i == 0 ? shape->first_scale : shape->hidden_scale) != 0, &to);
    }
}

static const assay__neural_net_kind perceptron = {.begin = begin,
                                                  .forward = forward,
                                                  .backward = backward,
                                                  .describe = describe,
                                                  .twin = twin,
                                                  .release = release};
