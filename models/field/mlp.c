/* Rows go through all layers, forward and back, a block at a time, so that what forward leaves is
 * still in the second-level cache when backward reads it; gradients of the blocks add up. Against
 * one product over all rows this saves the trips to memory and the memory itself.
 *
 * The size of a block also decides how OpenBLAS multiplies: with AVX-512, products of up to 10^6
 * multiply-adds skip the packing of their operands (sgemm_small_kernel_permit_skylakex.c), which at
 * hidden 64 is 1.6 times as fast. That path is best with neither operand of forward transposed, so
 * the weights are turned once per call where there are enough rows to pay for it.
 *
 * Bias: written into the rows before the product is added. Activation and slope: one pass
 * (slope.h). Backward: dy times slope and the sum over rows that is the bias's gradient, one pass.
 */
#include "field/mlp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "field/field.h"
#include "field/slope.h"
#include "kernel/linear.h"
#include "kernel/matmul.h"
#include "kernel/optimizer.h"
#include "kernel/simd.h"
#include "kernel/threads.h"

enum {
    SMALL_PRODUCT = 1000000, /* multiply-adds, see above */
    LEAST_SMALL_ROWS = 32,   /* with fewer rows the small path is no faster */
    MOST_ROWS = 256,
    PACKED_ROWS = 192,   /* a block where products are too large for the small path */
    TURN_FROM_ROWS = 64, /* fewer rows do not repay turning the weights */
};

typedef struct layer {
    int64_t in, out;
    assay__activation activation;
    float scale;         /* y = f(scale (W x + b)) */
    const float *weight; /* (out, in) */
    const float *bias;   /* (out) */
    float *dweight, *dbias;
    float *turned; /* (in, out): the weight transposed; NULL: never */
    float *y;      /* (block, out); the last layer writes to the output */
    float *slope;  /* (block, out); NULL in the last layer */
} layer;

struct assay__mlp {
    assay__mlp_shape shape;
    assay__memory *memory;
    assay__parameters parameters;
    assay__adam adam;
    int64_t layer_count; /* hidden_layers + 1 */
    layer *layers;
    int64_t block; /* rows */
    bool turned;   /* in this call, use layers[].turned */
    float *dy;     /* (block, widest) */
    float *dx;     /* (block, widest) */
    float *output; /* (rows of the largest call so far, output) */
};

/* ---- Making ---- */

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t block_rows(int64_t hidden)
{
    int64_t rows = hidden < 1000 ? SMALL_PRODUCT / (hidden * hidden) / 16 * 16 : 0;
    return rows < LEAST_SMALL_ROWS ? PACKED_ROWS : smaller(rows, MOST_ROWS);
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

static void describe_layers(assay__mlp *mlp)
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
        assay__parameters_add(&mlp->parameters, 2, (int64_t[]){at->out, at->in},
                              "layers.%lld.weight", (long long)i);
        assay__parameters_add(&mlp->parameters, 1, &at->out, "layers.%lld.bias", (long long)i);
    }
}

/* The block's buffers of one layer; false when out of memory. */
static bool take_buffers(assay__mlp *mlp, int64_t index)
{
    layer *at = &mlp->layers[index];
    size_t weight = 2 * (size_t)index, bias = weight + 1;
    at->weight = assay__parameters_value(&mlp->parameters, weight);
    at->bias = assay__parameters_value(&mlp->parameters, bias);
    at->dweight = assay__parameters_gradient(&mlp->parameters, weight);
    at->dbias = assay__parameters_gradient(&mlp->parameters, bias);
    size_t elements = (size_t)mlp->block * (size_t)at->out;
    if (index < mlp->layer_count - 1) {
        at->y = assay__memory_floats(mlp->memory, ASSAY__ACTIVATIONS, elements);
        at->slope = assay__memory_floats(mlp->memory, ASSAY__ACTIVATIONS, elements);
        if (at->y == NULL || at->slope == NULL) {
            return false;
        }
    }
    if (mlp->block != PACKED_ROWS) {
        at->turned =
            assay__memory_floats(mlp->memory, ASSAY__WORKSPACE, (size_t)at->in * (size_t)at->out);
        return at->turned != NULL;
    }
    return true;
}

static assay_status take_memory(assay__mlp *mlp)
{
    assay_status status = assay__parameters_allocate(&mlp->parameters, mlp->memory);
    if (status != ASSAY_OK) {
        return status;
    }
    int64_t widest = larger(larger(mlp->shape.input, mlp->shape.hidden), mlp->shape.output);
    size_t elements = (size_t)mlp->block * (size_t)widest;
    mlp->dy = assay__memory_floats(mlp->memory, ASSAY__WORKSPACE, elements);
    mlp->dx = assay__memory_floats(mlp->memory, ASSAY__WORKSPACE, elements);
    bool taken = mlp->dy != NULL && mlp->dx != NULL;
    for (int64_t i = 0; taken && i < mlp->layer_count; i++) {
        taken = take_buffers(mlp, i);
    }
    return taken ? ASSAY_OK : ASSAY_E_MEMORY;
}

