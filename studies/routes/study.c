/* Every step leaves its files before it ends; one that ended earlier is read back from them. Data
 * and pairs are functions of the settings and the seed and are made again each time. */
#include "studies/routes/study.h"

#include <stdlib.h>
#include <string.h>

#include "assay/clock.h"
#include "base/buffer.h"
#include "base/error.h"
#include "studies/common/json_file.h"
#include "studies/routes/run.h"

const char *const assay__routes_model_names[ASSAY__ROUTES_MODELS] = {"vanilla", "distilled"};
static const assay__next_road_size sizes[ASSAY__ROUTES_MODELS] = {ASSAY__NEXT_ROAD_VANILLA,
                                                                  ASSAY__NEXT_ROAD_DISTILLED};

/* In the order of the work; which of them a study has is a matter of its models. */
enum {
    DATA,
    TRAIN,
    GENERATE = TRAIN + ASSAY__ROUTES_MODELS,
    EVALUATE = GENERATE + ASSAY__ROUTES_MODELS,
    COMPARE = EVALUATE + ASSAY__ROUTES_MODELS,
    STEPS
};
static const assay__study_step steps[STEPS] = {
    [DATA] = {"data", 1},
    [TRAIN + ASSAY__VANILLA] = {"train vanilla", 6},
    [TRAIN + ASSAY__DISTILLED] = {"train distilled", 6},
    [GENERATE + ASSAY__VANILLA] = {"generate with vanilla", 1},
    [GENERATE + ASSAY__DISTILLED] = {"generate with distilled", 1},
    [EVALUATE + ASSAY__VANILLA] = {"evaluate vanilla", 1},
    [EVALUATE + ASSAY__DISTILLED] = {"evaluate distilled", 1},
    [COMPARE] = {"compare", 4},
};

/* A step that this study does not have weighs nothing. */
static void weigh_steps(const assay__routes_settings *settings, assay__study_step weighed[STEPS])
{
    memcpy(weighed, steps, sizeof steps);
    for (size_t i = 0; i < ASSAY__ROUTES_MODELS; i++) {
        if (settings->models[i])
            continue;
        weighed[GENERATE + i].weight = weighed[EVALUATE + i].weight = weighed[COMPARE].weight = 0;
        if (i != ASSAY__VANILLA)
            weighed[TRAIN + i].weight = 0;
    }
}

assay__routes_settings assay__routes_settings_of(bool quick)
{
    return (assay__routes_settings){
        .source = {.roads = quick ? 300 : 1000, .drives = quick ? 1500 : 3000},
        .models = {true, true},
        .od_source = ASSAY__OD_TEST,
        .num_gene = 100,
        .beam_search = true,
        .beam_width = 4,
        .epochs = quick ? 10 : 12,
        .compare_seconds = quick ? 1 : 5};
}

static bool advance(void *context, double share)
{
    return assay__study_advance(context, share);
}

static const char *file_of(assay__routes_run *run, assay__routes_model model, const char *name,
                           assay_error *error)
{
    char relative[64];
    snprintf(relative, sizeof relative, "%s/%s", assay__routes_model_names[model], name);
    return assay__study_file(run->study, relative, error);
}

static assay_status write_json(assay__routes_run *run, assay__routes_model model, const char *name,
                               json_t *root, assay_error *error)
{
    const char *path = file_of(run, model, name, error);
    if (path == NULL) {
        json_decref(root);
        return ASSAY_E_IO;
    }
    return assay__json_file_write(root, path, error);
}

static assay_status read_json(assay__routes_run *run, assay__routes_model model, const char *name,
                              assay_error *error, json_t **root)
{
    const char *path = file_of(run, model, name, error);
    return path == NULL ? ASSAY_E_IO : assay__json_file_read(path, error, root);
}

/* ---- Data ---- */

static assay_status save_city(assay__routes_run *run, assay_error *error)
{
    const char *geo = assay__study_file(run->study, "city.geo", error);
    const char *rel = assay__study_file(run->study, "city.rel", error);
    const char *train = assay__study_file(run->study, "train.csv", error);
    const char *test = assay__study_file(run->study, "test.csv", error);
    if (geo == NULL || rel == NULL || train == NULL || test == NULL)
        return ASSAY_E_IO;
    assay_status status = assay__road_network_save(run->data.network, geo, rel, error);
    if (status == ASSAY_OK)
        status = assay__trajectories_save(&run->data.train, run->data.network, train, error);
    if (status == ASSAY_OK)
        status = assay__trajectories_save(&run->data.test, run->data.network, test, error);
    return status;
}

