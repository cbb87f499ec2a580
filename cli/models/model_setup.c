/* Makes the model of a command from options and weights, and loads its inputs and its target. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/nearest.h"
#include "cli/common/message.h"
#include "cli/models/model_job.h"

int model_fail(const model_job *job, assay_status status, const assay_error *error)
{
    message_error("assay %s: %s", job->command,
                  error->message[0] != '\0' ? error->message : assay_status_message(status));
    return message_input_exit(status);
}

static int memory_exit(const model_job *job)
{
    message_error("assay %s: out of memory", job->command);
    return EX_OSERR;
}

/* ---- settings ---- */

static bool parse_word(const model_job *job, const assay_model_option *setting, const char *typed,
                       const char *flag, double *value)
{
    size_t count = 0;
    for (; setting->words[count] != NULL; count++)
        if (strcmp(setting->words[count], typed) == 0) {
            *value = (double)count;
            return true;
        }
    const char *nearest = assay__nearest(typed, setting->words, count, sizeof *setting->words);
    message_error("assay %s: '%s' is no choice for '--%s'; did you mean '%s'?", job->command, typed,
                  flag, nearest != NULL ? nearest : setting->words[0]);
    return false;
}

static bool parse_setting(const model_job *job, const assay_model_option *setting,
                          const char *typed, const char *flag, double *value)
{
    if (setting->words != NULL)
        return parse_word(job, setting, typed, flag, value);
    char *end = NULL;
    *value = strtod(typed, &end);
    bool number = end != typed && *end == '\0' && !isnan(*value);
    if (!number || (setting->integer && *value != floor(*value))) {
        message_error("assay %s: '%s' is not a %snumber for '--%s'", job->command, typed,
                      setting->integer ? "whole " : "", flag);
        return false;
    }
    if (*value < setting->minimum || *value > setting->maximum) {
        message_error("assay %s: '--%s' must be from %.15g to %.15g, not %s", job->command, flag,
                      setting->minimum, setting->maximum, typed);
        return false;
    }
    return true;
}

static bool override_settings(const model_job *job, double *settings)
{
    for (size_t i = 0; i < job->class_->option_count; i++) {
        const char *typed = model_options_setting(job, i);
        const char *flag = job->options[job->static_count + i].name;
        if (typed != NULL &&
            !parse_setting(job, &job->class_->options[i], typed, flag, &settings[i]))
            return false;
    }
    return true;
}

/* ---- the model ---- */

typedef struct refusal {
    const model_job *job;
    size_t count;
} refusal;

static void print_problem(void *context, const char *problem)
{
    refusal *printed = context;
    if (printed->count++ == 0)
        message_error("assay %s: weights '%s' do not fit model '%s':", printed->job->command,
                      printed->job->settings->weights, printed->job->class_->name);
    message_error("  %s", problem);
}

/* Print everything that is wrong with the weights, not only the first problem. A file that cannot
 * be read is one problem. */
static int refuse_weights(const model_job *job, assay_status status, const assay_error *error)
{
    refusal printed = {.job = job};
    assay_error again = {0};
    assay_status checked = assay_model_check_weights(job->model, job->settings->weights,
                                                     print_problem, &printed, &again);
    if (checked == ASSAY_OK || printed.count == 0)
        return model_fail(job, status, error);
    return message_input_exit(status);
}

static int create(model_job *job, const double *settings)
{
    assay_error error = {0};
    assay_status status =
        assay_model_new(job->class_, settings, job->settings->seed.value, &error, &job->model);
    return status == ASSAY_OK ? EX_OK : model_fail(job, status, &error);
}

static int load(model_job *job)
{
    assay_error error = {0};
    assay_status status = assay_model_load_weights(job->model, job->settings->weights, &error);
    if (status == ASSAY_OK)
        return EX_OK;
    return status == ASSAY_E_FORMAT ? refuse_weights(job, status, &error)
                                    : model_fail(job, status, &error);
}

static int choose_device(model_job *job)
{
    assay_error error = {0};
    assay_status status =
        assay_model_class_on(job->class_, job->settings->device, &error, &job->class_);
    return status == ASSAY_OK ? EX_OK : model_fail(job, status, &error);
}

int model_setup_create(model_job *job)
{
    int code = choose_device(job);
    if (code != EX_OK)
        return code;
    const assay_model_class *class_ = job->class_;
    double *settings = calloc(class_->option_count + 1, sizeof *settings);
    if (settings == NULL)
        return memory_exit(job);
    for (size_t i = 0; i < class_->option_count; i++)
        settings[i] = class_->options[i].initial;
    if (!override_settings(job, settings)) { /* typed settings help to infer the others */
        free(settings);
        return EX_USAGE;
    }
    assay_error error = {0};
    assay_status inferred = ASSAY_OK;
    if (job->settings->weights != NULL)
        inferred = assay_model_infer(class_, job->settings->weights, &error, settings);
    if (inferred != ASSAY_OK && inferred != ASSAY_E_FORMAT)
        code = model_fail(job, inferred, &error);
    else
        code = override_settings(job, settings) ? create(job, settings) : EX_USAGE;
    if (code == EX_OK && inferred != ASSAY_OK)
        code = refuse_weights(job, inferred, &error);
    else if (code == EX_OK && job->settings->weights != NULL)
        code = load(job);
    free(settings);
    return code;
}

