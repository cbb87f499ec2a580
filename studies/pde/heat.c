/* Recovers a conductivity from observed solutions of the heat equation. The observations are
 * computed on a grid and with time steps twice as fine as those of the recovery, and noise is
 * added. Data from the same discrete solver that is inverted would make the recovery look too good
 * (the "inverse crime", Colton and Kress, "Inverse Acoustic and Electromagnetic Scattering
 * Theory"). */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/random.h"
#include "models/pde/heat.h"
#include "models/pde/lbfgs.h"
#include "studies/pde/training.h"

static const double pi = 3.14159265358979323846;
enum { MODES = 4 };

typedef struct ground_truth {
    double *log_k;   /* (knots) */
    double *initial; /* (samples, points) */
    double *data;    /* (samples, snapshots, points) */
} ground_truth;

static void release_truth(ground_truth *truth)
{
    free(truth->log_k);
    free(truth->initial);
    free(truth->data);
}

static assay__heat_shape shape_of(const assay__pde_config *config)
{
    return (assay__heat_shape){.points = config->points,
                               .knots = config->knots,
                               .snapshots = config->snapshots,
                               .steps = config->steps,
                               .duration = config->duration,
                               .implicitness = 0.5};
}

/* ---- ground truth ---- */

/* Draw the logarithm of the conductivity as the sum of two long waves. The conductivity is between
 * about 1/3 and 3. */
static void draw_conductivity(int64_t knots, assay__random *random, double *log_k)
{
    double a = 0.4 * assay__random_normal(random), b = 0.3 * assay__random_normal(random);
    for (int64_t j = 0; j < knots; j++) {
        double x = knots > 1 ? (double)j / (double)(knots - 1) : 0.5;
        log_k[j] = a * cos(pi * x) + b * cos(2 * pi * x);
    }
}

static void draw_initial(int64_t points, assay__random *random, double *initial)
{
    double amplitudes[MODES];
    for (int m = 0; m < MODES; m++)
        amplitudes[m] = assay__random_normal(random) / (m + 1);
    for (int64_t i = 0; i < points; i++) {
        double x = (double)(i + 1) / (double)(points + 1);
        initial[i] = 0;
        for (int m = 0; m < MODES; m++)
            initial[i] += amplitudes[m] * sin((m + 1) * pi * x);
    }
}

/* Copy the values at the nodes of the coarse grid, which are every second node of the fine grid.
 * The fine grid has 2 p + 1 nodes if the coarse one has p. */
static void thin(int64_t rows, int64_t points, const double *fine, double *coarse)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < points; i++)
            coarse[r * points + i] = fine[r * (2 * points + 1) + 2 * i + 1];
}