static assay_status load_data(assay__routes_run *run, assay_error *error)
{
    const assay__routes_settings *settings = run->settings;
    assay_status status =
        assay__routes_data_load(&settings->source, run->plan->seed, error, &run->data);
    return status != ASSAY_OK
               ? status
               : assay__od_pairs_draw(assay__routes_data_of(&run->data, settings->od_source),
                                      settings->num_gene, run->plan->seed + 2, error, &run->pairs);
}

static assay_status keep_data(assay__routes_run *run, assay_error *error)
{
    if (assay__study_done(run->study, DATA))
        return ASSAY_OK;
    assay__study_begin(run->study, DATA);
    assay_status status = run->data.made_up ? save_city(run, error) : ASSAY_OK;
    return status == ASSAY_OK ? assay__study_end(run->study, error) : status;
}

/* ---- Training ---- */

static assay_status train_now(assay__routes_run *run, assay__routes_model model, assay_error *error)
{
    assay__routes_trained *self = &run->trained[model];
    const assay__routes_training training = {.epochs = run->settings->epochs,
                                             .batch_size = 32,
                                             .max_roads = 200,
                                             .learning_rate = 5e-3,
                                             .teacher_share = 0.5,
                                             .temperature = 2,
                                             .advance = advance,
                                             .context = run->study};
    assay__next_road *teacher =
        model == ASSAY__DISTILLED ? run->trained[ASSAY__VANILLA].model : NULL;
    assay__study_begin(run->study, TRAIN + (size_t)model);
    uint64_t start_ns = assay_clock_now_ns(assay_clock_default());
    assay_status status = assay__routes_train(&run->data, self->model, teacher, &training,
                                              run->plan->seed + 3, error, self->losses);
    self->training_seconds = (double)(assay_clock_now_ns(assay_clock_default()) - start_ns) * 1e-9;
    if (status == ASSAY_OK)
        status =
            assay__routes_test_loss(&run->data, self->model, &training, error, &self->test_loss);
    if (status != ASSAY_OK)
        return status;
    const char *path = file_of(run, model, "weights.safetensors", error);
    status = path == NULL ? ASSAY_E_IO : assay__routes_save_weights(self->model, path, error);
    if (status == ASSAY_OK)
        status =
            write_json(run, model, "training.json", assay__routes_training_json(run, model), error);
    return status == ASSAY_OK ? assay__study_end(run->study, error) : status;
}

static assay_status read_trained(assay__routes_run *run, assay__routes_model model,
                                 assay_error *error)
{
    json_t *root = NULL;
    const char *path = file_of(run, model, "weights.safetensors", error);
    assay_status status = path == NULL
                              ? ASSAY_E_IO
                              : assay__routes_load_weights(run->trained[model].model, path, error);
    if (status == ASSAY_OK)
        status = read_json(run, model, "training.json", error, &root);
    if (status == ASSAY_OK)
        status = assay__routes_training_read(run, model, root, error);
    json_decref(root);
    return status;
}

static assay_status train(assay__routes_run *run, assay__routes_model model, assay_error *error)
{
    assay__next_road_shape shape =
        assay__next_road_shape_of(sizes[model], run->data.network->roads);
    assay_status status =
        assay__next_road_new(&shape, run->plan->seed + 4, error, &run->trained[model].model);
    if (status != ASSAY_OK)
        return status;
    return assay__study_done(run->study, TRAIN + (size_t)model) ? read_trained(run, model, error)
                                                                : train_now(run, model, error);
}

/* ---- Generating and evaluating ---- */

static assay_status generate_now(assay__routes_run *run, assay__routes_model model,
                                 const char *path, assay_error *error)
{
    const assay__generation_options options = {.beam_search = run->settings->beam_search,
                                               .beam_width = run->settings->beam_width,
                                               .output_file = path,
                                               .advance = advance,
                                               .context = run->study};
    assay__study_begin(run->study, GENERATE + (size_t)model);
    assay_status status = assay__generate_trajectories(
        &run->data, run->trained[model].model, run->pairs, run->settings->num_gene, &options, error,
        &run->trained[model].generation);
    if (status == ASSAY_OK)
        status = write_json(run, model, "generation.json",
                            assay__routes_generation_json(run, model), error);
    return status == ASSAY_OK ? assay__study_end(run->study, error) : status;
}

