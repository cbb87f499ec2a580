/* The classes of networks that map rows: x (rows, input) goes in, y (rows, output) comes out,
 * made-up data is a smooth function, weights are called layers.N.something. A class is its options,
 * create() and infer(); the rest is here and goes by the kind of the network (neural_net.h). */
#ifndef ASSAY_MODELS_FIELD_FIELD_CLASS_H
#define ASSAY_MODELS_FIELD_FIELD_CLASS_H

#include "assay/model.h"
#include "models/field/neural_net.h"
#include "models/kernel/memory.h"

/* Made-up data, not counted as the model's own memory. Zero: none yet. */
typedef struct assay__field_data {
    assay__memory *memory;
    float *x;      /* (rows, input) */
    float *target; /* (rows, output) */
} assay__field_data;

/* The state of an instance, or the first member of it. */
typedef struct assay__field_model {
    assay__neural_net *net;
    int64_t batch; /* rows of an example */
    assay__field_data example;
} assay__field_model;

/* A state that owns `net`; create() hands it out as *state. `net` is freed on failure. */
ASSAY_MUST_USE assay_status assay__field_create(assay__neural_net *net, int64_t batch,
                                                assay_error *error, void **state);

/* `input` against the network's width and, unless NULL, `target` against (rows, output). */
ASSAY_MUST_USE assay_status assay__field_check(const assay__neural_net *net,
                                               const assay_tensor *input,
                                               const assay_tensor *target, assay_error *error);

/* Members of assay_model_class; `state` is an assay__field_model. */
void assay__field_destroy(void *state);
const assay_model_parameter *assay__field_parameters(void *state, size_t *count);
assay_status assay__field_forward(void *state, const assay_tensor *inputs, size_t count,
                                  assay_error *error, assay_tensor *output);
assay_status assay__field_gradient(void *state, const assay_tensor *inputs, size_t count,
                                   const assay_tensor *target, assay_error *error, double *loss);
assay_status assay__field_update(void *state, double learning_rate, assay_error *error);
/* x uniform in [-1, 1], target sin(pi (x_0 + o / 4)) cos(pi x_1 / 2) cos(pi x_2 / 3) ..., o the
 * output's index. */
assay_status assay__field_example(void *state, uint64_t seed, assay_error *error,
                                  assay_tensor *inputs, assay_tensor *target);
assay_status assay__field_describe(void *state, const assay_tensor *inputs, size_t count,
                                   assay_term_sink sink, void *context, assay_error *error);
void assay__field_memory(void *state, assay_model_memory *figures);
assay_model_training *assay__field_training(void *state);

/* The one input all of them take. */
extern const assay_model_input assay__field_inputs[1];

/* What every such class has in its table, its own example() apart. */
/* clang-format off */
#define ASSAY__FIELD_FUNCTIONS                                                                     \
    .abi = ASSAY_MODEL_ABI, .struct_size = sizeof(assay_model_class), .input_count = 1,            \
    .destroy = assay__field_destroy, .parameters = assay__field_parameters,                        \
    .forward = assay__field_forward, .gradient = assay__field_gradient,                            \
    .update = assay__field_update, .describe = assay__field_describe,                              \
    .memory = assay__field_memory, .training = assay__field_training
/* clang-format on */

/* For an example() of one's own: room for an example in model->example, and it as two tensors, to
 * be filled. */
ASSAY_MUST_USE assay_status assay__field_example_room(assay__field_model *model, assay_error *error,
                                                      assay_tensor *input, assay_tensor *target);

/* The tensor "layers.LAYER.KIND" of that rank; NULL where there is none. */
const assay_tensor *assay__field_find(const assay_tensor *weights, size_t count, int64_t layer,
                                      const char *kind, uint32_t rank);

/* Input, hidden and output widths and the number of hidden layers from the (out, in, ...) of
 * tensors "layers.N.KIND"; ASSAY_E_FORMAT where there are fewer than `least`. */
typedef struct assay__field_widths {
    int64_t input, hidden, output, hidden_layers;
} assay__field_widths;

ASSAY_MUST_USE assay_status assay__field_infer(const assay_tensor *weights, size_t count,
                                               const char *kind, uint32_t rank, int64_t least,
                                               assay_error *error, assay__field_widths *widths);

#endif
