/* The surrogate's net behind the table of functions every command uses. */
#include <stdlib.h>

#include "base/error.h"
#include "field/field.h"
#include "kernel/memory.h"
#include "pde/burgers_surrogate.h"

enum { POINTS, HIDDEN, LAYERS, VISCOSITY, DURATION, MODES, BATCH, OPTIONS };

static const assay_model_option options[OPTIONS] = {
    {"num-points", "points of the grid", 64, 5, 65536, true, NULL},
    {"hidden-dim", "width of the hidden layers", 128, 1, 65536, true, NULL},
    {"num-layers", "hidden layers", 2, 1, 1024, true, NULL},
    {"viscosity", "of made-up data", 0.02, 1e-6, 1e6, false, NULL},
    {"duration", "of made-up data: the time to bridge", 0.2, 1e-9, 1e6, false, NULL},
    {"num-modes", "of made-up data: waves in the initial values", 4, 1, 1024, true, NULL},
    {"batch-size", "rows of made-up data", 64, 1, 1e9, true, NULL},
};

static const assay_model_input inputs_taken[] = {
    {"input", "(rows, num-points): u at the start", ASSAY_F32, 2, false},
};

typedef struct instance {
    assay__mlp *net;
    assay__burgers_data_shape data;
    int64_t batch;
    assay__memory *memory;  /* of made-up data */
    float *initial, *later; /* (batch, points) */
} instance;

static void destroy(void *state)
{
    instance *self = state;
    if (self != NULL) {
        assay__mlp_free(self->net);
        assay__memory_free(self->memory);
        free(self);
    }
}

static assay_status create(const double *settings, uint64_t seed, assay_error *error, void **state)
{
    instance *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return assay__fail(error, ASSAY_E_MEMORY, "burgers_surrogate: out of memory");
    }
    self->batch = (int64_t)settings[BATCH];
    self->data = (assay__burgers_data_shape){.points = (int64_t)settings[POINTS],
                                             .modes = (int64_t)settings[MODES],
                                             .snapshots = 1,
                                             .viscosity = settings[VISCOSITY],
                                             .duration = settings[DURATION]};
    assay__mlp_shape shape = assay__burgers_surrogate_net_shape(
        self->data.points, (int64_t)settings[HIDDEN], (int64_t)settings[LAYERS]);
    assay_status status = assay__mlp_new(&shape, seed, error, &self->net);
    if (status != ASSAY_OK) {
        destroy(self);
        return status;
    }
    *state = self;
    return ASSAY_OK;
}

static assay_status infer(const assay_tensor *weights, size_t count, double *settings,
                          assay_error *error)
{
    assay__field_widths widths;
    assay_status status = assay__field_infer(weights, count, "weight", 2, 2, error, &widths);
    if (status != ASSAY_OK) {
        return status;
    }
    if (widths.input != widths.output) {
        return assay__fail(error, ASSAY_E_FORMAT,
                           "a surrogate has as many outputs as inputs, these weights %lld and %lld",
                           (long long)widths.output, (long long)widths.input);
    }
    settings[POINTS] = (double)widths.input;
    settings[HIDDEN] = (double)widths.hidden;
    settings[LAYERS] = (double)widths.hidden_layers;
    return ASSAY_OK;
}

static const assay_model_parameter *parameters(void *state, size_t *count)
{
    instance *self = state;
    const assay__parameters *all = assay__mlp_parameters(self->net);
    *count = all->count;
    return all->list;
}

static assay_status check(const instance *self, const assay_tensor *input,
                          const assay_tensor *target, assay_error *error, int64_t *rows)
{
    return assay__field_check(self->data.points, self->data.points, input, target, error, rows);
}

static assay_status forward(void *state, const assay_tensor *inputs, size_t count,
                            assay_error *error, assay_tensor *output)
{
    (void)count;
    instance *self = state;
    int64_t rows;
    const float *y;
    assay_status status = check(self, &inputs[0], NULL, error, &rows);
    if (status == ASSAY_OK) {
        status = assay__mlp_forward(self->net, rows, inputs[0].data, error, &y);
    }
    if (status == ASSAY_OK) {
        *output = assay__field_output(rows, self->data.points, y);
    }
    return status;
}

static assay_status gradient(void *state, const assay_tensor *inputs, size_t count,
                             const assay_tensor *target, assay_error *error, double *loss)
{
    (void)count;
    instance *self = state;
    int64_t rows;
    assay_status status = check(self, &inputs[0], target, error, &rows);
    if (status != ASSAY_OK) {
        return status;
    }
    return assay__mlp_gradient(self->net, rows, inputs[0].data, target->data, error, loss);
}

static assay_status update(void *state, double learning_rate, assay_error *error)
{
    instance *self = state;
    return assay__mlp_update(self->net, learning_rate, error);
}

static assay_status make_room(instance *self, assay_error *error)
{
    size_t count = (size_t)self->batch * (size_t)self->data.points;
    if (self->memory == NULL) {
        self->memory = assay__memory_new();
    }
    if (self->memory == NULL ||
        assay__memory_resize(self->memory, ASSAY__WORKSPACE, count, sizeof(float),
                             &self->initial) ||
        assay__memory_resize(self->memory, ASSAY__WORKSPACE, count, sizeof(float), &self->later)) {
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for %lld rows of example data",
                           (long long)self->batch);
    }
    return ASSAY_OK;
}

static assay_status example(void *state, uint64_t seed, assay_error *error, assay_tensor *inputs,
                            assay_tensor *target)
{
    instance *self = state;
    int64_t points = self->data.points;
    assay__burgers_data *data = NULL;
    assay_status status = make_room(self, error);
    if (status == ASSAY_OK) {
        status = assay__burgers_data_new(&self->data, seed, error, &data);
    }
    if (status != ASSAY_OK) {
        return status;
    }
    for (int64_t i = 0; i < self->batch; i++) {
        assay__burgers_data_sample(data, i, self->initial + i * points, self->later + i * points);
    }
    assay__burgers_data_free(data);
    inputs[0] = assay__field_output(self->batch, points, self->initial);
    inputs[0].name = inputs_taken[0].name;
    *target = assay__field_output(self->batch, points, self->later);
    target->name = "target";
    return ASSAY_OK;
}

static assay_status describe(void *state, const assay_tensor *inputs, size_t count,
                             assay_operation_sink sink, void *context, assay_error *error)
{
    (void)count;
    instance *self = state;
    int64_t rows;
    assay_status status = check(self, &inputs[0], NULL, error, &rows);
    if (status == ASSAY_OK) {
        assay__mlp_describe(self->net, rows, sink, context);
    }
    return status;
}

static void memory(void *state, assay_model_memory *figures)
{
    instance *self = state;
    assay__mlp_memory(self->net, figures);
}

const assay_model_class assay__burgers_surrogate_class = {
    .abi = ASSAY_MODEL_ABI,
    .struct_size = sizeof(assay_model_class),
    .name = "burgers_surrogate",
    .summary = "net that learns Burgers' equation from its solver: u(0) to u(duration)",
    .options = options,
    .option_count = OPTIONS,
    .inputs = inputs_taken,
    .input_count = 1,
    .create = create,
    .destroy = destroy,
    .infer = infer,
    .parameters = parameters,
    .forward = forward,
    .gradient = gradient,
    .update = update,
    .example = example,
    .describe = describe,
    .memory = memory,
};
