/* A layer is one matrix product. Values lie feature by feature, (width, rows of the block), so that
 * the basis functions of one input are computed for all rows in whole vectors and written as whole
 * rows of the matrix
 *
 *     basis (in (C + 1), rows): for each input its C splines and its SiLU,
 *     packed (out, in (C + 1)): for each edge its scaled spline weights and its base weight,
 *     y (out, rows) = packed basis,
 *
 * and backward is two more products, of which the first layer needs one. Gathering only the order +
 * 1 weights that count for each value would save arithmetic, but each would be loaded from an index
 * of its own; at the grids in use (5 to 20 intervals) the dense product is faster. Rows go in
 * blocks through all layers, see mlp.c. */
#include "field/kan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "field/field.h"
#include "field/slope.h"
#include "field/spline.h"
#include "kernel/matmul.h"
#include "kernel/optimizer.h"
#include "kernel/threads.h"

enum {
    MOST_ROWS = 256,
    LEAST_ROWS = 32,
    BLOCK_ELEMENTS = 1 << 16, /* of the largest basis matrix: it and its gradient fill 512 KB */
};

typedef struct layer {
    int64_t in, out;
    int64_t terms; /* in (C + 1) */
    float *base;   /* (out, in) */
    float *spline; /* (out, in, C) */
    float *scaler; /* (out, in), or NULL */
    float *dbase, *dspline, *dscaler;
    float *packed;     /* (out, terms) */
    float *dpacked;    /* (out, terms) */
    float *basis;      /* (terms, block) */
    float *silu_slope; /* (in, block) */
    float *y;          /* (out, block) */
} layer;

struct assay__kan {
    assay__kan_shape shape;
    assay__spline knots;
    assay__memory *memory;
    assay__parameters parameters;
    assay__adam adam;
    int64_t layer_count;
    layer *layers;
    int64_t block;  /* rows */
    float *x;       /* (input, block) */
    float *dy, *dx; /* (widest, block) */
    float *dbasis;  /* (most terms, block) */
    float *rows;    /* (block, output) */
    float *output;  /* (rows of the largest call so far, output) */
};

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

static int64_t tensors_of_layer(const assay__kan *kan)
{
    return kan->shape.scaler ? 3 : 2;
}

static void describe_layers(assay__kan *kan)
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
        assay__parameters_add(&kan->parameters, 2, dimensions, "layers.%lld.base_weight",
                              (long long)i);
        assay__parameters_add(&kan->parameters, 3, dimensions, "layers.%lld.spline_weight",
                              (long long)i);
        if (shape->scaler) {
            assay__parameters_add(&kan->parameters, 2, dimensions, "layers.%lld.spline_scaler",
                                  (long long)i);
        }
    }
    int64_t rows = BLOCK_ELEMENTS / most_terms / 16 * 16;
    kan->block = rows < LEAST_ROWS ? LEAST_ROWS : rows > MOST_ROWS ? MOST_ROWS : rows;
}

/* (rows, columns) floats, where `failed` is not set already. */
static float *take(assay__kan *kan, assay__memory_use use, int64_t rows, int64_t columns,
                   bool *failed)
{
    size_t count;
    if (*failed || __builtin_mul_overflow((size_t)rows, (size_t)columns, &count)) {
        *failed = true;
        return NULL;
    }
    float *taken = assay__memory_floats(kan->memory, use, count);
    *failed = taken == NULL;
    return taken;
}

static void take_buffers(assay__kan *kan, int64_t index, bool *failed)
{
    layer *at = &kan->layers[index];
    const assay__parameters *parameters = &kan->parameters;
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
    at->dpacked = take(kan, ASSAY__WORKSPACE, at->out, at->terms, failed);
    at->basis = take(kan, ASSAY__ACTIVATIONS, at->terms, kan->block, failed);
    at->silu_slope = take(kan, ASSAY__ACTIVATIONS, at->in, kan->block, failed);
    at->y = take(kan, ASSAY__ACTIVATIONS, at->out, kan->block, failed);
}

