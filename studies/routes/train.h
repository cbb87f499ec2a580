/* The two next-road models of a study: a full one, and a small one that learns from it. */
#ifndef ASSAY_STUDIES_ROUTES_TRAIN_H
#define ASSAY_STUDIES_ROUTES_TRAIN_H

#include <stdbool.h>

#include "models/road/next_road.h"
#include "models/routes/data.h"

typedef struct assay__routes_training {
    int64_t epochs, batch_size;
    int64_t max_roads; /* of a trajectory that are learnt from, its first ones */
    double learning_rate;
    /* Of the small one; see assay__next_road_distill. */
    double teacher_share, temperature;
    /* Called after each batch; false stops with ASSAY_E_STATE. NULL: not called. */
    bool (*advance)(void *context, double share);
    void *context;
} assay__routes_training;

/* Train on data->train in an order drawn from `seed`, anew in each epoch. With a teacher the model
 * is distilled from it. losses (epochs): means over the batches of each epoch. ASSAY_E_DATA when no
 * trajectory holds a choice. */
ASSAY_MUST_USE assay_status assay__routes_train(const assay__routes_data *data,
                                                assay__next_road *model, assay__next_road *teacher,
                                                const assay__routes_training *training,
                                                uint64_t seed, assay_error *error, double *losses);

/* The mean cross-entropy of a choice in data->test, in nats. Gradients are overwritten.
 * ASSAY_E_DATA when there is no choice. */
ASSAY_MUST_USE assay_status assay__routes_test_loss(const assay__routes_data *data,
                                                    assay__next_road *model,
                                                    const assay__routes_training *training,
                                                    assay_error *error, double *loss);

/* Weights as a safetensors file, which `assay model --model next_road --weights FILE` reads too. */
ASSAY_MUST_USE assay_status assay__routes_save_weights(const assay__next_road *model,
                                                       const char *path, assay_error *error);
ASSAY_MUST_USE assay_status assay__routes_load_weights(assay__next_road *model, const char *path,
                                                       assay_error *error);

#endif
