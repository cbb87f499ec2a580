/* Loads a next-road model: infers the settings from the file, makes a model with them, and loads
 * the weights into it. */
#include "models/routes/weights.h"

#include <stdlib.h>

#include "base/error.h"

assay_status assay__weighted_model_load(const char *path, assay_error *error,
                                        assay__weighted_model *model)
{
    const assay_model_class *class = &assay__next_road_class;
    double *settings = calloc(class->option_count, sizeof *settings);
    *model = (assay__weighted_model){0};
    if (settings == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "no memory for a model");
    for (size_t i = 0; i < class->option_count; i++)
        settings[i] = class->options[i].initial;
    assay_status status = assay_model_infer(class, path, error, settings);
    if (status == ASSAY_OK)
        status = assay_model_new(class, settings, 0, error, &model->instance);
    free(settings);
    if (status == ASSAY_OK)
        status = assay_model_load_weights(model->instance, path, error);
    if (status == ASSAY_OK)
        model->next_road = assay__next_road_of(assay_model_state(model->instance));
    else
        assay__weighted_model_release(model);
    return status;
}

void assay__weighted_model_release(assay__weighted_model *model)
{
    assay_model_free(model->instance);
    *model = (assay__weighted_model){0};
}