static assay_status take_memory(assay__kan *kan)
{
    assay_status status = assay__parameters_allocate(&kan->parameters, kan->memory);
    if (status != ASSAY_OK) {
        return status;
    }
    bool failed = false;
    int64_t widest = 1, most_terms = 1;
    for (int64_t i = 0; i < kan->layer_count; i++) {
        const layer *at = &kan->layers[i];
        widest = at->in > widest ? at->in : widest;
        widest = at->out > widest ? at->out : widest;
        most_terms = at->terms > most_terms ? at->terms : most_terms;
        take_buffers(kan, i, &failed);
    }
    kan->x = take(kan, ASSAY__ACTIVATIONS, kan->shape.input, kan->block, &failed);
    kan->dy = take(kan, ASSAY__WORKSPACE, widest, kan->block, &failed);
    kan->dx = take(kan, ASSAY__WORKSPACE, widest, kan->block, &failed);
    kan->dbasis = take(kan, ASSAY__WORKSPACE, most_terms, kan->block, &failed);
    kan->rows = take(kan, ASSAY__WORKSPACE, kan->block, kan->shape.output, &failed);
    return failed ? ASSAY_E_MEMORY : ASSAY_OK;
}

static void draw(assay__kan *kan, uint64_t seed)
{
    assay__random random;
    assay__random_init(&random, seed);
    int64_t functions = assay__spline_functions(kan->knots);
    for (int64_t l = 0; l < kan->layer_count; l++) {
        const layer *at = &kan->layers[l];
        size_t first = (size_t)(l * tensors_of_layer(kan));
        float bound = sqrtf(6 / (float)(at->in + at->out));
        assay__parameters_uniform(&kan->parameters, first, bound, &random);
        for (int64_t i = 0; i < at->out * at->in * functions; i++) {
            at->spline[i] = 0.1F * (float)assay__random_normal(&random);
        }
        if (at->scaler != NULL) {
            assay__parameters_fill(&kan->parameters, first + 2, 1);
        }
    }
}

assay_status assay__kan_new(const assay__kan_shape *shape, uint64_t seed, assay_error *error,
                            assay__kan **kan)
{
    assay_status status = check_shape(shape, error);
    if (status != ASSAY_OK) {
        return status;
    }
    assay__models_start();
    assay__kan *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for a KAN");
    }
    made->shape = *shape;
    made->knots = (assay__spline){shape->grid, shape->order};
    made->layer_count = shape->hidden_layers + 1;
    assay__parameters_init(&made->parameters);
    made->memory = assay__memory_new();
    made->layers = calloc((size_t)made->layer_count, sizeof *made->layers);
    status = ASSAY_E_MEMORY;
    if (made->memory != NULL && made->layers != NULL) {
        describe_layers(made);
        status = take_memory(made);
    }
    if (status != ASSAY_OK) {
        assay__kan_free(made);
        return assay__fail(error, status,
                           "no memory for a KAN of %lld hidden layers of %lld; make it smaller",
                           (long long)shape->hidden_layers, (long long)shape->hidden);
    }
    draw(made, seed);
    *kan = made;
    return ASSAY_OK;
}

void assay__kan_free(assay__kan *kan)
{
    if (kan == NULL) {
        return;
    }
    assay__parameters_release(&kan->parameters);
    assay__memory_free(kan->memory);
    free(kan->layers);
    free(kan);
}

/* ---- Weights as one matrix, and back ---- */

static void pack(const layer *at, int64_t functions)
{
    for (int64_t edge = 0; edge < at->out * at->in; edge++) {
        float scale = at->scaler == NULL ? 1 : at->scaler[edge];
        float *packed = at->packed + edge * (functions + 1);
        for (int64_t c = 0; c < functions; c++) {
            packed[c] = scale * at->spline[edge * functions + c];
        }
        packed[functions] = at->base[edge];
    }
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
        if (at->dscaler != NULL) {
            at->dscaler[edge] = dscale;
        }
    }
}

/* ---- One block of rows ---- */

