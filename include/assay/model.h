/* Models: what assay measures out of the box, and how a program's own model joins them.
 *
 * A model is a class (a table of functions, assay_model_class) and an instance of it (assay_model).
 * The built-in ones and those loaded from a shared object go through the same table, so every
 * command works on both:
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
 * A plugin is a shared object with one function, assay_model_plugin(), that returns its class:
 * see examples/plugin. It needs this header and nothing of assay's to link with.
 *
 * Threads: an instance belongs to one thread at a time; classes are constant. The arithmetic of the
 * built-in models runs on as many threads as assay_models_set_threads() says, by default one.
 * The same seed, settings and inputs give the same numbers on the same machine.
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

/* Row-major, without gaps. A tensor of rank 0 holds one value. */
typedef struct assay_tensor {
    const char *name; /* "lstm.weight_ih_l0"; of an input, its name in the class */
    assay_element element;
    uint32_t rank;
    int64_t shape[ASSAY_TENSOR_MAX_RANK]; /* entries past the rank are 0 */
    void *data;
} assay_tensor;

/* ---- Options, inputs and parameters of a class ---- */

/* A setting fixed when a model is made: its shape, and constants such as a dropout rate. Numbers
 * are doubles throughout (integers are exact up to 2^53); a choice among `words` is its index. */
typedef struct assay_model_option {
    const char *name; /* "hidden-dim": on the command line --hidden-dim */
    const char *help; /* one line */
    double initial;   /* the default */
    double minimum, maximum;
    bool integer;
    const char *const *words; /* of a choice: NULL-terminated; else NULL */
} assay_model_option;

/* What forward() takes. */
typedef struct assay_model_input {
    const char *name; /* "input" */
    const char *help; /* one line, with the shape: "(batch, time, input-dim)" */
    assay_element element;
    uint32_t rank;
    bool optional;
} assay_model_input;

/* A trainable tensor; `gradient` has the shape of `value` and is NULL for models without one. */
typedef struct assay_model_parameter {
    assay_tensor value;
    void *gradient;
} assay_model_parameter;

/* Bytes a model holds now, by use; exact, alignment apart. */
typedef struct assay_model_memory {
    uint64_t parameters;
    uint64_t gradients;
    uint64_t optimizer;   /* moments and the like */
    uint64_t activations; /* kept from forward for backward, outputs included */
    uint64_t workspace;   /* everything else: buffers reused within a pass, graphs, index tables,
                             made-up data where the model keeps them there */
} assay_model_memory;

/* ---- How a model is trained ---- */

/* Means over all elements of the output, but for the last, which is a mean over its rows. They are
 * PyTorch's MSELoss, L1Loss, BCEWithLogitsLoss and CrossEntropyLoss of probabilities. */
typedef enum assay_loss {
    ASSAY_LOSS_MSE,
    ASSAY_LOSS_L1,
    ASSAY_LOSS_BINARY_CROSS_ENTROPY, /* of logits; targets from 0 to 1 */
    ASSAY_LOSS_CROSS_ENTROPY         /* of the softmax of a row; targets are probabilities */
} assay_loss;

/* With PyTorch's defaults. */
typedef enum assay_optimizer {
    ASSAY_OPTIMIZER_ADAM,
    ASSAY_OPTIMIZER_ADAMW,   /* weight decay 0.01 */
    ASSAY_OPTIMIZER_SGD,     /* value -= rate x gradient; keeps nothing */
    ASSAY_OPTIMIZER_MOMENTUM /* SGD with a momentum of 0.9 */
} assay_optimizer;

/* What gradient() and update() do, and what dropout draws. All zero is the default. */
typedef struct assay_model_training {
    assay_loss loss;
    assay_optimizer optimizer;
    bool no_dropout;       /* none in training mode either */
    uint64_t seed, passes; /* of dropout's masks: their seed, and the passes drawn from it so far */
    uint64_t reserved[4];  /* zero */
} assay_model_training;

/* ---- The arithmetic of one forward pass, as a list of terms ----
 * FLOPs and complexities are derived from these terms alone, not from the model's code. */

