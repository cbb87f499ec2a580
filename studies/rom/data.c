/* Made-up fields: waves that travel over a periodic square, each at a speed that depends on its own
 * amplitude, which itself swells and fades; a little noise. So a linear model has something to
 * catch (the waves) and something to miss (how they speed up). */
#include "studies/rom/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/model.h"
#include "base/error.h"
#include "base/random.h"

enum { SIDE = 16, WAVES = 14 };

static const double noise = 0.01;

typedef struct wave {
    double kx, ky, phase, speed, amplitude, swell, swell_phase;
} wave;

static void draw_waves(assay__random *random, wave waves[WAVES])
{
    for (int i = 0; i < WAVES; i++)
        waves[i] = (wave){.kx = 2 * M_PI * (double)assay__random_below(random, 5),
                          .ky = 2 * M_PI * (double)assay__random_below(random, 5),
                          .phase = 2 * M_PI * assay__random_uniform(random),
                          .speed = 0.05 + 0.25 * assay__random_uniform(random),
                          .amplitude = 1.0 / (1 + i),
                          .swell = 0.01 + 0.03 * assay__random_uniform(random),
                          .swell_phase = 2 * M_PI * assay__random_uniform(random)};
}

/* One snapshot (SIDE x SIDE); the waves move on. */
static void snapshot(wave waves[WAVES], double t, assay__random *random, double *field)
{
    for (int cell = 0; cell < SIDE * SIDE; cell++)
        field[cell] = noise * assay__random_normal(random);
    for (int i = 0; i < WAVES; i++) {
        wave *w = &waves[i];
        double a = w->amplitude * (1 + 0.3 * sin(w->swell * t + w->swell_phase));
        for (int cell = 0; cell < SIDE * SIDE; cell++) {
            double x = (double)(cell % SIDE) / SIDE, y = (double)(cell / SIDE) / SIDE;
            field[cell] += a * cos(w->kx * x + w->ky * y + w->phase);
        }
        w->phase -= w->speed * (1 + 0.2 * a * a);
    }
}

static assay_status generate(uint64_t seed, bool quick, assay__rom_data *data)
{
    data->trajectories = quick ? 5 : 10;
    data->steps = quick ? 160 : 300;
    data->features = SIDE * SIDE;
    data->generated = true;
    data->fields =
        calloc((size_t)(data->trajectories * data->steps * data->features), sizeof *data->fields);
    if (data->fields == NULL)
        return ASSAY_E_MEMORY;
    assay__random random;
    assay__random_init(&random, seed);
    wave first[WAVES];
    draw_waves(&random, first);
    double *field = data->fields;
    for (int64_t trajectory = 0; trajectory < data->trajectories; trajectory++) {
        wave waves[WAVES];
        memcpy(waves, first, sizeof waves);
        for (int i = 0; i < WAVES; i++) /* the same waves, set off otherwise */
            waves[i].phase += 2 * M_PI * assay__random_uniform(&random);
        for (int64_t t = 0; t < data->steps; t++, field += data->features)
            snapshot(waves, (double)t, &random, field);
    }
    return ASSAY_OK;
}

static assay_status load(const char *path, assay__rom_data *data, assay_error *error)
{
    assay_tensor tensor = {0};
    assay_status status = assay_tensor_load_npy(path, ASSAY_F64, error, &tensor);
    if (status != ASSAY_OK)
        return status;
    if (tensor.rank != 2 && tensor.rank != 3) {
        assay_tensor_release(&tensor);
        return assay__fail(error, ASSAY_E_FORMAT,
                           "'%s' has %u axes; (trajectories, time, features) or (time, features) "
                           "is expected",
                           path, tensor.rank);
    }
    data->trajectories = tensor.rank == 3 ? tensor.shape[0] : 1;
    data->steps = tensor.shape[tensor.rank - 2];
    data->features = tensor.shape[tensor.rank - 1];
    data->fields = tensor.data; /* ours now */
    int64_t count = data->trajectories * data->steps * data->features;
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(data->fields[i]))
            return assay__fail(error, ASSAY_E_DATA, "'%s' holds a value that is not finite at %lld",
                               path, (long long)i);
    return ASSAY_OK;
}

/* The first four fifths of the trajectories are for training; one alone is cut in time, so that
 * five pieces remain. */
static assay_status split(const assay__rom_settings *settings, assay__rom_data *data,
                          assay_error *error)
{
    if (data->trajectories == 1) {
        data->steps /= 5;
        data->trajectories = 5;
    }
    data->train = data->trajectories - (data->trajectories + 4) / 5;
    int64_t start = settings->window > settings->lag ? settings->window : settings->lag;
    if (data->train < 1 || data->steps < start + 2)
        return assay__fail(error, ASSAY_E_DATA,
                           "%lld trajectories of %lld steps are too few: at least 2 of %lld (one "
                           "alone is cut into 5)",
                           (long long)data->trajectories, (long long)data->steps,
                           (long long)(start + 2));
    return ASSAY_OK;
}

static void scale_amplitudes(const assay__rom_data *data, int64_t dim)
{
    int64_t rows = data->train * data->steps;
    for (int64_t k = 0; k < dim; k++) {
        double squares = 0;
        for (int64_t i = 0; i < rows; i++)
            squares += data->latent[i * dim + k] * data->latent[i * dim + k];
        data->scale[k] = sqrt(squares / (double)rows);
    }
    for (int64_t i = 0; i < data->trajectories * data->steps * dim; i++)
        data->latent[i] /= data->scale[i % dim];
}

static assay_status reduce(const assay__rom_settings *settings, assay__rom_data *data,
                           assay_error *error)
{
    int64_t dim = settings->latent_dim, rows = data->trajectories * data->steps;
    assay_status status = assay__pod_fit(data->train * data->steps, data->features, data->fields,
                                         dim, error, &data->pod);
    if (status != ASSAY_OK)
        return status;
    data->latent = calloc((size_t)(rows * dim), sizeof *data->latent);
    data->scale = calloc((size_t)dim, sizeof *data->scale);
    if (data->latent == NULL || data->scale == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "no memory for the reduced trajectories");
    assay__pod_reduce(&data->pod, rows, data->fields, data->latent);
    scale_amplitudes(data, dim);
    return ASSAY_OK;
}

assay_status assay__rom_data_prepare(const assay__rom_settings *settings, uint64_t seed, bool quick,
                                     assay_error *error, assay__rom_data *data)
{
    *data = (assay__rom_data){0};
    assay_status status =
        settings->data != NULL ? load(settings->data, data, error) : generate(seed, quick, data);
    if (status == ASSAY_E_MEMORY)
        assay__fail(error, status, "no memory for the trajectories");
    if (status == ASSAY_OK)
        status = split(settings, data, error);
    if (status == ASSAY_OK)
        status = reduce(settings, data, error);
    if (status != ASSAY_OK)
        assay__rom_data_release(data);
    return status;
}

void assay__rom_data_release(assay__rom_data *data)
{
    free(data->fields);
    free(data->latent);
    free(data->scale);
    assay__pod_release(&data->pod);
    *data = (assay__rom_data){0};
}

assay_status assay__rom_restore(const assay__rom_data *data, int64_t count, const double *latent,
                                double *fields)
{
    int64_t dim = data->pod.rank;
    double *whole = malloc((size_t)(count * dim) * sizeof *whole);
    if (whole == NULL)
        return ASSAY_E_MEMORY;
    for (int64_t i = 0; i < count * dim; i++)
        whole[i] = latent[i] * data->scale[i % dim];
    assay__pod_restore(&data->pod, count, whole, fields);
    free(whole);
    return ASSAY_OK;
}
