/* The perceptron as the formula has it: one row at a time, three loops a layer, in double. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/reference/reference.h"

/* A layer seen in the arrays of one row; dweight and dbias may be NULL. */
typedef struct layer {
    int64_t in, out;
    double scale;
    assay__activation activation;
    const double *weight, *bias; /* (out, in), (out) */
    double *dweight, *dbias;
} layer;

static layer layer_at(const assay__mlp_shape *shape, int64_t index, const double *values,
                      double *gradient, size_t *offset)
{
    bool last = index == shape->hidden_layers;
    float scale = index == 0 ? shape->first_scale : shape->hidden_scale;
    layer at = {.in = index == 0 ? shape->input : shape->hidden,
                .out = last ? shape->output : shape->hidden,
                .scale = last || scale == 0 ? 1 : (double)scale,
                .activation = last ? ASSAY__IDENTITY : shape->activation};
    size_t weights = (size_t)(at.in * at.out);
    at.weight = values + *offset;
    at.bias = at.weight + weights;
    at.dweight = gradient == NULL ? NULL : gradient + *offset;
    at.dbias = gradient == NULL ? NULL : at.dweight + weights;
    *offset += weights + (size_t)at.out;
    return at;
}

/* z (out) = scale (W x + b), y = f(z) */
static void forward(const layer *at, const double *x, double *z, double *y)
{
    for (int64_t o = 0; o < at->out; o++) {
        double sum = at->bias[o];
        for (int64_t i = 0; i < at->in; i++)
            sum += at->weight[o * at->in + i] * x[i];
        z[o] = at->scale * sum;
        y[o] = reference_activate(at->activation, z[o]);
    }
}

/* dy (out) to dx (in), gradients added to. */
static void backward(const layer *at, const double *x, const double *z, const double *dy,
                     double *dx)
{
    memset(dx, 0, (size_t)at->in * sizeof *dx);
    for (int64_t o = 0; o < at->out; o++) {
        double dz = dy[o] * at->scale * reference_activate_slope(at->activation, z[o]);
        at->dbias[o] += dz;
        for (int64_t i = 0; i < at->in; i++) {
            at->dweight[o * at->in + i] += dz * x[i];
            dx[i] += dz * at->weight[o * at->in + i];
        }
    }
}

double reference_mlp(const assay__mlp_shape *shape, const double *values, int64_t rows,
                     const float *x, const float *target, double *y, double *gradient)
{
    int64_t count = shape->hidden_layers + 1;
    int64_t widest = shape->input > shape->hidden ? shape->input : shape->hidden;
    widest = shape->output > widest ? shape->output : widest;
    layer *layers = calloc((size_t)count, sizeof *layers);
    double *h = calloc((size_t)((2 * count + 3) * widest), sizeof *h); /* h, z of each; dy, dx */
    double loss = NAN;
    if (layers == NULL || h == NULL)
        goto cleanup;
    double *z = h + (count + 1) * widest, *dy = z + count * widest, *dx = dy + widest;
    size_t total = 0;
    for (int64_t l = 0; l < count; l++)
        layers[l] = layer_at(shape, l, values, gradient, &total);
    if (gradient != NULL)
        memset(gradient, 0, total * sizeof *gradient);
    loss = 0;
    double elements = (double)(rows * shape->output);
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t i = 0; i < shape->input; i++)
            h[i] = (double)x[row * shape->input + i];
        for (int64_t l = 0; l < count; l++)
            forward(&layers[l], h + l * widest, z + l * widest, h + (l + 1) * widest);
        for (int64_t o = 0; o < shape->output; o++) {
            double difference = h[count * widest + o] - (double)target[row * shape->output + o];
            y[row * shape->output + o] = h[count * widest + o];
            loss += difference * difference / elements;
            dy[o] = 2 * difference / elements;
        }
        for (int64_t l = count - 1; gradient != NULL && l >= 0; l--) {
            backward(&layers[l], h + l * widest, z + l * widest, dy, dx);
            memcpy(dy, dx, (size_t)layers[l].in * sizeof *dy);
        }
    }
cleanup:
    free(layers);
    free(h);
    return loss;
}