typedef enum assay_term_kind {
    ASSAY_TERM_MATMUL,   /* (m, k) by (k, n) */
    ASSAY_TERM_BIAS,     /* one addition to each of m x n elements */
    ASSAY_TERM_ADD,      /* two arrays of m x n elements: residuals, merges */
    ASSAY_TERM_MULTIPLY, /* likewise: gates, scales */
    ASSAY_TERM_RELU,     /* of m x n elements, as the following */
    ASSAY_TERM_GELU,
    ASSAY_TERM_TANH,
    ASSAY_TERM_SIGMOID,
    ASSAY_TERM_SINE,
    ASSAY_TERM_SOFTMAX,    /* m rows of n */
    ASSAY_TERM_LAYER_NORM, /* m rows of n */
    ASSAY_TERM_DROPOUT,    /* m x n elements; nothing in evaluation */
    ASSAY_TERM_GATHER_ADD, /* m edges each add a row of n to a node: message passing */
    ASSAY_TERM_EMBEDDING,  /* m rows of n looked up */
    ASSAY_TERM_SPLINE,     /* m x n elements, k basis functions of each evaluated */
    ASSAY_TERM_MEAN,       /* m rows of n averaged: pooling */
    ASSAY_TERM_SOLVER,     /* a stencil of k arithmetic operations on m x n grid points */
    ASSAY_TERM_LSTM_CELL,  /* m rows of n units: everything of a cell but its two products, that is
                            adding these and both biases, the gates, the new state */
    ASSAY_TERM_KINDS
} assay_term_kind;

typedef struct assay_term {
    const char *component; /* "layers.0.attention.scores"; valid during the call of the sink */
    assay_term_kind kind;
    int64_t count;   /* how often in one forward pass: time steps, heads, graphs */
    int64_t m, k, n; /* as the kind says; k is 0 where it is not named */
    /* Of a matmul: how many of its two operands get a gradient in backward, each of which costs a
     * matmul of the same size: 2, or 1 where an operand is data. */
    int operand_gradients;
} assay_term;

typedef void (*assay_term_sink)(void *context, const assay_term *term);

/* A named figure of a model, with a remark or NULL; both texts live only during the call. */
typedef void (*assay_figure_sink)(void *context, const char *name, double value,
                                  const char *remark);

/* ---- The class ---- */

#define ASSAY_MODEL_ABI 1

/* Functions marked optional may be NULL. All take the state that create() made. Inputs are the
 * caller's and only read. Outputs are the model's, valid until the next call. After the first call
 * with shapes of a size, further calls with shapes no larger allocate nothing. */
