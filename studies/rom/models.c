/* Trains the two models. The time of a training covers everything from the first use of the data to
 * the last change of a parameter. A resumed run keeps the time of the run that trained. */
#include "studies/rom/models.h"

#include <math.h>
#include <stdlib.h>

#include "assay/record_build.h"
#include "assay/timers.h"
#include "base/error.h"
#include "base/random.h"
#include "models/instance.h"
#include "studies/common/results.h"

void assay__rom_model_release(assay__rom_model *model)
{
    assay_model_free(model->model);
    free(model->window);
    *model = (assay__rom_model){0};
}

static assay_status take_window(assay__rom_model *model, assay_error *error)
{
    size_t size = model->element == ASSAY_F64 ? sizeof(double) : sizeof(float);
    model->window = calloc((size_t)(model->start * model->dim), size);
    return model->window != NULL ? ASSAY_OK
                                 : assay__fail(error, ASSAY_E_MEMORY, "no memory for a window");
}

/* ---- files and figures of a trained model ---- */

/* The inputs of a training, and the model that it trains. */
typedef struct training {
    assay__study *study;
    const assay__rom_settings *settings;
    const assay__rom_data *data;
    assay__rom_model *model;
    const char *class_name, *device; /* NULL: the processor */
    const assay__setting *shape;
    size_t shape_count;
} training;

static const char *weights_file(assay__study *study, const assay__rom_model *model,
                                assay_error *error)
{
    char relative[64];
    snprintf(relative, sizeof relative, ".study/%s.safetensors", model->name);
    return assay__study_file(study, relative, error);
}

static assay_status describe(const training *self, assay_record *found)
{
    assay__rom_model *model = self->model;
    double parameters = (double)assay_model_parameter_count(model->model);
    double bytes = model->element == ASSAY_F64 ? sizeof(double) : sizeof(float);
    assay_record_model item;
    assay_record_model_init(&item);
    item.name = model->name; /* names and classes are constants */
    item.class_name = self->class_name;
    item.parameters = assay_reading_of(parameters);
    item.parameter_bytes = assay_reading_of(parameters * bytes);
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < self->shape_count && status == ASSAY_OK; i++)
        status =
            assay__found_model_setting(found, &item, self->shape[i].name, self->shape[i].value);
    return status == ASSAY_OK ? assay_record_add_model(found, &item) : status;
}

/* Add the trained model to the record, and save its weights. */
static assay_status keep(const training *self, assay_record *found, assay_error *error)
{
    assay_status status = describe(self, found);
    if (status != ASSAY_OK)
        return assay__fail(error, status, "no memory for what the training found");
    const char *path = weights_file(self->study, self->model, error);
    return path != NULL ? assay_model_save_weights(self->model->model, path, error) : ASSAY_E_IO;
}

/* Make the model and train it with `work`. If an earlier run has ended the step, load its results
 * and weights instead. */
static assay_status obtain(training *self, size_t step, assay__study_work *work,
                           assay_record *whole, assay_error *error)
{
    bool trained = assay__study_done(self->study, step);
    assay_status status =
        assay__instance_new_on(self->class_name, self->device, self->shape, self->shape_count,
                               assay__study_plan_of(self->study)->seed, error, &self->model->model);
    if (status == ASSAY_OK)
        status = take_window(self->model, error);
    if (status == ASSAY_OK)
        status = assay__study_find(self->study, step, work, self, whole, error);
    if (status != ASSAY_OK || !trained)
        return status;
    const char *path = weights_file(self->study, self->model, error);
    return path != NULL ? assay_model_load_weights(self->model->model, path, error) : ASSAY_E_IO;
}

static assay_status found_training(assay_record *found, const assay__rom_model *model,
                                   double seconds, const char *covers, assay_reading final_loss,
                                   assay_error *error)
{
    assay_status status = assay__found_cost(found, "training_seconds", model->name,
                                            assay_reading_of(seconds), "s", covers);
    if (status == ASSAY_OK)
        status = assay__found_cost(found, "final_loss", model->name, final_loss, NULL,
                                   "mean squared error of one step, over the last epoch");
    return status == ASSAY_OK ? status
                              : assay__fail(error, status, "no memory for what the training found");
}

/* ---- MVAR ---- */

static assay_status fit_mvar(void *context, assay_record *found, assay_error *error)
{
    const training *self = context;
    assay_tensor series = {.name = "input",
                           .element = ASSAY_F64,
                           .rank = 3,
                           .shape = {self->data->train, self->data->steps, self->model->dim},
                           .data = self->data->latent};
    double seconds = 0;
    assay_status status;
    ASSAY_TIME_OPERATION("training", &seconds) {
        status = assay_model_fit(self->model->model, &series, 1, error);
    }
    /* Least squares has no epochs, so there is no final loss. */
    if (status == ASSAY_OK)
        status = found_training(found, self->model, seconds,
                                "the fit by least squares to all training trajectories",
                                assay_reading_missing(ASSAY_UNSUPPORTED), error);
    return status == ASSAY_OK ? keep(self, found, error) : status;
}

