/* Trains with Adam on batches of whole trajectories. To save and load weights, they are copied to
 * or from an instance of the class next_road of the same shape, whose parameters have the same
 * order. So the class provides the file format and its checks. */
#include "studies/routes/train.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/random.h"
#include "models/instance.h"

static void shuffle(int64_t *order, int64_t count, assay__random *random)
{
    for (int64_t i = count - 1; i > 0; i--) {
        int64_t j = (int64_t)assay__random_below(random, (uint64_t)i + 1), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

static assay_status step(assay__next_road *model, assay__next_road *teacher,
                         const assay__routes_training *training, const assay__road_batch *batch,
                         double *loss)
{
    assay_status status =
        teacher == NULL ? assay__next_road_gradient(model, batch, loss)
                        : assay__next_road_distill(model, teacher, batch, training->teacher_share,
                                                   training->temperature, loss);
    return status == ASSAY_OK ? assay__next_road_update(model, training->learning_rate) : status;
}

/* Train one epoch. Batches without a choice are skipped. */
static assay_status train_epoch(const assay__routes_data *data, assay__next_road *model,
                                assay__next_road *teacher, const assay__routes_training *training,
                                const int64_t *order, int64_t epoch, assay__road_batch *batch,
                                double *mean_loss)
{
    int64_t count = data->train.count, batches = 0;
    double sum = 0;
    for (int64_t start = 0; start < count; start += training->batch_size) {
        int64_t size = count - start < training->batch_size ? count - start : training->batch_size;
        double loss;
        assay_status status = assay__road_batch_fill(batch, data->network, &data->train,
                                                     order + start, size, training->max_roads);
        if (status == ASSAY_OK && batch->decisions > 0) {
            status = step(model, teacher, training, batch, &loss);
            sum += status == ASSAY_OK ? loss : 0;
            batches++;
        }
        if (status != ASSAY_OK)
            return status;
        double done = ((double)epoch + (double)(start + size) / (double)count);
        if (training->advance != NULL &&
            !training->advance(training->context, done / (double)training->epochs))
            return ASSAY_E_STATE;
    }
    if (batches == 0)
        return ASSAY_E_DATA;
    *mean_loss = sum / (double)batches;
    return ASSAY_OK;
}

assay_status assay__routes_train(const assay__routes_data *data, assay__next_road *model,
                                 assay__next_road *teacher, const assay__routes_training *training,
                                 uint64_t seed, assay_error *error, double *losses)
{
    assay__road_batch batch;
    assay__random random;
    assay__random_init(&random, seed);
    assay_status status = assay__road_batch_init(&batch);
    if (status != ASSAY_OK)
        return assay__fail(error, status, "no memory to train");
    int64_t *order = calloc((size_t)data->train.count + 1, sizeof *order);
    status = order == NULL ? ASSAY_E_MEMORY : ASSAY_OK;
    for (int64_t i = 0; i < data->train.count && order != NULL; i++)
        order[i] = i;
    for (int64_t epoch = 0; epoch < training->epochs && status == ASSAY_OK; epoch++) {
        shuffle(order, data->train.count, &random);
        status = train_epoch(data, model, teacher, training, order, epoch, &batch, &losses[epoch]);
    }
    if (status == ASSAY_E_DATA)
        assay__fail(error, status, "no trajectory goes on from a road to one of its successors");
    else if (status == ASSAY_E_MEMORY)
        assay__fail(error, status, "no memory to train");
    free(order);
    assay__road_batch_release(&batch);
    return status;
}

/* ---- Testing ---- */

static assay_status add_loss(const assay__routes_data *data, assay__next_road *model,
                             const assay__routes_training *training, int64_t index,
                             assay__road_batch *batch, double *sum, int64_t *choices)
{
    double loss;
    assay_status status =
        assay__road_batch_fill(batch, data->network, &data->test, &index, 1, training->max_roads);
    if (status != ASSAY_OK || batch->decisions == 0)
        return status;
    status = assay__next_road_gradient(model, batch, &loss);
    if (status == ASSAY_OK) {
        *sum += loss * (double)batch->decisions;
        *choices += batch->decisions;
    }
    return status;
}

assay_status assay__routes_test_loss(const assay__routes_data *data, assay__next_road *model,
                                     const assay__routes_training *training, assay_error *error,
                                     double *loss)
{
    assay__road_batch batch;
    double sum = 0;
    int64_t choices = 0;
    assay_status status = assay__road_batch_init(&batch);
    if (status != ASSAY_OK)
        return assay__fail(error, status, "no memory to test");
    for (int64_t i = 0; i < data->test.count && status == ASSAY_OK; i++)
        status = add_loss(data, model, training, i, &batch, &sum, &choices);
    assay__road_batch_release(&batch);
    if (status == ASSAY_OK && choices == 0)
        status = ASSAY_E_DATA;
    if (status != ASSAY_OK)
        return assay__fail(error, status,
                           "the trajectories to test on hold no choice, or there is "
                           "no memory to look at them");
    *loss = sum / (double)choices;
    return ASSAY_OK;
}

/* ---- Files ---- */

static assay_status stand_in(const assay__next_road *model, assay_error *error,
                             assay_model **instance)
{
    const assay__setting settings[] = {{"num-nodes", (double)model->shape.roads},
                                       {"embedding-dim", (double)model->shape.embedding},
                                       {"hidden-dim", (double)model->shape.hidden},
                                       {"ffn-dim", (double)model->shape.scorer}};
    return assay__instance_new("next_road", settings, sizeof settings / sizeof *settings, 0, error,
                               instance);
}

static void copy_weights(const assay_model_parameter *from, const assay_model_parameter *to,
                         size_t count)
{
    for (size_t i = 0; i < count; i++)
        memcpy(to[i].value.data, from[i].value.data,
               (size_t)assay_tensor_count(&from[i].value) * sizeof(float));
}

assay_status assay__routes_save_weights(const assay__next_road *model, const char *path,
                                        assay_error *error)
{
    assay_model *instance = NULL;
    size_t count = 0;
    assay_status status = stand_in(model, error, &instance);
    if (status == ASSAY_OK) {
        const assay_model_parameter *list = assay_model_parameters(instance, &count);
        copy_weights(model->parameters.list, list, count);
        status = assay_model_save_weights(instance, path, error);
    }
    assay_model_free(instance);
    return status;
}

assay_status assay__routes_load_weights(assay__next_road *model, const char *path,
                                        assay_error *error)
{
    assay_model *instance = NULL;
    size_t count = 0;
    assay_status status = stand_in(model, error, &instance);
    if (status == ASSAY_OK)
        status = assay_model_load_weights(instance, path, error);
    if (status == ASSAY_OK) {
        const assay_model_parameter *list = assay_model_parameters(instance, &count);
        copy_weights(list, model->parameters.list, count);
    }
    assay_model_free(instance);
    return status;
}
