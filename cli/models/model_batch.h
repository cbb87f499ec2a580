/* Rows drawn for the steps of a training: every epoch all of them, in a new order. */
#ifndef ASSAY_CLI_MODELS_MODEL_BATCH_H
#define ASSAY_CLI_MODELS_MODEL_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/models/model_job.h"

typedef struct model_batch { /* all zero: everything at once */
    const model_job *job;
    size_t rows, size; /* rows of the data, and of a step */
    size_t at;         /* rows of this epoch already drawn */
    size_t *order;
    uint64_t random;
    assay_tensor *inputs; /* what a step is given */
    assay_tensor target;
    bool copied; /* inputs and target are copies of rows, not the data themselves */
} model_batch;

/* `size` 0: all rows. EX_OK, or the exit code after a message: rows cannot be drawn from data whose
 * first axes differ, such as graphs. */
int model_batch_init(model_batch *batch, const model_job *job, size_t size, uint64_t seed);
size_t model_batch_steps_per_epoch(const model_batch *batch);
/* The next step's rows into batch->inputs and batch->target. */
void model_batch_next(model_batch *batch);
void model_batch_release(model_batch *batch);

#endif
