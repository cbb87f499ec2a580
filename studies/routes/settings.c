/* The settings of a study of routes: their defaults, and their text for the frame. */
#include "base/buffer.h"
#include "studies/routes/run.h"

assay__routes_settings assay__routes_settings_of(bool quick)
{
    return (assay__routes_settings){
        .source = {.roads = quick ? 300 : 1000, .drives = quick ? 1500 : 3000},
        .models = {[ASSAY__VANILLA] = {.name = "vanilla", .generates = true},
                   [ASSAY__DISTILLED] = {.name = "distilled", .generates = true}},
        .model_count = ASSAY__ROUTES_TRAINED,
        .od_source = ASSAY_OD_TEST,
        .num_gene = 100,
        .beam_search = true,
        .beam_width = 4,
        .epochs = quick ? 10 : 12,
        .compare_seconds = quick ? 2 : 5};
}

char *assay__routes_settings_text(const assay__routes_settings *settings)
{
    const assay__routes_source *source = &settings->source;
    assay__buffer text;
    assay__buffer_init(&text, 1 << 16);
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < settings->model_count && status == ASSAY_OK; i++)
        if (settings->models[i].generates)
            status = assay__buffer_printf(
                &text, "%s%s%s ", settings->models[i].name,
                settings->models[i].weights != NULL ? "=" : "",
                settings->models[i].weights != NULL ? settings->models[i].weights : "");
    if (status == ASSAY_OK)
        status = assay__buffer_printf(&text, "%zu pairs of %s, %s %lld, %lld epochs, ",
                                      settings->num_gene,
                                      settings->od_source == ASSAY_OD_TEST ? "test" : "train",
                                      settings->beam_search ? "beam" : "greedy",
                                      (long long)settings->beam_width, (long long)settings->epochs);
    if (status == ASSAY_OK && source->dataset != NULL)
        status = assay__buffer_printf(&text, "dataset %s", source->dataset);
    else if (status == ASSAY_OK && source->geo == NULL)
        status = assay__buffer_printf(&text, "city of %lld roads, %lld drives",
                                      (long long)source->roads, (long long)source->drives);
    else if (status == ASSAY_OK)
        status = assay__buffer_printf(&text, "%s %s %s %s", source->geo,
                                      source->rel != NULL ? source->rel : "",
                                      source->trajectories != NULL ? source->trajectories : "",
                                      source->test != NULL ? source->test : "");
    if (status == ASSAY_OK && settings->device != NULL)
        status = assay__buffer_printf(&text, ", searches on %s", settings->device);
    if (status == ASSAY_OK && settings->skip_performance)
        status = assay__buffer_append_text(&text, ", no performance");
    if (status == ASSAY_OK)
        return assay__buffer_take(&text);
    assay__buffer_release(&text);
    return NULL;
}
