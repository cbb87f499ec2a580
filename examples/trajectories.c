/* Generates trajectories with trained weights, times every search, and evaluates them against real
 * trajectories.
 *
 *     cc trajectories.c $(pkg-config --cflags --libs assay-models) -o trajectories
 *     ./trajectories [DATASET WEIGHTS]
 *
 * `assay study routes --out city` trains models and writes both:
 *
 *     ./trajectories city city/vanilla/weights.safetensors
 *
 * Without arguments a city is made up, and the weights are those of an untrained model. Many of its
 * searches find no route; they are timed as well. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <assay/model.h>
#include <assay/trajectories.h>

enum { ROADS = 200, DRIVES = 400 };

static void must(assay_status status, const assay_error *error)
{
    if (status != ASSAY_OK) {
        fprintf(stderr, "trajectories: %s\n", error->message);
        exit(1);
    }
}

/* Saves the random weights of an untrained model for a network of ROADS roads. */
static void save_untrained(const char *path, assay_error *error)
{
    const assay_model_class *class = NULL;
    assay_model *model = NULL;
    double settings[16] = {0};
    must(assay_model_find("next_road", error, &class), error);
    for (size_t i = 0; i < class->option_count; i++) {
        const assay_model_option *option = &class->options[i];
        settings[i] = strcmp(option->name, "num-nodes") == 0 ? ROADS : option->initial;
    }
    must(assay_model_new(class, settings, 42, error, &model), error);
    must(assay_model_save_weights(model, path, error), error);
    assay_model_free(model);
}

int main(int argc, char **argv)
{
    assay_error error = {0};
    char weights[] = "/tmp/assay-weights-XXXXXX", output[] = "/tmp/assay-generated-XXXXXX";
    close(mkstemp(weights));
    close(mkstemp(output));
    assay_trajectory_options options = ASSAY_TRAJECTORY_OPTIONS_INIT;
    options.model_path = weights;
    options.output_file = output;
    options.od_source = ASSAY_OD_TEST;
    options.num_gene = 50;
    options.beam_search = true;
    options.beam_width = 4;
    options.seed = 42;
    if (argc == 3) {
        options.dataset = argv[1];
        options.model_path = argv[2];
    } else {
        options.roads = ROADS;
        options.drives = DRIVES;
        save_untrained(weights, &error);
    }

    assay_generation *generation = NULL;
    must(assay_generate_trajectories_programmatic(&options, &error, &generation), &error);
    printf("%zu of %zu trajectories generated\n", generation->num_generated,
           generation->num_searched);
    assay_generation_print(generation, stdout);

    if (generation->num_generated > 0) {
        assay_trajectory_results results;
        options.generated_file = generation->output_file;
        options.generation_performance = &generation->performance;
        must(assay_evaluate_trajectories_programmatic(&options, &error, &results), &error);
        assay_trajectory_results_print(&results, stdout);
        printf("%.2f trajectories a second, %zu of them beside a real one with the same ends\n",
               results.generation_performance.throughput_traj_per_sec.value, results.num_pairs);
    }
    assay_generation_free(generation);
    unlink(weights);
    unlink(output);
    return 0;
}
