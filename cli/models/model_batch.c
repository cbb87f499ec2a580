/* Makes the batches of a training: shuffles the numbers of the rows once per epoch, and copies the
 * rows of each step into buffers of the size of a batch. */
#include "cli/models/model_batch.h"

#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "cli/common/message.h"

static size_t row_bytes(const assay_tensor *tensor)
{
    size_t bytes = tensor->element == ASSAY_F32 ? 4 : 8;
    for (uint32_t axis = 1; axis < tensor->rank; axis++)
        bytes *= (size_t)tensor->shape[axis];
    return bytes;
}

/* The generator splitmix64 (Steele, Lea and Flood 2014), which is good enough to shuffle rows. */
static uint64_t next_random(model_batch *batch)
{
    uint64_t z = batch->random += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static void shuffle(model_batch *batch)
{
    for (size_t i = batch->rows; i > 1; i--) {
        size_t other = (size_t)(next_random(batch) % i), kept = batch->order[i - 1];
        batch->order[i - 1] = batch->order[other];
        batch->order[other] = kept;
    }
}

static bool copy_of(const assay_tensor *data, size_t rows, assay_tensor *copy)
{
    *copy = *data;
    copy->shape[0] = (int64_t)rows;
    copy->data = calloc(rows, row_bytes(data) > 0 ? row_bytes(data) : 1);
    return copy->data != NULL;
}

static int refuse(const model_job *job)
{
    message_error("assay model train: --batch draws rows, but the inputs and the target of model "
                  "'%s' do not have equally many; leave it out",
                  job->class_->name);
    return EX_USAGE;
}

static bool has_rows(const assay_tensor *tensor, size_t rows)
{
    return tensor->rank > 0 && tensor->shape[0] >= 0 && (size_t)tensor->shape[0] == rows;
}

int model_batch_init(model_batch *batch, const model_job *job, size_t size, uint64_t seed)
{
    *batch = (model_batch){.job = job, .inputs = job->inputs, .target = job->target};
    if (size == 0)
        return EX_OK;
    const size_t count = job->class_->input_count;
    batch->rows = job->target.rank > 0 ? (size_t)job->target.shape[0] : 0;
    batch->random = seed;
    for (size_t i = 0; i < count; i++)
        if (job->inputs[i].data != NULL && !has_rows(&job->inputs[i], batch->rows))
            return refuse(job);
    if (batch->rows == 0)
        return refuse(job);
    batch->size = batch->at = size < batch->rows ? size : batch->rows;
    batch->order = calloc(batch->rows, sizeof *batch->order);
    batch->inputs = calloc(count, sizeof *batch->inputs);
    batch->copied = batch->inputs != NULL;
    batch->target.data = NULL;
    bool good = batch->order != NULL && batch->inputs != NULL &&
                copy_of(&job->target, batch->size, &batch->target);
    for (size_t i = 0; i < count && good; i++)
        if (job->inputs[i].data != NULL)
            good = copy_of(&job->inputs[i], batch->size, &batch->inputs[i]);
        else
            batch->inputs[i].name = job->inputs[i].name;
    for (size_t i = 0; i < batch->rows && good; i++)
        batch->order[i] = i;
    batch->at = batch->rows;
    if (good)
        return EX_OK;
    message_error("assay model: out of memory");
    return EX_OSERR;
}

size_t model_batch_steps_per_epoch(const model_batch *batch)
{
    return batch->order == NULL ? 1 : (batch->rows + batch->size - 1) / batch->size;
}

static void draw(const model_batch *batch, const assay_tensor *data, size_t rows,
                 assay_tensor *drawn)
{
    size_t bytes = row_bytes(data);
    drawn->shape[0] = (int64_t)rows;
    for (size_t i = 0; i < rows; i++)
        memcpy((char *)drawn->data + i * bytes,
               (const char *)data->data + batch->order[batch->at + i] * bytes, bytes);
}

void model_batch_next(model_batch *batch)
{
    if (batch->order == NULL)
        return;
    if (batch->at >= batch->rows) {
        shuffle(batch);
        batch->at = 0;
    }
    size_t left = batch->rows - batch->at, rows = left < batch->size ? left : batch->size;
    for (size_t i = 0; i < batch->job->class_->input_count; i++)
        if (batch->inputs[i].data != NULL)
            draw(batch, &batch->job->inputs[i], rows, &batch->inputs[i]);
    draw(batch, &batch->job->target, rows, &batch->target);
    batch->at += rows;
}

void model_batch_release(model_batch *batch)
{
    if (batch->copied) {
        for (size_t i = 0; i < batch->job->class_->input_count; i++)
            free(batch->inputs[i].data);
        free(batch->inputs);
        free(batch->target.data);
    }
    free(batch->order);
}
