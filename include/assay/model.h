/* Models: the built-in models of assay, and how to add a model of your own.
 *
 * A model is an instance (assay_model) of a class (assay_model_class, a table of functions). Every
 * model is called through this table, whether it is built in or loaded from a shared object. So
 * every command works on both:
 *
 *     const assay_model_class *class = NULL;
 *     assay_model *model = NULL;
 *     if (assay_model_find("lstm", &error, &class) != ASSAY_OK) ...
 *     if (assay_model_new(class, NULL, 42, &error, &model) != ASSAY_OK) ...    (NULL: the defaults)
 *     if (assay_model_load_weights(model, "w.safetensors", &error) != ASSAY_OK) ...
 *     if (assay_model_forward(model, &input, 1, &error, &output) != ASSAY_OK) ...
 *     assay_model_free(model);
 *
 *     cc app.c $(pkg-config --cflags --libs assay-models)
 *
 * A plugin is a shared object with one function, assay_model_plugin(), that returns its class
 * (examples/plugin). It needs this header, and need not link with assay.
 *
 * Threads: an instance belongs to one thread at a time; classes are constant. The arithmetic of the
 * built-in models runs on the number of threads that assay_models_set_threads() sets; the default
 * is one. The same seed, settings and inputs give the same numbers on the same machine.
 */
#ifndef ASSAY_MODEL_H
#define ASSAY_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Tensors: plain arrays with a shape ---- */

typedef enum assay_element { ASSAY_F32 = 1, ASSAY_F64 = 2, ASSAY_I64 = 3 } assay_element;

enum { ASSAY_TENSOR_MAX_RANK = 4 };

/* An array in row-major order, without gaps. A tensor of rank 0 has one value. */
typedef struct assay_tensor {
    const char *name; /* "lstm.weight_ih_l0"; for an input, its name in the class */
    assay_element element;
    uint32_t rank;
    int64_t shape[ASSAY_TENSOR_MAX_RANK]; /* entries past the rank are 0 */
    void *data;
} assay_tensor;

/* ---- Options, inputs and parameters of a class ---- */

/* A setting that is fixed when a model is made: a size, or a constant such as a dropout rate. All
 * settings are doubles (integers are exact up to 2^53). A choice among `words` is stored as the
 * index of the word. */
typedef struct assay_model_option {
    const char *name; /* "hidden-dim": on the command line --hidden-dim */
    const char *help; /* one line */
    double initial;   /* the default */
    double minimum, maximum;
    bool integer;
    const char *const *words; /* of a choice: a list ended by NULL; otherwise NULL */
} assay_model_option;

/* One of the tensors that forward() takes. */
typedef struct assay_model_input {
    const char *name; /* "input" */
    const char *help; /* one line, with the shape: "(batch, time, input-dim)" */
    assay_element element;
    uint32_t rank;
    bool optional;
} assay_model_input;

/* A trainable tensor. `gradient` has the shape of `value`; it is NULL for models without
 * gradients. */
typedef struct assay_model_parameter {
    assay_tensor value;
    void *gradient;
} assay_model_parameter;

/* The memory in bytes that a model uses now, by purpose. The figures are exact except for
 * alignment. */
typedef struct assay_model_memory {
    uint64_t parameters;
    uint64_t gradients;
    uint64_t optimizer;   /* state of the optimizer, such as Adam's moments */
    uint64_t activations; /* kept from forward for backward, outputs included */
    uint64_t workspace;   /* everything else: buffers reused within a pass, graphs, index tables,
                             and generated data if the model keeps them there */
} assay_model_memory;

/* ---- How a model is trained ---- */

/* The loss. The first three are means over all elements of the output; the last one is a mean over
 * its rows. They are PyTorch's MSELoss, L1Loss, BCEWithLogitsLoss, and CrossEntropyLoss with
 * probabilities as targets. */
typedef enum assay_loss {
    ASSAY_LOSS_MSE,
    ASSAY_LOSS_L1,
    ASSAY_LOSS_BINARY_CROSS_ENTROPY, /* of logits; targets from 0 to 1 */
    ASSAY_LOSS_CROSS_ENTROPY         /* of the softmax of a row; targets are probabilities */
} assay_loss;

