/* Trains the surrogate of Burgers' equation. `num_workers` threads, each with a solver of its own,
 * make the data. Sample i depends only on the configuration, the seed and i, so the number of
 * threads changes the time but not the data. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "models/pde/burgers_surrogate.h"
#include "studies/pde/training.h"

/* ---- data ---- */

typedef struct sample_factory {
    assay__burgers_surrogate *surrogate;
    int64_t total;
    atomic_int_least64_t next, made;
    atomic_bool stop;
} sample_factory;

typedef struct worker {
    pthread_t thread;
    assay__burgers_data *data;
    sample_factory *factory;
} worker;

static void *work(void *argument)
{
    worker *self = argument;
    sample_factory *factory = self->factory;
    for (;;) {
        int64_t index = atomic_fetch_add(&factory->next, 1);
        if (index >= factory->total || atomic_load(&factory->stop))
            return NULL;
        assay__burgers_surrogate_make_with(factory->surrogate, self->data, index);
        atomic_fetch_add(&factory->made, 1);
    }
}

/* Wait until all samples are made, and show the progress. Returns false if the user wants to
 * stop. */
static bool wait_for(assay__pde_training *training, sample_factory *factory)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    while (atomic_load(&factory->made) < factory->total) {
        nanosleep(&pause, NULL);
        if (!assay__study_advance(training->study, 0.3 * (double)atomic_load(&factory->made) /
                                                       (double)factory->total)) {
            atomic_store(&factory->stop, true);
            return false;
        }
    }
    return true;
}

static assay_status make_by_workers(assay__pde_training *training,
                                    assay__burgers_surrogate *surrogate,
                                    const assay__burgers_data_shape *shape, int64_t total)
{
    size_t count = (size_t)training->config->num_workers, started = 0;
    sample_factory factory = {.surrogate = surrogate, .total = total};
    worker *workers = calloc(count, sizeof *workers);
    assay_status status =
        workers == NULL ? assay__fail(training->error, ASSAY_E_MEMORY, "out of memory") : ASSAY_OK;
    for (; started < count && status == ASSAY_OK; started++) {
        worker *self = &workers[started];
        self->factory = &factory;
        status = assay__burgers_data_new(shape, training->seed, training->error, &self->data);
        if (status != ASSAY_OK)
            break;
        errno = pthread_create(&self->thread, NULL, work, self);
        if (errno != 0) {
            status = assay__fail_errno(training->error, "cannot start worker %zu", started + 1);
            assay__burgers_data_free(self->data);
            break;
        }
    }
    bool complete = status == ASSAY_OK && wait_for(training, &factory);
    atomic_store(&factory.stop, true);
    for (size_t i = 0; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
        assay__burgers_data_free(workers[i].data);
    }
    free(workers);
    return status != ASSAY_OK || complete
               ? status
               : assay__study_interrupted(training->study, training->error);
}

static assay_status make_data(assay__pde_training *training, assay__burgers_surrogate *surrogate,
                              const assay__burgers_data_shape *shape)
{
    int64_t total = training->config->samples + training->config->held_out;
    if (training->config->num_workers > 0)
        return make_by_workers(training, surrogate, shape, total);
    for (int64_t i = 0; i < total; i++) {
        assay__burgers_surrogate_make(surrogate, i);
        if (!assay__study_advance(training->study, 0.3 * (double)i / (double)total))
            return assay__study_interrupted(training->study, training->error);
    }
    return ASSAY_OK;
}

/* ---- training ---- */

/* The learning rate, which falls along half a cosine, so that the last steps settle. */
static double rate_at(const assay__pde_config *config, double done)
{
    const double last = 0.01; /* of the first rate */
    return config->learning_rate * (last + (1 - last) * 0.5 * (1 + cos(M_PI * done)));
}

static assay_status train_epoch(assay__pde_training *training, assay__burgers_surrogate *surrogate,
                                int64_t epoch, double *mean_loss)
{
    const assay__pde_config *config = training->config;
    int64_t batches = assay__burgers_surrogate_batches(surrogate);
    assay_status status = ASSAY_OK;
    double sum = 0;
    assay__burgers_surrogate_shuffle(surrogate);
    assay_epoch_monitor_on_epoch_start(training->epochs);
    for (int64_t b = 0; b < batches && status == ASSAY_OK; b++) {
        double loss = 0;
        assay__pde_batch_start(training, (uint64_t)b);
        double done = ((double)epoch + (double)b / (double)batches) / (double)config->epochs;
        status = assay__burgers_surrogate_train(surrogate, b, rate_at(config, done),
                                                training->error, &loss);
        assay__pde_batch_end(training, (uint64_t)b, loss);
        sum += loss;
        double share = ((double)epoch + (double)(b + 1) / (double)batches) / (double)config->epochs;
        if (status == ASSAY_OK && !assay__study_advance(training->study, 0.3 + 0.7 * share))
            status = assay__study_interrupted(training->study, training->error);
    }
    assay__study_quiet(training->study);
    if (status == ASSAY_OK)
        assay_epoch_monitor_on_epoch_end(training->epochs);
    *mean_loss = sum / (double)batches;
    return status;
}

static assay_status train(assay__pde_training *training, assay__burgers_surrogate *surrogate)
{
    const assay__pde_config *config = training->config;
    assay_status status = ASSAY_OK;
    for (int64_t epoch = 0; epoch < config->epochs && status == ASSAY_OK; epoch++) {
        double loss = 0, held_out = 0, relative = 0;
        assay__study_quiet(training->study);
        fprintf(training->output, "Epoch %lld/%lld\n", (long long)epoch + 1,
                (long long)config->epochs);
        status = train_epoch(training, surrogate, epoch, &loss);
        if (status != ASSAY_OK)
            break;
        ASSAY_TRACK(training->monitor, "evaluation") {
            status =
                assay__burgers_surrogate_evaluate(surrogate, training->error, &held_out, &relative);
        }
        assay__pde_append(&training->losses, loss);
        assay__pde_append(&training->held_out_losses, held_out);
        assay__pde_append(&training->relative_errors, relative);
        fprintf(training->output, "  Loss: %.6f, held out %.6f, relative error %.2f%%\n", loss,
                held_out, 100 * relative);
    }
    return status;
}

assay_status assay__pde_train_burgers(assay__pde_training *training)
{
    const assay__pde_config *config = training->config;
    const assay__burgers_surrogate_shape shape = {.data = {.points = config->points,
                                                           .modes = config->modes,
                                                           .snapshots = 1,
                                                           .viscosity = config->viscosity,
                                                           .duration = config->duration},
                                                  .hidden = config->hidden_dim,
                                                  .hidden_layers = config->num_layers,
                                                  .samples = config->samples,
                                                  .held_out = config->held_out,
                                                  .batch = config->batch_size};
    assay__burgers_surrogate *surrogate = NULL;
    assay_status status =
        assay__burgers_surrogate_new(&shape, training->seed, training->error, &surrogate);
    if (status == ASSAY_OK)
        ASSAY_METRIC(training->monitor, "data_loading") {
            status = make_data(training, surrogate, &shape.data);
        }
    if (status == ASSAY_OK)
        ASSAY_METRIC(training->monitor, "training") {
            status = train(training, surrogate);
        }
    if (status == ASSAY_OK)
        status = assay__pde_found_model(
            training, "burgers_surrogate",
            (double)assay__burgers_surrogate_net(surrogate)->parameters.total);
    assay__burgers_surrogate_free(surrogate);
    return status;
}
