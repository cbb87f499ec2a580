/* Makes an instance: finds the class by name, moves it to the device, changes the given settings
 * and keeps the defaults of the others. */
#include "models/instance.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static assay_status set(const assay_model_class *class_, double *values, assay__setting setting,
                        assay_error *error)
{
    for (size_t i = 0; i < class_->option_count; i++) {
        if (strcmp(class_->options[i].name, setting.name) == 0) {
            values[i] = setting.value;
            return ASSAY_OK;
        }
    }
    return assay__fail(error, ASSAY_E_ARGUMENT, "model '%s' has no setting '%s'", class_->name,
                       setting.name);
}

assay_status assay__instance_new(const char *class_name, const assay__setting *settings,
                                 size_t count, uint64_t seed, assay_error *error,
                                 assay_model **model)
{
    return assay__instance_new_on(class_name, NULL, settings, count, seed, error, model);
}

assay_status assay__instance_new_on(const char *class_name, const char *device,
                                    const assay__setting *settings, size_t count, uint64_t seed,
                                    assay_error *error, assay_model **model)
{
    const assay_model_class *class_ = NULL;
    assay_status status = assay_model_find(class_name, error, &class_);
    if (status == ASSAY_OK)
        status = assay_model_class_on(class_, device, error, &class_);
    if (status != ASSAY_OK)
        return status;
    double *values = calloc(class_->option_count + 1, sizeof *values);
    if (values == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "out of memory");
    for (size_t i = 0; i < class_->option_count; i++)
        values[i] = class_->options[i].initial;
    for (size_t i = 0; i < count && status == ASSAY_OK; i++)
        status = set(class_, values, settings[i], error);
    if (status == ASSAY_OK)
        status = assay_model_new(class_, values, seed, error, model);
    free(values);
    return status;
}
