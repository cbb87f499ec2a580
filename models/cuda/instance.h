/* Models whose parameters, gradients, moments and activations are on a device.
 *
 * Such a model is made around an instance of the same model on the host. The host's instance knows
 * the names, shapes and initial values of the parameters, checks inputs, makes example data and
 * describes the arithmetic. Passes run on the device. When a caller asks for the parameters
 * (parameters()), they are copied from the device to the host. Before the next pass they are copied
 * back, because the caller may have changed them. */
#ifndef ASSAY_MODELS_CUDA_INSTANCE_H
#define ASSAY_MODELS_CUDA_INSTANCE_H

#include "assay/model.h"
#include "models/cuda/gpu.h"

typedef struct assay__gpu_kind assay__gpu_kind;

typedef struct assay__gpu_model {
    const assay__gpu_kind *kind;
    const assay_model_class *host;
    void *state; /* the state of the host's instance */
    assay__gpu *gpu;
    assay__gpu_heap heap;
    void *own;     /* data of the kind, own_bytes */
    bool training; /* the mode: training or evaluation */

    assay_model_parameter *list; /* what parameters() returns: the host's, or NULL for their data */
    size_t total;                /* elements of all parameters, one after the other */
    float *host_values, *host_gradients; /* (total) */
    float *values, *gradients;           /* (total), on the device like the arrays below */
    float *first, *second;               /* moments; NULL until the first step that needs them */
    int64_t step;
    bool shared; /* the host's copy is current and may have been changed */

    float *input, *target,
        *dy; /* on the device: input and target of the last pass, and the gradient of the loss */
    double *sums;
    float *output; /* on the host: (output_capacity) */
    size_t output_capacity;
} assay__gpu_model;

/* The functions of one kind of model on a device. All but check() run between assay__gpu_begin()
 * and assay__gpu_end(), and leave their failures there. */
struct assay__gpu_kind {
    const assay_model_class *host;
    size_t own_bytes; /* size of model->own, which starts zeroed */
    /* Makes the checks of the host's class before a pass, and fills the shape of the output.
     * `target` is NULL if there is none, and `steps` is 0 except for a forecast. */
    assay_status (*check)(assay__gpu_model *model, const assay_tensor *inputs,
                          const assay_tensor *target, int64_t steps, assay_error *error,
                          assay_tensor *output);
    /* Copies the inputs to the device, runs the pass and returns the output on the device. `keep`
     * says that a backward pass will follow. */
    float *(*forward)(assay__gpu_model *model, const assay_tensor *inputs, int64_t steps,
                      bool keep);
    /* Moves the target to model->target, and returns the outputs to compare with it. NULL if these
     * always are the output of forward(); an LSTM with targets after every step has others. */
    float *(*outputs_for)(assay__gpu_model *model, const assay_tensor *target, float *y);
    /* Computes the loss of a class that has a loss of its own: the gradient goes to model->dy, and
     * each of `blocks` blocks of threads writes its part of the loss to model->sums. NULL if
     * training() of the host's class names the loss. */
    void (*loss)(assay__gpu_model *model, int64_t blocks);
    /* Computes all gradients from model->dy and overwrites the old ones. */
    void (*backward)(assay__gpu_model *model, const assay_tensor *inputs,
                     const assay_tensor *target);
};

extern const assay__gpu_kind assay__gpu_mlp, assay__gpu_siren, assay__gpu_lstm,
    assay__gpu_graph_transformer, assay__gpu_next_road;

/* ---- Pieces of passes that kinds share ---- */

/* The parameter with that index, and its gradient, on the device. */
float *assay__gpu_value(const assay__gpu_model *model, size_t index);
float *assay__gpu_gradient(const assay__gpu_model *model, size_t index);

/* y (rows, out) = x (rows, in) weight (out, in)^T, without a bias */
void assay__gpu_linear(assay__gpu *gpu, int64_t rows, int64_t in, int64_t out, const float *x,
                       const float *weight, float *y);
/* From dy (rows, out): overwrites dweight (out, in) and, unless it is NULL, dbias (out). Unless it
 * is NULL, dx (rows, in) is overwritten, or added to if `add`. */
void assay__gpu_linear_backward(assay__gpu *gpu, int64_t rows, int64_t in, int64_t out,
                                const float *dy, const float *x, const float *weight, float *dx,
                                bool add, float *dweight, float *dbias);
/* y (rows, columns) = f(scale (y + bias)). Pass NULL for `slope` if you do not need scale f'. */
void assay__gpu_bias_activate(assay__gpu *gpu, int64_t rows, int64_t columns, const float *bias,
                              float scale, int activation, float *y, float *slope);
/* Makes room for an array of the model: the array is replaced by a larger one if it is too
 * small. */
void assay__gpu_room(assay__gpu_model *model, assay__memory_use use, size_t floats, float **array);

/* ---- Classes ---- */

/* Returns the class of `host` on a device; it lives as long as the process. ASSAY_E_UNSUPPORTED
 * names the models that can run on a device, or says why the device cannot be used. */
ASSAY_MUST_USE assay_status assay__gpu_class(const assay_model_class *host, int index,
                                             assay_error *error, const assay_model_class **class_);

/* Returns whether the instances of the class are on a device. assay__gpu_model_new() makes such
 * instances, because create() does not know which class it is called for. */
bool assay__gpu_class_is(const assay_model_class *class_);
ASSAY_MUST_USE assay_status assay__gpu_model_new(const assay_model_class *class_,
                                                 const double *settings, uint64_t seed,
                                                 assay_error *error, void **state);

/* Copies parameters and gradients to the host, if the host's copy is not current. On failure the
 * host's copy is of no use. */
ASSAY_MUST_USE assay_status assay__gpu_model_fetch(void *state, assay_error *error);

/* The name, such as "cuda:0", and the device of a class on a device. */
const char *assay__gpu_class_device(const assay_model_class *class_);
assay__gpu *assay__gpu_of_class(const assay_model_class *class_);

#endif