/* The optimizer. All have PyTorch's defaults. */
typedef enum assay_optimizer {
    ASSAY_OPTIMIZER_ADAM,
    ASSAY_OPTIMIZER_ADAMW,   /* weight decay 0.01 */
    ASSAY_OPTIMIZER_SGD,     /* value -= rate x gradient; has no state */
    ASSAY_OPTIMIZER_MOMENTUM /* SGD with a momentum of 0.9 */
} assay_optimizer;

/* How a model is trained: the loss of gradient(), the optimizer of update(), and the random masks
 * of dropout. A struct that is all zero has the defaults. */
typedef struct assay_model_training {
    assay_loss loss;
    assay_optimizer optimizer;
    bool no_dropout;       /* no dropout, even in training mode */
    uint64_t seed, passes; /* of dropout's masks: their seed, and the passes drawn from it so far */
    uint64_t reserved[4];  /* zero */
} assay_model_training;

/* ---- The arithmetic of one forward pass, as a list of terms ----
 * FLOPs and complexities are derived from these terms alone, not from the model's code. */

typedef enum assay_term_kind {
    ASSAY_TERM_MATMUL,   /* (m, k) by (k, n) */
    ASSAY_TERM_BIAS,     /* one addition to each of m x n elements */
    ASSAY_TERM_ADD,      /* two arrays of m x n elements: residuals, merges */
    ASSAY_TERM_MULTIPLY, /* two arrays of m x n elements: gates, scales */
    ASSAY_TERM_RELU,     /* of m x n elements; so are the next four */
    ASSAY_TERM_GELU,
    ASSAY_TERM_TANH,
    ASSAY_TERM_SIGMOID,
    ASSAY_TERM_SINE,
    ASSAY_TERM_SOFTMAX,    /* m rows of n */
    ASSAY_TERM_LAYER_NORM, /* m rows of n */
    ASSAY_TERM_DROPOUT,    /* m x n elements; nothing in evaluation mode */
    ASSAY_TERM_GATHER_ADD, /* m edges each add a row of n to a node: message passing */
    ASSAY_TERM_EMBEDDING,  /* m rows of n looked up */
    ASSAY_TERM_SPLINE,     /* m x n elements; k basis functions are evaluated for each */
    ASSAY_TERM_MEAN,       /* m rows of n averaged: pooling */
    ASSAY_TERM_SOLVER,     /* a stencil of k arithmetic operations on m x n grid points */
    ASSAY_TERM_LSTM_CELL,  /* m rows of n units: everything of a cell except its two products, that
                            is the sum of the products and both biases, the gates, the new state */
    ASSAY_TERM_KINDS
} assay_term_kind;

typedef struct assay_term {
    const char *component; /* "layers.0.attention.scores"; valid during the call of the sink */
    assay_term_kind kind;
    int64_t count;   /* how often in one forward pass: time steps, heads, graphs */
    int64_t m, k, n; /* as described at the kind; k is 0 where the kind does not use it */
    /* For a matmul: the number of its two operands that get a gradient in backward. It is 2, or 1
     * if one operand is data. Each gradient costs a matmul of the same size. */
    int operand_gradients;
} assay_term;

typedef void (*assay_term_sink)(void *context, const assay_term *term);

/* Receives a named figure of a model, with a remark or NULL. Both texts are valid only during the
 * call. */
typedef void (*assay_figure_sink)(void *context, const char *name, double value,
                                  const char *remark);

/* ---- The class ---- */

#define ASSAY_MODEL_ABI 1

/* Functions marked optional may be NULL. All take the state that create() made. Inputs belong to
 * the caller and are only read. Outputs belong to the model and are valid until the next call. A
 * call allocates memory only if its shapes are larger than those of all earlier calls. */
