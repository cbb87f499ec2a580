/* The heat equation as a model class, the table of functions that every command uses. Parameters
 * are float32, as in every class; the solver itself computes in float64. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/random.h"
#include "models/kernel/memory.h"
#include "models/kernel/optimizer.h"
#include "models/kernel/parameters.h"
#include "models/pde/heat.h"

enum { POINTS, KNOTS, SNAPSHOTS, STEPS, DURATION, IMPLICITNESS, BATCH_SIZE, OPTIONS };

static const assay_model_option options[OPTIONS] = {
    {"num-points", "nodes between the two walls", 64, 1, 1 << 24, true, NULL},
    {"num-knots", "values of the logarithm of the conductivity", 8, 1, 1 << 24, true, NULL},
    {"num-snapshots", "times at which the solution is handed out", 4, 1, 1 << 24, true, NULL},
    {"num-steps", "time steps to each snapshot", 10, 1, 1 << 24, true, NULL},
    {"duration", "time of the last snapshot", 0.1, 1e-12, 1e12, false, NULL},
    {"implicitness", "1/2: Crank-Nicolson, 1: backward Euler", 0.5, 0.5, 1, false, NULL},
    {"batch-size", "initial values of made-up data", 16, 1, 1e9, true, NULL},
};

static const assay_model_input inputs_taken[] = {
    {"input", "(batch, num-points): the temperature at the start", ASSAY_F32, 2, false},
};

typedef struct instance {
    assay__heat *heat;
    assay__memory *memory;  /* of the model, without the solver's */
    assay__memory *example; /* of made-up data */
    assay__parameters parameters;
    assay__adam adam;
    int64_t example_batch;
    double *log_conductivity, *slope; /* (knots): in float64 */
    double *initial;                  /* (batch, points) */
    double *doutput;                  /* (batch, snapshots, points) */
    float *output;                    /* (batch, snapshots, points) */
    float *example_input, *example_target;
} instance;

static void destroy(void *state)
{
    instance *self = state;
    assay__heat_free(self->heat);
    assay__parameters_release(&self->parameters);
    assay__memory_free(self->memory);
    assay__memory_free(self->example);
    free(self);
}

static assay_status allocate(instance *self, int64_t knots)
{
    self->memory = assay__memory_new();
    self->example = assay__memory_new();
    if (self->memory == NULL || self->example == NULL)
        return ASSAY_E_MEMORY;
    (void)assay__parameters_add(&self->parameters, 1, (int64_t[]){knots}, "log_conductivity");
    self->log_conductivity =
        assay__memory_take(self->memory, ASSAY__WORKSPACE, (size_t)knots, sizeof(double));
    self->slope = assay__memory_take(self->memory, ASSAY__WORKSPACE, (size_t)knots, sizeof(double));
    if (self->log_conductivity == NULL || self->slope == NULL)
        return ASSAY_E_MEMORY;
    return assay__parameters_allocate(&self->parameters, self->memory);
}

/* The conductivity starts at 1. Nothing is drawn at random, so the seed is not used. */
static assay_status create(const double *settings, uint64_t seed, assay_error *error, void **state)
{
    (void)seed;
    assay__heat_shape shape = {.points = (int64_t)settings[POINTS],
                               .knots = (int64_t)settings[KNOTS],
                               .snapshots = (int64_t)settings[SNAPSHOTS],
                               .steps = (int64_t)settings[STEPS],
                               .duration = settings[DURATION],
                               .implicitness = settings[IMPLICITNESS]};
    instance *self = calloc(1, sizeof *self);
    if (self == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "heat: out of memory");
    self->example_batch = (int64_t)settings[BATCH_SIZE];
    assay__parameters_init(&self->parameters);
    assay_status status = assay__heat_new(&shape, error, &self->heat);
    if (status == ASSAY_OK) {
        status = allocate(self, shape.knots);
        if (status != ASSAY_OK)
            (void)assay__fail(error, status, "heat: out of memory");
    }
    if (status == ASSAY_OK)
        *state = self;
    else
        destroy(self);
    return status;
}

static assay_status infer(const assay_tensor *weights, size_t count, double *settings,
                          assay_error *error)
{
    if (count != 1 || weights[0].rank != 1)
        return assay__fail(error, ASSAY_E_FORMAT, "heat has one tensor, log_conductivity (knots)");
    settings[KNOTS] = (double)weights[0].shape[0];
    return ASSAY_OK;
}