static void draw(assay__mlp *mlp, uint64_t seed)
{
    assay__random random;
    assay__random_init(&random, seed);
    for (int64_t i = 0; i < mlp->layer_count; i++) {
        float bound = 1 / sqrtf((float)mlp->layers[i].in);
        assay__parameters_uniform(&mlp->parameters, 2 * (size_t)i, bound, &random);
        assay__parameters_uniform(&mlp->parameters, 2 * (size_t)i + 1, bound, &random);
    }
}

assay_status assay__mlp_new(const assay__mlp_shape *shape, uint64_t seed, assay_error *error,
                            assay__mlp **mlp)
{
    assay_status status = check_shape(shape, error);
    if (status != ASSAY_OK) {
        return status;
    }
    assay__models_start();
    assay__mlp *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for a network");
    }
    made->shape = *shape;
    made->layer_count = shape->hidden_layers + 1;
    made->block = block_rows(shape->hidden);
    assay__parameters_init(&made->parameters);
    made->memory = assay__memory_new();
    made->layers = calloc((size_t)made->layer_count, sizeof *made->layers);
    status = ASSAY_E_MEMORY;
    if (made->memory != NULL && made->layers != NULL) {
        describe_layers(made);
        status = take_memory(made);
    }
    if (status != ASSAY_OK) {
        assay__mlp_free(made);
        return assay__fail(error, status,
                           "no memory for a network of %lld hidden layers of %lld; make it smaller",
                           (long long)shape->hidden_layers, (long long)shape->hidden);
    }
    draw(made, seed);
    *mlp = made;
    return ASSAY_OK;
}

void assay__mlp_free(assay__mlp *mlp)
{
    if (mlp == NULL) {
        return;
    }
    assay__parameters_release(&mlp->parameters);
    assay__memory_free(mlp->memory);
    free(mlp->layers);
    free(mlp);
}

/* ---- One block of rows ---- */

/* z = scale z. Not left to the product's alpha: PyTorch rounds W x + b first, and omega 30 turns
 * the difference into one of the sine. */
ASSAY__SIMD static void multiply(int64_t count, float scale, float *z)
{
    ASSAY__LANES
    for (int64_t i = 0; i < count; i++) {
        z[i] *= scale;
    }
}

/* z (rows, out) = scale (W x + b) */
static void linear(const assay__mlp *mlp, const layer *at, int64_t rows, const float *x, float *z)
{
    assay__matrix weight = {at->weight, at->in, true};
    if (mlp->turned) {
        weight = (assay__matrix){at->turned, at->out, false};
    }
    for (int64_t row = 0; row < rows; row++) {
        memcpy(z + row * at->out, at->bias, (size_t)at->out * sizeof *z);
    }
    assay__matmul(rows, at->out, at->in, 1, (assay__matrix){x, at->in, false}, weight, 1, z,
                  at->out);
    if (at->scale != 1) {
        multiply(rows * at->out, at->scale, z);
    }
}

/* x (rows, input) to y (rows, output). With `slopes`, what backward_block() needs is kept. */
static void forward_block(assay__mlp *mlp, int64_t rows, const float *x, bool slopes, float *y)
{
    for (int64_t i = 0; i < mlp->layer_count - 1; i++) {
        layer *at = &mlp->layers[i];
        int64_t count = rows * at->out;
        linear(mlp, at, rows, x, at->y);
        if (slopes) {
            assay__activate_with_slope(at->activation, count, at->y, at->y, at->slope);
        } else {
            assay__activate(at->activation, count, at->y, at->y);
        }
        x = at->y;
    }
    linear(mlp, &mlp->layers[mlp->layer_count - 1], rows, x, y);
}

/* dz = scale slope dy, all (rows, width), in place of dy; dbias (width) += its rows. */
ASSAY__SIMD static void through_activation(int64_t rows, int64_t width, float scale,
                                           const float *restrict slope, float *restrict dy,
                                           float *restrict dbias)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < width; j++) {
            float dz = scale * slope[i * width + j] * dy[i * width + j];
            dy[i * width + j] = dz;
            dbias[j] += dz;
        }
    }
}

/* From mlp->dy (rows, output), which is overwritten, and what forward_block() left: gradients added
 * to, dx (rows, input; NULL: not wanted) written. */
static void backward_block(assay__mlp *mlp, int64_t rows, const float *x, float *dx)
{
    float *dy = mlp->dy, *below = mlp->dx;
    for (int64_t i = mlp->layer_count - 1; i >= 0; i--) {
        layer *at = &mlp->layers[i];
        if (at->slope != NULL) {
            through_activation(rows, at->out, at->scale, at->slope, dy, at->dbias);
        } else {
            assay__column_sum(rows, at->out, dy, at->dbias);
        }
        const float *from = i == 0 ? x : mlp->layers[i - 1].y;
        float *to = i == 0 ? dx : below;
        assay__linear_backward(rows, at->in, at->out, dy, from, at->weight, to, at->dweight, NULL);
        below = dy;
        dy = to;
    }
}

