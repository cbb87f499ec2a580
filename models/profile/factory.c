/* Makes models from a factory: finds options by name, copies settings, and makes a model with an
 * example. */
#include "models/profile/factory.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "base/text.h"

static bool grows(const assay_model_option *option)
{
    return option->integer && option->words == NULL;
}

static assay_status no_option(const assay_model_class *class_, const char *name, assay_error *error)
{
    assay__buffer names;
    assay__buffer_init(&names, 512);
    for (size_t i = 0; i < class_->option_count; i++)
        if (grows(&class_->options[i]))
            assay__buffer_printf(&names, "%s%s", names.length > 0 ? ", " : "",
                                 class_->options[i].name);
    assay_status status =
        assay__fail(error, ASSAY_E_NOT_FOUND, "model '%s' has no size '%s'; it has %.400s",
                    class_->name, name, names.length > 0 ? names.data : "none");
    assay__buffer_release(&names);
    return status;
}

static assay_status check_factory(const assay_model_factory *factory, assay_error *error)
{
    assay_status status = assay__struct_check(factory, factory->struct_size, sizeof *factory,
                                              "assay_model_factory", error);
    if (status == ASSAY_OK && factory->class_ == NULL)
        status = assay__fail(error, ASSAY_E_ARGUMENT, "a factory needs a class");
    return status;
}

assay_status assay__factory_option(const assay_model_factory *factory, const char *name,
                                   assay_error *error, size_t *index)
{
    assay_status status = check_factory(factory, error);
    if (status != ASSAY_OK)
        return status;
    const assay_model_class *class_ = factory->class_;
    for (*index = 0; *index < class_->option_count; ++*index)
        if (grows(&class_->options[*index]) &&
            assay__text_same_option(class_->options[*index].name, name, strlen(name)))
            return ASSAY_OK;
    return no_option(class_, name, error);
}

assay_status assay__factory_settings(const assay_model_factory *factory, assay_error *error,
                                     double **settings)
{
    *settings = NULL;
    assay_status status = check_factory(factory, error);
    if (status != ASSAY_OK)
        return status;
    const assay_model_class *class_ = factory->class_;
    if (class_->example == NULL)
        return assay__fail(error, ASSAY_E_UNSUPPORTED,
                           "model '%s' makes up no data to be measured on", class_->name);
    *settings = calloc(class_->option_count + 1, sizeof **settings);
    if (*settings == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "no memory for settings");
    for (size_t i = 0; i < class_->option_count; i++)
        (*settings)[i] =
            factory->settings != NULL ? factory->settings[i] : class_->options[i].initial;
    return ASSAY_OK;
}

assay_status assay__factory_make(const assay_model_factory *factory, const double *settings,
                                 assay_error *error, assay__factory_model **instance)
{
    *instance = NULL;
    assay__factory_model *made =
        calloc(1, sizeof *made + factory->class_->input_count * sizeof *made->inputs);
    if (made == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "no memory for a model");
    assay_status status =
        assay_model_new(factory->class_, settings, factory->seed, error, &made->model);
    if (status == ASSAY_OK)
        status =
            assay_model_example(made->model, factory->seed, error, made->inputs, &made->target);
    if (status == ASSAY_OK)
        *instance = made;
    else
        assay__factory_unmake(made);
    return status;
}

void assay__factory_unmake(assay__factory_model *instance)
{
    if (instance != NULL)
        assay_model_free(instance->model);
    free(instance);
}

assay_status assay__factory_forward(assay__factory_model *instance, assay_error *error)
{
    const assay_model_class *class_ = assay_model_class_of(instance->model);
    assay_tensor output;
    return class_->forward(assay_model_state(instance->model), instance->inputs,
                           class_->input_count, error, &output);
}