static const assay_model_parameter *parameters(void *state, size_t *count)
{
    return assay__parameters_list(&((instance *)state)->parameters, count);
}

static assay_status fit_batch(instance *self, int64_t batch, assay_error *error)
{
    const assay__heat_shape *shape = assay__heat_shape_of(self->heat);
    size_t plane = (size_t)(batch * shape->points);
    size_t whole = plane * (size_t)shape->snapshots;
    if (assay__memory_resize(self->memory, ASSAY__WORKSPACE, plane, sizeof(double),
                             &self->initial) ||
        assay__memory_resize(self->memory, ASSAY__WORKSPACE, whole, sizeof(double),
                             &self->doutput) ||
        assay__memory_resize(self->memory, ASSAY__ACTIVATIONS, whole, sizeof(float),
                             &self->output)) {
        return assay__fail(error, ASSAY_E_MEMORY, "heat: out of memory for a batch of %lld",
                           (long long)batch);
    }
    return ASSAY_OK;
}

/* Solve the equation in float64, for the float32 parameters and input. */
static assay_status solve(instance *self, const assay_tensor *input, assay_error *error,
                          const double **output)
{
    const assay__heat_shape *shape = assay__heat_shape_of(self->heat);
    int64_t batch = input->shape[0];
    if (input->shape[1] != shape->points || batch < 1) {
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "'input' is (%lld, %lld), the model takes (batch, %lld)",
                           (long long)batch, (long long)input->shape[1], (long long)shape->points);
    }
    assay_status status = fit_batch(self, batch, error);
    if (status != ASSAY_OK)
        return status;
    const float *values = input->data;
    for (int64_t i = 0; i < batch * shape->points; i++)
        self->initial[i] = (double)values[i];
    for (int64_t i = 0; i < shape->knots; i++) {
        self->log_conductivity[i] = (double)self->parameters.values[i];
        if (!isfinite(self->log_conductivity[i])) {
            return assay__fail(error, ASSAY_E_DATA, "log_conductivity[%lld] is not finite",
                               (long long)i);
        }
    }
    return assay__heat_forward(self->heat, self->log_conductivity, batch, self->initial, error,
                               output);
}

static assay_tensor tensor_of(const assay__heat_shape *shape, int64_t batch, const char *name,
                              float *data)
{
    return (assay_tensor){name, ASSAY_F32, 3, {batch, shape->snapshots, shape->points}, data};
}

static assay_status forward(void *state, const assay_tensor *inputs, size_t count,
                            assay_error *error, assay_tensor *output)
{
    (void)count;
    instance *self = state;
    const assay__heat_shape *shape = assay__heat_shape_of(self->heat);
    const double *solution;
    assay_status status = solve(self, &inputs[0], error, &solution);
    if (status != ASSAY_OK)
        return status;
    int64_t batch = inputs[0].shape[0];
    for (int64_t i = 0; i < batch * shape->snapshots * shape->points; i++)
        self->output[i] = (float)solution[i];
    *output = tensor_of(shape, batch, "output", self->output);
    return ASSAY_OK;
}

static assay_status gradient(void *state, const assay_tensor *inputs, size_t count,
                             const assay_tensor *target, assay_error *error, double *loss)
{
    (void)count;
    instance *self = state;
    const assay__heat_shape *shape = assay__heat_shape_of(self->heat);
    int64_t batch = inputs[0].shape[0];
    if (target->element != ASSAY_F32 || target->rank != 3 || target->shape[0] != batch ||
        target->shape[1] != shape->snapshots || target->shape[2] != shape->points) {
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "the target has to be float32 of shape (%lld, %lld, %lld)",
                           (long long)batch, (long long)shape->snapshots, (long long)shape->points);
    }
    const double *solution;
    assay_status status = solve(self, &inputs[0], error, &solution);
    if (status != ASSAY_OK)
        return status;
    const float *wanted = target->data;
    int64_t elements = batch * shape->snapshots * shape->points;
    double sum = 0;
    for (int64_t i = 0; i < elements; i++) {
        double off = solution[i] - (double)wanted[i];
        sum += off * off;
        self->doutput[i] = 2 * off / (double)elements;
    }
    assay__heat_backward(self->heat, self->doutput, self->slope, NULL);
    for (int64_t i = 0; i < shape->knots; i++)
        self->parameters.gradients[i] = (float)self->slope[i];
    *loss = sum / (double)elements;
    return ASSAY_OK;
}

