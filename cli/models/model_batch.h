/* Draws the rows for the steps of a training. Every epoch draws all rows once, in a new random
 * order. */
#ifndef ASSAY_CLI_MODELS_MODEL_BATCH_H
#define ASSAY_CLI_MODELS_MODEL_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/models/model_job.h"

typedef struct model_batch {
    const model_job *job;
    size_t rows, size; /* rows of the data, and of a step */
    size_t at;         /* the number of rows of this epoch that are already drawn */
    size_t *order;     /* the shuffled rows; NULL if every step takes all data */
    uint64_t random;
    assay_tensor *inputs; /* the inputs of the present step */
    assay_tensor target;
    bool copied; /* inputs and target are copies of rows, not the data themselves */
} model_batch;

/* Prepare to draw `size` rows for each step, or all rows if `size` is 0. Returns EX_OK, or the exit
 * code after a message. Data whose first axes differ, such as graphs, are refused, because rows
 * cannot be drawn from them. Call model_batch_release() in both cases. */
int model_batch_init(model_batch *batch, const model_job *job, size_t size, uint64_t seed);
size_t model_batch_steps_per_epoch(const model_batch *batch);
/* Draw the rows of the next step into batch->inputs and batch->target. */
void model_batch_next(model_batch *batch);
void model_batch_release(model_batch *batch);

#endif