typedef struct assay_model_class {
    uint32_t abi;         /* ASSAY_MODEL_ABI */
    uint32_t struct_size; /* sizeof(assay_model_class) */
    const char *name;     /* "lstm" */
    const char *summary;  /* one line */
    const assay_model_option *options;
    size_t option_count;
    const assay_model_input *inputs;
    size_t input_count;

    /* Make a model. `settings` has option_count values within their limits. The weights are drawn
     * from `seed`. */
    assay_status (*create)(const double *settings, uint64_t seed, assay_error *error, void **state);
    void (*destroy)(void *state);

    /* Derive settings from weights: change the settings that the names and shapes of the weights
     * determine, and leave the others as they are. Optional: without it, settings must be given. */
    assay_status (*infer)(const assay_tensor *weights, size_t count, double *settings,
                          assay_error *error);

    /* The trainable tensors, in the order and with the names of a PyTorch state_dict. The array
     * does not change during the life of the model. */
    const assay_model_parameter *(*parameters)(void *state, size_t *count);

    /* Choose training mode (dropout is active, activations are kept) or evaluation mode. A new
     * model is in evaluation mode. Optional. */
    void (*set_training)(void *state, bool training);

    assay_status (*forward)(void *state, const assay_tensor *inputs, size_t count,
                            assay_error *error, assay_tensor *output);

    /* Autoregressive forecast: the next `steps` values after the input, (batch, steps, feature).
     * Optional. */
    assay_status (*forecast)(void *state, const assay_tensor *inputs, size_t count, int64_t steps,
                             assay_error *error, assay_tensor *output);

    /* Run forward(), compute the loss against `target` (shape of the output), and write the
     * gradient of the loss into the `gradient` of every parameter, over the old one. The loss is
     * the mean squared error over all elements, unless training() or the class chooses another.
     * Works in both modes. Optional. */
    assay_status (*gradient)(void *state, const assay_tensor *inputs, size_t count,
                             const assay_tensor *target, assay_error *error, double *loss);

    /* Make one step of the optimizer: change the parameters by the present gradients. The built-in
     * models use Adam, unless training() chooses another optimizer. Optional. */
    assay_status (*update)(void *state, double learning_rate, assay_error *error);

    /* Train in one call, without steps: for models with a closed-form fit. Optional. */
    assay_status (*fit)(void *state, const assay_tensor *inputs, size_t count, assay_error *error);

    /* Generate inputs and a target of a size that suits the settings, for profiles and trials
     * without data. `inputs` receives input_count tensors in the class's order; the `data` of an
     * input that is not generated is NULL. The tensors belong to the model and are valid until the
     * next call or destroy(). Optional. */
    assay_status (*example)(void *state, uint64_t seed, assay_error *error, assay_tensor *inputs,
                            assay_tensor *target);

    /* Pass the arithmetic of forward() on inputs of these shapes to `sink`, term by term. The data
     * of the inputs are not read, except for index tensors, which determine how many edges and
     * graphs there are. Optional. */
    assay_status (*describe)(void *state, const assay_tensor *inputs, size_t count,
                             assay_term_sink sink, void *context, assay_error *error);

    void (*memory)(void *state, assay_model_memory *memory); /* optional */

    /* Figures that only this class of models has, such as the stability of an MVAR. Optional. */
    assay_status (*figures)(void *state, assay_figure_sink sink, void *context, assay_error *error);

    /* The struct that says how this model is trained. It belongs to the model, and the caller may
     * change it between calls. Optional: without it, the class fixes loss and optimizer. */
    assay_model_training *(*training)(void *state);
} assay_model_class;

/* The function that a plugin exports under the name "assay_model_plugin". */
typedef const assay_model_class *(*assay_model_plugin_function)(void);

/* ---- Finding and using models ---- */

/* The built-in classes, sorted by name. */
ASSAY_API const assay_model_class *const *assay_model_classes(size_t *count);

/* Find a class. `name` is the name of a built-in class. If it contains a '/' or ends in ".so", it
 * is the path of a plugin, which stays loaded for the life of the process. The call fails with
 * ASSAY_E_NOT_FOUND for an unknown name (the error names the nearest one, or all), with
 * ASSAY_E_FORMAT for a file that is no plugin, and with ASSAY_E_VERSION for a plugin of another
 * ABI. */
ASSAY_API ASSAY_MUST_USE assay_status assay_model_find(const char *name, assay_error *error,
                                                       const assay_model_class **class_);

/* The class of the same model on a device. "cpu" is the class itself. "cuda:0" is a class whose
 * instances keep parameters, gradients, optimizer state and activations on the first CUDA device,
 * and compute there. The results are the same except for rounding. The class lives as long as the
 * process.
 *
 * The values and gradients of assay_model_parameters() are on the host. Call
 * assay_model_parameters() again before you read them after a pass, and before you change them.
 *
 * The first call for a device opens the driver, cuBLAS and NVRTC and compiles the kernels, which
 * takes about a second. The call fails with ASSAY_E_ARGUMENT for a malformed device name. It fails
 * with ASSAY_E_UNSUPPORTED if a library or the device is missing (the error has the remedy), or if
 * the model has no CUDA implementation. */
