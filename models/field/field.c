#include "field/field.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "kernel/loss.h"

int64_t assay__field_block(int64_t rows, int64_t most)
{
    int64_t blocks = (rows + most - 1) / most;
    int64_t even = (rows + blocks - 1) / blocks;
    return (even + 15) / 16 * 16;
}

double assay__field_loss(int64_t count, double share, const float *y, const float *target,
                         float *dy)
{
    double mean = assay__mse(count, y, target, dy);
    for (int64_t i = 0; i < count; i++) {
        dy[i] *= (float)share;
    }
    return share * mean;
}

const assay_model_input assay__field_inputs[1] = {
    {.name = "input", .help = "(rows, input-dim)", .element = ASSAY_F32, .rank = 2}};

assay_status assay__field_check(int64_t input_width, int64_t output_width,
                                const assay_tensor *input, const assay_tensor *target,
                                assay_error *error, int64_t *rows)
{
    *rows = input->shape[0];
    if (input->shape[1] != input_width) {
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "'input' has %lld columns, the model takes input-dim %lld",
                           (long long)input->shape[1], (long long)input_width);
    }
    if (*rows < 1) {
        return assay__fail(error, ASSAY_E_ARGUMENT, "'input' has no rows; give at least one");
    }
    if (target != NULL && (target->element != ASSAY_F32 || target->rank != 2 ||
                           target->shape[0] != *rows || target->shape[1] != output_width)) {
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "the target has to be float32 of shape (%lld, %lld), a row for each of "
                           "the input's and output-dim columns",
                           (long long)*rows, (long long)output_width);
    }
    return ASSAY_OK;
}

assay_tensor assay__field_output(int64_t rows, int64_t output_width, const float *y)
{
    return (assay_tensor){.name = "output",
                          .element = ASSAY_F32,
                          .rank = 2,
                          .shape = {rows, output_width},
                          .data = (float *)y};
}

static double example_value(const float *x, int64_t width, int64_t output)
{
    double value = sin(M_PI * ((double)x[0] + 0.25 * (double)output));
    for (int64_t i = 1; i < width; i++) {
        value *= cos(M_PI * (double)x[i] / (double)(i + 1));
    }
    return value;
}

assay_status assay__field_example(assay__field_data *data, int64_t rows, int64_t input_width,
                                  int64_t output_width, uint64_t seed, assay_error *error,
                                  assay_tensor *input, assay_tensor *target)
{
    if (data->memory == NULL) {
        data->memory = assay__memory_new();
    }
    if (data->memory == NULL ||
        assay__memory_resize(data->memory, ASSAY__WORKSPACE, (size_t)rows * (size_t)input_width,
                             sizeof *data->x, &data->x) != ASSAY_OK ||
        assay__memory_resize(data->memory, ASSAY__WORKSPACE, (size_t)rows * (size_t)output_width,
                             sizeof *data->target, &data->target) != ASSAY_OK) {
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for %lld rows of example data",
                           (long long)rows);
    }
    assay__random random;
    assay__random_init(&random, seed);
    for (int64_t row = 0; row < rows; row++) {
        float *x = data->x + row * input_width;
        for (int64_t i = 0; i < input_width; i++) {
            x[i] = (float)(2 * assay__random_uniform(&random) - 1);
        }
        for (int64_t o = 0; o < output_width; o++) {
            data->target[row * output_width + o] = (float)example_value(x, input_width, o);
        }
    }
    *input = assay__field_output(rows, input_width, data->x);
    input->name = assay__field_inputs[0].name;
    *target = assay__field_output(rows, output_width, data->target);
    target->name = "target";
    return ASSAY_OK;
}

void assay__field_data_release(assay__field_data *data)
{
    assay__memory_free(data->memory);
    *data = (assay__field_data){0};
}

const assay_tensor *assay__field_find(const assay_tensor *weights, size_t count, int64_t layer,
                                      const char *kind, uint32_t rank)
{
    char name[64];
    snprintf(name, sizeof name, "layers.%lld.%s", (long long)layer, kind);
    for (size_t i = 0; i < count; i++) {
        if (weights[i].rank == rank && strcmp(weights[i].name, name) == 0) {
            return &weights[i];
        }
    }
    return NULL;
}

assay_status assay__field_infer(const assay_tensor *weights, size_t count, const char *kind,
                                uint32_t rank, int64_t least, assay_error *error,
                                assay__field_widths *widths)
{
    const assay_tensor *first = assay__field_find(weights, count, 0, kind, rank), *last = first;
    int64_t layers = 0;
    for (const assay_tensor *next = first; next != NULL && layers < (int64_t)count; layers++) {
        last = next;
        next = assay__field_find(weights, count, layers + 1, kind, rank);
    }
    if (layers < least) {
        return assay__fail(error, ASSAY_E_FORMAT,
                           "the weights hold no layers.%lld.%s with %u axes: another model's?",
                           (long long)layers, kind, rank);
    }
    *widths = (assay__field_widths){.input = first->shape[1],
                                    .hidden = first->shape[0],
                                    .output = last->shape[0],
                                    .hidden_layers = layers - 1};
    return ASSAY_OK;
}
