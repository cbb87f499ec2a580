/* Perceptrons and SIRENs on a device. All rows go through the network at once; each layer is one
 * product and one kernel. */
#include "models/field/mlp.h"
#include "models/cuda/instance.h"
#include "models/field/field_class.h"
#include "models/field/siren.h"

enum { MOST_LAYERS = 1025 }; /* the limit of the option, and the last layer */

typedef struct perceptron {
    float *y[MOST_LAYERS], *slope[MOST_LAYERS]; /* (rows, out) */
    float *dx[2];                               /* (rows, widest) */
    int64_t rows;
} perceptron;

typedef struct layer {
    int64_t in, out;
    float scale;
    assay__activation activation;
} layer;

static const assay__mlp_shape *shape_of(const assay__gpu_model *model)
{
    return assay__mlp_shape_of(((assay__field_model *)model->state)->net);
}

static layer layer_at(const assay__mlp_shape *shape, int64_t index)
{
    const bool last = index == shape->hidden_layers;
    const float scale = index == 0 ? shape->first_scale : shape->hidden_scale;
    return (layer){.in = index == 0 ? shape->input : shape->hidden,
                   .out = last ? shape->output : shape->hidden,
                   .scale = last || scale == 0 ? 1 : scale,
                   .activation = last ? ASSAY__IDENTITY : shape->activation};
}

static assay_status check(assay__gpu_model *model, const assay_tensor *inputs,
                          const assay_tensor *target, int64_t steps, assay_error *error,
                          assay_tensor *output)
{
    (void)steps;
    const assay__neural_net *net = ((assay__field_model *)model->state)->net;
    *output = (assay_tensor){"output", ASSAY_F32, 2, {inputs[0].shape[0], net->output}, NULL};
    return assay__field_check(net, &inputs[0], target, error);
}

static float *forward(assay__gpu_model *model, const assay_tensor *inputs, int64_t steps, bool keep)
{
    (void)steps;
    const assay__mlp_shape *shape = shape_of(model);
    perceptron *own = model->own;
    const size_t rows = (size_t)inputs[0].shape[0];
    own->rows = inputs[0].shape[0];
    assay__gpu_room(model, ASSAY__ACTIVATIONS, rows * (size_t)shape->input, &model->input);
    assay__gpu_copy_in(model->gpu, model->input, rows * (size_t)shape->input * sizeof(float),
                       inputs[0].data);
    const float *x = model->input;
    for (int64_t i = 0; i <= shape->hidden_layers; i++) {
        const layer at = layer_at(shape, i);
        const bool slope = keep && i < shape->hidden_layers;
        assay__gpu_room(model, ASSAY__ACTIVATIONS, rows * (size_t)at.out, &own->y[i]);
        assay__gpu_room(model, ASSAY__ACTIVATIONS, slope ? rows * (size_t)at.out : 0,
                        &own->slope[i]);
        assay__gpu_linear(model->gpu, own->rows, at.in, at.out, x,
                          assay__gpu_value(model, 2 * (size_t)i), own->y[i]);
        assay__gpu_bias_activate(model->gpu, own->rows, at.out,
                                 assay__gpu_value(model, 2 * (size_t)i + 1), at.scale,
                                 (int)at.activation, own->y[i], slope ? own->slope[i] : NULL);
        x = own->y[i];
    }
    return own->y[shape->hidden_layers];
}

static void backward(assay__gpu_model *model, const assay_tensor *inputs,
                     const assay_tensor *target)
{
    (void)inputs;
    (void)target;
    const assay__mlp_shape *shape = shape_of(model);
    perceptron *own = model->own;
    for (int i = 0; i < 2; i++)
        assay__gpu_room(model, ASSAY__WORKSPACE, (size_t)(own->rows * shape->hidden), &own->dx[i]);
    float *dy = model->dy;
    for (int64_t i = shape->hidden_layers; i >= 0; i--) {
        const layer at = layer_at(shape, i);
        float *dx = i == 0 ? NULL : own->dx[i % 2];
        if (i < shape->hidden_layers)
            ASSAY__LAUNCH(model->gpu, scale_by_slope, assay__gpu_blocks(own->rows * at.out), 1,
                          ASSAY__BLOCK, .count = own->rows * at.out, .slope = own->slope[i],
                          .dy = dy);
        assay__gpu_linear_backward(model->gpu, own->rows, at.in, at.out, dy,
                                   i == 0 ? model->input : own->y[i - 1],
                                   assay__gpu_value(model, 2 * (size_t)i), dx, false,
                                   assay__gpu_gradient(model, 2 * (size_t)i),
                                   assay__gpu_gradient(model, 2 * (size_t)i + 1));
        dy = dx;
    }
}

const assay__gpu_kind assay__gpu_mlp = {.host = &assay__mlp_class,
                                        .own_bytes = sizeof(perceptron),
                                        .check = check,
                                        .forward = forward,
                                        .backward = backward};
const assay__gpu_kind assay__gpu_siren = {.host = &assay__siren_class,
                                          .own_bytes = sizeof(perceptron),
                                          .check = check,
                                          .forward = forward,
                                          .backward = backward};
