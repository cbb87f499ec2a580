/* Numbers the steps of a study of routes, and gives them names and weights. */
#include "studies/routes/steps.h"

size_t assay__routes_step(const assay__routes_settings *settings, size_t kind, size_t model)
{
    return ASSAY__OF_MODELS + kind * settings->model_count + model;
}

size_t assay__routes_compare_step(const assay__routes_settings *settings)
{
    return assay__routes_step(settings, ASSAY__STEP_KINDS, 0);
}

bool assay__routes_trains(const assay__routes_settings *settings, size_t model)
{
    return model < ASSAY__ROUTES_TRAINED &&
           (settings->models[model].generates ||
            (model == ASSAY__VANILLA && settings->models[ASSAY__DISTILLED].generates));
}

size_t assay__routes_generating(const assay__routes_settings *settings)
{
    size_t count = 0;
    for (size_t i = 0; i < settings->model_count; i++)
        count += settings->models[i].generates;
    return count;
}

void assay__routes_list_steps(const assay__routes_settings *settings, assay__routes_steps *list)
{
    static const char *const kinds[ASSAY__STEP_KINDS] = {"train", "generate with", "evaluate"};
    static const double weights[ASSAY__STEP_KINDS] = {6, 1, 1};
    list->steps[ASSAY__DATA] = (assay__study_step){"data", 1};
    for (size_t kind = 0; kind < ASSAY__STEP_KINDS; kind++)
        for (size_t i = 0; i < settings->model_count; i++) {
            size_t step = assay__routes_step(settings, kind, i);
            bool has = kind == ASSAY__TRAIN ? assay__routes_trains(settings, i)
                                            : settings->models[i].generates;
            char *name = list->names[step - ASSAY__OF_MODELS];
            snprintf(name, ASSAY__STEP_BYTES, "%s %s", kinds[kind], settings->models[i].name);
            list->steps[step] = (assay__study_step){name, has ? weights[kind] : 0};
        }
    list->steps[assay__routes_compare_step(settings)] =
        (assay__study_step){"compare", assay__routes_generating(settings) > 1 ? 4 : 0};
}
