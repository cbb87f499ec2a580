/* Models whose parameters, gradients, moments and activations are on a device.
 *
 * Such a model is made around an instance of the same model on the host, which knows the names,
 * shapes and initial values of the parameters, checks inputs, makes up examples and describes its
 * arithmetic. Passes run on the device. The host's copy of the parameters is brought up to date
 * when somebody asks for them (parameters()), and goes back to the device before the next pass,
 * since that somebody may have changed it. */
#ifndef ASSAY_MODELS_CUDA_INSTANCE_H
#define ASSAY_MODELS_CUDA_INSTANCE_H

#include "assay/model.h"
#include "models/cuda/gpu.h"

typedef struct assay__gpu_kind assay__gpu_kind;

typedef struct assay__gpu_model {
    const assay__gpu_kind *kind;
    const assay_model_class *host;
    void *state; /* the host's */
    assay__gpu *gpu;
    assay__gpu_heap heap;
    void *own;     /* the kind's */
    bool training; /* mode */

    size_t total;                        /* elements of all parameters, one after the other */
    float *host_values, *host_gradients; /* (total) */
    float *values, *gradients;           /* (total) on the device, as the following */
    float *first, *second;               /* moments; NULL until the first step that needs them */
    int64_t step;
    bool shared; /* the host's copy is current and may have been changed */

    float *input, *target,
        *dy; /* of the device: what the last pass was given, slopes of the loss */
    double *sums;
    float *output; /* of the host: (output_capacity) */
    size_t output_capacity;
} assay__gpu_model;

/* What a kind of model does on a device. Functions run between assay__gpu_begin() and _end() and
 * leave failures there, but for check(). */
struct assay__gpu_kind {
    const assay_model_class *host;
    size_t own_bytes; /* of model->own, zeroed */
    /* What the host's class checks before a pass: `target` NULL without one, `steps` 0 but for a
     * forecast. Fills the shape of the output. */
    assay_status (*check)(assay__gpu_model *model, const assay_tensor *inputs,
                          const assay_tensor *target, int64_t steps, assay_error *error,
                          assay_tensor *output);
    /* Inputs to the device and y, the output there; `keep`: for a backward pass. */
    float *(*forward)(assay__gpu_model *model, const assay_tensor *inputs, int64_t steps,
                      bool keep);
    /* What the target is compared with, if not what forward() returned: with targets after every
     * step. NULL: it is. Also moves the target to model->target. */
    float *(*outputs_for)(assay__gpu_model *model, const assay_tensor *target, float *y);
    /* The loss of a class that has its own: slopes of model->target into model->dy, and a part of
     * the sum from each of `blocks` blocks into model->sums. NULL: as training() says. */
    void (*loss)(assay__gpu_model *model, int64_t blocks);
    /* All gradients, overwritten, from model->dy. */
    void (*backward)(assay__gpu_model *model, const assay_tensor *inputs,
                     const assay_tensor *target);
};

extern const assay__gpu_kind assay__gpu_mlp, assay__gpu_siren, assay__gpu_lstm,
    assay__gpu_graph_transformer, assay__gpu_next_road;

/* ---- Pieces of passes that kinds share ---- */

/* The parameter of that index, and its gradient, on the device. */
float *assay__gpu_value(const assay__gpu_model *model, size_t index);
float *assay__gpu_gradient(const assay__gpu_model *model, size_t index);

/* y (rows, out) = x (rows, in) weight (out, in)^T, without a bias */
void assay__gpu_linear(assay__gpu *gpu, int64_t rows, int64_t in, int64_t out, const float *x,
                       const float *weight, float *y);
/* From dy (rows, out): dweight and dbias (NULL: none), overwritten, and dx (rows, in; NULL: not
 * wanted), added to if `add`. */
void assay__gpu_linear_backward(assay__gpu *gpu, int64_t rows, int64_t in, int64_t out,
                                const float *dy, const float *x, const float *weight, float *dx,
                                bool add, float *dweight, float *dbias);
/* y = f(scale (y + bias)); slope NULL: not wanted */
void assay__gpu_bias_activate(assay__gpu *gpu, int64_t rows, int64_t columns, const float *bias,
                              float scale, int activation, float *y, float *slope);
/* Room for an array of the model, grown where it is too small. */
void assay__gpu_room(assay__gpu_model *model, assay__memory_use use, size_t floats, float **array);

/* ---- Classes ---- */

/* The class of `host` on a device: it lives as long as the process. ASSAY_E_UNSUPPORTED names the
 * models that there are, or says why the device cannot be used. */
ASSAY_MUST_USE assay_status assay__gpu_class(const assay_model_class *host, int index,
                                             assay_error *error, const assay_model_class **class_);

/* Whether instances of the class are on a device; those are made by the following call, since a
 * create() does not know its class. */
bool assay__gpu_class_is(const assay_model_class *class_);
ASSAY_MUST_USE assay_status assay__gpu_model_new(const assay_model_class *class_,
                                                 const double *settings, uint64_t seed,
                                                 assay_error *error, void **state);

/* "cuda:0", of a class on a device. */
const char *assay__gpu_class_device(const assay_model_class *class_);
assay__gpu *assay__gpu_of_class(const assay_model_class *class_);

#endif
