/* Trajectories are generated in a small made-up city with weights from a file, the costs of the
 * searches are written to a file, and the trajectories are evaluated together with that file. */
#include <string.h>

#include "assay/model.h"
#include "assay/trajectories.h"
#include "tests/fault/fault.h"

enum { ROADS = 24, DRIVES = 5, MAX_OPTIONS = 16 };

static assay_status save_weights(const char *path, assay_error *error)
{
    const assay_model_class *class_ = NULL;
    assay_model *model = NULL;
    double settings[MAX_OPTIONS] = {0};
    assay_status status = assay_model_find("next_road", error, &class_);
    if (status != ASSAY_OK)
        return status;
    for (size_t i = 0; i < class_->option_count; i++)
        settings[i] =
            strcmp(class_->options[i].name, "num-nodes") == 0 ? ROADS : class_->options[i].initial;
    status = assay_model_new(class_, settings, 1, error, &model);
    if (status == ASSAY_OK)
        status = assay_model_save_weights(model, path, error);
    assay_model_free(model);
    return status;
}

static assay_status run(void)
{
    assay_error error = {0};
    assay_generation *generation = NULL;
    assay_trajectory_results results;
    assay_trajectory_options options = ASSAY_TRAJECTORY_OPTIONS_INIT;
    options.roads = ROADS;
    options.drives = DRIVES;
    options.seed = 1;
    options.num_gene = 1;
    options.beam_search = true;
    options.model_path = "w.safetensors";
    options.output_file = "generated.csv";
    options.performance_file = options.generation_performance_file = "performance.json";
    options.results_file = "results.json";
    assay_status status = save_weights(options.model_path, &error);
    if (status == ASSAY_OK)
        status = assay_generate_trajectories_programmatic(&options, &error, &generation);
    if (status == ASSAY_OK)
        status = assay_evaluate_trajectories_programmatic(&options, &error, &results);
    assay_generation_free(generation);
    /* A failure has to come with a message. */
    return status != ASSAY_OK && error.message[0] == '\0' ? (assay_status)-1000 : status;
}

const fault_scenario fault_trajectories = {.name = "trajectories", .run = run};
