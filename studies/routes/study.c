/* The steps of the study. Every step keeps its results as a record; the record of a step that an
 * earlier run has ended is read back. All of them together are the study's record, of which the
 * report and the other files are views. Data and pairs depend only on the settings and the seed, so
 * each run makes them again. */
#include "studies/routes/study.h"

#include <stdlib.h>
#include <string.h>

#include "assay/clock.h"
#include "assay/report.h"
#include "base/error.h"
#include "models/routes/performance.h"
#include "studies/common/json_file.h"
#include "studies/routes/run.h"
#include "studies/routes/steps.h"

static const assay__next_road_size sizes[ASSAY__ROUTES_TRAINED] = {ASSAY__NEXT_ROAD_VANILLA,
                                                                   ASSAY__NEXT_ROAD_DISTILLED};

static bool advance(void *context, double share)
{
    return assay__study_advance(context, share);
}

static const char *file_of(assay__routes_run *run, size_t model, const char *name,
                           assay_error *error)
{
    char relative[ASSAY__STEP_BYTES];
    snprintf(relative, sizeof relative, "%s/%s", run->settings->models[model].name, name);
    return assay__study_file(run->study, relative, error);
}

static assay_status write_json(assay__routes_run *run, size_t model, const char *name, json_t *root,
                               assay_error *error)
{
    const char *path = file_of(run, model, name, error);
    if (path == NULL) {
        json_decref(root);
        return ASSAY_E_IO;
    }
    return assay__json_file_write(root, path, error);
}

typedef assay_status step_work(assay__routes_run *run, size_t model, assay_record *found,
                               assay_error *error);

static assay_status do_step(assay__routes_run *run, size_t step, size_t model, step_work *work,
                            assay_error *error, assay_record **found)
{
    assay__study_begin(run->study, step);
    assay_status status = assay__study_findings(run->study, error, found);
    if (status == ASSAY_OK)
        status = work(run, model, *found, error);
    if (status == ASSAY_OK)
        status = assay__study_keep(run->study, step, *found, error);
    return status == ASSAY_OK ? assay__study_end(run->study, error) : status;
}

/* Do a step, or read its results back, and add them to the record of the study. */
static assay_status take_step(assay__routes_run *run, size_t step, size_t model, step_work *work,
                              assay_error *error)
{
    assay_record *found = NULL;
    assay_status status = assay__study_done(run->study, step)
                              ? assay__study_recall(run->study, step, error, &found)
                              : do_step(run, step, model, work, error, &found);
    if (status == ASSAY_OK && assay__record_append(run->found, found) != ASSAY_OK)
        status = assay__fail(error, ASSAY_E_MEMORY, "no memory for what the study found");
    assay_record_free(found);
    return status;
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

/* Load the models whose weights are given. */
static assay_status load_models(assay__routes_run *run, assay_error *error)
{
    assay_status status = ASSAY_OK;
    for (size_t i = ASSAY__ROUTES_TRAINED; i < run->settings->model_count && status == ASSAY_OK;
         i++) {
        const char *path = run->settings->models[i].weights;
        status = assay__weighted_model_load(path, error, &run->weighted[i]);
        run->models[i] = run->weighted[i].next_road;
        if (status == ASSAY_OK && run->models[i]->shape.roads < run->data.network->roads)
            status = assay__fail(error, ASSAY_E_ARGUMENT,
                                 "the model of '%s' knows %lld roads, and the network has %lld",
                                 path, (long long)run->models[i]->shape.roads,
                                 (long long)run->data.network->roads);
    }
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
                                      settings->num_gene, run->plan->seed + ASSAY__PAIRS_SEED,
                                      error, &run->pairs);
}

static assay_status keep_data(assay__routes_run *run, size_t model, assay_record *found,
                              assay_error *error)
{
    (void)model;
    assay_status status = run->data.made_up ? save_city(run, error) : ASSAY_OK;
    if (status == ASSAY_OK && assay__routes_found_data(run, found) != ASSAY_OK)
        status = assay__fail(error, ASSAY_E_MEMORY, "no memory for the settings of the study");
    return status;
}

