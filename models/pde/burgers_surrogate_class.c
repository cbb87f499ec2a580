/* The surrogate's net as a model class, the table of functions that every command uses. */
#include <stdlib.h>

#include "base/error.h"
#include "models/field/field_class.h"
#include "models/pde/burgers_surrogate.h"

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
    assay__field_model model;
    assay__burgers_data_shape data;
} instance;

static assay_status create(const double *settings, uint64_t seed, assay_error *error, void **state)
{
    instance *self = calloc(1, sizeof *self);
    if (self == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "burgers_surrogate: out of memory");
    self->model.batch = (int64_t)settings[BATCH];
    self->data = (assay__burgers_data_shape){.points = (int64_t)settings[POINTS],
                                             .modes = (int64_t)settings[MODES],
                                             .snapshots = 1,
                                             .viscosity = settings[VISCOSITY],
                                             .duration = settings[DURATION]};
    assay__mlp_shape shape = assay__burgers_surrogate_net_shape(
        self->data.points, (int64_t)settings[HIDDEN], (int64_t)settings[LAYERS]);
    assay__neural_net *mlp = NULL;
    assay_status status = assay__mlp_new(&shape, seed, error, &mlp);
    if (status != ASSAY_OK) {
        free(self);
        return status;
    }
    self->model.net = mlp;
    *state = self;
    return ASSAY_OK;
}

static assay_status infer(const assay_tensor *weights, size_t count, double *settings,
                          assay_error *error)
{
    assay__field_widths widths;
    assay_status status = assay__field_infer(weights, count, "weight", 2, 2, error, &widths);
    if (status != ASSAY_OK)
        return status;
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

/* Make the example with the solver, so that it is data of the kind that the surrogate is for. */
static assay_status example(void *state, uint64_t seed, assay_error *error, assay_tensor *inputs,
                            assay_tensor *target)
{
    instance *self = state;
    const assay__field_data *room = &self->model.example;
    int64_t points = self->data.points;
    assay__burgers_data *data = NULL;
    assay_status status = assay__field_example_room(&self->model, error, &inputs[0], target);
    if (status == ASSAY_OK)
        status = assay__burgers_data_new(&self->data, seed, error, &data);
    if (status != ASSAY_OK)
        return status;
    for (int64_t i = 0; i < self->model.batch; i++)
        assay__burgers_data_sample(data, i, room->x + i * points, room->target + i * points);
    assay__burgers_data_free(data);
    return ASSAY_OK;
}

const assay_model_class assay__burgers_surrogate_class = {
    ASSAY__FIELD_FUNCTIONS,
    .name = "burgers_surrogate",
    .summary = "net that learns Burgers' equation from its solver: u(0) to u(duration)",
    .options = options,
    .option_count = OPTIONS,
    .inputs = inputs_taken,
    .create = create,
    .infer = infer,
    .example = example,
};