typedef struct assay_model_class {
    uint32_t abi;         /* ASSAY_MODEL_ABI */
    uint32_t struct_size; /* sizeof(assay_model_class) */
    const char *name;     /* "lstm" */
    const char *summary;  /* one line */
    const assay_model_option *options;
    size_t option_count;
    const assay_model_input *inputs;
    size_t input_count;

    /* `settings`: option_count values within their limits. Weights are drawn from `seed`. */
    assay_status (*create)(const double *settings, uint64_t seed, assay_error *error, void **state);
    void (*destroy)(void *state);

    /* Derive settings from weights: change those of `settings` that the names and shapes of the
     * weights determine, and leave the others. Optional: without it, settings must be given. */
    assay_status (*infer)(const assay_tensor *weights, size_t count, double *settings,
                          assay_error *error);

    /* The trainable tensors, in the order and with the names of a PyTorch state_dict; constant for
     * the life of the model. */
    const assay_model_parameter *(*parameters)(void *state, size_t *count);

    /* Training mode (dropout active, activations kept) or evaluation, which is how it starts.
     * Optional. */
    void (*set_training)(void *state, bool training);

    assay_status (*forward)(void *state, const assay_tensor *inputs, size_t count,
                            assay_error *error, assay_tensor *output);

    /* Autoregressive: the next `steps` values after the input, (batch, steps, feature). Optional.
     */
    assay_status (*forecast)(void *state, const assay_tensor *inputs, size_t count, int64_t steps,
                             assay_error *error, assay_tensor *output);

    /* forward(), the loss against `target` (shape of the output; mean squared error over all
     * elements unless training() or the class says otherwise), and its gradient in every
     * parameter's `gradient` (overwritten). Works in either mode. Optional. */
    assay_status (*gradient)(void *state, const assay_tensor *inputs, size_t count,
                             const assay_tensor *target, assay_error *error, double *loss);

    /* Change the parameters by the present gradients: one step of an optimizer, which is Adam in
     * the built-in models unless training() says otherwise. Optional. */
    assay_status (*update)(void *state, double learning_rate, assay_error *error);

    /* Training without steps: closed-form fits. Optional. */
    assay_status (*fit)(void *state, const assay_tensor *inputs, size_t count, assay_error *error);

    /* Made-up inputs (input_count of them, in the class's order; those not made have data NULL) and
     * a target of a size natural to the settings, for profiles and trials without data. The model
     * owns them until the next call or destroy(). Optional. */
    assay_status (*example)(void *state, uint64_t seed, assay_error *error, assay_tensor *inputs,
                            assay_tensor *target);

    /* The arithmetic of forward() on inputs of these shapes (data is not read but for index
     * tensors, which decide how many edges and graphs there are). Optional. */
    assay_status (*describe)(void *state, const assay_tensor *inputs, size_t count,
                             assay_term_sink sink, void *context, assay_error *error);

    void (*memory)(void *state, assay_model_memory *memory); /* optional */

    /* Figures that only this model has: an MVAR says how stable it is. Optional. */
    assay_status (*figures)(void *state, assay_figure_sink sink, void *context, assay_error *error);

    /* The model's own record of how it is trained, which the caller may change between calls.
     * Optional: without it, loss and optimizer are those of the class. */
    assay_model_training *(*training)(void *state);
} assay_model_class;

/* The function that a plugin exports under the name "assay_model_plugin". */
typedef const assay_model_class *(*assay_model_plugin_function)(void);

/* ---- Finding and using models ---- */

/* The built-in classes, sorted by name. */
ASSAY_API const assay_model_class *const *assay_model_classes(size_t *count);

/* A built-in class by name, or, if `name` contains a '/' or ends in ".so", the class of that
 * plugin, which stays loaded for the life of the process. ASSAY_E_NOT_FOUND with the nearest
 * name or all there are; ASSAY_E_FORMAT for a file that is no plugin; ASSAY_E_VERSION for another
 * ABI. */
ASSAY_API ASSAY_MUST_USE assay_status assay_model_find(const char *name, assay_error *error,
                                                       const assay_model_class **class_);

/* The class of the same model on a device: "cpu" is the class itself, "cuda:0" a class whose
 * instances keep parameters, gradients, moments and activations on the first CUDA device and
 * compute there, with the same numbers but for rounding. Everything else is the same, and the class
 * lives as long as the process. The values and gradients of assay_model_parameters() are on the
 * host: ask for them again before you read them after a pass, and before you change them.
 *
 * The first call for a device opens the driver, cuBLAS and NVRTC and compiles the kernels, which
 * takes about a second. ASSAY_E_ARGUMENT for a device that cannot be understood;
 * ASSAY_E_UNSUPPORTED, with the remedy, for a library or device that is missing and for a model
 * without a CUDA path. */
ASSAY_API ASSAY_MUST_USE assay_status assay_model_class_on(const assay_model_class *class_,
                                                           const char *device, assay_error *error,
                                                           const assay_model_class **on_device);
/* "cpu" or "cuda:0" */
ASSAY_API const char *assay_model_class_device(const assay_model_class *class_);

typedef struct assay_model assay_model;

/* `settings`: option_count values, or NULL for the defaults. ASSAY_E_ARGUMENT names the setting
 * that is out of its limits. */
ASSAY_API ASSAY_MUST_USE assay_status assay_model_new(const assay_model_class *class_,
                                                      const double *settings, uint64_t seed,
                                                      assay_error *error, assay_model **model);
ASSAY_API void assay_model_free(assay_model *model);

