/* Loads or makes up the trajectories, and reduces them. The made-up fields are the wake of a body,
 * as low-order models describe it. Two oscillators, of which the second is slower and weaker, each
 * settle on a cycle of radius 1 (the equation of Stuart and Landau: r' = s (1 - r^2) r, and the
 * phase runs faster for a larger r). Each oscillator drives a wave that travels over a periodic
 * square, and waves of its higher harmonics. Harmonic m turns m times as fast and has the height
 * r^m / m^2. Six and four waves fill the 20 amplitudes that are kept by default.
 *
 * A linear model can describe the motion on the cycles, but not the approach to them. In 100 steps
 * the first oscillator turns by 10 to 15 radians, so that the last value is a bad forecast. */
#include "studies/rom/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay/model.h"
#include "base/error.h"
#include "base/random.h"

enum { SIDE = 16, WAVE_NUMBERS = 5 /* 0 ... 4 along each side */, OSCILLATORS = 2, WAVES = 10 };

static const double noise = 0.01;
static const double settling = 0.01; /* s, per step */
static const double shear = 0.2; /* the pace is 1 + shear (r^2 - 1) times the pace on the cycle */

typedef struct wave {
    int oscillator, harmonic;
    double height, kx, ky;
} wave;

typedef struct wake {
    double pace[OSCILLATORS]; /* radians per step on the cycle */
    double radius[OSCILLATORS], phase[OSCILLATORS];
    wave waves[WAVES];
} wake;

/* Draw the wave numbers of each wave. No two waves get the same, because waves of one shape would
 * share their amplitudes, and none gets (0, 0). */
static void draw_shapes(assay__random *random, wave waves[WAVES])
{
    enum { SHAPES = WAVE_NUMBERS * WAVE_NUMBERS - 1 };
    int left[SHAPES];
    for (int i = 0; i < SHAPES; i++)
        left[i] = i + 1;
    for (int i = 0; i < WAVES; i++) {
        int pick = i + (int)assay__random_below(random, (uint64_t)(SHAPES - i));
        waves[i].kx = 2 * M_PI * (left[pick] % WAVE_NUMBERS);
        waves[i].ky = 2 * M_PI * (left[pick] / WAVE_NUMBERS);
        left[pick] = left[i];
    }
}

static void draw_wake(assay__random *random, wake *self)
{
    enum { HARMONICS = 6 }; /* waves of the first oscillator; the second has the others */
    for (int i = 0; i < WAVES; i++) {
        int oscillator = i < HARMONICS ? 0 : 1, harmonic = i % HARMONICS + 1;
        self->waves[i] = (wave){.oscillator = oscillator,
                                .harmonic = harmonic,
                                .height = (oscillator == 0 ? 1 : 0.5) / (harmonic * harmonic)};
    }
    draw_shapes(random, self->waves);
    self->pace[0] = 0.1 + 0.05 * assay__random_uniform(random);
    self->pace[1] = self->pace[0] * (0.35 + 0.3 * assay__random_uniform(random));
}

/* Start another trajectory of the same wake, from a random state. */
static void set_off(assay__random *random, wake *self)
{
    for (int k = 0; k < OSCILLATORS; k++) {
        self->radius[k] = 0.7 + 0.6 * assay__random_uniform(random);
        self->phase[k] = 2 * M_PI * assay__random_uniform(random);
    }
}

static void move_on(wake *self)
{
    for (int k = 0; k < OSCILLATORS; k++) {
        double excess = self->radius[k] * self->radius[k] - 1;
        self->radius[k] -= settling * excess * self->radius[k];
        self->phase[k] += self->pace[k] * (1 + shear * excess);
    }
}

/* Compute the field (SIDE x SIDE) of the present state. */
static void snapshot(const wake *self, assay__random *random, double *field)
{
    for (int cell = 0; cell < SIDE * SIDE; cell++)
        field[cell] = noise * assay__random_normal(random);
    for (int i = 0; i < WAVES; i++) {
        const wave *w = &self->waves[i];
        double height = w->height * pow(self->radius[w->oscillator], w->harmonic);
        double phase = w->harmonic * self->phase[w->oscillator];
        for (int cell = 0; cell < SIDE * SIDE; cell++) {
            double x = (double)(cell % SIDE) / SIDE, y = (double)(cell / SIDE) / SIDE;
            field[cell] += height * cos(w->kx * x + w->ky * y - phase);
        }
    }
}

static assay_status generate(uint64_t seed, bool quick, assay__rom_data *data)
{
    data->trajectories = quick ? 20 : 40;
    data->steps = quick ? 200 : 300;
    data->features = SIDE * SIDE;
    data->generated = true;
    data->fields =
        calloc((size_t)(data->trajectories * data->steps * data->features), sizeof *data->fields);
    if (data->fields == NULL)
        return ASSAY_E_MEMORY;
    assay__random random;
    assay__random_init(&random, seed);
    wake flow;
    draw_wake(&random, &flow);
    double *field = data->fields;
    for (int64_t trajectory = 0; trajectory < data->trajectories; trajectory++) {
        set_off(&random, &flow);
        for (int64_t t = 0; t < data->steps; t++, field += data->features) {
            snapshot(&flow, &random, field);
            move_on(&flow);
        }
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
    data->fields = tensor.data; /* now belongs to data */
    int64_t count = data->trajectories * data->steps * data->features;
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(data->fields[i]))
            return assay__fail(error, ASSAY_E_DATA, "'%s' holds a value that is not finite at %lld",
                               path, (long long)i);
    return ASSAY_OK;
}

/* Use the first four fifths of the trajectories for training. A single trajectory is first cut in
 * time into five pieces. */
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

/* Divide all amplitudes by the root mean square of the first, the largest. As all have the same
 * scale, an error of an amplitude has the same weight in a loss as in the field, and amplitudes
 * that contain only noise have little weight. */
static void scale_amplitudes(assay__rom_data *data, int64_t dim)
{
    int64_t rows = data->train * data->steps;
    double squares = 0;
    for (int64_t i = 0; i < rows; i++)
        squares += data->latent[i * dim] * data->latent[i * dim];
    data->scale = sqrt(squares / (double)rows);
    for (int64_t i = 0; i < data->trajectories * data->steps * dim; i++)
        data->latent[i] /= data->scale;
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
    if (data->latent == NULL)
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
        whole[i] = latent[i] * data->scale;
    assay__pod_restore(&data->pod, count, whole, fields);
    free(whole);
    return ASSAY_OK;
}
