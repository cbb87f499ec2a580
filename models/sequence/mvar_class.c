/* The model class "mvar": the table of functions through which every command uses the MVAR. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "models/kernel/describe.h"
#include "models/kernel/parameters.h"
#include "models/sequence/mvar.h"

enum { INPUT_DIM, ORDER, RIDGE, METHOD, BATCH_SIZE, SEQ_LEN, OPTIONS };

static const char *const methods[] = {"normal", "qr", NULL};

static const assay_model_option options[OPTIONS] = {
    {"input-dim", "features of a step", 20, 1, 100000, true, NULL},
    {"order", "lags p", 5, 1, 100000, true, NULL},
    {"ridge", "penalty on the squares of the lags' coefficients in a fit", 0, 0, 1e300, false,
     NULL},
    {"method", "how a fit solves its least squares", ASSAY__MVAR_NORMAL, 0, 1, true, methods},
    {"batch-size", "trajectories of made-up data", 1, 1, 1e9, true, NULL},
    {"seq-len", "steps of made-up data", 200, 1, 1e9, true, NULL},
};

static const assay_model_input inputs_taken[] = {
    {"input", "(batch, time, input-dim): trajectories of at least `order` steps", ASSAY_F64, 3,
     false},
};

typedef struct instance {
    assay__mvar *mvar;
    double ridge;
    assay__mvar_method method;
    int64_t batch, time;
    double *example;
} instance;

static assay_status create(const double *settings, uint64_t seed, assay_error *error, void **state)
{
    instance *self = calloc(1, sizeof *self);
    if (self == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "mvar: out of memory");
    *self = (instance){.ridge = settings[RIDGE],
                       .method = (assay__mvar_method)(int)settings[METHOD],
                       .batch = (int64_t)settings[BATCH_SIZE],
                       .time = (int64_t)settings[SEQ_LEN]};
    assay__mvar_shape shape = {(int64_t)settings[INPUT_DIM], (int64_t)settings[ORDER]};
    assay_status status = assay__mvar_new(&shape, seed, error, &self->mvar);
    if (status == ASSAY_OK)
        *state = self;
    else
        free(self);
    return status;
}

static void destroy(void *state)
{
    instance *self = state;
    assay__mvar_free(self->mvar);
    free(self);
}

/* The order is the highest lag in the file. If a lower lag is missing, loading the weights then
 * reports it. */
static assay_status infer(const assay_tensor *weights, size_t count, double *settings,
                          assay_error *error)
{
    const assay_tensor *intercept = assay__tensor_find(weights, count, "A_0", 1);
    if (intercept == NULL || intercept->shape[0] < 1) {
        return assay__fail(error, ASSAY_E_FORMAT,
                           "mvar: weights need a tensor \"A_0\" of rank 1 (input-dim)");
    }
    long order = 0;
    for (size_t i = 0; i < count; i++) {
        char *end = NULL;
        if (strncmp(weights[i].name, "A_", 2) == 0) {
            long lag = strtol(weights[i].name + 2, &end, 10);
            order = *end == '\0' && lag > order ? lag : order;
        }
    }
    if (order < 1 || (double)order > options[ORDER].maximum)
        return assay__fail(error, ASSAY_E_FORMAT, "mvar: weights need tensors \"A_1\" ... \"A_p\"");
    settings[INPUT_DIM] = (double)intercept->shape[0];
    settings[ORDER] = (double)order;
    return ASSAY_OK;
}

static const assay_model_parameter *parameters(void *state, size_t *count)
{
    instance *self = state;
    *count = (size_t)self->mvar->shape.order + 1;
    return self->mvar->parameters;
}