/* ---- Training ---- */

static assay_status train_model(assay__routes_run *run, size_t model,
                                const assay__routes_training *training, double *losses,
                                assay_record *found, assay_error *error)
{
    assay__next_road *self = run->models[model];
    assay__next_road *teacher = model == ASSAY__DISTILLED ? run->models[ASSAY__VANILLA] : NULL;
    assay__routes_trained trained = {.training = training, .losses = losses};
    uint64_t start_ns = assay_clock_now_ns(assay_clock_default());
    assay_status status = assay__routes_train(&run->data, self, teacher, training,
                                              run->plan->seed + 3, error, losses);
    trained.seconds = (double)(assay_clock_now_ns(assay_clock_default()) - start_ns) * 1e-9;
    if (status == ASSAY_OK)
        status = assay__routes_test_loss(&run->data, self, training, error, &trained.test_loss);
    if (status == ASSAY_OK && assay__routes_found_training(run, model, &trained, found) != ASSAY_OK)
        status = assay__fail(error, ASSAY_E_MEMORY, "no memory for the losses");
    return status;
}

static assay_status train_now(assay__routes_run *run, size_t model, assay_record *found,
                              assay_error *error)
{
    const assay__routes_training training = {.epochs = run->settings->epochs,
                                             .batch_size = 32,
                                             .max_roads = 200,
                                             .learning_rate = 5e-3,
                                             .teacher_share = 0.5,
                                             .temperature = 2,
                                             .advance = advance,
                                             .context = run->study};
    double *losses = calloc((size_t)training.epochs, sizeof *losses);
    if (losses == NULL)
        return assay__fail(error, ASSAY_E_MEMORY, "no memory to train");
    assay_status status = train_model(run, model, &training, losses, found, error);
    free(losses);
    const char *path =
        status == ASSAY_OK ? file_of(run, model, "weights.safetensors", error) : NULL;
    if (status != ASSAY_OK)
        return status;
    return path == NULL ? ASSAY_E_IO : assay__routes_save_weights(run->models[model], path, error);
}

static assay_status load_weights(assay__routes_run *run, size_t model, assay_error *error)
{
    const char *path = file_of(run, model, "weights.safetensors", error);
    return path == NULL ? ASSAY_E_IO : assay__routes_load_weights(run->models[model], path, error);
}

static assay_status train(assay__routes_run *run, size_t model, assay_error *error)
{
    size_t step = assay__routes_step(run->settings, ASSAY__TRAIN, model);
    bool trained = assay__study_done(run->study, step);
    assay__next_road_shape shape =
        assay__next_road_shape_of(sizes[model], run->data.network->roads);
    assay_status status =
        assay__next_road_new(&shape, run->plan->seed + 4, error, &run->models[model]);
    if (status == ASSAY_OK && trained)
        status = load_weights(run, model, error);
    if (status == ASSAY_OK)
        status = take_step(run, step, model, train_now, error);
    return status == ASSAY_OK ? write_json(run, model, "training.json",
                                           assay__routes_training_json(run, model), error)
                              : status;
}

/* ---- Generating and evaluating ---- */

static assay_status generate_now(assay__routes_run *run, size_t model, assay_record *found,
                                 assay_error *error)
{
    const char *path = file_of(run, model, "generated.csv", error);
    return path == NULL ? ASSAY_E_IO : assay__routes_generate(run, model, path, found, error);
}

