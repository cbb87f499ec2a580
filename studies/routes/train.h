/* Trains the two next-road models of a study: a full model, and a small one that learns from it. */
#ifndef ASSAY_STUDIES_ROUTES_TRAIN_H
#define ASSAY_STUDIES_ROUTES_TRAIN_H

#include <stdbool.h>

#include "models/road/next_road.h"
#include "models/routes/data.h"

typedef struct assay__routes_training {
    int64_t epochs, batch_size;
    int64_t max_roads; /* only so many roads of each trajectory are used, from its start */
    double learning_rate;
    /* For the small model; see assay__next_road_distill(). */
    double teacher_share, temperature;
    /* Called after each batch with the share that is done. Return false to stop; the training then
     * fails with ASSAY_E_STATE. May be NULL. */
    bool (*advance)(void *context, double share);
    void *context;
} assay__routes_training;

/* Train the model on data->train, in each epoch in a new order that follows from `seed`. If
 * `teacher` is not NULL, the model is distilled from it. losses (epochs) gets the mean loss over
 * the batches of each epoch. ASSAY_E_DATA if no trajectory has a choice. */
ASSAY_MUST_USE assay_status assay__routes_train(const assay__routes_data *data,
                                                assay__next_road *model, assay__next_road *teacher,
                                                const assay__routes_training *training,
                                                uint64_t seed, assay_error *error, double *losses);

/* Compute the mean cross-entropy of a choice in data->test, in nats. The gradients of the model are
 * overwritten. ASSAY_E_DATA if there is no choice. */
ASSAY_MUST_USE assay_status assay__routes_test_loss(const assay__routes_data *data,
                                                    assay__next_road *model,
                                                    const assay__routes_training *training,
                                                    assay_error *error, double *loss);

/* Save and load weights as a safetensors file, which `assay model --model next_road --weights FILE`
 * reads, too. */
ASSAY_MUST_USE assay_status assay__routes_save_weights(const assay__next_road *model,
                                                       const char *path, assay_error *error);
ASSAY_MUST_USE assay_status assay__routes_load_weights(assay__next_road *model, const char *path,
                                                       assay_error *error);

#endif