static assay_status observe(const assay__pde_config *config, uint64_t seed, assay_error *error,
                            ground_truth *truth)
{
    assay__heat_shape shape = shape_of(config);
    assay__heat *heat = NULL;
    assay__random random;
    const double *solution = NULL;
    shape.points = 2 * config->points + 1;
    shape.steps *= 2;
    assay__random_init(&random, seed);
    draw_conductivity(config->knots, &random, truth->log_k);
    double *fine = calloc((size_t)(config->samples * shape.points), sizeof *fine);
    if (fine == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory for the ground truth");
    for (int64_t s = 0; s < config->samples; s++)
        draw_initial(shape.points, &random, fine + s * shape.points);
    assay_status status = assay__heat_new(&shape, error, &heat);
    if (status == ASSAY_OK)
        status = assay__heat_forward(heat, truth->log_k, config->samples, fine, error, &solution);
    if (status == ASSAY_OK) {
        int64_t rows = config->samples * config->snapshots;
        thin(config->samples, config->points, fine, truth->initial);
        thin(rows, config->points, solution, truth->data);
        for (int64_t i = 0; i < rows * config->points; i++)
            truth->data[i] += config->noise * assay__random_normal(&random);
    }
    assay__heat_free(heat);
    free(fine);
    return status;
}

static assay_status load_ground_truth(assay__pde_training *training, ground_truth *truth)
{
    const assay__pde_config *config = training->config;
    size_t states = (size_t)(config->samples * config->points);
    truth->log_k = calloc((size_t)config->knots, sizeof(double));
    truth->initial = calloc(states, sizeof(double));
    truth->data = calloc(states * (size_t)config->snapshots, sizeof(double));
    if (truth->log_k == NULL || truth->initial == NULL || truth->data == NULL)
        return assay__fail(training->error, ASSAY_E_MEMORY, "out of memory for the ground truth");
    return observe(config, training->seed, training->error, truth);
}

/* ---- optimization ---- */

const char *const assay__pde_stop_words[ASSAY__PDE_STOP_WORDS] = {
    [ASSAY__LBFGS_RUNNING] = "epochs",
    [ASSAY__LBFGS_GRADIENT] = "tolerance",
    [ASSAY__LBFGS_VALUE] = "value",
    [ASSAY__LBFGS_STALLED] = "precision"};
static const char stop_words_listed[] = "0: epochs, 1: tolerance, 2: value, 3: precision";

typedef struct progress {
    assay__pde_training *training;
    bool open; /* a batch, which is one iteration, has started and not ended */
    bool interrupted;
} progress;

static void end_batch(progress *self, int64_t index, double loss)
{
    assay__pde_batch_end(self->training, (uint64_t)index, loss);
    assay__pde_append(&self->training->losses, loss);
    self->open = false;
}

static bool advance(void *context, const assay__lbfgs_state *state)
{
    progress *self = context;
    const assay__pde_config *config = self->training->config;
    int64_t done = state->iteration;
    if (self->open) {
        end_batch(self, done - 1, state->value);
        self->interrupted =
            !assay__study_advance(self->training->study, (double)done / (double)config->epochs);
    }
    self->open =
        !self->interrupted && state->outcome == ASSAY__LBFGS_RUNNING && done < config->epochs;
    if (self->open)
        assay__pde_batch_start(self->training, (uint64_t)done);
    return !self->interrupted;
}

static assay_status add_end(assay__pde_training *training, const assay__lbfgs_state *state)
{
    const char *model = assay__pde_model_of(training->config);
    assay_status status = assay__found_figure(training->found, "iterations", model,
                                              assay_reading_of((double)state->iteration), NULL);
    if (status == ASSAY_OK)
        status = assay__found_figure(training->found, "evaluations", model,
                                     assay_reading_of((double)state->evaluations), NULL);
    if (status == ASSAY_OK)
        status =
            assay__found_cost(training->found, "stopped_by", model,
                              assay_reading_of((double)state->outcome), NULL, stop_words_listed);
    return status == ASSAY_OK ? status : assay__fail(training->error, status, "out of memory");
}

/* Minimise from the start `x` (knots), which is replaced by the optimum. */
static assay_status iterate(assay__pde_training *training, assay__heat_problem *problem, double *x)
{
    const assay__pde_config *config = training->config;
    progress watched = {.training = training};
    assay__lbfgs_state state;
    assay__lbfgs_task task = {.count = (size_t)config->knots,
                              .pairs = (size_t)config->history,
                              .gradient_tolerance = config->tolerance,
                              .max_iterations = config->epochs,
                              .objective = assay__heat_misfit,
                              .context = problem,
                              .observer = advance,
                              .observer_context = &watched};
    assay_epoch_monitor_on_epoch_start(training->epochs);
    assay_status status = assay__lbfgs_minimize(&task, x, &state);
    if (status != ASSAY_OK)
        return assay__fail(training->error, status, "the optimization failed at iteration %lld",
                           (long long)state.iteration + 1);
    if (watched.interrupted)
        return assay__study_interrupted(training->study, training->error);
    if (watched.open) /* the iteration that found nothing lower */
        end_batch(&watched, state.iteration, state.value);
    assay__study_quiet(training->study);
    assay_epoch_monitor_on_epoch_end(training->epochs);
    return add_end(training, &state);
}

static assay_status add_errors(assay__pde_training *training, const double *real,
                               const double *recovered)
{
    const char *model = assay__pde_model_of(training->config);
    double off = 0, size = 0, largest = 0;
    for (int64_t j = 0; j < training->config->knots; j++) {
        off += (recovered[j] - real[j]) * (recovered[j] - real[j]);
        size += real[j] * real[j];
        largest = fmax(largest, fabs(recovered[j] - real[j]) / real[j]);
    }
    assay_status status = assay__found_figure(training->found, "relative_error", model,
                                              assay_reading_of(sqrt(off / size)), NULL);
    return status == ASSAY_OK ? assay__found_figure(training->found, "largest_relative_error",
                                                    model, assay_reading_of(largest), NULL)
                              : status;
}

static assay_status keep_conductivity(assay__pde_training *training, const ground_truth *truth,
                                      const double *found)
{
    const char *model = assay__pde_model_of(training->config);
    size_t knots = (size_t)training->config->knots;
    double *x = calloc(3 * knots, sizeof *x);
    if (x == NULL)
        return assay__fail(training->error, ASSAY_E_MEMORY, "out of memory");
    double *real = x + knots, *recovered = real + knots;
    for (size_t j = 0; j < knots; j++) {
        x[j] = knots > 1 ? (double)j / (double)(knots - 1) : 0.5;
        real[j] = exp(truth->log_k[j]);
        recovered[j] = exp(found[j]);
    }
    assay_status status =
        assay__found_series(training->found, "conductivity_true", model, "x", x, real, knots);
    if (status == ASSAY_OK)
        status = assay__found_series(training->found, "conductivity_recovered", model, "x", x,
                                     recovered, knots);
    if (status == ASSAY_OK)
        status = add_errors(training, real, recovered);
    if (status == ASSAY_OK)
        status = assay__pde_found_model(training, "heat", (double)knots);
    free(x);
    return status == ASSAY_OK ? status : assay__fail(training->error, status, "out of memory");
}

static assay_status optimize(assay__pde_training *training, const ground_truth *truth)
{
    const assay__pde_config *config = training->config;
    const assay__heat_shape shape = shape_of(config);
    assay__heat_problem problem = {.batch = config->samples,
                                   .initial = truth->initial,
                                   .data = truth->data,
                                   .smoothness = config->smoothness};
    size_t count = (size_t)(config->samples * config->snapshots * config->points);
    double *log_k = calloc((size_t)config->knots, sizeof *log_k);
    problem.doutput = calloc(count, sizeof(double));
    assay_status status =
        log_k == NULL || problem.doutput == NULL
            ? assay__fail(training->error, ASSAY_E_MEMORY, "out of memory for the optimization")
            : assay__heat_new(&shape, training->error, &problem.heat);
    if (status == ASSAY_OK)
        status = iterate(training, &problem, log_k);
    if (status == ASSAY_OK)
        status = keep_conductivity(training, truth, log_k);
    assay__heat_free(problem.heat);
    free(problem.doutput);
    free(log_k);
    return status;
}

assay_status assay__pde_train_heat(assay__pde_training *training)
{
    ground_truth truth = {0};
    assay_status status = ASSAY_OK;
    ASSAY_METRIC(training->monitor, "load_ground_truth") {
        status = load_ground_truth(training, &truth);
    }
    if (status == ASSAY_OK)
        ASSAY_METRIC(training->monitor, "optimization") {
            status = optimize(training, &truth);
        }
    release_truth(&truth);
    return status;
}
