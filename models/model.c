/* Instances of models. Everything that the functions of a class may rely on is checked here, once
 * for all classes, so that neither a built-in model nor a plugin has to check it. A step allocates
 * nothing: an array that lives as long as the model holds the inputs in the order of the class. */
#include "models/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "models/cuda/instance.h"
#include "models/kernel/threads.h"
#include "models/problems.h"
#include "models/registry.h"

static assay_status check_settings(const assay_model_class *class_, const double *settings,
                                   assay_error *error)
{
    assay__problems problems = {0};
    for (size_t i = 0; i < class_->option_count; i++) {
        const assay_model_option *option = &class_->options[i];
        double value = settings[i];
        if (!(value >= option->minimum && value <= option->maximum)) {
            assay__problems_add(&problems, "%s is %.15g, and must be from %.15g to %.15g",
                                option->name, value, option->minimum, option->maximum);
        } else if (option->integer && value != floor(value)) {
            assay__problems_add(&problems, "%s is %.15g, not a whole number", option->name, value);
        }
    }
    return problems.count == 0 ? ASSAY_OK
                               : assay__problems_fail(&problems, ASSAY_E_ARGUMENT, error,
                                                      "model '%s'", class_->name);
}

assay_status assay_model_new(const assay_model_class *class_, const double *settings, uint64_t seed,
                             assay_error *error, assay_model **model)
{
    assay_status status = assay__class_check(class_, "the model", error);
    if (status != ASSAY_OK)
        return status;
    assay__models_start();
    assay_model *made = calloc(1, sizeof *made);
    if (made == NULL)
        goto memory;
    made->class_ = class_;
    made->settings = calloc(class_->option_count + 1, sizeof *made->settings);
    made->inputs = calloc(class_->input_count, sizeof *made->inputs);
    if (made->settings == NULL || made->inputs == NULL)
        goto memory;
    for (size_t i = 0; i < class_->option_count; i++)
        made->settings[i] = settings != NULL ? settings[i] : class_->options[i].initial;
    status = check_settings(class_, made->settings, error);
    if (status == ASSAY_OK) {
        status = assay__gpu_class_is(class_)
                     ? assay__gpu_model_new(class_, made->settings, seed, error, &made->state)
                     : class_->create(made->settings, seed, error, &made->state);
        if (status != ASSAY_OK)
            made->state = NULL;
    }
    if (status != ASSAY_OK) {
        assay_model_free(made);
        return assay__model_status(class_, status, error, "create");
    }
    *model = made;
    return ASSAY_OK;

memory:
    assay_model_free(made);
    return assay__fail(error, ASSAY_E_MEMORY, "out of memory while making model '%s'",
                       class_->name);
}

void assay_model_free(assay_model *model)
{
    if (model == NULL)
        return;
    if (model->state != NULL)
        model->class_->destroy(model->state);
    free(model->settings);
    free(model->inputs);
    free(model);
}

const assay_model_class *assay_model_class_of(const assay_model *model)
{
    return model->class_;
}

void *assay_model_state(const assay_model *model)
{
    return model->state;
}

const double *assay_model_settings(const assay_model *model)
{
    return model->settings;
}

const assay_model_parameter *assay_model_parameters(assay_model *model, size_t *count)
{
    return model->class_->parameters(model->state, count);
}

assay_status assay__model_fetch(assay_model *model, assay_error *error)
{
    return assay__gpu_class_is(model->class_) ? assay__gpu_model_fetch(model->state, error)
                                              : ASSAY_OK;
}

uint64_t assay_model_parameter_count(assay_model *model)
{
    size_t tensors = 0;
    const assay_model_parameter *list = assay_model_parameters(model, &tensors);
    uint64_t count = 0;
    for (size_t i = 0; i < tensors; i++)
        count += (uint64_t)assay_tensor_count(&list[i].value);
    return count;
}

assay_model_training *assay_model_training_of(assay_model *model)
{
    return model->class_->training != NULL ? model->class_->training(model->state) : NULL;
}

void assay_model_set_training(assay_model *model, bool training)
{
    if (model->class_->set_training != NULL)
        model->class_->set_training(model->state, training);
}

/* A plugin may return a failure without a message. The caller always gets a message. */
assay_status assay__model_status(const assay_model_class *class_, assay_status status,
                                 assay_error *error, const char *function)
{
    if (status != ASSAY_OK && error != NULL && error->message[0] == '\0') {
        return assay__fail(error, status, "model '%s' failed in %s(): %s", class_->name, function,
                           assay_status_message(status));
    }
    return status;
}

static assay_status unsupported(const assay_model *model, const char *what, assay_error *error)
{
    return assay__fail(error, ASSAY_E_UNSUPPORTED, "model '%s' %s", model->class_->name, what);
}

/* Begins a call that may fail. It clears the message that an earlier call may have left in
 * `error`. */
static void begin(assay_error *error)
{
    if (error != NULL)
        *error = (assay_error){0};
}

