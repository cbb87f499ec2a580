/* The part that is common to the classes of networks that map rows. Such a network takes x (rows,
 * input) and gives y (rows, output), its example data is a smooth function, and its weights are
 * called layers.N.something. A class of its own has only options, create() and infer(). The other
 * functions are here, and call the functions of the network's kind (neural_net.h). */
#ifndef ASSAY_MODELS_FIELD_FIELD_CLASS_H
#define ASSAY_MODELS_FIELD_FIELD_CLASS_H

#include "assay/model.h"
#include "models/field/neural_net.h"
#include "models/kernel/memory.h"

/* Example data. It does not count as memory of the model. A struct that is all zero holds no data
 * yet. */
typedef struct assay__field_data {
    assay__memory *memory;
    float *x;      /* (rows, input) */
    float *target; /* (rows, output) */
} assay__field_data;

/* The state of an instance, or the first member of the state. */
typedef struct assay__field_model {
    assay__neural_net *net;
    int64_t batch; /* rows of the example data */
    assay__field_data example;
} assay__field_model;

/* Makes a state that owns `net`, which create() hands out as *state. On failure `net` is freed. */
ASSAY_MUST_USE assay_status assay__field_create(assay__neural_net *net, int64_t batch,
                                                assay_error *error, void **state);

/* Checks `input` against the network's input width and, unless it is NULL, `target` against (rows,
 * output). */
ASSAY_MUST_USE assay_status assay__field_check(const assay__neural_net *net,
                                               const assay_tensor *input,
                                               const assay_tensor *target, assay_error *error);

/* Functions for the table of a class; `state` is an assay__field_model. */
void assay__field_destroy(void *state);
const assay_model_parameter *assay__field_parameters(void *state, size_t *count);
assay_status assay__field_forward(void *state, const assay_tensor *inputs, size_t count,
                                  assay_error *error, assay_tensor *output);
assay_status assay__field_gradient(void *state, const assay_tensor *inputs, size_t count,
                                   const assay_tensor *target, assay_error *error, double *loss);
assay_status assay__field_update(void *state, double learning_rate, assay_error *error);
/* Makes example data: x uniform in [-1, 1], and target sin(pi (x_0 + o / 4)) cos(pi x_1 / 2) cos(pi
 * x_2 / 3) ..., where o is the index of the output. */
assay_status assay__field_example(void *state, uint64_t seed, assay_error *error,
                                  assay_tensor *inputs, assay_tensor *target);
assay_status assay__field_describe(void *state, const assay_tensor *inputs, size_t count,
                                   assay_term_sink sink, void *context, assay_error *error);
void assay__field_memory(void *state, assay_model_memory *figures);
assay_model_training *assay__field_training(void *state);

/* The one input that all of these classes take. */
extern const assay_model_input assay__field_inputs[1];

/* The members of the table that all such classes share. Each class adds the others, such as
 * example(). */
/* clang-format off */
#define ASSAY__FIELD_FUNCTIONS                                                                     \
    .abi = ASSAY_MODEL_ABI, .struct_size = sizeof(assay_model_class), .input_count = 1,            \
    .destroy = assay__field_destroy, .parameters = assay__field_parameters,                        \
    .forward = assay__field_forward, .gradient = assay__field_gradient,                            \
    .update = assay__field_update, .describe = assay__field_describe,                              \
    .memory = assay__field_memory, .training = assay__field_training
/* clang-format on */

/* For a class with an example() of its own: takes room for the data in model->example, and returns
 * it as two tensors that the caller fills. */
ASSAY_MUST_USE assay_status assay__field_example_room(assay__field_model *model, assay_error *error,
                                                      assay_tensor *input, assay_tensor *target);

/* Returns the tensor "layers.LAYER.KIND" of that rank, or NULL if there is none. */
const assay_tensor *assay__field_find(const assay_tensor *weights, size_t count, int64_t layer,
                                      const char *kind, uint32_t rank);

/* Derives the widths and the number of hidden layers from the shapes (out, in, ...) of the tensors
 * "layers.N.KIND". ASSAY_E_FORMAT if there are fewer than `least` of these tensors. */
typedef struct assay__field_widths {
    int64_t input, hidden, output, hidden_layers;
} assay__field_widths;

ASSAY_MUST_USE assay_status assay__field_infer(const assay_tensor *weights, size_t count,
                                               const char *kind, uint32_t rank, int64_t least,
                                               assay_error *error, assay__field_widths *widths);

#endif