/* to (columns, rows; row stride to_stride) = from (rows, columns; row stride from_stride)^T */
static void transpose(int64_t rows, int64_t columns, const float *from, int64_t from_stride,
                      float *to, int64_t to_stride)
{
    for (int64_t j = 0; j < columns; j++) {
        for (int64_t i = 0; i < rows; i++) {
            to[j * to_stride + i] = from[i * from_stride + j];
        }
    }
}

/* x (in, rows) to at->y (out, rows), row stride block. */
static void layer_forward(assay__kan *kan, layer *at, int64_t rows, const float *x, bool slopes)
{
    int64_t block = kan->block, functions = assay__spline_functions(kan->knots);
    for (int64_t i = 0; i < at->in; i++) {
        float *basis = at->basis + i * (functions + 1) * block, *silu = basis + functions * block;
        assay__spline_basis(kan->knots, rows, x + i * block, basis, block);
        if (slopes) {
            assay__activate_with_slope(ASSAY__SILU, rows, x + i * block, silu,
                                       at->silu_slope + i * block);
        } else {
            assay__activate(ASSAY__SILU, rows, x + i * block, silu);
        }
    }
    assay__matmul(at->out, rows, at->terms, 1, (assay__matrix){at->packed, at->terms, false},
                  (assay__matrix){at->basis, block, false}, 0, at->y, block);
}

static void forward_block(assay__kan *kan, int64_t rows, const float *x, bool slopes, float *y)
{
    int64_t block = kan->block;
    transpose(rows, kan->shape.input, x, kan->shape.input, kan->x, block);
    const float *from = kan->x;
    for (int64_t l = 0; l < kan->layer_count; l++) {
        layer_forward(kan, &kan->layers[l], rows, from, slopes);
        from = kan->layers[l].y;
    }
    transpose(kan->shape.output, rows, from, block, y, kan->shape.output);
}

/* From dy (out, rows): at->dpacked added to; dx (in, rows; NULL: not wanted) written. */
static void layer_backward(assay__kan *kan, layer *at, int64_t rows, const float *x,
                           const float *dy, float *dx)
{
    int64_t block = kan->block, functions = assay__spline_functions(kan->knots);
    assay__matmul(at->out, at->terms, rows, 1, (assay__matrix){dy, block, false},
                  (assay__matrix){at->basis, block, true}, 1, at->dpacked, at->terms);
    if (dx == NULL) {
        return;
    }
    assay__matmul(at->terms, rows, at->out, 1, (assay__matrix){at->packed, at->terms, true},
                  (assay__matrix){dy, block, false}, 0, kan->dbasis, block);
    for (int64_t i = 0; i < at->in; i++) {
        const float *dbasis = kan->dbasis + i * (functions + 1) * block;
        const float *dsilu = dbasis + functions * block, *slope = at->silu_slope + i * block;
        float *to = dx + i * block;
        for (int64_t row = 0; row < rows; row++) {
            to[row] = dsilu[row] * slope[row];
        }
        assay__spline_backward(kan->knots, rows, x + i * block, dbasis, block, to);
    }
}

/* From kan->rows (rows, output), dx (rows, input; NULL: not wanted). */
static void backward_block(assay__kan *kan, int64_t rows, float *dx)
{
    float *dy = kan->dy, *below = kan->dx;
    transpose(rows, kan->shape.output, kan->rows, kan->shape.output, dy, kan->block);
    for (int64_t l = kan->layer_count - 1; l >= 0; l--) {
        const float *x = l == 0 ? kan->x : kan->layers[l - 1].y;
        float *to = l == 0 && dx == NULL ? NULL : below;
        layer_backward(kan, &kan->layers[l], rows, x, dy, to);
        below = dy;
        dy = to;
    }
    if (dx != NULL) {
        transpose(kan->shape.input, rows, dy, kan->block, dx, kan->shape.input);
    }
}

/* ---- All rows ---- */

