/* The public calls that generate and evaluate trajectories, on a dataset in a folder and weights in
 * a file, as a program uses them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "assay/model.h"
#include "assay/trajectories.h"
#include "models/instance.h"
#include "models/road/city.h"
#include "models/road/trajectory.h"

enum { ROADS = 90, DRIVES = 150 };

typedef struct scene {
    char folder[64], weights[96], small[96], output[96], performance[96], results[96];
} scene;

static void in_folder(const scene *self, const char *name, char path[96])
{
    snprintf(path, 96, "%s/%s", self->folder, name);
}

static void save_weights(const char *path, double roads)
{
    const assay__setting settings[] = {{"size", 1}, {"num-nodes", roads}};
    assay_model *model = NULL;
    assert_int_equal(assay__instance_new("next_road", settings, 2, 5, NULL, &model), ASSAY_OK);
    assert_int_equal(assay_model_save_weights(model, path, NULL), ASSAY_OK);
    assay_model_free(model);
}

static void save_drives(const scene *self, const assay__road_network *network, const char *name,
                        uint64_t seed)
{
    char path[96];
    assay__trajectories drives;
    assay__trajectories_init(&drives);
    in_folder(self, name, path);
    assert_int_equal(assay__city_drive(network, DRIVES, seed, NULL, &drives), ASSAY_OK);
    assert_int_equal(assay__trajectories_save(&drives, network, path, NULL), ASSAY_OK);
    assay__trajectories_release(&drives);
}

static int open_scene(void **state)
{
    static scene self = {.folder = "/tmp/assay-trajectories-XXXXXX"};
    char geo[96], rel[96];
    assay__road_network *network = NULL;
    assert_non_null(mkdtemp(self.folder));
    in_folder(&self, "town.geo", geo);
    in_folder(&self, "town.rel", rel);
    in_folder(&self, "weights.safetensors", self.weights);
    in_folder(&self, "small.safetensors", self.small);
    in_folder(&self, "generated.csv", self.output);
    in_folder(&self, "performance.json", self.performance);
    in_folder(&self, "results.json", self.results);
    assert_int_equal(assay__city_new(ROADS, 3, NULL, &network), ASSAY_OK);
    assert_int_equal(assay__road_network_save(network, geo, rel, NULL), ASSAY_OK);
    save_drives(&self, network, "train.csv", 1);
    save_drives(&self, network, "test.csv", 2);
    assay__road_network_free(network);
    save_weights(self.weights, ROADS);
    save_weights(self.small, ROADS - 1);
    *state = &self;
    return 0;
}

static int close_scene(void **state)
{
    const scene *self = *state;
    static const char *const names[] = {"town.geo",
                                        "town.rel",
                                        "train.csv",
                                        "test.csv",
                                        "weights.safetensors",
                                        "small.safetensors",
                                        "generated.csv",
                                        "performance.json",
                                        "results.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[96];
        in_folder(self, names[i], path);
        unlink(path);
    }
    return rmdir(self->folder);
}

static assay_trajectory_options options_of(const scene *self)
{
    assay_trajectory_options options = ASSAY_TRAJECTORY_OPTIONS_INIT;
    options.dataset = self->folder;
    options.model_path = self->weights;
    options.output_file = self->output;
    options.num_gene = 40;
    options.beam_search = true;
    options.seed = 7;
    return options;
}

static char *content(const char *path)
{
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    char *text = calloc(1, 1 << 20);
    assert_true(fread(text, 1, (1 << 20) - 1, stream) > 0);
    fclose(stream);
    return text;
}

static void test_generated_and_evaluated(void **state)
{
    const scene *self = *state;
    assay_error error = {0};
    assay_trajectory_options options = options_of(self);
    options.performance_file = self->performance;
    assay_generation *generation = NULL;
    assert_int_equal(assay_generate_trajectories_programmatic(&options, &error, &generation),
                     ASSAY_OK);
    assert_int_equal(generation->num_searched, 40);
    assert_true(generation->num_generated > 0);
    assert_int_equal(generation->performance.beam_width, 4);
    assert_string_equal(generation->output_file, self->output);
    assert_non_null(generation->searches[generation->slowest].outcome);

    /* Twice the same: times aside, a function of the options. */
    char *first = content(self->output);
    assay_generation *again = NULL;
    assert_int_equal(assay_generate_trajectories_programmatic(&options, &error, &again), ASSAY_OK);
    char *second = content(self->output);
    assert_string_equal(first, second);
    free(first);
    free(second);
    for (size_t i = 0; i < 40; i++)
        assert_int_equal(again->searches[i].forward_count, generation->searches[i].forward_count);
    assay_generation_free(again);

    assay_trajectory_results results, from_file;
    options.generation_performance = &generation->performance;
    options.results_file = self->results;
    assert_int_equal(assay_evaluate_trajectories_programmatic(&options, &error, &results),
                     ASSAY_OK);
    assert_int_equal(results.num_generated, generation->num_generated);
    assert_int_equal(results.num_pairs, generation->num_generated);
    assert_int_equal(results.num_real, DRIVES);
    assert_true(results.has_generation_performance);
    assert_true(results.generation_performance.total_time_mean.value ==
                generation->performance.total_time_mean.value);
    char *text = content(self->results);
    assert_non_null(strstr(text, "\"Distance_JSD\": "));
    assert_non_null(strstr(text, "\"generation_performance\": {"));
    free(text);

    /* The file of the second generation, and none. */
    options.generation_performance = NULL;
    options.generation_performance_file = self->performance;
    assert_int_equal(assay_evaluate_trajectories_programmatic(&options, &error, &from_file),
                     ASSAY_OK);
    assert_true(from_file.generation_performance.total_time_mean.value > 0);
    assert_true(from_file.distance_jsd.value == results.distance_jsd.value);
    options.generation_performance_file = NULL;
    assert_int_equal(assay_evaluate_trajectories_programmatic(&options, &error, &from_file),
                     ASSAY_OK);
    assert_false(from_file.has_generation_performance);
    text = content(self->results);
    assert_null(strstr(text, "generation_performance"));
    free(text);
    assay_generation_free(generation);
}

