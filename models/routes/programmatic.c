/* The public calls of assay/trajectories.h. They turn options into data, a model and pairs, and
 * call the other files of this folder. Each call loads the data anew; nothing is kept between
 * calls. */
#include <stdlib.h>

#include "assay/report.h"
#include "base/error.h"
#include "base/struct_size.h"
#include "models/routes/evaluate.h"
#include "models/routes/generate.h"
#include "models/routes/performance.h"
#include "models/routes/weights.h"

enum { DEFAULT_ROADS = 1000, DEFAULT_DRIVES = 3000, DEFAULT_PAIRS = 100, DEFAULT_WIDTH = 4 };

/* ---- Data ---- */

static assay_status load_data(const assay_trajectory_options *options, assay_error *error,
                              assay__routes_data *data)
{
    const assay__routes_source source = {
        .dataset = options->dataset,
        .geo = options->geo,
        .rel = options->rel,
        .trajectories = options->train,
        .test = options->test,
        .roads = (int64_t)(options->roads > 0 ? options->roads : DEFAULT_ROADS),
        .drives = (int64_t)(options->drives > 0 ? options->drives : DEFAULT_DRIVES)};
    return assay__routes_data_load(&source, options->seed, error, data);
}

/* ---- Generation ---- */

static assay_status check_generation(const assay_trajectory_options *options, assay_error *error)
{
    const char *missing = options->model_path == NULL    ? "model_path"
                          : options->output_file == NULL ? "output_file"
                                                         : NULL;
    if (missing != NULL)
        return assay__fail(error, ASSAY_E_ARGUMENT, "generating trajectories needs %s", missing);
    if (options->beam_width > ASSAY__ROUTE_MAX_WIDTH)
        return assay__fail(error, ASSAY_E_ARGUMENT, "beam_width is %zu; at most %d are held",
                           options->beam_width, ASSAY__ROUTE_MAX_WIDTH);
    if ((options->origin_road_ids == NULL) != (options->destination_road_ids == NULL))
        return assay__fail(error, ASSAY_E_ARGUMENT,
                           "a search has an origin and a destination: name both or none");
    return ASSAY_OK;
}

/* Replace the roads of the drawn pairs by those that the caller names, if there are any. */
static assay_status take_ends(const assay_trajectory_options *options,
                              const assay__road_network *network, size_t count, assay_error *error,
                              assay__od_pair *pairs)
{
    for (size_t i = 0; i < count && options->origin_road_ids != NULL; i++) {
        const int64_t ids[] = {options->origin_road_ids[i], options->destination_road_ids[i]};
        int64_t roads[2];
        for (int end = 0; end < 2; end++) {
            roads[end] = assay__road_network_find(network, ids[end]);
            if (roads[end] < 0)
                return assay__fail(error, ASSAY_E_ARGUMENT, "the network has no road %lld",
                                   (long long)ids[end]);
        }
        pairs[i].origin = (int32_t)roads[0];
        pairs[i].destination = (int32_t)roads[1];
    }
    return ASSAY_OK;
}

static assay_status generate(const assay_trajectory_options *options,
                             const assay__routes_data *data, const assay__next_road *model,
                             assay_error *error, assay_generation **generation)
{
    const assay__generation_options how = {
        .beam_search = options->beam_search,
        .beam_width = (int64_t)(options->beam_width > 0 ? options->beam_width : DEFAULT_WIDTH),
        .device = options->device,
        .output_file = options->output_file,
        .advance = options->advance,
        .context = options->context};
    size_t count = options->num_gene > 0 ? options->num_gene : DEFAULT_PAIRS;
    assay__od_pair *pairs = NULL;
    assay_status status =
        assay__od_pairs_draw(assay__routes_data_of(data, options->od_source), count,
                             options->seed + ASSAY__PAIRS_SEED, error, &pairs);
    if (status == ASSAY_OK)
        status = take_ends(options, data->network, count, error, pairs);
    if (status == ASSAY_OK)
        status = assay__generate_trajectories(data, model, pairs, count, &how, error, generation);
    free(pairs);
    return status;
}

assay_status assay_generate_trajectories_programmatic(const assay_trajectory_options *options,
                                                      assay_error *error,
                                                      assay_generation **generation)
{
    assay_trajectory_options own;
    assay__routes_data data = {0};
    assay__weighted_model model = {0};
    assay_generation *made = NULL;
    assay_status status =
        assay__struct_take(&own, sizeof own, options, "assay_trajectory_options", error);
    if (status == ASSAY_OK)
        status = check_generation(&own, error);
    if (status == ASSAY_OK)
        status = load_data(&own, error, &data);
    if (status == ASSAY_OK)
        status = assay__weighted_model_load(own.model_path, error, &model);
    if (status == ASSAY_OK)
        status = generate(&own, &data, model.next_road, error, &made);
    if (status == ASSAY_OK && own.performance_file != NULL)
        status = assay_file_save(own.performance_file, assay__generation_print_json, made, error);
    assay__weighted_model_release(&model);
    assay__routes_data_release(&data);
    if (status == ASSAY_OK)
        *generation = made;
    else
        assay_generation_free(made);
    return status;
}

/* ---- Evaluation ---- */

static assay_status take_performance(const assay_trajectory_options *options, assay_error *error,
                                     assay_trajectory_results *results)
{
    results->has_generation_performance =
        options->generation_performance != NULL || options->generation_performance_file != NULL;
    if (options->generation_performance != NULL) {
        results->generation_performance = *options->generation_performance;
        return ASSAY_OK;
    }
    return options->generation_performance_file == NULL
               ? ASSAY_OK
               : assay__performance_load(options->generation_performance_file, error,
                                         &results->generation_performance);
}

assay_status assay_evaluate_trajectories_programmatic(const assay_trajectory_options *options,
                                                      assay_error *error,
                                                      assay_trajectory_results *results)
{
    assay_trajectory_options own;
    assay__routes_data data = {0};
    assay_trajectory_results found = {0};
    assay_status status =
        assay__struct_take(&own, sizeof own, options, "assay_trajectory_options", error);
    if (status != ASSAY_OK)
        return status;
    const char *file = own.generated_file != NULL ? own.generated_file : own.output_file;
    if (file == NULL)
        return assay__fail(error, ASSAY_E_ARGUMENT, "evaluating needs generated_file");
    status = load_data(&own, error, &data);
    if (status == ASSAY_OK)
        status = assay__evaluate_trajectories(
            data.network, assay__routes_data_of(&data, own.od_source), file, error, &found);
    if (status == ASSAY_OK)
        status = take_performance(&own, error, &found);
    if (status == ASSAY_OK && own.results_file != NULL)
        status = assay_file_save(own.results_file, assay__results_print_json, &found, error);
    assay__routes_data_release(&data);
    if (status == ASSAY_OK)
        *results = found;
    return status;
}