assay_status assay__rom_mvar(assay__study *study, size_t step, const assay__rom_settings *settings,
                             const assay__rom_data *data, assay_record *whole, assay_error *error,
                             assay__rom_model *model)
{
    /* A tiny ridge keeps the least-squares problem solvable if amplitudes are nearly dependent. */
    const assay__setting shape[] = {{"input-dim", (double)settings->latent_dim},
                                    {"order", (double)settings->lag},
                                    {"ridge", 1e-6}};
    training self = {study, settings, data, model, "mvar", NULL, shape, 3};
    *model = (assay__rom_model){
        .name = "MVAR", .element = ASSAY_F64, .start = settings->lag, .dim = settings->latent_dim};
    return obtain(&self, step, fit_mvar, whole, error);
}

/* ---- LSTM ---- */

/* The LSTM is trained on stretches of trajectories. A stretch of n steps gives n forecasts of a
 * single step, each from all steps of the stretch before it. So the states are trained beyond the
 * window that a forecast begins from, as a forecast carries them on.
 *
 * A forecast feeds its own errors back. Exact inputs in training would never show the LSTM an input
 * that is a little wrong. Therefore noise is added to the inputs, but not to the targets
 * (Sanchez-Gonzalez et al. 2020, "Learning to simulate complex physics with graph networks", for
 * the same reason). The learning rate falls along half a cosine, so that the last steps settle. */
enum { WINDOWS_A_STRETCH = 3 };

static const double input_noise = 0.1; /* relative to the largest amplitude's root mean square */
static const double last_rate = 0.01;  /* relative to the first */

typedef struct stretches {
    int64_t steps;       /* of one stretch */
    int64_t count, each; /* stretches in all training trajectories, in one of them */
    int64_t *order;      /* (count), shuffled in every epoch */
    float *inputs;       /* (batch, steps, dim) */
    float *targets;      /* (batch, steps, dim): the inputs one step later */
    double *losses;      /* (epochs): mean loss of each epoch */
} stretches;

static void release_stretches(stretches *self)
{
    free(self->order);
    free(self->inputs);
    free(self->targets);
    free(self->losses);
}

static assay_status make_stretches(const assay__rom_settings *settings, const assay__rom_data *data,
                                   stretches *self)
{
    size_t batch = (size_t)settings->batch;
    self->steps = WINDOWS_A_STRETCH * settings->window;
    if (self->steps > data->steps - 1)
        self->steps = data->steps - 1;
    self->each = data->steps - self->steps;
    self->count = self->each * data->train;
    size_t values = batch * (size_t)(self->steps * settings->latent_dim);
    self->order = malloc((size_t)self->count * sizeof *self->order);
    self->inputs = malloc(values * sizeof(float));
    self->targets = malloc(values * sizeof(float));
    self->losses = calloc((size_t)settings->epochs, sizeof *self->losses);
    if (self->order == NULL || self->inputs == NULL || self->targets == NULL ||
        self->losses == NULL)
        return ASSAY_E_MEMORY;
    for (int64_t i = 0; i < self->count; i++)
        self->order[i] = i;
    return ASSAY_OK;
}

static void fill_batch(const stretches *self, const assay__rom_settings *settings,
                       const assay__rom_data *data, int64_t first, int64_t rows,
                       assay__random *random)
{
    int64_t dim = settings->latent_dim, span = self->steps * dim;
    for (int64_t r = 0; r < rows; r++) {
        int64_t which = self->order[first + r];
        const double *from =
            data->latent + ((which / self->each) * data->steps + which % self->each) * dim;
        for (int64_t i = 0; i < span; i++) {
            self->inputs[r * span + i] =
                (float)(from[i] + input_noise * assay__random_normal(random));
            self->targets[r * span + i] = (float)from[dim + i];
        }
    }
}

static assay_status train_batch(assay__rom_model *model, const stretches *self,
                                const assay__rom_settings *settings, int64_t rows, double rate,
                                assay_error *error, double *loss)
{
    int64_t dim = settings->latent_dim;
    assay_tensor input = {.name = "input",
                          .element = ASSAY_F32,
                          .rank = 3,
                          .shape = {rows, self->steps, dim},
                          .data = self->inputs};
    assay_tensor target = input;
    target.name = "target";
    target.data = self->targets;
    assay_status status = assay_model_gradient(model->model, &input, 1, &target, error, loss);
    return status == ASSAY_OK ? assay_model_update(model->model, rate, error) : status;
}

static double rate_at(const assay__rom_settings *settings, double done)
{
    return settings->learning_rate * (last_rate + (1 - last_rate) * 0.5 * (1 + cos(M_PI * done)));
}

