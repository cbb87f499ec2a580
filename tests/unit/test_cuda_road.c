/* Route searches whose forward passes run on a device, compared with the same searches on the
 * processor. With the library path of the tests the device is an emulated one (tests/fake/compute);
 * with ASSAY_REAL_CUDA=1 it is that of the machine. The test of failures needs the emulated one. */
#include "tests/unit/road_scene.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "assay/model.h"
#include "assay/trajectories.h"
#include "base/random.h"
#include "models/cuda/road_search.h"
#include "models/road/search.h"
#include "tests/fake/compute/emulator.h"

enum { ROADS = 300, WIDTH = 6, STEPS = 64, SEARCHES = 40 };

static bool is_real(void)
{
    return getenv("ASSAY_REAL_CUDA") != NULL;
}

static fake_compute_faults *fake(void)
{
    fake_compute_faults *(*find)(void) = NULL;
    void *handle = dlopen("libcuda.so.1", RTLD_NOW), *found = dlsym(handle, "fake_compute");
    memcpy(&find, &found, sizeof found);
    return find();
}

static assay_status find_engine(assay_error *error, assay__road_engine *engine)
{
    const assay_model_class *class_ = NULL;
    assay_status status = assay_model_class_on(&assay__next_road_class, "cuda:0", error, &class_);
    if (status == ASSAY_OK)
        *engine = assay__gpu_road_engine(class_);
    return status;
}

static assay__road_searcher *new_searcher(const scene *self, bool moved)
{
    assay__road_searcher *searcher = NULL;
    assay__road_engine engine;
    assay_error error = {0};
    assert_int_equal(
        assay__road_searcher_new(self->city, self->model, WIDTH, STEPS, NULL, &searcher), ASSAY_OK);
    if (moved) {
        assert_int_equal(find_engine(NULL, &engine), ASSAY_OK);
        if (assay__road_searcher_move(searcher, &engine, &error) != ASSAY_OK)
            fail_msg("%s", error.message);
    }
    return searcher;
}

static void assert_same_route(const assay__road_route *got, const assay__road_route *expected)
{
    assert_int_equal(got->outcome, expected->outcome);
    assert_int_equal(got->count, expected->count);
    assert_memory_equal(got->roads, expected->roads, (size_t)got->count * sizeof(int32_t));
    assert_int_equal(got->forward_count, expected->forward_count);
    assert_int_equal(got->candidate_count, expected->candidate_count);
    assert_true(fabs(got->log_probability - expected->log_probability) <
                1e-4 * (1 + fabs(expected->log_probability)));
}

/* Searches of several widths between random roads must give the same routes here and there. Returns
 * how many searches found their destination. */
static int compare_searches(assay__road_searcher *here, assay__road_searcher *there)
{
    static const int64_t widths[] = {1, 3, 4, WIDTH};
    assay__random random;
    int found = 0;
    assay__random_init(&random, 4);
    for (int i = 0; i < SEARCHES; i++) {
        int64_t origin = (int64_t)assay__random_below(&random, ROADS);
        int64_t destination = (int64_t)assay__random_below(&random, ROADS);
        assay__road_route expected, got;
        assay_error error = {0};
        assert_int_equal(
            assay__road_search_beam(here, origin, destination, widths[i % 4], NULL, &expected),
            ASSAY_OK);
        if (assay__road_search_beam(there, origin, destination, widths[i % 4], &error, &got) !=
            ASSAY_OK)
            fail_msg("%s", error.message);
        assert_same_route(&got, &expected);
        found += got.outcome == ASSAY__ROUTE_FOUND;
    }
    return found;
}

/* The first shape is smaller than a warp, the second is that of "distilled", and the product of the
 * third has more columns than a block has threads. */
static void test_routes_are_the_same(void **state)
{
    static const assay__next_road_shape shapes[] = {{.embedding = 5, .hidden = 7, .scorer = 9},
                                                    {.embedding = 16, .hidden = 32, .scorer = 32},
                                                    {.embedding = 32, .hidden = 70, .scorer = 64}};
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        scene self;
        open_scene(&self, ROADS, 40, 30, shapes[i]);
        train(&self, 30, 0.02);
        assay__road_searcher *here = new_searcher(&self, false), *there = new_searcher(&self, true);
        assert_true(compare_searches(here, there) > SEARCHES / 3);
        assay__road_searcher_free(there);
        assay__road_searcher_free(here);
        close_scene(&self);
    }
}

/* After a refresh the device has the new weights, for a twin as well. A step is one launch of a
 * kernel. */
