/* What the classes of this folder share: x (rows, input) goes in, y (rows, output) comes out,
 * made-up data is a smooth function, weights are called layers.N.something. */
#ifndef ASSAY_MODELS_FIELD_FIELD_H
#define ASSAY_MODELS_FIELD_FIELD_H

#include "assay/model.h"
#include "kernel/memory.h"

/* Rows in each of the fewest equal blocks of at most `most`, which is a multiple of 16, as is the
 * result. */
int64_t assay__field_block(int64_t rows, int64_t most);

/* A block's part of the mean squared error over all rows, and of its gradient dy: `count` elements,
 * `share` of all. */
double assay__field_loss(int64_t count, double share, const float *y, const float *target,
                         float *dy);

/* The one input all of them take. */
extern const assay_model_input assay__field_inputs[1];

/* Check `input` against that width and, unless NULL, `target` against (rows, output);
 * ASSAY_E_ARGUMENT names what does not fit, and no rows at all. */
ASSAY_MUST_USE assay_status assay__field_check(int64_t input_width, int64_t output_width,
                                               const assay_tensor *input,
                                               const assay_tensor *target, assay_error *error,
                                               int64_t *rows);

/* y (rows, output) as a tensor. */
assay_tensor assay__field_output(int64_t rows, int64_t output_width, const float *y);

/* Made-up data, not counted as the model's own memory. Zero: none yet. */
typedef struct assay__field_data {
    assay__memory *memory;
    float *x, *target;
} assay__field_data;

/* x (rows, input) uniform in [-1, 1], target (rows, output):
 * sin(pi (x_0 + o / 4)) cos(pi x_1 / 2) cos(pi x_2 / 3) ..., o the output's index. */
ASSAY_MUST_USE assay_status assay__field_example(assay__field_data *data, int64_t rows,
                                                 int64_t input_width, int64_t output_width,
                                                 uint64_t seed, assay_error *error,
                                                 assay_tensor *input, assay_tensor *target);
void assay__field_data_release(assay__field_data *data);

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
