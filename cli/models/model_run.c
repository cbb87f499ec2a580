/* assay model eval and grad: one forward pass, or one forecast, and one backward pass of a model.
 * The output or the gradients are written to a file. */
#include <string.h>
#include <sysexits.h>

#include "cli/common/message.h"
#include "cli/common/output.h"
#include "cli/models/model_job.h"

static int need_output(const model_job *job, const char *action, const char *what)
{
    if (job->settings->output != NULL)
        return EX_OK;
    message_error("assay model %s: say where to write %s: --output FILE", action, what);
    return EX_USAGE;
}

static int save_output(const model_job *job, const assay_tensor *output)
{
    assay_error error = {0};
    char shape[MODEL_SHAPE_TEXT];
    assay_status status = assay_tensor_save_npy(output, job->settings->output, &error);
    if (!output_check("model", status, &error))
        return message_output_exit(status);
    if (job->settings->json == NULL) {
        printf("%s: output %s\n", job->settings->output, model_shape_text(output, shape));
        return EX_OK;
    }
    json_t *root = model_json(job);
    json_object_set_new(root, "output", json_string(job->settings->output));
    json_object_set_new(root, "shape", model_shape_json(output));
    return model_write_json(job, root);
}

int model_eval(model_job *job)
{
    int code = need_output(job, "eval", "the output");
    if (code == EX_OK)
        code = model_setup_create(job);
    if (code == EX_OK)
        code = model_setup_inputs(job, false);
    if (code != EX_OK)
        return code;
    assay_error error = {0};
    assay_tensor output = {0};
    size_t count = job->class_->input_count;
    assay_status status =
        job->settings->steps > 0
            ? assay_model_forecast(job->model, job->inputs, count, (int64_t)job->settings->steps,
                                   &error, &output)
            : assay_model_forward(job->model, job->inputs, count, &error, &output);
    return status == ASSAY_OK ? save_output(job, &output) : model_fail(job, status, &error);
}

static int save_gradients(const model_job *job, double loss)
{
    assay_error error = {0};
    assay_status status = assay_model_save_gradients(job->model, job->settings->output, &error);
    if (!output_check("model", status, &error))
        return message_output_exit(status);
    if (job->settings->json == NULL) {
        printf("loss %.9g\n", loss);
        return EX_OK;
    }
    json_t *root = model_json(job);
    json_object_set_new(root, "loss", json_real(loss));
    json_object_set_new(root, "output", json_string(job->settings->output));
    return model_write_json(job, root);
}

int model_grad(model_job *job)
{
    int code = need_output(job, "grad", "the gradients");
    if (code == EX_OK)
        code = model_setup_create(job);
    if (code == EX_OK)
        code = model_setup_inputs(job, false);
    if (code == EX_OK)
        code = model_setup_target(job);
    if (code != EX_OK)
        return code;
    assay_error error = {0};
    double loss = 0;
    assay_status status = assay_model_gradient(job->model, job->inputs, job->class_->input_count,
                                               &job->target, &error, &loss);
    return status == ASSAY_OK ? save_gradients(job, loss) : model_fail(job, status, &error);
}