ASSAY_API ASSAY_MUST_USE assay_status assay_model_class_on(const assay_model_class *class_,
                                                           const char *device, assay_error *error,
                                                           const assay_model_class **on_device);
/* The device of a class: "cpu" or "cuda:0". */
ASSAY_API const char *assay_model_class_device(const assay_model_class *class_);

typedef struct assay_model assay_model;

/* Make a model. `settings` has option_count values, or is NULL for the defaults. ASSAY_E_ARGUMENT
 * if a setting is outside its limits; the error names it. Caller frees. */
ASSAY_API ASSAY_MUST_USE assay_status assay_model_new(const assay_model_class *class_,
                                                      const double *settings, uint64_t seed,
                                                      assay_error *error, assay_model **model);
ASSAY_API void assay_model_free(assay_model *model);

ASSAY_API const assay_model_class *assay_model_class_of(const assay_model *model);
ASSAY_API const double *assay_model_settings(const assay_model *model);
/* The state that the class's create() made, for direct calls of the functions of the class. */
ASSAY_API void *assay_model_state(const assay_model *model);
/* The trainable tensors. If they are on a device that cannot copy them to the host, because it was
 * lost for example, every `data` and `gradient` is NULL; assay_model_save_weights() and the next
 * pass say why. */
ASSAY_API const assay_model_parameter *assay_model_parameters(assay_model *model, size_t *count);
ASSAY_API uint64_t assay_model_parameter_count(assay_model *model);
ASSAY_API void assay_model_set_training(assay_model *model, bool training);

/* How the model is trained. You may read it, and change it between calls; it lives as long as the
 * model. NULL if the class fixes loss and optimizer. */
ASSAY_API assay_model_training *assay_model_training_of(assay_model *model);

/* These calls check their arguments and call the function of the class with the same name.
 * ASSAY_E_UNSUPPORTED if the class lacks the function. Inputs may be in any order and are matched
 * by name; an input without a name is the first one. The error names missing, unknown and wrongly
 * shaped inputs. ASSAY_E_DATA for values that are not finite. */
ASSAY_API ASSAY_MUST_USE assay_status assay_model_forward(assay_model *model,
                                                          const assay_tensor *inputs, size_t count,
                                                          assay_error *error, assay_tensor *output);
ASSAY_API ASSAY_MUST_USE assay_status assay_model_forecast(assay_model *model,
                                                           const assay_tensor *inputs, size_t count,
                                                           int64_t steps, assay_error *error,
                                                           assay_tensor *output);
ASSAY_API ASSAY_MUST_USE assay_status assay_model_gradient(assay_model *model,
                                                           const assay_tensor *inputs, size_t count,
                                                           const assay_tensor *target,
                                                           assay_error *error, double *loss);
ASSAY_API ASSAY_MUST_USE assay_status assay_model_update(assay_model *model, double learning_rate,
                                                         assay_error *error);
ASSAY_API ASSAY_MUST_USE assay_status assay_model_fit(assay_model *model,
                                                      const assay_tensor *inputs, size_t count,
                                                      assay_error *error);
ASSAY_API ASSAY_MUST_USE assay_status assay_model_example(assay_model *model, uint64_t seed,
                                                          assay_error *error, assay_tensor *inputs,
                                                          assay_tensor *target);
ASSAY_API ASSAY_MUST_USE assay_status assay_model_describe(assay_model *model,
                                                           const assay_tensor *inputs, size_t count,
                                                           assay_term_sink sink, void *context,
                                                           assay_error *error);
ASSAY_API ASSAY_MUST_USE assay_status assay_model_memory_now(assay_model *model, assay_error *error,
                                                             assay_model_memory *memory);

ASSAY_API ASSAY_MUST_USE assay_status assay_model_figures(assay_model *model,
                                                          assay_figure_sink sink, void *context,
                                                          assay_error *error);

enum { ASSAY_MODELS_MAX_THREADS = 256 };

/* Set the number of threads for the arithmetic of the built-in models, in the whole process. A
 * number below 1 means 1, and a number above ASSAY_MODELS_MAX_THREADS means that maximum. */