/* Evaluate the trajectories of a model. If it generated none, there are no results. */
static assay_status evaluate_now(assay__routes_run *run, size_t model, assay_record *found,
                                 assay_error *error)
{
    const char *name = run->settings->models[model].name;
    const char *path = file_of(run, model, "generated.csv", error);
    assay_trajectory_results results;
    if (path == NULL)
        return ASSAY_E_IO;
    if (assay__generated_count(run->found, name) == 0)
        return ASSAY_OK;
    const assay__trajectories *real = assay__routes_data_of(&run->data, run->settings->od_source);
    assay_status status =
        assay__evaluate_trajectories(run->data.network, real, path, error, &results);
    if (status == ASSAY_OK && assay__found_results(found, name, &results) != ASSAY_OK)
        status = assay__fail(error, ASSAY_E_MEMORY, "no memory for the results");
    return status == ASSAY_OK ? assay__routes_found_trips(run, name, real, path, found, error)
                              : status;
}

/* Write the files of a model about its generation. */
static assay_status write_generation(assay__routes_run *run, size_t model, assay_error *error)
{
    const char *path = file_of(run, model, "performance.json", error);
    assay_status status =
        path == NULL ? ASSAY_E_IO : assay__routes_save_performance(run, model, path, error);
    return status == ASSAY_OK ? write_json(run, model, "generation.json",
                                           assay__routes_generation_json(run, model), error)
                              : status;
}

static assay_status generate_and_evaluate(assay__routes_run *run, size_t model, assay_error *error)
{
    const assay__routes_settings *settings = run->settings;
    assay_status status = take_step(run, assay__routes_step(settings, ASSAY__GENERATE, model),
                                    model, generate_now, error);
    if (status == ASSAY_OK)
        status = write_generation(run, model, error);
    if (status == ASSAY_OK)
        status = take_step(run, assay__routes_step(settings, ASSAY__EVALUATE, model), model,
                           evaluate_now, error);
    if (status == ASSAY_OK)
        status =
            write_json(run, model, "results.json", assay__routes_results_json(run, model), error);
    return status == ASSAY_OK ? assay__routes_print_model(run, model, error) : status;
}

/* ---- Comparing ---- */

static assay_status compare_now(assay__routes_run *run, size_t model, assay_record *found,
                                assay_error *error)
{
    (void)model;
    return assay__routes_compare(run, error, found);
}

/* Write comparison.json: the results of this step, as the record of a benchmark. */
static assay_status write_comparison(assay__routes_run *run, assay_error *error)
{
    const char *path = assay__study_file(run->study, "comparison.json", error);
    assay_record *found = NULL, *alone = NULL;
    assay_status status =
        path == NULL ? ASSAY_E_IO
                     : assay__study_recall(run->study, assay__routes_compare_step(run->settings),
                                           error, &found);
    if (status != ASSAY_OK)
        return status;
    status = assay_record_new(&alone);
    if (status == ASSAY_OK) {
        alone->kind = "bench";
        status = assay__record_append(alone, found);
    }
    if (status == ASSAY_OK)
        status = assay_record_describe(alone);
    status = status == ASSAY_OK ? assay_record_save(alone, path, 0, error)
                                : assay__fail(error, status, "cannot describe the comparison: %s",
                                              assay_status_message(status));
    assay_record_free(found);
    assay_record_free(alone);
    return status;
}

static assay_status compare(assay__routes_run *run, assay_error *error)
{
    assay_status status = take_step(run, assay__routes_compare_step(run->settings), ASSAY__VANILLA,
                                    compare_now, error);
    if (status == ASSAY_OK)
        status = write_comparison(run, error);
    return status == ASSAY_OK ? assay__routes_print_comparison(run, error) : status;
}

/* ---- The whole ---- */

static assay_status run_models(assay__routes_run *run, assay_error *error)
{
    const assay__routes_settings *settings = run->settings;
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < ASSAY__ROUTES_TRAINED && status == ASSAY_OK; i++) /* teachers first */
        status = assay__routes_trains(settings, i) ? train(run, i, error) : ASSAY_OK;
    if (status == ASSAY_OK)
        assay__routes_print_training(run);
    for (size_t i = 0; i < settings->model_count && status == ASSAY_OK; i++)
        status = settings->models[i].generates ? generate_and_evaluate(run, i, error) : ASSAY_OK;
    return status == ASSAY_OK && assay__routes_generating(settings) > 1 ? compare(run, error)
                                                                        : status;
}