static void test_refresh_and_twin(void **state)
{
    scene self;
    assay__road_searcher *twin = NULL;
    assay__road_route route;
    (void)state;
    open_scene(&self, ROADS, 40, 30,
               (assay__next_road_shape){.embedding = 5, .hidden = 7, .scorer = 9});
    train(&self, 30, 0.02);
    assay__road_searcher *here = new_searcher(&self, false), *there = new_searcher(&self, true);
    assert_int_equal(assay__road_searcher_twin(there, NULL, &twin), ASSAY_OK);
    compare_searches(here, twin);
    train(&self, 10, 0.05);
    assay__road_searcher_refresh(here);
    assay__road_searcher_refresh(there);
    compare_searches(here, twin);
    compare_searches(here, there);
    if (!is_real()) {
        const int launches = fake()->launches;
        assert_int_equal(assay__road_search_beam(there, 0, 150, WIDTH, NULL, &route), ASSAY_OK);
        assert_true(route.forward_count > 1);
        assert_int_equal(fake()->launches - launches, route.forward_count);
    }
    assay__road_searcher_free(twin);
    assay__road_searcher_free(there);
    assay__road_searcher_free(here);
    close_scene(&self);
}

/* A failure of the device ends the search with the device's message, and the next search works
 * again. If the device has too little memory, the searcher stays on the processor. */
static void test_failures(void **state)
{
    scene self;
    assay__road_route route;
    assay__road_engine engine;
    assay_error error = {0};
    (void)state;
    if (is_real())
        skip();
    assert_int_equal(find_engine(NULL, &engine), ASSAY_OK);
    const size_t before = fake()->held;
    open_scene(&self, ROADS, 20, 20,
               (assay__next_road_shape){.embedding = 5, .hidden = 7, .scorer = 9});
    assay__road_searcher *here = new_searcher(&self, false), *there = new_searcher(&self, true);
    fake()->launch = 719;
    assert_int_equal(assay__road_search_beam(there, 0, 150, 2, &error, &route),
                     ASSAY_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "cuda:0 (Emulated GPU)"));
    fake()->launch = 0;
    compare_searches(here, there);
    assay__road_searcher_free(there);
    fake()->bytes = fake()->held + 1000;
    assert_int_equal(assay__road_searcher_move(here, &engine, &error), ASSAY_E_MEMORY);
    assert_int_equal(assay__road_search_beam(here, 0, 150, 2, &error, &route), ASSAY_OK);
    fake()->bytes = 0;
    assay__road_searcher_free(here);
    close_scene(&self);
    open_scene(&self, ROADS, 20, 20,
               (assay__next_road_shape){.embedding = 1, .hidden = 4, .scorer = 8189});
    here = new_searcher(&self, false);
    assert_int_equal(assay__road_searcher_move(here, &engine, &error), ASSAY_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "at most 8192"));
    assay__road_searcher_free(here);
    close_scene(&self);
    assert_int_equal(fake()->held, before);
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

/* Calls the public function on a device, in a made-up city. `weights` has initial weights, which
 * were not trained. */
static void generate_on(const char *device, const char *weights, const char *output)
{
    assay_trajectory_options options = ASSAY_TRAJECTORY_OPTIONS_INIT;
    assay_generation *generation = NULL;
    assay_error error = {0};
    options.roads = 60;
    options.drives = 40;
    options.seed = 3;
    options.num_gene = 10;
    options.beam_search = true;
    options.model_path = weights;
    options.output_file = output;
    options.device = device;
    if (assay_generate_trajectories_programmatic(&options, &error, &generation) != ASSAY_OK)
        fail_msg("%s", error.message);
    assert_string_equal(generation->performance.device, device);
    assay_generation_free(generation);
    options.device = "cuda:9";
    assert_int_equal(assay_generate_trajectories_programmatic(&options, &error, &generation),
                     ASSAY_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "there is no device cuda:9"));
}

static void test_generation(void **state)
{
    char folder[] = "/tmp/assay-cuda-road-XXXXXX", weights[64], output[2][64];
    assay_model *model = NULL;
    double settings[16];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(weights, sizeof weights, "%s/w.safetensors", folder);
    for (size_t i = 0; i < assay__next_road_class.option_count; i++) {
        const assay_model_option *option = &assay__next_road_class.options[i];
        settings[i] = strcmp(option->name, "num-nodes") == 0 ? 60 : option->initial;
    }
    assert_int_equal(assay_model_new(&assay__next_road_class, settings, 1, NULL, &model), ASSAY_OK);
    assert_int_equal(assay_model_save_weights(model, weights, NULL), ASSAY_OK);
    assay_model_free(model);
    for (int i = 0; i < 2; i++) {
        snprintf(output[i], sizeof output[i], "%s/%d.csv", folder, i);
        generate_on(i == 0 ? "cpu" : "cuda:0", weights, output[i]);
    }
    char *here = content(output[0]), *there = content(output[1]);
    assert_string_equal(here, there);
    free(here);
    free(there);
    unlink(output[0]);
    unlink(output[1]);
    unlink(weights);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    assay__road_engine engine;
    assay_error error = {0};
    if (find_engine(&error, &engine) != ASSAY_OK) {
        printf("skipped: %s\n", error.message);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_routes_are_the_same),
        cmocka_unit_test(test_refresh_and_twin),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_generation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