static void test_ends_that_the_caller_names(void **state)
{
    const scene *self = *state;
    assay_error error = {0};
    assay_trajectory_options options = options_of(self);
    assay_generation *drawn = NULL, *named = NULL;
    assert_int_equal(assay_generate_trajectories_programmatic(&options, &error, &drawn), ASSAY_OK);
    /* The same pairs, the last first. */
    int64_t origins[40], destinations[40];
    for (size_t i = 0; i < 40; i++) {
        origins[i] = drawn->searches[39 - i].origin_road_id;
        destinations[i] = drawn->searches[39 - i].destination_road_id;
    }
    options.origin_road_ids = origins;
    options.destination_road_ids = destinations;
    assert_int_equal(assay_generate_trajectories_programmatic(&options, &error, &named), ASSAY_OK);
    assert_int_equal(named->num_generated, drawn->num_generated);
    for (size_t i = 0; i < 40; i++) {
        assert_int_equal(named->searches[i].origin_road_id, origins[i]);
        assert_int_equal(named->searches[i].destination_road_id, destinations[i]);
        assert_int_equal(named->searches[i].forward_count, drawn->searches[39 - i].forward_count);
    }
    assay_generation_free(drawn);
    assay_generation_free(named);
}

static bool stop_after_three(void *context, double share)
{
    (void)share;
    return ++*(int *)context < 3;
}

static void refuses(const assay_trajectory_options *options, assay_status expected,
                    const char *words)
{
    assay_error error = {0};
    assay_generation *generation = NULL;
    assert_int_equal(assay_generate_trajectories_programmatic(options, &error, &generation),
                     expected);
    assert_null(generation);
    if (strstr(error.message, words) == NULL)
        fail_msg("'%s' does not say '%s'", error.message, words);
}