static assay_status finish(assay__routes_run *run, const char *summary_path, assay_error *error)
{
    const char *path = assay__study_file(run->study, "summary.json", error);
    assay_status status =
        path == NULL ? ASSAY_E_IO : assay__study_publish(run->study, run->found, error);
    if (status == ASSAY_OK)
        status = assay__json_file_write(assay__routes_summary_json(run), path, error);
    if (status == ASSAY_OK && summary_path != NULL)
        status = assay__json_file_write(assay__routes_summary_json(run), summary_path, error);
    if (status == ASSAY_OK)
        fprintf(run->output, "\nResults: %s\n", run->plan->folder);
    return status;
}

static assay_status run_study(assay__routes_run *run, const char *summary_path, assay_error *error)
{
    assay_status status = assay__study_findings(run->study, error, &run->found);
    if (status == ASSAY_OK)
        status = take_step(run, ASSAY__DATA, ASSAY__VANILLA, keep_data, error);
    if (status == ASSAY_OK) {
        assay__routes_print_data(run);
        status = run_models(run, error);
    }
    return status == ASSAY_OK ? finish(run, summary_path, error) : status;
}

static void release(assay__routes_run *run)
{
    for (size_t i = 0; i < ASSAY__ROUTES_TRAINED; i++)
        assay__next_road_free(run->models[i]);
    for (size_t i = 0; i < ASSAY__ROUTES_MAX_MODELS; i++)
        assay__weighted_model_release(&run->weighted[i]);
    assay_record_free(run->found);
    assay__routes_data_release(&run->data);
    free(run->pairs);
    assay__study_free(run->study);
}

/* Evaluate a file of trajectories that was made elsewhere. This has no folder and no steps. */
static assay_status evaluate_file(const assay__study_plan *plan,
                                  const assay__routes_settings *settings, const char *summary_path,
                                  assay_error *error)
{
    const char *cost = settings->generation_performance;
    assay__routes_data data;
    assay_trajectory_results results;
    assay_status status = assay__routes_data_load(&settings->source, plan->seed, error, &data);
    if (status != ASSAY_OK)
        return status;
    status = assay__evaluate_trajectories(data.network,
                                          assay__routes_data_of(&data, settings->od_source),
                                          settings->evaluate, error, &results);
    if (status == ASSAY_OK && cost != NULL) {
        status = assay__performance_load(cost, error, &results.generation_performance);
        results.has_generation_performance = status == ASSAY_OK;
    }
    if (status == ASSAY_OK && cost != NULL)
        assay__performance_print(&results.generation_performance, plan->output);
    if (status == ASSAY_OK)
        assay_trajectory_results_print(&results, plan->output);
    if (status == ASSAY_OK && summary_path != NULL)
        status = assay_file_save(summary_path, assay__results_print_json, &results, error);
    assay__routes_data_release(&data);
    return status;
}

assay_status assay__routes_study(const assay__study_plan *plan,
                                 const assay__routes_settings *settings, const char *summary_path,
                                 assay_error *error)
{
    if (settings->evaluate != NULL)
        return evaluate_file(plan, settings, summary_path, error);
    assay__study_plan full = *plan;
    assay__routes_steps list = {0};
    assay__routes_list_steps(settings, &list);
    char *text = assay__routes_settings_text(settings);
    assay__routes_run *run = calloc(1, sizeof *run);
    assay_status status = ASSAY_E_MEMORY;
    if (run == NULL || text == NULL)
        goto cleanup;
    full.settings = text;
    full.steps = list.steps;
    full.step_count = assay__routes_compare_step(settings) + 1;
    run->plan = &full;
    run->settings = settings;
    run->output = plan->output;
    status = load_data(run, error); /* first, so that bad input leaves no folder */
    if (status == ASSAY_OK)
        status = load_models(run, error);
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