static assay_status train_epochs(const training *self, stretches *set, assay_error *error)
{
    const assay__rom_settings *settings = self->settings;
    assay__random random;
    assay__random_init(&random, assay__study_plan_of(self->study)->seed);
    for (int64_t epoch = 0; epoch < settings->epochs; epoch++) {
        double sum = 0;
        assay__random_shuffle(&random, set->order, (size_t)set->count, sizeof *set->order);
        for (int64_t first = 0; first < set->count; first += settings->batch) {
            int64_t left = set->count - first;
            int64_t rows = left < settings->batch ? left : settings->batch;
            double loss = 0, passed = (double)epoch + (double)first / (double)set->count;
            double done = passed / (double)settings->epochs;
            fill_batch(set, settings, self->data, first, rows, &random);
            assay_status status = train_batch(self->model, set, settings, rows,
                                              rate_at(settings, done), error, &loss);
            if (status != ASSAY_OK)
                return status;
            sum += loss * (double)rows;
            if (!assay__study_advance(self->study, done))
                return assay__study_interrupted(self->study, error);
        }
        set->losses[epoch] = sum / (double)set->count;
    }
    return ASSAY_OK;
}

static assay_status found_losses(const training *self, const stretches *set, double seconds,
                                 assay_record *found, assay_error *error)
{
    size_t epochs = (size_t)self->settings->epochs;
    assay_status status =
        assay__found_series(found, "loss", self->model->name, "epoch", NULL, set->losses, epochs);
    if (status != ASSAY_OK)
        return assay__fail(error, status, "no memory for the losses");
    return found_training(found, self->model, seconds,
                          "all epochs: filling batches, gradients and updates by Adam",
                          assay_reading_of(set->losses[epochs - 1]), error);
}

static assay_status train_lstm(void *context, assay_record *found, assay_error *error)
{
    const training *self = context;
    stretches set = {0};
    double seconds = 0;
    assay_status status = make_stretches(self->settings, self->data, &set);
    if (status != ASSAY_OK)
        assay__fail(error, status, "no memory for the training windows");
    assay_model_set_training(self->model->model, true);
    ASSAY_TIME_OPERATION("training", &seconds) {
        if (status == ASSAY_OK)
            status = train_epochs(self, &set, error);
    }
    assay_model_set_training(self->model->model, false);
    if (status == ASSAY_OK)
        status = found_losses(self, &set, seconds, found, error);
    release_stretches(&set);
    return status == ASSAY_OK ? keep(self, found, error) : status;
}

assay_status assay__rom_lstm(assay__study *study, size_t step, const assay__rom_settings *settings,
                             const assay__rom_data *data, assay_record *whole, assay_error *error,
                             assay__rom_model *model)
{
    const assay__setting shape[] = {{"input-dim", (double)settings->latent_dim},
                                    {"output-dim", (double)settings->latent_dim},
                                    {"hidden-dim", (double)settings->hidden_size},
                                    {"num-layers", (double)settings->num_layers}};
    training self = {study, settings, data, model, "lstm", settings->device, shape, 4};
    *model = (assay__rom_model){.name = "LSTM",
                                .element = ASSAY_F32,
                                .start = settings->window,
                                .dim = settings->latent_dim};
    return obtain(&self, step, train_lstm, whole, error);
}

/* ---- forecasts ---- */

void assay__rom_set_window(assay__rom_model *model, const assay__rom_data *data, int64_t trajectory,
                           int64_t from)
{
    const double *first =
        data->latent + (trajectory * data->steps + from - model->start) * model->dim;
    for (int64_t i = 0; i < model->start * model->dim; i++) {
        if (model->element == ASSAY_F64)
            ((double *)model->window)[i] = first[i];
        else
            ((float *)model->window)[i] = (float)first[i];
    }
}

static assay_status run_forecast(assay__rom_model *model, int64_t steps, assay_error *error,
                                 assay_tensor *output)
{
    assay_tensor input = {.name = "input",
                          .element = model->element,
                          .rank = 3,
                          .shape = {1, model->start, model->dim},
                          .data = model->window};
    return assay_model_forecast(model->model, &input, 1, steps, error, output);
}

assay_status assay__rom_forecast(assay__rom_model *model, int64_t steps)
{
    assay_tensor output;
    return run_forecast(model, steps, NULL, &output);
}

assay_status assay__rom_forecast_values(assay__rom_model *model, int64_t steps, assay_error *error,
                                        double *forecast)
{
    assay_tensor output;
    assay_status status = run_forecast(model, steps, error, &output);
    for (int64_t i = 0; i < steps * model->dim && status == ASSAY_OK; i++)
        forecast[i] = model->element == ASSAY_F64 ? ((const double *)output.data)[i]
                                                  : (double)((const float *)output.data)[i];
    return status;
}