ASSAY_API void assay_models_set_threads(int threads);

/* ---- Files ---- */

/* Load or save weights as a safetensors file with float32, float64, float16 or bfloat16. If tensors
 * are missing, extra or of another shape, loading fails with ASSAY_E_FORMAT, names them, and
 * changes nothing. Saving also stores the model's name and settings in the file's metadata. */
ASSAY_API ASSAY_MUST_USE assay_status assay_model_load_weights(assay_model *model, const char *path,
                                                               assay_error *error);
ASSAY_API ASSAY_MUST_USE assay_status assay_model_save_weights(assay_model *model, const char *path,
                                                               assay_error *error);
/* Check whether a file of weights would load. The error has room for a few problems only. This call
 * passes every problem to `sink` as a line of text that is valid during the call; `sink` may be
 * NULL. The model does not change. */
typedef void (*assay_problem_sink)(void *context, const char *problem);
ASSAY_API ASSAY_MUST_USE assay_status assay_model_check_weights(assay_model *model,
                                                                const char *path,
                                                                assay_problem_sink sink,
                                                                void *context, assay_error *error);
/* Save the gradients under the names of their parameters. */
ASSAY_API ASSAY_MUST_USE assay_status assay_model_save_gradients(assay_model *model,
                                                                 const char *path,
                                                                 assay_error *error);
/* Derive settings from a file of weights. Fill `settings` with option_count values before the call.
 * The call replaces the settings that the file stores, or that the names and shapes of its weights
 * determine. ASSAY_E_FORMAT for weights of another model. */
ASSAY_API ASSAY_MUST_USE assay_status assay_model_infer(const assay_model_class *class_,
                                                        const char *path, assay_error *error,
                                                        double *settings);

/* Load the array of a .npy file, converted to `element`. A value that would change by more than
 * rounding is refused. Release with assay_tensor_release. */
ASSAY_API ASSAY_MUST_USE assay_status assay_tensor_load_npy(const char *path, assay_element element,
                                                            assay_error *error,
                                                            assay_tensor *tensor);
ASSAY_API ASSAY_MUST_USE assay_status assay_tensor_save_npy(const assay_tensor *tensor,
                                                            const char *path, assay_error *error);
/* Load a folder of raw CSV files in the style of OGB as the inputs of the graph models. The files
 * are edge.csv, node-feat.csv, num-node-list.csv and num-edge-list.csv, each plain or .gz, in the
 * folder or in its subfolder raw. The inputs are "nodes" (nodes, features) float32, "edges" (2,
 * edges) int64, "graphs" (nodes) int64. The edges are those of the file; no reverse edges are
 * added. Release each of the 3 tensors. */
ASSAY_API ASSAY_MUST_USE assay_status assay_tensor_load_graph(const char *folder,
                                                              assay_error *error,
                                                              assay_tensor tensors[3]);
/* Load the labels of such a folder: node-label.csv or, if there is none, graph-label.csv, as (rows,
 * labels) float32. ASSAY_E_NOT_FOUND if there is neither. */
ASSAY_API ASSAY_MUST_USE assay_status assay_tensor_load_graph_labels(const char *folder,
                                                                     assay_error *error,
                                                                     assay_tensor *labels);
/* Load a table of molecules in the form in which the Long Range Graph Benchmark publishes
 * peptides-func: CSV, plain or .gz, with a column "smiles" and, for the labels, a column "labels"
 * of lists. The first `most` molecules (0: all) become graphs of their heavy atoms with the nine
 * features of OGB. `tensors` are as for assay_tensor_load_graph; each bond is an edge in both
 * directions. `labels` is (molecules, labels) float32, or an empty tensor without that column.
 * Release all four. ASSAY_E_FORMAT for a malformed table; the error gives file, line and
 * character. */
ASSAY_API ASSAY_MUST_USE assay_status assay_tensor_load_molecules(const char *path, int64_t most,
                                                                  assay_error *error,
                                                                  assay_tensor tensors[3],
                                                                  assay_tensor *labels);
ASSAY_API void assay_tensor_release(assay_tensor *tensor);
ASSAY_API int64_t assay_tensor_count(const assay_tensor *tensor); /* elements */

#ifdef __cplusplus
}
#endif

#endif