static assay_status generate(assay__routes_run *run, assay__routes_model model, assay_error *error)
{
    const char *path = file_of(run, model, "generated.csv", error);
    if (path == NULL)
        return ASSAY_E_IO;
    if (!assay__study_done(run->study, GENERATE + (size_t)model))
        return generate_now(run, model, path, error);
    json_t *root = NULL;
    assay_status status = read_json(run, model, "generation.json", error, &root);
    if (status == ASSAY_OK)
        status = assay__routes_generation_read(run, model, root, error);
    run->trained[model].generation.output_file = path;
    json_decref(root);
    return status;
}

/* Cheap and a function of the files, so it is done again in a resumed study. */
static assay_status evaluate(assay__routes_run *run, assay__routes_model model, assay_error *error)
{
    assay__routes_trained *self = &run->trained[model];
    int64_t count;
    assay_status status = ASSAY_OK;
    bool done = assay__study_done(run->study, EVALUATE + (size_t)model);
    if (!done)
        assay__study_begin(run->study, EVALUATE + (size_t)model);
    self->evaluated = self->generation.num_generated > 0;
    if (self->evaluated)
        status = assay__evaluate_trajectories(
            run->data.network, assay__routes_data_of(&run->data, run->settings->od_source),
            self->generation.output_file, error, &count, &self->evaluation);
    if (status == ASSAY_OK && !done)
        status =
            write_json(run, model, "results.json", assay__routes_results_json(run, model), error);
    return status == ASSAY_OK && !done ? assay__study_end(run->study, error) : status;
}

/* ---- Comparing ---- */

static assay_status compare(assay__routes_run *run, assay_error *error)
{
    const char *path = assay__study_file(run->study, "comparison.json", error);
    if (path == NULL)
        return ASSAY_E_IO;
    if (assay__study_done(run->study, COMPARE))
        return assay_record_read(path, error, &run->comparison);
    assay__study_begin(run->study, COMPARE);
    assay_status status = assay__routes_compare(run, error, &run->comparison);
    if (status == ASSAY_OK)
        status = assay_record_save(run->comparison, path, 0, error);
    return status == ASSAY_OK ? assay__study_end(run->study, error) : status;
}

/* ---- The whole ---- */

static assay_status run_models(assay__routes_run *run, assay_error *error)
{
    const bool *asked = run->settings->models;
    assay_status status = ASSAY_OK;
    run->trained[ASSAY__VANILLA].needed = true;
    run->trained[ASSAY__DISTILLED].needed = asked[ASSAY__DISTILLED];
    for (assay__routes_model i = 0; i < ASSAY__ROUTES_MODELS && status == ASSAY_OK; i++)
        status = run->trained[i].needed ? train(run, i, error) : ASSAY_OK;
    if (status == ASSAY_OK)
        assay__routes_print_training(run);
    for (assay__routes_model i = 0; i < ASSAY__ROUTES_MODELS && status == ASSAY_OK; i++) {
        if (!asked[i])
            continue;
        status = generate(run, i, error);
        if (status == ASSAY_OK)
            status = evaluate(run, i, error);
        if (status == ASSAY_OK)
            assay__routes_print_model(run, i);
    }
    if (status == ASSAY_OK && asked[ASSAY__VANILLA] && asked[ASSAY__DISTILLED]) {
        status = compare(run, error);
        if (status == ASSAY_OK)
            status = assay__routes_print_comparison(run, error);
    }
    return status;
}

static assay_status finish(assay__routes_run *run, const char *summary_path, assay_error *error)
{
    const char *path = assay__study_file(run->study, "summary.json", error);
    assay_status status =
        path == NULL ? ASSAY_E_IO
                     : assay__json_file_write(assay__routes_summary_json(run), path, error);
    if (status == ASSAY_OK && summary_path != NULL)
        status = assay__json_file_write(assay__routes_summary_json(run), summary_path, error);
    if (status == ASSAY_OK)
        fprintf(run->output, "\nResults: %s\n", run->plan->folder);
    return status;
}

