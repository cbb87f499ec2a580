/* Training is timed from the first touch of the data to the last change of a parameter; a run that
 * was resumed keeps the time of the run that trained. */
#include "studies/rom/models.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/timers.h"
#include "base/error.h"
#include "base/random.h"
#include "models/instance.h"
#include "studies/common/json_file.h"

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

/* ---- what a trained model leaves in the folder ---- */

static assay_status keep(assay__study *study, assay__rom_model *model, assay_error *error)
{
    char weights[64], training[64];
    snprintf(weights, sizeof weights, ".study/%s.safetensors", model->name);
    snprintf(training, sizeof training, ".study/%s.json", model->name);
    const char *path = assay__study_file(study, weights, error);
    if (path == NULL)
        return ASSAY_E_IO;
    assay_status status = assay_model_save_weights(model->model, path, error);
    path = status == ASSAY_OK ? assay__study_file(study, training, error) : NULL;
    if (path == NULL)
        return status == ASSAY_OK ? ASSAY_E_IO : status;
    json_t *loss = isfinite(model->final_loss) ? json_real(model->final_loss) : json_null();
    return assay__json_file_write(
        json_pack("{sf, so}", "training_seconds", model->training_seconds, "final_loss", loss),
        path, error);
}

static assay_status recall(assay__study *study, assay__rom_model *model, assay_error *error)
{
    char weights[64], training[64];
    json_t *root = NULL, *loss = NULL;
    snprintf(weights, sizeof weights, ".study/%s.safetensors", model->name);
    snprintf(training, sizeof training, ".study/%s.json", model->name);
    const char *path = assay__study_file(study, weights, error);
    if (path == NULL)
        return ASSAY_E_IO;
    assay_status status = assay_model_load_weights(model->model, path, error);
    path = status == ASSAY_OK ? assay__study_file(study, training, error) : NULL;
    if (path == NULL)
        return status == ASSAY_OK ? ASSAY_E_IO : status;
    status = assay__json_file_read(path, error, &root);
    if (status == ASSAY_OK && json_unpack(root, "{sF, so}", "training_seconds",
                                          &model->training_seconds, "final_loss", &loss) != 0)
        status = assay__fail(error, ASSAY_E_FORMAT, "'%s' is damaged; --restart begins anew", path);
    model->final_loss = json_is_real(loss) ? json_real_value(loss) : NAN;
    json_decref(root);
    return status;
}

/* ---- MVAR ---- */

static assay_status fit_mvar(const assay__rom_data *data, assay__rom_model *model,
                             assay_error *error)
{
    assay_tensor series = {.name = "input",
                           .element = ASSAY_F64,
                           .rank = 3,
                           .shape = {data->train, data->steps, model->dim},
                           .data = data->latent};
    assay_status status;
    ASSAY_TIME_OPERATION("training", &model->training_seconds) {
        status = assay_model_fit(model->model, &series, 1, error);
    }
    return status;
}

assay_status assay__rom_mvar(assay__study *study, size_t step, const assay__rom_settings *settings,
                             const assay__rom_data *data, uint64_t seed, assay_error *error,
                             assay__rom_model *model)
{
    *model = (assay__rom_model){.name = "MVAR",
                                .element = ASSAY_F64,
                                .start = settings->lag,
                                .dim = settings->latent_dim,
                                .final_loss = NAN};
    /* A ridge too small to be seen keeps amplitudes that move together solvable. */
    const assay__setting shape[] = {{"input-dim", (double)settings->latent_dim},
                                    {"order", (double)settings->lag},
                                    {"ridge", 1e-6}};
    assay_status status = assay__instance_new("mvar", shape, 3, seed, error, &model->model);
    if (status == ASSAY_OK)
        status = take_window(model, error);
    if (status == ASSAY_OK && assay__study_done(study, step))
        return recall(study, model, error);
    assay__study_begin(study, step);
    if (status == ASSAY_OK)
        status = fit_mvar(data, model, error);
    if (status == ASSAY_OK)
        status = keep(study, model, error);
    return status == ASSAY_OK ? assay__study_end(study, error) : status;
}

/* ---- LSTM ---- */

typedef struct windows {
    int64_t count, each; /* of all training trajectories, of one */
    int64_t *order;      /* (count), shuffled every epoch */
    float *inputs;       /* (batch, window, dim) */
    float *targets;      /* (batch, dim) */
} windows;

static void release_windows(windows *self)
{
    free(self->order);
    free(self->inputs);
    free(self->targets);
}

static assay_status make_windows(const assay__rom_settings *settings, const assay__rom_data *data,
                                 windows *self)
{
    size_t dim = (size_t)settings->latent_dim, batch = (size_t)settings->batch;
    self->each = data->steps - settings->window;
    self->count = self->each * data->train;
    self->order = malloc((size_t)self->count * sizeof *self->order);
    self->inputs = malloc(batch * (size_t)settings->window * dim * sizeof(float));
    self->targets = malloc(batch * dim * sizeof(float));
    if (self->order == NULL || self->inputs == NULL || self->targets == NULL)
        return ASSAY_E_MEMORY;
    for (int64_t i = 0; i < self->count; i++)
        self->order[i] = i;
    return ASSAY_OK;
}