static assay_status update(void *state, double learning_rate, assay_error *error)
{
    instance *self = state;
    return assay__adam_step(&self->adam, self->memory, &self->parameters, learning_rate, error);
}

/* An example has random initial values, each a sum of 5 sine waves. Its target are their snapshots
 * for the conductivity log k = sin(2 pi x) / 2. */
static assay_status example(void *state, uint64_t seed, assay_error *error, assay_tensor *inputs,
                            assay_tensor *target)
{
    instance *self = state;
    const assay__heat_shape *shape = assay__heat_shape_of(self->heat);
    int64_t batch = self->example_batch;
    size_t plane = (size_t)(batch * shape->points), whole = plane * (size_t)shape->snapshots;
    if (assay__memory_resize(self->example, ASSAY__WORKSPACE, plane, sizeof(float),
                             &self->example_input) ||
        assay__memory_resize(self->example, ASSAY__WORKSPACE, whole, sizeof(float),
                             &self->example_target))
        return assay__fail(error, ASSAY_E_MEMORY, "heat: out of memory for made-up data");
    assay_status status = fit_batch(self, batch, error);
    if (status != ASSAY_OK)
        return status;
    assay__random random;
    assay__random_init(&random, seed);
    for (int64_t b = 0; b < batch; b++) {
        double size[5];
        for (int mode = 0; mode < 5; mode++)
            size[mode] = assay__random_normal(&random) / (mode + 1);
        for (int64_t i = 0; i < shape->points; i++) {
            double x = (double)(i + 1) / (double)(shape->points + 1), u = 0;
            for (int mode = 0; mode < 5; mode++)
                u += size[mode] * sin((mode + 1) * M_PI * x);
            self->initial[b * shape->points + i] = u;
            self->example_input[b * shape->points + i] = (float)u;
        }
    }
    for (int64_t i = 0; i < shape->knots; i++) {
        double x = shape->knots == 1 ? 0.25 : (double)i / (double)(shape->knots - 1);
        self->log_conductivity[i] = 0.5 * sin(2 * M_PI * x);
    }
    const double *solution;
    status = assay__heat_forward(self->heat, self->log_conductivity, batch, self->initial, error,
                                 &solution);
    if (status != ASSAY_OK)
        return status;
    for (size_t i = 0; i < whole; i++)
        self->example_target[i] = (float)solution[i];
    inputs[0] = (assay_tensor){"input", ASSAY_F32, 2, {batch, shape->points}, self->example_input};
    *target = tensor_of(shape, batch, "target", self->example_target);
    return ASSAY_OK;
}

static assay_status describe(void *state, const assay_tensor *inputs, size_t count,
                             assay_term_sink sink, void *context, assay_error *error)
{
    (void)count;
    (void)error;
    instance *self = state;
    const assay__heat_shape *shape = assay__heat_shape_of(self->heat);
    const assay_term operations[] = {{"conductivity", ASSAY_TERM_SOLVER, 1, 1,
                                      ASSAY__HEAT_FACTOR_OPERATIONS, shape->points + 1, 0},
                                     {"steps", ASSAY_TERM_SOLVER, shape->snapshots * shape->steps,
                                      inputs[0].shape[0], ASSAY__HEAT_STEP_OPERATIONS,
                                      shape->points, 0}};
    sink(context, &operations[0]);
    sink(context, &operations[1]);
    return ASSAY_OK;
}

static void memory(void *state, assay_model_memory *figures)
{
    instance *self = state;
    assay_model_memory solver;
    assay__heat_memory(self->heat, &solver);
    assay__memory_figures(self->memory, figures);
    figures->activations += solver.activations;
    figures->workspace += solver.workspace;
}

const assay_model_class assay__heat_class = {
    .abi = ASSAY_MODEL_ABI,
    .struct_size = sizeof(assay_model_class),
    .name = "heat",
    .summary = "heat equation whose conductivity is learnt through the solver's adjoint",
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