static assay_status run_study(assay__routes_run *run, const char *summary_path, assay_error *error)
{
    assay_status status = keep_data(run, error);
    if (status == ASSAY_OK) {
        assay__routes_print_data(run);
        status = run_models(run, error);
    }
    return status == ASSAY_OK ? finish(run, summary_path, error) : status;
}

static void release(assay__routes_run *run)
{
    for (size_t i = 0; i < ASSAY__ROUTES_MODELS; i++)
        assay__next_road_free(run->trained[i].model);
    assay_record_free(run->comparison);
    assay__routes_data_release(&run->data);
    free(run->pairs);
    assay__study_free(run->study);
}

/* A file made elsewhere: no folder, no steps. */
static assay_status evaluate_file(const assay__study_plan *plan,
                                  const assay__routes_settings *settings, const char *summary_path,
                                  assay_error *error)
{
    assay__routes_data data;
    assay__road_evaluation evaluation;
    int64_t count;
    assay_status status = assay__routes_data_load(&settings->source, plan->seed, error, &data);
    if (status != ASSAY_OK)
        return status;
    const assay__trajectories *real = assay__routes_data_of(&data, settings->od_source);
    status = assay__evaluate_trajectories(data.network, real, settings->evaluate, error, &count,
                                          &evaluation);
    if (status == ASSAY_OK)
        assay__routes_print_evaluation(&evaluation, plan->output);
    if (status == ASSAY_OK && summary_path != NULL)
        status = assay__json_file_write(
            assay__evaluation_json(&evaluation, count, real->count, NULL), summary_path, error);
    assay__routes_data_release(&data);
    return status;
}

/* Everything that decides the results, for the frame. Caller frees; NULL without memory. */
static char *settings_text(const assay__routes_settings *settings)
{
    const assay__routes_source *source = &settings->source;
    assay__buffer text;
    assay__buffer_init(&text, 1 << 16);
    assay_status status = assay__buffer_printf(
        &text, "%s%s %zu pairs of %s, %s %lld, %lld epochs, ",
        settings->models[ASSAY__VANILLA] ? "vanilla " : "",
        settings->models[ASSAY__DISTILLED] ? "distilled" : "", settings->num_gene,
        settings->od_source == ASSAY__OD_TEST ? "test" : "train",
        settings->beam_search ? "beam" : "greedy", (long long)settings->beam_width,
        (long long)settings->epochs);
    if (status == ASSAY_OK && source->geo == NULL)
        status = assay__buffer_printf(&text, "city of %lld roads, %lld drives",
                                      (long long)source->roads, (long long)source->drives);
    else if (status == ASSAY_OK)
        status = assay__buffer_printf(&text, "%s %s %s %s", source->geo,
                                      source->rel != NULL ? source->rel : "",
                                      source->trajectories != NULL ? source->trajectories : "",
                                      source->test != NULL ? source->test : "");
    if (status == ASSAY_OK && settings->skip_performance)
        status = assay__buffer_append_text(&text, ", no performance");
    if (status == ASSAY_OK)
        return assay__buffer_take(&text);
    assay__buffer_release(&text);
    return NULL;
}

assay_status assay__routes_study(const assay__study_plan *plan,
                                 const assay__routes_settings *settings, const char *summary_path,
                                 assay_error *error)
{
    if (settings->evaluate != NULL)
        return evaluate_file(plan, settings, summary_path, error);
    assay__study_plan full = *plan;
    assay__study_step weighed[STEPS];
    weigh_steps(settings, weighed);
    char *text = settings_text(settings);
    assay__routes_run *run = calloc(1, sizeof *run);
    assay_status status = ASSAY_E_MEMORY;
    if (run == NULL || text == NULL)
        goto cleanup;
    full.settings = text;
    full.steps = weighed;
    full.step_count = STEPS;
    run->plan = &full;
    run->settings = settings;
    run->output = plan->output;
    status = load_data(run, error); /* first: bad input leaves no folder behind */
    if (status == ASSAY_OK)
        status = assay__study_open(&full, error, &run->study);
    if (status == ASSAY_OK)
        status = run_study(run, summary_path, error);
    if (status == ASSAY_E_STATE && run->study != NULL && assay__study_stopped(run->study))
        status = assay__study_interrupted(run->study, error);

cleanup:
    if (run != NULL)
        release(run);
    free(run);
    free(text);
    return status;
}
