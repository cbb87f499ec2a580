/* The KAN as the formula has it: one row at a time, every edge by itself, B-splines by the
 * recursion of Cox and de Boor over their knots, in double. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/reference/reference.h"

typedef struct layer {
    int64_t in, out;
    const double *base, *spline, *scaler; /* (out, in), (out, in, C), (out, in) or NULL */
    double *dbase, *dspline, *dscaler;
} layer;

static layer layer_at(const assay__kan_shape *shape, int64_t index, const double *values,
                      double *gradient, size_t *offset)
{
    layer at = {.in = index == 0 ? shape->input : shape->hidden,
                .out = index == shape->hidden_layers ? shape->output : shape->hidden};
    size_t edges = (size_t)(at.in * at.out), all = edges * (size_t)(shape->grid + shape->order);
    at.base = values + *offset;
    at.spline = at.base + edges;
    at.scaler = shape->scaler ? at.spline + all : NULL;
    if (gradient != NULL) {
        at.dbase = gradient + *offset;
        at.dspline = at.dbase + edges;
        at.dscaler = shape->scaler ? at.dspline + all : NULL;
    }
    *offset += edges + all + (shape->scaler ? edges : 0);
    return at;
}

static double knot(const assay__kan_shape *shape, int64_t j)
{
    return -1 + 2 * (double)(j - shape->order) / (double)shape->grid;
}

/* B_c of this order at x */
static double basis(const assay__kan_shape *shape, int64_t order, int64_t c, double x)
{
    if (order == 0)
        return x >= knot(shape, c) && x < knot(shape, c + 1) ? 1 : 0;
    double left = (x - knot(shape, c)) / (knot(shape, c + order) - knot(shape, c));
    double right =
        (knot(shape, c + order + 1) - x) / (knot(shape, c + order + 1) - knot(shape, c + 1));
    return left * basis(shape, order - 1, c, x) + right * basis(shape, order - 1, c + 1, x);
}

static double basis_slope(const assay__kan_shape *shape, int64_t c, double x)
{
    int64_t order = shape->order;
    double left = basis(shape, order - 1, c, x) / (knot(shape, c + order) - knot(shape, c));
    double right =
        basis(shape, order - 1, c + 1, x) / (knot(shape, c + order + 1) - knot(shape, c + 1));
    return (double)order * (left - right);
}

static void forward(const assay__kan_shape *shape, const layer *at, const double *x, double *y)
{
    int64_t functions = shape->grid + shape->order;
    for (int64_t o = 0; o < at->out; o++) {
        y[o] = 0;
        for (int64_t i = 0; i < at->in; i++) {
            int64_t edge = o * at->in + i;
            double sum = 0;
            for (int64_t c = 0; c < functions; c++)
                sum += at->spline[edge * functions + c] * basis(shape, shape->order, c, x[i]);
            y[o] += at->base[edge] * reference_activate(ASSAY__SILU, x[i]) +
                    (at->scaler == NULL ? 1 : at->scaler[edge]) * sum;
        }
    }
}

static void backward(const assay__kan_shape *shape, const layer *at, const double *x,
                     const double *dy, double *dx)
{
    int64_t functions = shape->grid + shape->order;
    memset(dx, 0, (size_t)at->in * sizeof *dx);
    for (int64_t edge = 0; edge < at->out * at->in; edge++) {
        int64_t o = edge / at->in, i = edge % at->in;
        double scale = at->scaler == NULL ? 1 : at->scaler[edge], sum = 0;
        for (int64_t c = 0; c < functions; c++) {
            double b = basis(shape, shape->order, c, x[i]);
            sum += at->spline[edge * functions + c] * b;
            at->dspline[edge * functions + c] += dy[o] * scale * b;
            dx[i] += dy[o] * scale * at->spline[edge * functions + c] * basis_slope(shape, c, x[i]);
        }
        if (at->dscaler != NULL)
            at->dscaler[edge] += dy[o] * sum;
        at->dbase[edge] += dy[o] * reference_activate(ASSAY__SILU, x[i]);
        dx[i] += dy[o] * at->base[edge] * reference_activate_slope(ASSAY__SILU, x[i]);
    }
}

double reference_kan(const assay__kan_shape *shape, const double *values, int64_t rows,
                     const float *x, const float *target, double *y, double *gradient)
{
    int64_t count = shape->hidden_layers + 1;
    int64_t widest = shape->input > shape->hidden ? shape->input : shape->hidden;
    widest = shape->output > widest ? shape->output : widest;
    layer *layers = calloc((size_t)count, sizeof *layers);
    double *h = calloc((size_t)((count + 3) * widest), sizeof *h); /* h of each layer; dy, dx */
    double loss = NAN;
    if (layers == NULL || h == NULL)
        goto cleanup;
    double *last = h + count * widest, *dy = last + widest, *dx = dy + widest;
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
            forward(shape, &layers[l], h + l * widest, h + (l + 1) * widest);
        for (int64_t o = 0; o < shape->output; o++) {
            double difference = last[o] - (double)target[row * shape->output + o];
            y[row * shape->output + o] = last[o];
            loss += difference * difference / elements;
            dy[o] = 2 * difference / elements;
        }
        for (int64_t l = count - 1; gradient != NULL && l >= 0; l--) {
            backward(shape, &layers[l], h + l * widest, dy, dx);
            memcpy(dy, dx, (size_t)layers[l].in * sizeof *dy);
        }
    }
cleanup:
    free(layers);
    free(h);
    return loss;
}
