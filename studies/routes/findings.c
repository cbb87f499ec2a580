/* Adds the data and the trainings to the record. The settings of the study become settings of the
 * record. The sizes of a model and the settings of its training become settings of the model. */
#include "assay/record_build.h"
#include "base/buffer.h"
#include "models/instance.h"
#include "studies/routes/run.h"

/* ---- Data ---- */

static assay_status add_text(assay_record *found, const char *key, const char *value)
{
    return value == NULL ? ASSAY_OK : assay_record_add_setting(found, key, value);
}

static assay_status add_source(const assay__routes_source *source, assay_record *found)
{
    const struct {
        const char *key, *value;
    } files[] = {{"dataset", source->dataset},
                 {"geo", source->geo},
                 {"rel", source->rel},
                 {"trajectories", source->trajectories},
                 {"test_trajectories", source->test}};
    bool made_up = source->geo == NULL && source->dataset == NULL;
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < sizeof files / sizeof *files && status == ASSAY_OK; i++)
        status = add_text(found, files[i].key, files[i].value);
    if (status == ASSAY_OK && made_up)
        status = assay__found_setting(found, "roads", (double)source->roads);
    if (status == ASSAY_OK && made_up)
        status = assay__found_setting(found, "drives", (double)source->drives);
    return status;
}

/* Add the setting "models", for example "vanilla,distilled". */
static assay_status add_models(const assay__routes_settings *settings, assay_record *found)
{
    assay__buffer names;
    assay__buffer_init(&names, 1 << 16);
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < settings->model_count && status == ASSAY_OK; i++)
        if (settings->models[i].generates)
            status = assay__buffer_printf(&names, "%s%s", names.length > 0 ? "," : "",
                                          settings->models[i].name);
    if (status == ASSAY_OK)
        status = add_text(found, "models", names.data);
    assay__buffer_release(&names);
    return status;
}

static assay_status add_settings(const assay__routes_settings *settings, assay_record *found)
{
    assay_status status = add_source(&settings->source, found);
    if (status == ASSAY_OK)
        status = add_models(settings, found);
    if (status == ASSAY_OK)
        status =
            add_text(found, "od_source", settings->od_source == ASSAY_OD_TEST ? "test" : "train");
    if (status == ASSAY_OK)
        status = assay__found_setting(found, "num_gene", (double)settings->num_gene);
    if (status == ASSAY_OK)
        status = assay__found_setting(found, "epochs", (double)settings->epochs);
    return status == ASSAY_OK
               ? assay__found_setting(found, "compare_seconds", settings->compare_seconds)
               : status;
}

assay_status assay__routes_found_data(const assay__routes_run *run, assay_record *found)
{
    const struct {
        const char *name;
        int64_t value;
    } figures[] = {{"roads", run->data.network->roads},
                   {"links", run->data.network->links},
                   {"train_trajectories", run->data.train.count},
                   {"test_trajectories", run->data.test.count}};
    assay_status status = add_settings(run->settings, found);
    for (size_t i = 0; i < sizeof figures / sizeof *figures && status == ASSAY_OK; i++)
        status = assay__found_figure(found, figures[i].name, "network",
                                     assay_reading_of((double)figures[i].value), NULL);
    return status == ASSAY_OK ? assay__routes_found_network(run->data.network, found) : status;
}

/* ---- Training ---- */

/* Add a model with its sizes, the settings in `learning` and, unless `key` is NULL, one setting
 * that is a text. */
static assay_status add_model(const assay__routes_run *run, size_t which,
                              const assay__setting *learning, size_t learning_count,
                              const char *key, const char *value, assay_record *found)
{
    const assay__next_road *model = run->models[which];
    const assay__setting sizes[] = {{"roads", (double)model->shape.roads},
                                    {"embedding", (double)model->shape.embedding},
                                    {"hidden", (double)model->shape.hidden},
                                    {"scorer", (double)model->shape.scorer}};
    assay_record_model item;
    assay_record_model_init(&item);
    item.name = assay_record_text(found, run->settings->models[which].name);
    item.class_name = "next_road";
    item.parameters = assay_reading_of((double)model->parameters.total);
    item.parameter_bytes = assay_reading_of((double)(model->parameters.total * sizeof(float)));
    assay_status status = item.name != NULL ? ASSAY_OK : ASSAY_E_MEMORY;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && status == ASSAY_OK; i++)
        status = assay__found_model_setting(found, &item, sizes[i].name, sizes[i].value);
    for (size_t i = 0; i < learning_count && status == ASSAY_OK; i++)
        status = assay__found_model_setting(found, &item, learning[i].name, learning[i].value);
    if (status == ASSAY_OK && key != NULL)
        status = assay_record_add_model_setting(found, &item, key, value);
    return status == ASSAY_OK ? assay_record_add_model(found, &item) : status;
}

assay_status assay__routes_found_loaded(const assay__routes_run *run, size_t model,
                                        assay_record *found)
{
    return add_model(run, model, NULL, 0, "weights", run->settings->models[model].weights, found);
}

assay_status assay__routes_found_training(const assay__routes_run *run, size_t model,
                                          const assay__routes_trained *trained, assay_record *found)
{
    const char *name = run->settings->models[model].name;
    const assay__routes_training *training = trained->training;
    const assay__setting learning[] = {{"epochs", (double)training->epochs},
                                       {"batch_size", (double)training->batch_size},
                                       {"learning_rate", training->learning_rate},
                                       {"teacher_share", training->teacher_share},
                                       {"temperature", training->temperature}};
    bool taught = model == ASSAY__DISTILLED; /* only then the last two apply */
    assay_status status = add_model(run, model, learning, taught ? 5 : 3, taught ? "teacher" : NULL,
                                    run->settings->models[ASSAY__VANILLA].name, found);
    if (status == ASSAY_OK)
        status = assay__found_series(found, "loss", name, "epoch", NULL, trained->losses,
                                     (size_t)trained->training->epochs);
    if (status == ASSAY_OK)
        status = assay__found_cost(found, "test_loss", name, assay_reading_of(trained->test_loss),
                                   "nats",
                                   "cross-entropy of a choice in the trajectories to test"
                                   " on, mean");
    if (status == ASSAY_OK)
        status = assay__found_cost(found, "training_seconds", name,
                                   assay_reading_of(trained->seconds), "s",
                                   "all epochs: batches put together, gradients and updates;"
                                   " without the test loss and the file of the weights");
    return status;
}