static assay_status prepare(assay__kan *kan, int64_t rows, assay_error *error)
{
    if (rows < 1) {
        return assay__fail(error, ASSAY_E_ARGUMENT, "%lld rows; give at least 1", (long long)rows);
    }
    if (rows > INT64_MAX / kan->shape.output ||
        assay__memory_resize(kan->memory, ASSAY__ACTIVATIONS, (size_t)(rows * kan->shape.output),
                             sizeof *kan->output, &kan->output) != ASSAY_OK) {
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for the output of %lld rows",
                           (long long)rows);
    }
    for (int64_t l = 0; l < kan->layer_count; l++) {
        pack(&kan->layers[l], assay__spline_functions(kan->knots));
    }
    return ASSAY_OK;
}

assay_status assay__kan_forward(assay__kan *kan, int64_t rows, const float *x, assay_error *error,
                                const float **y)
{
    assay_status status = prepare(kan, rows, error);
    if (status != ASSAY_OK) {
        return status;
    }
    int64_t block = assay__field_block(rows, kan->block);
    for (int64_t row = 0; row < rows; row += block) {
        forward_block(kan, block < rows - row ? block : rows - row, x + row * kan->shape.input,
                      false, kan->output + row * kan->shape.output);
    }
    *y = kan->output;
    return ASSAY_OK;
}

/* Forward and backward of every block. Either `target` is given, and *loss is set, or dy; dx may be
 * NULL. */
static void pass(assay__kan *kan, int64_t rows, const float *x, const float *target,
                 const float *dy, float *dx, double *loss)
{
    int64_t block = assay__field_block(rows, kan->block), output = kan->shape.output;
    for (int64_t l = 0; l < kan->layer_count; l++) {
        const layer *at = &kan->layers[l];
        memset(at->dpacked, 0, (size_t)(at->out * at->terms) * sizeof *at->dpacked);
    }
    double sum = 0;
    for (int64_t row = 0; row < rows; row += block) {
        int64_t here = block < rows - row ? block : rows - row;
        float *y = kan->output + row * output;
        forward_block(kan, here, x + row * kan->shape.input, true, y);
        if (target != NULL) {
            sum += assay__field_loss(here * output, (double)here / (double)rows, y,
                                     target + row * output, kan->rows);
        } else {
            memcpy(kan->rows, dy + row * output, (size_t)(here * output) * sizeof *dy);
        }
        backward_block(kan, here, dx == NULL ? NULL : dx + row * kan->shape.input);
    }
    for (int64_t l = 0; l < kan->layer_count; l++) {
        unpack_gradient(&kan->layers[l], assay__spline_functions(kan->knots));
    }
    if (target != NULL) {
        *loss = sum;
    }
}

assay_status assay__kan_gradient(assay__kan *kan, int64_t rows, const float *x, const float *target,
                                 assay_error *error, double *loss)
{
    assay_status status = prepare(kan, rows, error);
    if (status == ASSAY_OK) {
        pass(kan, rows, x, target, NULL, NULL, loss);
    }
    return status;
}

assay_status assay__kan_backward(assay__kan *kan, int64_t rows, const float *x, const float *dy,
                                 assay_error *error, float *dx)
{
    assay_status status = prepare(kan, rows, error);
    if (status == ASSAY_OK) {
        pass(kan, rows, x, NULL, dy, dx, NULL);
    }
    return status;
}

assay_status assay__kan_update(assay__kan *kan, double learning_rate, assay_error *error)
{
    assay_status status =
        assay__adam_step(&kan->adam, kan->memory, &kan->parameters, learning_rate);
    return status == ASSAY_OK ? status
                              : assay__fail(error, status, "out of memory for Adam's moments");
}

assay_status assay__kan_train(assay__kan *kan, int64_t rows, const float *x, const float *target,
                              double learning_rate, assay_error *error, double *loss)
{
    assay_status status = assay__kan_gradient(kan, rows, x, target, error, loss);
    return status == ASSAY_OK ? assay__kan_update(kan, learning_rate, error) : status;
}

/* ---- Looking ---- */

const assay__kan_shape *assay__kan_shape_of(const assay__kan *kan)
{
    return &kan->shape;
}

assay__parameters *assay__kan_parameters(assay__kan *kan)
{
    return &kan->parameters;
}

void assay__kan_memory(const assay__kan *kan, assay_model_memory *memory)
{
    assay__memory_figures(kan->memory, memory);
}