static assay_status check_input(const assay__mvar *mvar, const assay_tensor *input,
                                assay_error *error)
{
    if (input->shape[2] != mvar->shape.dim || input->shape[0] < 1 ||
        input->shape[1] < mvar->shape.order) {
        return assay__fail(
            error, ASSAY_E_ARGUMENT,
            "mvar: the input is (%lld, %lld, %lld), expected (batch, time, %lld) with "
            "at least %lld steps",
            (long long)input->shape[0], (long long)input->shape[1], (long long)input->shape[2],
            (long long)mvar->shape.dim, (long long)mvar->shape.order);
    }
    if (input->shape[1] > INT32_MAX / mvar->shape.dim || input->shape[0] > INT32_MAX) {
        return assay__fail(error, ASSAY_E_LIMIT,
                           "mvar: trajectories of %lld steps of %lld are too long (2^31 values)",
                           (long long)input->shape[1], (long long)mvar->shape.dim);
    }
    return ASSAY_OK;
}

/* Forecasts the `steps` values after the input into mvar->output. */
static assay_status forecast_into_output(assay__mvar *mvar, const assay_tensor *input,
                                         int64_t steps, assay_error *error)
{
    assay_status status = check_input(mvar, input, error);
    if (status != ASSAY_OK)
        return status;
    int64_t batch = input->shape[0], dim = mvar->shape.dim;
    if (steps > INT32_MAX / dim ||
        assay__memory_resize(mvar->memory, ASSAY__ACTIVATIONS, (size_t)batch,
                             (size_t)(steps * dim) * sizeof(double), &mvar->output) != ASSAY_OK) {
        return assay__fail(error, ASSAY_E_MEMORY, "mvar: no memory for a forecast of %lld steps",
                           (long long)steps);
    }
    assay__mvar_forecast(mvar, batch, input->shape[1], input->data, steps, mvar->output);
    return ASSAY_OK;
}

static assay_status forward(void *state, const assay_tensor *inputs, size_t count,
                            assay_error *error, assay_tensor *output)
{
    (void)count;
    assay__mvar *mvar = ((instance *)state)->mvar;
    assay_status status = forecast_into_output(mvar, inputs, 1, error);
    if (status == ASSAY_OK) {
        *output = (assay_tensor){
            "output", ASSAY_F64, 2, {inputs->shape[0], mvar->shape.dim}, mvar->output};
    }
    return status;
}

static assay_status forecast(void *state, const assay_tensor *inputs, size_t count, int64_t steps,
                             assay_error *error, assay_tensor *output)
{
    (void)count;
    assay__mvar *mvar = ((instance *)state)->mvar;
    assay_status status = forecast_into_output(mvar, inputs, steps, error);
    if (status == ASSAY_OK) {
        *output = (assay_tensor){
            "output", ASSAY_F64, 3, {inputs->shape[0], steps, mvar->shape.dim}, mvar->output};
    }
    return status;
}

static assay_status gradient(void *state, const assay_tensor *inputs, size_t count,
                             const assay_tensor *target, assay_error *error, double *loss)
{
    (void)count;
    assay__mvar *mvar = ((instance *)state)->mvar;
    assay_status status = check_input(mvar, inputs, error);
    if (status != ASSAY_OK)
        return status;
    if (target->rank != 2 || target->shape[0] != inputs->shape[0] ||
        target->shape[1] != mvar->shape.dim || target->element != ASSAY_F64) {
        return assay__fail(
            error, ASSAY_E_ARGUMENT,
            "mvar: the target must be (%lld, %lld) float64: the step after the input",
            (long long)inputs->shape[0], (long long)mvar->shape.dim);
    }
    status = assay__mvar_gradient(mvar, inputs->shape[0], inputs->shape[1], inputs->data,
                                  target->data, loss);
    return status == ASSAY_OK ? ASSAY_OK : assay__fail(error, status, "mvar: out of memory");
}

static assay_status fit(void *state, const assay_tensor *inputs, size_t count, assay_error *error)
{
    (void)count;
    instance *self = state;
    assay_status status = check_input(self->mvar, inputs, error);
    if (status != ASSAY_OK)
        return status;
    return assay__mvar_fit(self->mvar, inputs->shape[0], inputs->shape[1], inputs->data,
                           self->ridge, self->method, error);
}