static void shuffle(windows *self, assay__random *random)
{
    for (int64_t i = self->count - 1; i > 0; i--) {
        int64_t j = (int64_t)assay__random_below(random, (uint64_t)i + 1), held = self->order[i];
        self->order[i] = self->order[j];
        self->order[j] = held;
    }
}

static void fill_batch(const windows *self, const assay__rom_settings *settings,
                       const assay__rom_data *data, int64_t first, int64_t rows)
{
    int64_t dim = settings->latent_dim, span = settings->window * dim;
    for (int64_t r = 0; r < rows; r++) {
        int64_t which = self->order[first + r];
        const double *from =
            data->latent + ((which / self->each) * data->steps + which % self->each) * dim;
        for (int64_t i = 0; i < span; i++)
            self->inputs[r * span + i] = (float)from[i];
        for (int64_t i = 0; i < dim; i++)
            self->targets[r * dim + i] = (float)from[span + i];
    }
}

static assay_status train_batch(assay__rom_model *model, const windows *self,
                                const assay__rom_settings *settings, int64_t rows,
                                assay_error *error, double *loss)
{
    int64_t dim = settings->latent_dim;
    assay_tensor input = {.name = "input",
                          .element = ASSAY_F32,
                          .rank = 3,
                          .shape = {rows, settings->window, dim},
                          .data = self->inputs};
    assay_tensor target = {
        .element = ASSAY_F32, .rank = 2, .shape = {rows, dim}, .data = self->targets};
    assay_status status = assay_model_gradient(model->model, &input, 1, &target, error, loss);
    return status == ASSAY_OK ? assay_model_update(model->model, settings->learning_rate, error)
                              : status;
}

static assay_status train_epochs(assay__study *study, const assay__rom_settings *settings,
                                 const assay__rom_data *data, windows *self, uint64_t seed,
                                 assay_error *error, assay__rom_model *model)
{
    assay__random random;
    assay__random_init(&random, seed);
    for (int64_t epoch = 0; epoch < settings->epochs; epoch++) {
        double sum = 0;
        shuffle(self, &random);
        for (int64_t first = 0; first < self->count; first += settings->batch) {
            int64_t rows =
                self->count - first < settings->batch ? self->count - first : settings->batch;
            double loss = 0;
            fill_batch(self, settings, data, first, rows);
            assay_status status = train_batch(model, self, settings, rows, error, &loss);
            if (status != ASSAY_OK)
                return status;
            sum += loss * (double)rows;
            double done = ((double)epoch + (double)first / (double)self->count);
            if (!assay__study_advance(study, done / (double)settings->epochs))
                return assay__study_interrupted(study, error);
        }
        model->final_loss = sum / (double)self->count;
    }
    return ASSAY_OK;
}

static assay_status train_lstm(assay__study *study, const assay__rom_settings *settings,
                               const assay__rom_data *data, uint64_t seed, assay_error *error,
                               assay__rom_model *model)
{
    windows self = {0};
    assay_status status = make_windows(settings, data, &self);
    if (status != ASSAY_OK)
        assay__fail(error, status, "no memory for the training windows");
    assay_model_set_training(model->model, true);
    ASSAY_TIME_OPERATION("training", &model->training_seconds) {
        if (status == ASSAY_OK)
            status = train_epochs(study, settings, data, &self, seed, error, model);
    }
    assay_model_set_training(model->model, false);
    release_windows(&self);
    return status;
}

assay_status assay__rom_lstm(assay__study *study, size_t step, const assay__rom_settings *settings,
                             const assay__rom_data *data, uint64_t seed, assay_error *error,
                             assay__rom_model *model)
{
    *model = (assay__rom_model){.name = "LSTM",
                                .element = ASSAY_F32,
                                .start = settings->window,
                                .dim = settings->latent_dim,
                                .final_loss = NAN};
    const assay__setting shape[] = {{"input-dim", (double)settings->latent_dim},
                                    {"output-dim", (double)settings->latent_dim},
                                    {"hidden-dim", (double)settings->hidden_size},
                                    {"num-layers", (double)settings->num_layers}};
    assay_status status = assay__instance_new("lstm", shape, 4, seed, error, &model->model);
    if (status == ASSAY_OK)
        status = take_window(model, error);
    if (status == ASSAY_OK && assay__study_done(study, step))
        return recall(study, model, error);
    assay__study_begin(study, step);
    if (status == ASSAY_OK)
        status = train_lstm(study, settings, data, seed, error, model);
    if (status == ASSAY_OK)
        status = keep(study, model, error);
    return status == ASSAY_OK ? assay__study_end(study, error) : status;
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

assay_status assay__rom_forecast(void *model, uint64_t steps)
{
    assay_tensor output;
    return run_forecast(model, (int64_t)steps, NULL, &output);
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