/* ---- data ---- */

static size_t find_input(const assay_model_class *class_, const char *name)
{
    for (size_t i = 0; i < class_->input_count; i++)
        if (strcmp(class_->inputs[i].name, name) == 0)
            return i;
    return class_->input_count;
}

static int load_input(model_job *job, size_t index, const char *path)
{
    const assay_model_input *declared = &job->class_->inputs[index];
    if (job->inputs[index].data != NULL) {
        message_error("assay %s: input '%s' is given twice", job->command, declared->name);
        return EX_USAGE;
    }
    assay_error error = {0};
    assay_status status =
        assay_tensor_load_npy(path, declared->element, &error, &job->inputs[index]);
    job->inputs[index].name = declared->name;
    return status == ASSAY_OK ? EX_OK : model_fail(job, status, &error);
}

static int load_graph(model_job *job)
{
    const assay_model_class *class_ = job->class_;
    if (find_input(class_, "nodes") == class_->input_count ||
        find_input(class_, "edges") == class_->input_count) {
        message_error("assay %s: model '%s' takes no graph", job->command, class_->name);
        return EX_USAGE;
    }
    assay_error error = {0};
    assay_tensor tensors[3];
    assay_status status = assay_tensor_load_graph(job->settings->graph, &error, tensors);
    if (status != ASSAY_OK)
        return model_fail(job, status, &error);
    for (int i = 0; i < 3; i++) {
        size_t index = find_input(class_, tensors[i].name);
        if (index < class_->input_count)
            job->inputs[index] = tensors[i];
        else
            assay_tensor_release(&tensors[i]);
    }
    return EX_OK;
}

static int make_example(model_job *job)
{
    assay_error error = {0};
    assay_status status = assay_model_example(job->model, job->settings->seed.value, &error,
                                              job->inputs, &job->target);
    job->example = true;
    return status == ASSAY_OK ? EX_OK : model_fail(job, status, &error);
}

int model_setup_inputs(model_job *job, bool example)
{
    const assay_model_class *class_ = job->class_;
    job->inputs = calloc(class_->input_count, sizeof *job->inputs);
    if (job->inputs == NULL)
        return memory_exit(job);
    bool any = job->settings->graph != NULL;
    int code = any ? load_graph(job) : EX_OK;
    if (code == EX_OK && job->settings->input != NULL) {
        any = true;
        code = load_input(job, 0, job->settings->input);
    }
    for (size_t i = 0; i < class_->input_count && code == EX_OK; i++)
        if (model_options_input(job, i) != NULL) {
            any = true;
            code = load_input(job, i, model_options_input(job, i));
        }
    if (code != EX_OK || any)
        return code;
    if (example)
        return make_example(job);
    const char *flag =
        find_input(class_, "edges") < class_->input_count ? "--graph DIR" : "--input FILE.npy";
    message_error("assay %s: model '%s' needs '%s', %s; give it with %s", job->command,
                  class_->name, class_->inputs[0].name, class_->inputs[0].help, flag);
    return EX_USAGE;
}

/* The element type of the target. A class does not declare it, so it is taken from the target that
 * the model makes up itself, or else from the first input. */
static assay_element target_element(model_job *job)
{
    assay_error error = {0};
    assay_tensor target = {0};
    assay_tensor *inputs = calloc(job->class_->input_count, sizeof *inputs);
    assay_element element = ASSAY_F32;
    if (inputs != NULL && job->class_->example != NULL &&
        assay_model_example(job->model, 0, &error, inputs, &target) == ASSAY_OK &&
        target.data != NULL)
        element = target.element;
    else if (job->class_->inputs[0].element != ASSAY_I64)
        element = job->class_->inputs[0].element;
    free(inputs);
    return element;
}

int model_setup_target(model_job *job)
{
    assay_error error = {0};
    assay_status status;
    if (job->settings->target != NULL)
        status =
            assay_tensor_load_npy(job->settings->target, target_element(job), &error, &job->target);
    else if (job->settings->graph != NULL)
        status = assay_tensor_load_graph_labels(job->settings->graph, &error, &job->target);
    else {
        message_error("assay %s: nothing to compare the output with; give --target FILE.npy",
                      job->command);
        return EX_USAGE;
    }
    job->target.name = "target";
    return status == ASSAY_OK ? EX_OK : model_fail(job, status, &error);
}

void model_setup_release(model_job *job)
{
    for (size_t i = 0; job->inputs != NULL && !job->example && i < job->class_->input_count; i++)
        assay_tensor_release(&job->inputs[i]);
    if (!job->example)
        assay_tensor_release(&job->target);
    free(job->inputs);
    assay_model_free(job->model);
}