/* Simulates a series: each step is the model's own forecast plus standard normal noise. */
static void simulate(assay__mvar *mvar, int64_t time, assay__random *random, double *series)
{
    int64_t dim = mvar->shape.dim, order = mvar->shape.order;
    for (int64_t t = 0; t < time; t++) {
        double *x = series + t * dim;
        if (t < order)
            memset(x, 0, (size_t)dim * sizeof *x);
        else
            assay__mvar_forecast(mvar, 1, t, series, 1, x);
        for (int64_t i = 0; i < dim; i++)
            x[i] += assay__random_normal(random);
    }
}

static assay_status example(void *state, uint64_t seed, assay_error *error, assay_tensor *inputs,
                            assay_tensor *target)
{
    instance *self = state;
    assay__mvar *mvar = self->mvar;
    int64_t dim = mvar->shape.dim, batch = self->batch;
    int64_t time = self->time > mvar->shape.order ? self->time : mvar->shape.order;
    size_t values = (size_t)(batch * dim);
    if (time > INT32_MAX / dim || batch > INT32_MAX / dim ||
        assay__memory_resize(mvar->memory, ASSAY__WORKSPACE, values,
                             (size_t)(time + 2) * sizeof(double), &self->example) != ASSAY_OK) {
        return assay__fail(error, ASSAY_E_MEMORY,
                           "mvar: no memory for %lld trajectories of %lld steps", (long long)batch,
                           (long long)time);
    }
    assay__random random;
    assay__random_init(&random, seed);
    /* Each trajectory is simulated with one step more than the input shows, and that last step is
     * its target. The next trajectory overwrites the last step. */
    double *targets = self->example + batch * time * dim + dim;
    for (int64_t b = 0; b < batch; b++) {
        double *series = self->example + b * time * dim;
        simulate(mvar, time + 1, &random, series);
        memcpy(targets + b * dim, series + time * dim, (size_t)dim * sizeof *targets);
    }
    inputs[0] = (assay_tensor){"input", ASSAY_F64, 3, {batch, time, dim}, self->example};
    *target = (assay_tensor){"target", ASSAY_F64, 2, {batch, dim}, targets};
    return ASSAY_OK;
}

static assay_status describe(void *state, const assay_tensor *inputs, size_t count,
                             assay_term_sink sink, void *context, assay_error *error)
{
    (void)count;
    const assay__mvar *mvar = ((instance *)state)->mvar;
    assay_status status = check_input(mvar, inputs, error);
    if (status != ASSAY_OK)
        return status;
    int64_t batch = inputs->shape[0], dim = mvar->shape.dim;
    assay__teller to = {.sink = sink, .context = context};
    assay__tell_product(&to, "lags", 1, mvar->shape.order, batch, dim, dim);
    assay__tell(&to, "intercept", ASSAY_TERM_BIAS, 1, batch, dim);
    return ASSAY_OK;
}

static void memory(void *state, assay_model_memory *figures)
{
    assay__memory_figures(((instance *)state)->mvar->memory, figures);
}

static assay_status figures(void *state, assay_figure_sink sink, void *context, assay_error *error)
{
    double radius = 0;
    assay_status status = assay__mvar_spectral_radius(((instance *)state)->mvar, error, &radius);
    if (status == ASSAY_OK) {
        sink(context, "spectral radius", radius,
             radius < 1 ? "stable: forecasts stay bounded" : "not stable: forecasts grow");
    }
    return status;
}

const assay_model_class assay__mvar_class = {
    .abi = ASSAY_MODEL_ABI,
    .struct_size = sizeof(assay_model_class),
    .name = "mvar",
    .summary = "linear vector autoregression with intercept, float64; fitted by least squares",
    .options = options,
    .option_count = OPTIONS,
    .inputs = inputs_taken,
    .input_count = 1,
    .create = create,
    .destroy = destroy,
    .infer = infer,
    .parameters = parameters,
    .forward = forward,
    .forecast = forecast,
    .gradient = gradient,
    .fit = fit,
    .example = example,
    .describe = describe,
    .memory = memory,
    .figures = figures,
};
