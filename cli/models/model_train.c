/* assay model train: fits the weights of a model to data. A model with a fit function is fitted in
 * closed form; every other model is trained by gradient steps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "cli/common/bench_progress.h"
#include "cli/common/message.h"
#include "cli/common/output.h"
#include "cli/models/model_batch.h"
#include "cli/models/model_job.h"

enum { DEFAULT_STEPS = 100, LINES = 10 };

typedef struct training {
    double *losses; /* one for each step; the lines of epochs show the mean over an epoch */
    size_t steps, per_epoch;
    bool epochs; /* the printed lines are of epochs, not of steps */
} training;

static int prepare(model_job *job)
{
    int code = model_setup_create(job);
    if (code == EX_OK)
        code = model_setup_inputs(job, true);
    if (code != EX_OK)
        return code;
    if (!job->example)
        return job->class_->fit != NULL ? EX_OK : model_setup_target(job);
    if (job->settings->target != NULL) {
        message_error("assay model train: a --target without an input; give --input FILE.npy");
        return EX_USAGE;
    }
    message_note("no data given: '%s' is trained on data it makes up itself", job->class_->name);
    return EX_OK;
}

static void show_progress(const training *run, size_t step, double loss)
{
    fprintf(stderr, "\r\033[Kstep %zu of %zu, loss %.6g", step + 1, run->steps, loss);
}

static int train_steps(model_job *job, model_batch *batch, training *run)
{
    const double rate = job->settings->learning_rate > 0 ? job->settings->learning_rate : 1e-3;
    const bool progress = bench_progress_wanted();
    assay_error error = {0};
    assay_status status = ASSAY_OK;
    size_t step = 0;
    for (; step < run->steps && status == ASSAY_OK; step++) {
        double loss = 0;
        model_batch_next(batch);
        status = assay_model_gradient(job->model, batch->inputs, job->class_->input_count,
                                      &batch->target, &error, &loss);
        run->losses[step] = loss;
        if (status == ASSAY_OK && !isfinite(loss))
            break;
        if (status == ASSAY_OK)
            status = assay_model_update(job->model, rate, &error);
        if (progress && (step % 10 == 0 || step + 1 == run->steps))
            show_progress(run, step, loss);
    }
    if (progress)
        fputs("\r\033[K", stderr);
    if (status != ASSAY_OK)
        return model_fail(job, status, &error);
    if (step < run->steps) {
        message_error("assay model train: the loss is no longer finite at step %zu; lower "
                      "--learning-rate",
                      step + 1);
        return EX_DATAERR;
    }
    return EX_OK;
}

static double mean_loss(const training *run, size_t first, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += run->losses[first + i];
    return sum / (double)count;
}

static void print_losses(const training *run)
{
    size_t unit = run->epochs ? run->per_epoch : 1, count = run->steps / unit;
    printf(" %7s %15s\n", run->epochs ? "epoch" : "step", "loss");
    for (size_t line = 0, last = 0; line <= LINES; line++) {
        size_t shown = line == 0 ? 1 : (count * line + LINES - 1) / LINES;
        if (shown > last)
            printf(" %7zu %15.9g\n", shown, mean_loss(run, (shown - 1) * unit, unit));
        last = shown;
    }
}

static json_t *losses_json(const training *run)
{
    json_t *losses = json_array();
    for (size_t i = 0; i < run->steps; i++)
        json_array_append_new(losses, json_real(run->losses[i]));
    return losses;
}

/* Print the result. Pass NULL for `run` after a fit in closed form, which has no losses. */
static int show(model_job *job, const training *run)
{
    assay_model_memory memory;
    bool accounted = assay_model_memory_now(job->model, NULL, &memory) == ASSAY_OK;
    if (job->settings->json != NULL) {
        json_t *root = model_json(job);
        json_object_set_new(root, "example_data", json_boolean(job->example));
        if (run != NULL) {
            json_object_set_new(root, "steps", json_integer((json_int_t)run->steps));
            json_object_set_new(root, "loss", json_real(run->losses[run->steps - 1]));
            json_object_set_new(root, "losses", losses_json(run));
        }
        if (job->settings->output != NULL)
            json_object_set_new(root, "output", json_string(job->settings->output));
        if (accounted)
            json_object_set_new(root, "bytes", model_memory_json(&memory));
        return model_write_json(job, root);
    }
    if (run != NULL)
        print_losses(run);
    else
        printf("fitted\n");
    if (accounted)
        model_print_memory(&memory, stdout);
    return EX_OK;
}

static int save(const model_job *job)
{
    assay_error error = {0};
    if (job->settings->output == NULL)
        return EX_OK;
    assay_status status = assay_model_save_weights(job->model, job->settings->output, &error);
    return output_check("model", status, &error) ? EX_OK : message_output_exit(status);
}

static int train_by_steps(model_job *job)
{
    model_batch batch = {0};
    training run = {.epochs = job->settings->epochs > 0};
    int code = model_batch_init(&batch, job, job->settings->batch, job->settings->seed.value);
    if (code != EX_OK)
        goto cleanup;
    run.per_epoch = model_batch_steps_per_epoch(&batch);
    run.steps = job->settings->steps > 0 ? job->settings->steps : DEFAULT_STEPS;
    if (run.epochs && __builtin_mul_overflow(job->settings->epochs, run.per_epoch, &run.steps))
        run.steps = SIZE_MAX;
    run.losses = calloc(run.steps, sizeof *run.losses);
    if (run.losses == NULL) {
        message_error("assay model train: no memory for the losses of %zu steps", run.steps);
        code = EX_OSERR;
        goto cleanup;
    }
    assay_model_set_training(job->model, true);
    code = train_steps(job, &batch, &run);
    if (code == EX_OK)
        code = save(job);
    if (code == EX_OK)
        code = show(job, &run);

cleanup:
    model_batch_release(&batch);
    free(run.losses);
    return code;
}

static int train_by_fit(model_job *job)
{
    assay_error error = {0};
    assay_status status =
        assay_model_fit(job->model, job->inputs, job->class_->input_count, &error);
    if (status != ASSAY_OK)
        return model_fail(job, status, &error);
    int code = save(job);
    return code == EX_OK ? show(job, NULL) : code;
}

int model_train(model_job *job)
{
    if (job->settings->steps > 0 && job->settings->epochs > 0) {
        message_error("assay model train: give --steps or --epochs, not both");
        return EX_USAGE;
    }
    int code = prepare(job);
    if (code != EX_OK)
        return code;
    return job->class_->fit != NULL ? train_by_fit(job) : train_by_steps(job);
}
