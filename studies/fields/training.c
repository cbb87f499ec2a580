/* Trainings use the public calls of the model classes, so that the measured times are those that
 * any user of the models gets.
 *
 * The three models have about the same number of parameters: 8577 (MLP and SIREN, three hidden
 * layers of 64) and 8424 (KAN, two hidden layers of 24, splines on 8 intervals). The learning rate
 * of each model is the one among 3e-4, 1e-3, 3e-3 and 1e-2 with the least mean error over the nine
 * functions after 50 epochs on 4096 points. SIREN's first frequency is 10, because the 30 of the
 * paper is for images, whose samples are far denser. */
#include "studies/fields/training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { TEST_SIDE = 41, MAX_SETTINGS = 8 };

static const assay__setting mlp_settings[] = {
    {"hidden-dim", 64}, {"num-layers", 3}, {"activation", 2}, {"batch-size", ASSAY__FIELDS_BATCH}};
static const assay__setting siren_settings[] = {{"hidden-dim", 64},
                                                {"num-layers", 3},
                                                {"omega-first", 10},
                                                {"omega-hidden", 30},
                                                {"batch-size", ASSAY__FIELDS_BATCH}};
static const assay__setting kan_settings[] = {
    {"hidden-dim", 24}, {"num-layers", 2}, {"grid-size", 8}, {"batch-size", ASSAY__FIELDS_BATCH}};

const assay__fields_model assay__fields_models[ASSAY__FIELDS_MODELS] = {
    {"MLP", "mlp", 1e-2, 1},
    {"SIREN", "siren", 3e-4, 1.2},
    {"KAN", "kan", 1e-3, 2},
};

static const struct {
    const assay__setting *list;
    size_t count;
} settings_of[ASSAY__FIELDS_MODELS] = {
    {mlp_settings, sizeof mlp_settings / sizeof *mlp_settings},
    {siren_settings, sizeof siren_settings / sizeof *siren_settings},
    {kan_settings, sizeof kan_settings / sizeof *kan_settings},
};

assay_status assay__fields_model_new(const assay__fields_model *model, uint64_t seed,
                                     assay_error *error, assay_model **instance)
{
    return assay__fields_variant_new(model, NULL, 0, seed, error, instance);
}

assay_status assay__fields_variant_new(const assay__fields_model *model,
                                       const assay__setting *changed, size_t count, uint64_t seed,
                                       assay_error *error, assay_model **instance)
{
    assay__setting settings[MAX_SETTINGS];
    size_t index = (size_t)(model - assay__fields_models), used = settings_of[index].count;
    memcpy(settings, settings_of[index].list, used * sizeof *settings);
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        while (at < used && strcmp(settings[at].name, changed[i].name) != 0)
            at++;
        if (at == MAX_SETTINGS)
            return assay__fail(error, ASSAY_E_LIMIT, "more than %d settings", MAX_SETTINGS);
        settings[at] = changed[i];
        used += at == used;
    }
    return assay__instance_new(model->class_name, settings, used, seed, error, instance);
}

/* ---- points ---- */

static void fill_points(assay__fields_points *points, uint64_t seed)
{
    assay__random random;
    assay__random_init(&random, seed);
    for (int64_t i = 0; i < 2 * points->samples; i++)
        points->x[i] = (float)(2 * assay__random_uniform(&random) - 1);
    for (int64_t i = 0; i < points->tests; i++) {
        points->test_x[2 * i] = (float)((double)(2 * (i % TEST_SIDE) + 1) / TEST_SIDE - 1);
        points->test_x[2 * i + 1] = (float)((double)(2 * (i / TEST_SIDE) + 1) / TEST_SIDE - 1);
    }
}

