/* Settings of the study are the record's; sizes of a model and how it learns are the model's. */
#include "assay/record_build.h"
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
    } files[] = {{"geo", source->geo},
                 {"rel", source->rel},
                 {"trajectories", source->trajectories},
                 {"test_trajectories", source->test}};
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < sizeof files / sizeof *files && status == ASSAY_OK; i++)
        status = add_text(found, files[i].key, files[i].value);
    if (status == ASSAY_OK && source->geo == NULL)
        status = assay__found_setting(found, "roads", (double)source->roads);
    if (status == ASSAY_OK && source->geo == NULL)
        status = assay__found_setting(found, "drives", (double)source->drives);
    return status;
}

static assay_status add_settings(const assay__routes_settings *settings, assay_record *found)
{
    const bool *asked = settings->models;
    assay_status status = add_source(&settings->source, found);
    if (status == ASSAY_OK)
        status = add_text(found, "models",
                          !asked[ASSAY__DISTILLED] ? "vanilla"
                          : asked[ASSAY__VANILLA]  ? "vanilla,distilled"
                                                   : "distilled");
    if (status == ASSAY_OK)
        status =
            add_text(found, "od_source", settings->od_source == ASSAY__OD_TEST ? "test" : "train");
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
    return status;
}

/* ---- Training ---- */

static assay_status add_model(const assay__next_road *model, assay__routes_model which,
                              const assay__routes_training *training, assay_record *found)
{
    const struct {
        const char *key;
        double value;
        bool distilled; /* only of a model that has a teacher */
    } settings[] = {{"roads", (double)model->shape.roads, false},
                    {"embedding", (double)model->shape.embedding, false},
                    {"hidden", (double)model->shape.hidden, false},
                    {"scorer", (double)model->shape.scorer, false},
                    {"epochs", (double)training->epochs, false},
                    {"batch_size", (double)training->batch_size, false},
                    {"learning_rate", training->learning_rate, false},
                    {"teacher_share", training->teacher_share, true},
                    {"temperature", training->temperature, true}};
    assay_record_model item;
    assay_record_model_init(&item);
    item.name = assay__routes_model_names[which];
    item.class_name = "next_road";
    item.parameters = assay_reading_of((double)model->parameters.total);
    item.parameter_bytes = assay_reading_of((double)(model->parameters.total * sizeof(float)));
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < sizeof settings / sizeof *settings && status == ASSAY_OK; i++)
        if (which == ASSAY__DISTILLED || !settings[i].distilled)
            status = assay__found_model_setting(found, &item, settings[i].key, settings[i].value);
    if (status == ASSAY_OK && which == ASSAY__DISTILLED)
        status = assay_record_add_model_setting(found, &item, "teacher",
                                                assay__routes_model_names[ASSAY__VANILLA]);
    return status == ASSAY_OK ? assay_record_add_model(found, &item) : status;
}

assay_status assay__routes_found_training(const assay__routes_run *run, assay__routes_model model,
                                          const assay__routes_trained *trained, assay_record *found)
{
    const char *name = assay__routes_model_names[model];
    assay_status status = add_model(run->models[model], model, trained->training, found);
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