ASSAY_API const assay_model_class *assay_model_class_of(const assay_model *model);
ASSAY_API const double *assay_model_settings(const assay_model *model);
/* What the class's create() made, for direct calls of the functions of the class. */
ASSAY_API void *assay_model_state(const assay_model *model);
ASSAY_API const assay_model_parameter *assay_model_parameters(assay_model *model, size_t *count);
ASSAY_API uint64_t assay_model_parameter_count(assay_model *model);
ASSAY_API void assay_model_set_training(assay_model *model, bool training);

/* How the model is trained, to read or to change between calls; it lives as long as the model. NULL
 * for a class that leaves no choice. */
ASSAY_API assay_model_training *assay_model_training_of(assay_model *model);

/* These call the functions of the class; ASSAY_E_UNSUPPORTED where the class lacks the function.
 * Inputs may come in any order and are matched by name (an input without a name is the first one).
 * The error names missing, unknown and wrongly shaped inputs. Values that are not finite are
 * ASSAY_E_DATA. */
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

/* Threads of the built-in models' arithmetic, process-wide, at least 1. */
ASSAY_API void assay_models_set_threads(int threads);

/* ---- Files ---- */

/* Weights as safetensors, as float32, float64, float16 or bfloat16. Loading names every tensor that
 * is missing, extra or of another shape (ASSAY_E_FORMAT), and then changes nothing. Saving also
 * stores the model's name and settings, in the file's metadata. */
ASSAY_API ASSAY_MUST_USE assay_status assay_model_load_weights(assay_model *model, const char *path,
                                                               assay_error *error);
ASSAY_API ASSAY_MUST_USE assay_status assay_model_save_weights(assay_model *model, const char *path,
                                                               assay_error *error);
/* Check whether the file would load. The error has room for a few problems only; this call gives
 * each problem to `sink` (may be NULL), as a line of text that is valid during the call. The model
 * does not change. */
typedef void (*assay_problem_sink)(void *context, const char *problem);
ASSAY_API ASSAY_MUST_USE assay_status assay_model_check_weights(assay_model *model,
                                                                const char *path,
                                                                assay_problem_sink sink,
                                                                void *context, assay_error *error);
/* Save the gradients under the names of their parameters. */
ASSAY_API ASSAY_MUST_USE assay_status assay_model_save_gradients(assay_model *model,
                                                                 const char *path,
                                                                 assay_error *error);
/* Derive settings from a file of weights. `settings` has option_count values and is already filled;
 * values that are stored with the weights, or that their names and shapes determine, replace those
 * there. ASSAY_E_FORMAT for weights of another model. */
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
/* An OGB-style folder of raw CSV files (edge.csv, node-feat.csv, num-node-list.csv,
 * num-edge-list.csv; each plain or .gz, there or in its subfolder raw) as the inputs of the graph
 * models: "nodes" (nodes, features) float32, "edges" (2, edges) int64, "graphs" (nodes) int64.
 * Edges are those of the file, no reverse ones are added. `tensors` has room for 3; release each.
 */
ASSAY_API ASSAY_MUST_USE assay_status assay_tensor_load_graph(const char *folder,
                                                              assay_error *error,
                                                              assay_tensor tensors[3]);
/* The labels of such a folder: node-label.csv or, if there is none, graph-label.csv, as (rows,
 * labels) float32. ASSAY_E_NOT_FOUND if there is neither. */
ASSAY_API ASSAY_MUST_USE assay_status assay_tensor_load_graph_labels(const char *folder,
                                                                     assay_error *error,
                                                                     assay_tensor *labels);
/* A table of molecules as the Long Range Graph Benchmark publishes peptides-func: CSV, plain or
 * .gz, with a column "smiles" and, for `labels` (molecules, labels) float32, a column "labels" of
 * lists. The first `most` molecules (0: all) become graphs of their heavy atoms with the nine
 * features of OGB; `tensors` are as for assay_tensor_load_graph, each bond an edge in both
 * directions. Release all four. ASSAY_E_FORMAT names file, line and character. */
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