static void test_what_is_wrong_is_named(void **state)
{
    const scene *self = *state;
    const assay_trajectory_options good = options_of(self);
    assay_trajectory_options bad = good;
    bad.model_path = NULL;
    refuses(&bad, ASSAY_E_ARGUMENT, "model_path");
    bad = good;
    bad.output_file = NULL;
    refuses(&bad, ASSAY_E_ARGUMENT, "output_file");
    bad = good;
    const int64_t nowhere[40] = {-77};
    bad.origin_road_ids = nowhere;
    refuses(&bad, ASSAY_E_ARGUMENT, "both or none");
    bad.destination_road_ids = nowhere;
    refuses(&bad, ASSAY_E_ARGUMENT, "no road -77");
    bad = good;
    bad.beam_width = 5000;
    refuses(&bad, ASSAY_E_ARGUMENT, "1024");
    bad = good;
    bad.geo = "town.geo";
    refuses(&bad, ASSAY_E_ARGUMENT, "not both");
    bad = good;
    bad.dataset = "/nowhere";
    refuses(&bad, ASSAY_E_NOT_FOUND, "/nowhere");
    bad = good;
    bad.model_path = self->small;
    refuses(&bad, ASSAY_E_ARGUMENT, "roads");
    bad = good;
    bad.model_path = self->output;
    refuses(&bad, ASSAY_E_LIMIT, "is it a safetensors file?");
    bad = good;
    bad.struct_size = 0;
    refuses(&bad, ASSAY_E_ARGUMENT, "assay_trajectory_options");
    int calls = 0;
    bad = good;
    bad.advance = stop_after_three;
    bad.context = &calls;
    refuses(&bad, ASSAY_E_STATE, "3 of 40");
    assert_int_equal(calls, 3);
    assay_generation_free(NULL);
}

static void test_evaluation_needs_a_file(void **state)
{
    const scene *self = *state;
    assay_error error = {0};
    assay_trajectory_results results;
    assay_trajectory_options options = options_of(self);
    options.output_file = NULL;
    assert_int_equal(assay_evaluate_trajectories_programmatic(&options, &error, &results),
                     ASSAY_E_ARGUMENT);
    assert_non_null(strstr(error.message, "generated_file"));
    options.generated_file = self->output;
    options.generation_performance_file = self->weights;
    assert_int_equal(assay_evaluate_trajectories_programmatic(&options, &error, &results),
                     ASSAY_E_FORMAT);
}

/* Without data a city is made up, the same one for both calls. */
static void test_a_city_is_made_up(void **state)
{
    const scene *self = *state;
    assay_trajectory_options options = options_of(self);
    assay_generation *generation = NULL;
    assay_trajectory_results results;
    options.dataset = NULL;
    options.roads = ROADS;
    options.drives = 60;
    options.od_source = ASSAY_OD_TRAIN;
    options.beam_search = false;
    assert_int_equal(assay_generate_trajectories_programmatic(&options, NULL, &generation),
                     ASSAY_OK);
    assert_int_equal(generation->searches[0].beam_width, 1);
    assert_false(generation->performance.beam_search_enabled);
    assert_true(generation->num_generated > 0);
    assert_int_equal(assay_evaluate_trajectories_programmatic(&options, NULL, &results), ASSAY_OK);
    assert_int_equal(results.num_real, 48);
    assert_int_equal(results.num_pairs, generation->num_generated);
    assay_generation_free(generation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generated_and_evaluated),
        cmocka_unit_test(test_ends_that_the_caller_names),
        cmocka_unit_test(test_what_is_wrong_is_named),
        cmocka_unit_test(test_evaluation_needs_a_file),
        cmocka_unit_test(test_a_city_is_made_up),
    };
    return cmocka_run_group_tests(tests, open_scene, close_scene);
}