assay_status assay_model_forward(assay_model *model, const assay_tensor *inputs, size_t count,
                                 assay_error *error, assay_tensor *output)
{
    begin(error);
    assay_status status = assay__inputs_match(model, inputs, count, error);
    if (status == ASSAY_OK) {
        status = model->class_->forward(model->state, model->inputs, model->class_->input_count,
                                        error, output);
    }
    return assay__model_status(model->class_, status, error, "forward");
}

assay_status assay_model_forecast(assay_model *model, const assay_tensor *inputs, size_t count,
                                  int64_t steps, assay_error *error, assay_tensor *output)
{
    begin(error);
    if (model->class_->forecast == NULL)
        return unsupported(model, "makes no forecasts", error);
    if (steps < 1) {
        return assay__fail(error, ASSAY_E_ARGUMENT, "a forecast of %lld steps; give at least 1",
                           (long long)steps);
    }
    assay_status status = assay__inputs_match(model, inputs, count, error);
    if (status == ASSAY_OK) {
        status = model->class_->forecast(model->state, model->inputs, model->class_->input_count,
                                         steps, error, output);
    }
    return assay__model_status(model->class_, status, error, "forecast");
}

assay_status assay_model_gradient(assay_model *model, const assay_tensor *inputs, size_t count,
                                  const assay_tensor *target, assay_error *error, double *loss)
{
    begin(error);
    if (model->class_->gradient == NULL)
        return unsupported(model, "has no gradients", error);
    if (target == NULL || target->data == NULL) {
        return assay__fail(error, ASSAY_E_ARGUMENT, "model '%s': no target is given",
                           model->class_->name);
    }
    assay_status status = assay__inputs_match(model, inputs, count, error);
    if (status == ASSAY_OK)
        status = assay__tensor_check_finite(target, "target", error);
    if (status == ASSAY_OK) {
        status = model->class_->gradient(model->state, model->inputs, model->class_->input_count,
                                         target, error, loss);
    }
    return assay__model_status(model->class_, status, error, "gradient");
}

assay_status assay_model_update(assay_model *model, double learning_rate, assay_error *error)
{
    begin(error);
    if (model->class_->update == NULL)
        return unsupported(model, "is not trained by gradient steps", error);
    if (!(learning_rate >= 0) || isinf(learning_rate)) {
        return assay__fail(error, ASSAY_E_ARGUMENT, "learning rate %g; give a number from 0 up",
                           learning_rate);
    }
    return assay__model_status(
        model->class_, model->class_->update(model->state, learning_rate, error), error, "update");
}

assay_status assay_model_fit(assay_model *model, const assay_tensor *inputs, size_t count,
                             assay_error *error)
{
    begin(error);
    if (model->class_->fit == NULL)
        return unsupported(model, "has no closed-form fit; train it by gradient steps", error);
    assay_status status = assay__inputs_match(model, inputs, count, error);
    if (status == ASSAY_OK)
        status = model->class_->fit(model->state, model->inputs, model->class_->input_count, error);
    return assay__model_status(model->class_, status, error, "fit");
}

assay_status assay_model_example(assay_model *model, uint64_t seed, assay_error *error,
                                 assay_tensor *inputs, assay_tensor *target)
{
    begin(error);
    if (model->class_->example == NULL)
        return unsupported(model, "makes no example data; give it inputs", error);
    const assay_model_class *class_ = model->class_;
    memset(inputs, 0, class_->input_count * sizeof *inputs);
    *target = (assay_tensor){0};
    assay_status status = class_->example(model->state, seed, error, inputs, target);
    for (size_t i = 0; i < class_->input_count; i++)
        inputs[i].name = class_->inputs[i].name;
    return assay__model_status(class_, status, error, "example");
}

assay_status assay_model_describe(assay_model *model, const assay_tensor *inputs, size_t count,
                                  assay_term_sink sink, void *context, assay_error *error)
{
    begin(error);
    if (model->class_->describe == NULL)
        return unsupported(model, "does not describe its arithmetic", error);
    assay_status status = assay__inputs_match(model, inputs, count, error);
    if (status == ASSAY_OK) {
        status = model->class_->describe(model->state, model->inputs, model->class_->input_count,
                                         sink, context, error);
    }
    return assay__model_status(model->class_, status, error, "describe");
}

assay_status assay_model_figures(assay_model *model, assay_figure_sink sink, void *context,
                                 assay_error *error)
{
    begin(error);
    if (model->class_->figures == NULL)
        return unsupported(model, "has no figures of its own", error);
    return model->class_->figures(model->state, sink, context, error);
}

assay_status assay_model_memory_now(assay_model *model, assay_error *error,
                                    assay_model_memory *memory)
{
    begin(error);
    *memory = (assay_model_memory){0};
    if (model->class_->memory == NULL)
        return unsupported(model, "does not account for its memory", error);
    model->class_->memory(model->state, memory);
    return ASSAY_OK;
}