/* ---- All rows ---- */

/* Ready for `rows` rows: room for the output, weights turned if they will be used often enough. */
static assay_status prepare(assay__mlp *mlp, int64_t rows, assay_error *error)
{
    if (rows < 1) {
        return assay__fail(error, ASSAY_E_ARGUMENT, "%lld rows; give at least 1", (long long)rows);
    }
    if (rows > INT64_MAX / mlp->shape.output ||
        assay__memory_resize(mlp->memory, ASSAY__ACTIVATIONS, (size_t)(rows * mlp->shape.output),
                             sizeof *mlp->output, &mlp->output) != ASSAY_OK) {
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for the output of %lld rows",
                           (long long)rows);
    }
    mlp->turned = mlp->layers[0].turned != NULL && rows >= TURN_FROM_ROWS;
    for (int64_t l = 0; mlp->turned && l < mlp->layer_count; l++) {
        const layer *at = &mlp->layers[l];
        for (int64_t i = 0; i < at->in; i++) {
            for (int64_t o = 0; o < at->out; o++) {
                at->turned[i * at->out + o] = at->weight[o * at->in + i];
            }
        }
    }
    return ASSAY_OK;
}

assay_status assay__mlp_forward(assay__mlp *mlp, int64_t rows, const float *x, assay_error *error,
                                const float **y)
{
    assay_status status = prepare(mlp, rows, error);
    if (status != ASSAY_OK) {
        return status;
    }
    int64_t block = assay__field_block(rows, mlp->block);
    for (int64_t row = 0; row < rows; row += block) {
        forward_block(mlp, smaller(block, rows - row), x + row * mlp->shape.input, false,
                      mlp->output + row * mlp->shape.output);
    }
    *y = mlp->output;
    return ASSAY_OK;
}

/* Forward and backward of every block. Either `target` is given, and *loss is set, or dy; dx may be
 * NULL. */
static void pass(assay__mlp *mlp, int64_t rows, const float *x, const float *target,
                 const float *dy, float *dx, double *loss)
{
    int64_t block = assay__field_block(rows, mlp->block);
    int64_t input = mlp->shape.input, output = mlp->shape.output;
    assay__parameters_zero_gradients(&mlp->parameters);
    double sum = 0;
    for (int64_t row = 0; row < rows; row += block) {
        int64_t here = smaller(block, rows - row);
        float *y = mlp->output + row * output;
        forward_block(mlp, here, x + row * input, true, y);
        if (target != NULL) {
            sum += assay__field_loss(here * output, (double)here / (double)rows, y,
                                     target + row * output, mlp->dy);
        } else {
            memcpy(mlp->dy, dy + row * output, (size_t)(here * output) * sizeof *dy);
        }
        backward_block(mlp, here, x + row * input, dx == NULL ? NULL : dx + row * input);
    }
    if (target != NULL) {
        *loss = sum;
    }
}

assay_status assay__mlp_gradient(assay__mlp *mlp, int64_t rows, const float *x, const float *target,
                                 assay_error *error, double *loss)
{
    assay_status status = prepare(mlp, rows, error);
    if (status == ASSAY_OK) {
        pass(mlp, rows, x, target, NULL, NULL, loss);
    }
    return status;
}

assay_status assay__mlp_backward(assay__mlp *mlp, int64_t rows, const float *x, const float *dy,
                                 assay_error *error, float *dx)
{
    assay_status status = prepare(mlp, rows, error);
    if (status == ASSAY_OK) {
        pass(mlp, rows, x, NULL, dy, dx, NULL);
    }
    return status;
}

assay_status assay__mlp_update(assay__mlp *mlp, double learning_rate, assay_error *error)
{
    assay_status status =
        assay__adam_step(&mlp->adam, mlp->memory, &mlp->parameters, learning_rate);
    return status == ASSAY_OK ? status
                              : assay__fail(error, status, "out of memory for Adam's moments");
}

assay_status assay__mlp_train(assay__mlp *mlp, int64_t rows, const float *x, const float *target,
                              double learning_rate, assay_error *error, double *loss)
{
    assay_status status = assay__mlp_gradient(mlp, rows, x, target, error, loss);
    return status == ASSAY_OK ? assay__mlp_update(mlp, learning_rate, error) : status;
}

/* ---- Looking ---- */

const assay__mlp_shape *assay__mlp_shape_of(const assay__mlp *mlp)
{
    return &mlp->shape;
}

assay__parameters *assay__mlp_parameters(assay__mlp *mlp)
{
    return &mlp->parameters;
}

void assay__mlp_memory(const assay__mlp *mlp, assay_model_memory *memory)
{
    assay__memory_figures(mlp->memory, memory);
}