assay_status assay__fields_points_init(assay__fields_points *points, int64_t samples, uint64_t seed,
                                       assay_error *error)
{
    const int64_t tests = TEST_SIDE * TEST_SIDE;
    float *floats = calloc((size_t)(6 * samples + 3 * tests), sizeof *floats);
    *points = (assay__fields_points){.samples = samples,
                                     .tests = tests,
                                     .order = calloc((size_t)samples, sizeof *points->order)};
    points->x = floats;
    if (floats == NULL || points->order == NULL) {
        assay__fields_points_release(points);
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for %lld points",
                           (long long)samples);
    }
    points->shuffled = floats + 2 * samples;
    points->targets = floats + 4 * samples;
    points->shuffled_y = floats + 5 * samples;
    points->test_x = floats + 6 * samples;
    points->test_targets = points->test_x + 2 * tests;
    fill_points(points, seed);
    return ASSAY_OK;
}

void assay__fields_points_release(assay__fields_points *points)
{
    free(points->x);
    free(points->order);
    *points = (assay__fields_points){0};
}

void assay__fields_points_evaluate(assay__fields_points *points,
                                   const assay__fields_function *function)
{
    for (int64_t i = 0; i < points->samples; i++) {
        points->targets[i] = (float)function->value(points->x[2 * i], points->x[2 * i + 1]);
        points->order[i] = i;
    }
    for (int64_t i = 0; i < points->tests; i++)
        points->test_targets[i] =
            (float)function->value(points->test_x[2 * i], points->test_x[2 * i + 1]);
}

/* ---- epochs and tests ---- */

static assay_tensor rows_of(const float *data, int64_t rows, int64_t columns)
{
    return (assay_tensor){
        .element = ASSAY_F32, .rank = 2, .shape = {rows, columns}, .data = (void *)data};
}

static void shuffle(assay__fields_points *points, assay__random *random)
{
    assay__random_shuffle(random, points->order, (size_t)points->samples, sizeof *points->order);
    for (int64_t i = 0; i < points->samples; i++) {
        int64_t from = points->order[i];
        memcpy(points->shuffled + 2 * i, points->x + 2 * from, 2 * sizeof *points->x);
        points->shuffled_y[i] = points->targets[from];
    }
}

assay_status assay__fields_epoch(assay_model *instance, double learning_rate,
                                 assay__fields_points *points, assay__random *random,
                                 assay_error *error, double *loss)
{
    assay_status status = ASSAY_OK;
    double sum = 0;
    shuffle(points, random);
    for (int64_t first = 0; first < points->samples && status == ASSAY_OK;
         first += ASSAY__FIELDS_BATCH) {
        int64_t left = points->samples - first;
        int64_t rows = left < ASSAY__FIELDS_BATCH ? left : ASSAY__FIELDS_BATCH;
        assay_tensor x = rows_of(points->shuffled + 2 * first, rows, 2);
        assay_tensor y = rows_of(points->shuffled_y + first, rows, 1);
        double batch_loss = 0;
        status = assay_model_gradient(instance, &x, 1, &y, error, &batch_loss);
        if (status == ASSAY_OK)
            status = assay_model_update(instance, learning_rate, error);
        sum += batch_loss * (double)rows;
    }
    *loss = sum / (double)points->samples;
    if (status == ASSAY_OK && !isfinite(*loss))
        return assay__fail(error, ASSAY_E_DATA, "the loss is no longer finite");
    return status;
}

assay_status assay__fields_test(assay_model *instance, const assay__fields_points *points,
                                assay_error *error, assay__fields_accuracy *accuracy)
{
    assay_tensor x = rows_of(points->test_x, points->tests, 2), y;
    assay_status status = assay_model_forward(instance, &x, 1, error, &y);
    if (status != ASSAY_OK)
        return status;
    const float *found = y.data;
    double mean = 0, squares = 0, variance = 0;
    accuracy->largest_error = 0;
    for (int64_t i = 0; i < points->tests; i++)
        mean += points->test_targets[i] / (double)points->tests;
    for (int64_t i = 0; i < points->tests; i++) {
        double target = points->test_targets[i], difference = found[i] - target;
        squares += difference * difference;
        variance += (target - mean) * (target - mean);
        accuracy->largest_error = fmax(accuracy->largest_error, fabs(difference));
    }
    accuracy->rmse = sqrt(squares / (double)points->tests);
    accuracy->r2 = 1 - squares / variance;
    return ASSAY_OK;
}
