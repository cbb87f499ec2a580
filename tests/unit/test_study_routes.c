/* The parts of the study of routes: figures of searches, their text and JSON, generated files,
 * evaluation. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "models/routes/evaluate.h"
#include "models/routes/generate.h"
#include "models/routes/performance.h"
#include "studies/common/results.h"
#include "studies/routes/performance.h"
#include "studies/routes/train.h"

static const assay_generation_performance seed_figures = {
    .total_time_mean = {0.523, ASSAY_VALID},
    .total_time_std = {0.142, ASSAY_VALID},
    .total_time_min = {0.312, ASSAY_VALID},
    .total_time_max = {1.245, ASSAY_VALID},
    .total_time_median = {0.498, ASSAY_VALID},
    .total_time_p95 = {0.789, ASSAY_VALID},
    .forward_time_mean = {0.412, ASSAY_VALID},
    .forward_count_mean = {12.5, ASSAY_VALID},
    .throughput_traj_per_sec = {1.91, ASSAY_VALID},
    .total_generation_time = {52.3, ASSAY_VALID},
    .forward_time_per_step_mean = {0.033, ASSAY_VALID},
    .beam_search_enabled = true,
    .beam_width = 4,
    .device = "cuda:0"};

static char *printed(const assay_generation_performance *performance)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assay__performance_print(performance, stream);
    fclose(stream);
    return text;
}

static void test_block_is_the_seeds(void **state)
{
    (void)state;
    char *text = printed(&seed_figures);
    assert_string_equal(text, "--- Generation Performance ---\n"
                              "Throughput                1.91 traj/s\n"
                              "Mean time/trajectory      0.523s\n"
                              "Min time                  0.312s\n"
                              "Max time                  1.245s\n"
                              "Std dev                   0.142s\n"
                              "Median time               0.498s\n"
                              "95th percentile           0.789s\n"
                              "Forward passes/traj       12.5\n"
                              "Forward time/step         33.0ms\n"
                              "Beam width                4\n"
                              "Device                    cuda:0\n"
                              "Total generation time     52.3s\n");
    free(text);
}

static void test_short_times_keep_their_digits(void **state)
{
    (void)state;
    assay_generation_performance fast = seed_figures;
    fast.total_time_mean = assay_reading_of(0.00999);
    fast.total_time_min = assay_reading_of(2.5e-6);
    fast.total_time_p95 = assay_reading_missing(ASSAY_NOT_ENOUGH_DATA);
    fast.forward_time_per_step_mean = assay_reading_of(2.46e-6);
    fast.beam_search_enabled = false;
    fast.beam_width = 1;
    char *text = printed(&fast);
    assert_non_null(strstr(text, "Mean time/trajectory      9.990ms\n"));
    assert_non_null(strstr(text, "Min time                  2.500us\n"));
    assert_non_null(strstr(text, "95th percentile           n/a (not enough data)\n"));
    assert_non_null(strstr(text, "Forward time/step         2.5us\n"));
    assert_non_null(strstr(text, "Beam width                1 (greedy)\n"));
    free(text);
}

static void check_value(assay_reading reading, double expected)
{
    assert_int_equal(reading.validity, ASSAY_VALID);
    assert_true(fabs(reading.value - expected) < 1e-12);
}

static assay_record *new_record(void)
{
    assay_record *record = NULL;
    assert_int_equal(assay_record_new(&record), ASSAY_OK);
    return record;
}

/* Through a file, as a study that is resumed reads it. */
static assay_record *saved_and_read(assay_record *record)
{
    char path[] = "/tmp/assay-routes-XXXXXX";
    int file = mkstemp(path);
    assay_record *read = NULL;
    assert_true(file >= 0);
    close(file);
    record->kind = "study";
    assert_int_equal(assay_record_save(record, path, 0, NULL), ASSAY_OK);
    assert_int_equal(assay_record_read(path, NULL, &read), ASSAY_OK);
    assay_record_free(record);
    unlink(path);
    return read;
}

static void add_generation(assay_record *found, assay_search_performance *searches, size_t count,
                           bool beam_search, size_t generated, double seconds)
{
    assay_generation generation = {
        .num_searched = count, .num_generated = generated, .searches = searches};
    assert_int_equal(assay__performance_aggregate(
                         searches, count, assay_reading_of((double)generated),
                         assay_reading_of(seconds), beam_search, "cpu", &generation.performance),
                     ASSAY_OK);
    assert_int_equal(assay__found_generation(found, "vanilla", &generation), ASSAY_OK);
}

static assay_generation *recalled(const assay_record *found)
{
    assay_generation *generation = NULL;
    assert_int_equal(assay__generation_of(found, "vanilla", NULL, NULL, &generation), ASSAY_OK);
    return generation;
}

static char *as_json(const assay_generation_performance *performance)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(assay__performance_print_json(performance, stream, NULL), ASSAY_OK);
    fclose(stream);
    return text;
}

/* numpy.mean, std, median, percentile(95) of 1 ... 20. */
static void test_aggregates(void **state)
{
    (void)state;
    assay_search_performance searches[20];
    for (int i = 0; i < 20; i++)
        searches[i] = (assay_search_performance){.total_time = 20 - i,
                                                 .forward_time_total = 0.5 * (i + 1),
                                                 .forward_count = i < 10 ? 4 : 6,
                                                 .beam_width = 4};
    assay_record *found = new_record();
    add_generation(found, searches, 20, true, 15, 250);
    found = saved_and_read(found);
    assay_generation *generation = recalled(found);
    assay_generation_performance p = generation->performance;
    assert_int_equal(generation->num_generated, 15);
    assert_int_equal(generation->slowest, 0);
    check_value(p.total_time_mean, 10.5);
    check_value(p.total_time_std, 5.766281297335398);
    check_value(p.total_time_min, 1);
    check_value(p.total_time_max, 20);
    check_value(p.total_time_median, 10.5);
    check_value(p.total_time_p95, 19.05);
    check_value(p.forward_time_mean, 5.25);
    check_value(p.forward_time_std, 2.883140648667699);
    check_value(p.forward_count_mean, 5);
    check_value(p.forward_count_std, 1);
    check_value(p.throughput_traj_per_sec, 0.06);
    check_value(p.total_generation_time, 250);
    check_value(p.forward_time_per_step_mean, 1.05);
    assert_true(p.beam_search_enabled && p.beam_width == 4);
    assert_string_equal(p.device, "cpu");
    assay_generation_free(generation);
    assert_int_equal(assay__generation_of(found, "distilled", NULL, NULL, &generation),
                     ASSAY_E_DATA);
    assay_record_free(found);
}

static void test_searches_are_a_subject(void **state)
{
    (void)state;
    assay_search_performance searches[] = {
        {.total_time = 3, .forward_time_total = 2, .forward_count = 5, .beam_width = 1},
        {.total_time = 4, .forward_time_total = 1, .forward_count = 7, .beam_width = 1}};
    assay_record *found = new_record();
    add_generation(found, searches, 2, false, 2, 8);
    const assay_generation none = {0};
    assert_int_equal(assay__found_generation(found, "vanilla", &none), ASSAY_E_DATA);
    found = saved_and_read(found);
    const assay_record_subject *subject = assay__record_find_subject(found, "vanilla search");
    assert_non_null(subject);
    assert_string_equal(subject->model, "vanilla");
    assert_non_null(subject->covers);
    assert_int_equal(subject->parameter_count, 0);
    assert_int_equal(subject->sample_count, 2);
    assert_true(subject->samples_seconds[0] == 3 && subject->samples_seconds[1] == 4);
    const double *forward = assay__record_measure_samples(subject, "forward_seconds");
    const double *passes = assay__record_measure_samples(subject, "forward_passes");
    assert_true(forward != NULL && forward[0] == 2 && forward[1] == 1);
    assert_true(passes != NULL && passes[0] == 5 && passes[1] == 7);
    assert_null(assay__record_measure_samples(subject, "backward_passes"));
    assert_string_equal(assay__record_setting(found, "search"), "greedy");
    assert_null(assay__record_setting(found, "research"));
    assay_record_free(found);
}

static void test_few_searches_say_what_is_missing(void **state)
{
    (void)state;
    const assay_search_performance search = {.total_time = 1, .beam_width = 1};
    assay_generation_performance p, read;
    assert_int_equal(
        assay__performance_aggregate(&search, 1, assay_reading_missing(ASSAY_NOT_MEASURED),
                                     assay_reading_missing(ASSAY_NOT_MEASURED), false, "cpu", &p),
        ASSAY_OK);
    assert_int_equal(p.total_time_p95.validity, ASSAY_NOT_ENOUGH_DATA);
    assert_int_equal(p.forward_time_per_step_mean.validity, ASSAY_NOT_ENOUGH_DATA);
    assert_int_equal(p.throughput_traj_per_sec.validity, ASSAY_NOT_MEASURED);
    check_value(p.total_time_std, 0);
    char *text = as_json(&p);
    assert_non_null(strstr(text, "\"total_time_p95\": null"));
    assert_non_null(strstr(text, "\"total_time_p95\": \"not enough data\""));
    assert_non_null(strstr(text, "\"throughput_traj_per_sec\": \"not measured\""));
    assert_int_equal(assay__performance_parse(text, strlen(text), "text", NULL, &read), ASSAY_OK);
    char *again = as_json(&read);
    assert_string_equal(again, text);
    free(again);
    free(text);
    assert_int_equal(assay__performance_aggregate(&search, 0, p.total_time_mean, p.total_time_mean,
                                                  false, "cpu", &p),
                     ASSAY_E_DATA);
}

/* What is written reads back, also as a member of other files; what is no performance is named. */
static void test_performance_reads_back(void **state)
{
    (void)state;
    assay_generation_performance read;
    char *text = as_json(&seed_figures), *inside = NULL;
    assert_int_equal(assay__performance_parse(text, strlen(text), "text", NULL, &read), ASSAY_OK);
    check_value(read.total_time_p95, 0.789);
    check_value(read.throughput_traj_per_sec, 1.91);
    assert_int_equal(read.forward_time_std.validity, ASSAY_VALID); /* 0 in seed_figures */
    assert_true(read.beam_search_enabled && read.beam_width == 4);
    assert_string_equal(read.device, "cuda:0");
    for (int i = 0; i < 2; i++) {
        const char *key = i == 0 ? "performance" : "generation_performance";
        assert_true(asprintf(&inside, "{\"Distance_JSD\": 1, \"%s\": %s}", key, text) > 0);
        assert_int_equal(assay__performance_parse(inside, strlen(inside), "text", NULL, &read),
                         ASSAY_OK);
        check_value(read.total_time_mean, 0.523);
        free(inside);
    }
    free(text);
    const char *const bad[] = {"", "[]", "{}", "{\"performance\": 3}", "{\"total_time_mean\": "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assay_error error = {0};
        assert_int_equal(
            assay__performance_parse(bad[i], strlen(bad[i]), "bad.json", &error, &read),
            ASSAY_E_FORMAT);
        assert_non_null(strstr(error.message, "bad.json"));
    }
}

/* ---- On a made-up city ---- */

enum { PAIRS = 12 };

typedef struct scene {
    assay__routes_data data;
    assay__next_road *model;
    assay__od_pair *pairs;
} scene;

static int open_scene(void **state)
{
    static scene self;
    const assay__routes_source source = {.roads = 80, .drives = 120};
    const assay__routes_training training = {
        .epochs = 5, .batch_size = 16, .max_roads = 100, .learning_rate = 0.01};
    assay__next_road_shape shape = assay__next_road_shape_of(ASSAY__NEXT_ROAD_DISTILLED, 80);
    double losses[5];
    assert_int_equal(assay__routes_data_load(&source, 3, NULL, &self.data), ASSAY_OK);
    assert_int_equal(assay__next_road_new(&shape, 1, NULL, &self.model), ASSAY_OK);
    assert_int_equal(assay__routes_train(&self.data, self.model, NULL, &training, 5, NULL, losses),
                     ASSAY_OK);
    assert_true(losses[4] < losses[0]);
    assert_int_equal(assay__od_pairs_draw(&self.data.test, PAIRS, 9, NULL, &self.pairs), ASSAY_OK);
    *state = &self;
    return 0;
}

static int close_scene(void **state)
{
    scene *self = *state;
    free(self->pairs);
    assay__next_road_free(self->model);
    assay__routes_data_release(&self->data);
    return 0;
}

static void test_split_and_pairs(void **state)
{
    const scene *self = *state;
    assert_int_equal(self->data.train.count, 96);
    assert_int_equal(self->data.test.count, 24);
    assay__od_pair *all = NULL;
    assert_int_equal(assay__od_pairs_draw(&self->data.test, 60, 9, NULL, &all), ASSAY_OK);
    assert_memory_equal(all, self->pairs, PAIRS * sizeof *all);
    /* Every trajectory once before any comes twice. */
    for (int64_t i = 0; i < 24; i++) {
        int64_t first = self->data.test.first[i], seen = 0, expected = 0;
        for (size_t k = 0; k < 24; k++)
            seen += all[k].origin == self->data.test.roads[first] &&
                    all[k].start_seconds == self->data.test.seconds[first];
        for (int64_t k = 0; k < 24; k++)
            expected +=
                self->data.test.roads[self->data.test.first[k]] == self->data.test.roads[first] &&
                self->data.test.seconds[self->data.test.first[k]] == self->data.test.seconds[first];
        assert_int_equal(seen, expected);
    }
    assert_memory_equal(all + 24, all, 24 * sizeof *all);
    free(all);
}

static void test_searches_say_what_they_took(void **state)
{
    const scene *self = *state;
    assay__timed_searcher timed;
    assay__road_searcher *plain = NULL;
    assert_int_equal(
        assay__timed_searcher_init(&timed, self->data.network, self->model, NULL, 3, NULL),
        ASSAY_OK);
    assert_int_equal(assay__road_searcher_new(self->data.network, self->model, 3, 80, NULL, &plain),
                     ASSAY_OK);
    for (size_t i = 0; i < PAIRS; i++) {
        const assay__od_pair *pair = &self->pairs[i];
        assay__road_route route, expected;
        assay_search_performance p;
        assert_int_equal(
            assay__timed_search(&timed, pair->origin, pair->destination, 3, NULL, &route, &p),
            ASSAY_OK);
        assert_int_equal(
            assay__road_search_beam(plain, pair->origin, pair->destination, 3, NULL, &expected),
            ASSAY_OK);
        assert_int_equal(route.count, expected.count);
        assert_int_equal(p.forward_count, expected.forward_count);
        assert_int_equal(p.beam_width, 3);
        assert_true(p.forward_time_total > 0 && p.forward_time_total <= p.total_time);
        check_value(p.forward_time_avg, p.forward_time_total / (double)p.forward_count);
        assert_int_equal(
            assay__timed_search(&timed, pair->origin, pair->destination, 0, NULL, &route, &p),
            ASSAY_OK);
        assert_int_equal(p.beam_width, 1);
    }
    assay__road_route route;
    assay_search_performance p;
    assert_int_equal(assay__timed_search(&timed, 4, 4, 0, NULL, &route, &p), ASSAY_OK);
    assert_int_equal(p.forward_time_avg.validity, ASSAY_NOT_ENOUGH_DATA);
    assert_int_equal(assay__timed_search(&timed, 4, 5, -1, NULL, &route, &p), ASSAY_E_ARGUMENT);
    assay__road_searcher_free(plain);
    assay__timed_searcher_release(&timed);
}

static void test_generated_file(void **state)
{
    const scene *self = *state;
    char path[] = "/tmp/assay-routes-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    const assay__generation_options options = {
        .beam_search = true, .beam_width = 4, .output_file = path};
    assay_generation *made = NULL;
    assert_int_equal(assay__generate_trajectories(&self->data, self->model, self->pairs, PAIRS,
                                                  &options, NULL, &made),
                     ASSAY_OK);
    const assay_generation generation = *made;
    assert_int_equal(generation.num_searched, PAIRS);
    assert_int_equal(generation.num_generated + generation.num_lost + generation.num_too_long +
                         generation.num_unreachable,
                     PAIRS);
    assert_true(generation.num_generated > PAIRS / 2);
    assert_string_equal(generation.output_file, path);
    for (size_t i = 0; i < PAIRS; i++) {
        assert_int_equal(generation.searches[i].origin_road_id,
                         self->data.network->ids[self->pairs[i].origin]);
        assert_int_equal(generation.searches[i].destination_road_id,
                         self->data.network->ids[self->pairs[i].destination]);
        assert_true(generation.searches[i].total_time <=
                    generation.searches[generation.slowest].total_time);
    }
    check_value(generation.performance.total_time_max,
                generation.searches[generation.slowest].total_time);
    assay__trajectories read;
    assert_int_equal(assay__trajectories_load(self->data.network, path, NULL, &read), ASSAY_OK);
    assert_int_equal(read.count, generation.num_generated);
    for (int64_t i = 0, pair = 0; i < read.count; i++, pair++) {
        int64_t first = read.first[i], last = read.first[i + 1] - 1;
        while (pair < PAIRS && (self->pairs[pair].origin != read.roads[first] ||
                                self->pairs[pair].destination != read.roads[last]))
            pair++;
        assert_true(pair < PAIRS);
        double seconds = (double)self->pairs[pair].start_seconds;
        for (int64_t k = first; k <= last; k++) {
            assert_true(fabs((double)read.seconds[k] - seconds) <= 0.5);
            seconds += self->data.travel_seconds[read.roads[k]];
        }
    }
    assay__trajectories_release(&read);

    assay_trajectory_results results, back;
    assay_record *found = new_record();
    assert_false(assay__results_of(found, "distilled", &back));
    assert_int_equal(
        assay__evaluate_trajectories(self->data.network, &self->data.test, path, NULL, &results),
        ASSAY_OK);
    assert_int_equal(results.num_pairs, generation.num_generated);
    assert_int_equal(results.num_real, 24);
    assert_false(results.has_generation_performance);
    assert_int_equal(assay__found_results(found, "distilled", &results), ASSAY_OK);
    assert_true(assay__results_of(found, "distilled", &back));
    assert_memory_equal(&back, &results, sizeof back);
    assay_generation_free(made);
    assay_record_free(found);
    unlink(path);
}

/* Real trajectories evaluated against themselves are themselves, whatever their order. */
static void test_evaluation_of_the_same(void **state)
{
    const scene *self = *state;
    char path[] = "/tmp/assay-routes-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assay__trajectories backwards;
    assay__trajectories_init(&backwards);
    for (int64_t i = self->data.test.count - 1; i >= 0; i--) {
        for (int64_t k = self->data.test.first[i]; k < self->data.test.first[i + 1]; k++)
            assert_int_equal(assay__trajectories_drive(&backwards, self->data.test.roads[k],
                                                       self->data.test.seconds[k]),
                             ASSAY_OK);
        assert_int_equal(assay__trajectories_end(&backwards), ASSAY_OK);
    }
    assert_int_equal(assay__trajectories_save(&backwards, self->data.network, path, NULL),
                     ASSAY_OK);
    assay_trajectory_results results;
    assert_int_equal(
        assay__evaluate_trajectories(self->data.network, &self->data.test, path, NULL, &results),
        ASSAY_OK);
    assert_int_equal(results.num_pairs, 24);
    check_value(results.distance_jsd, 0);
    check_value(results.duration_jsd, 0);
    assert_true(results.hausdorff_km.value < 1e-9);
    assert_true(results.dtw_km.value < 1e-9);
    assay__trajectories_release(&backwards);
    unlink(path);
}

/* Without pairs of the same ends there are no distances, and results.json says why. */
static void test_no_pairs_keep_their_reason(void **state)
{
    const scene *self = *state;
    char path[] = "/tmp/assay-routes-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assay__trajectories lonely;
    assay__trajectories_init(&lonely);
    assert_int_equal(assay__trajectories_drive(&lonely, 7, 0), ASSAY_OK);
    assert_int_equal(assay__trajectories_drive(&lonely, 7, 60), ASSAY_OK);
    assert_int_equal(assay__trajectories_end(&lonely), ASSAY_OK);
    assert_int_equal(assay__trajectories_save(&lonely, self->data.network, path, NULL), ASSAY_OK);
    assay_trajectory_results results;
    assay_record *found = new_record();
    assert_int_equal(
        assay__evaluate_trajectories(self->data.network, &self->data.test, path, NULL, &results),
        ASSAY_OK);
    assert_int_equal(assay__found_results(found, "vanilla", &results), ASSAY_OK);
    found = saved_and_read(found);
    assert_true(assay__results_of(found, "vanilla", &results));
    assert_int_equal(results.num_pairs, 0);
    assert_int_equal(results.dtw_km.validity, ASSAY_NOT_ENOUGH_DATA);
    assay_record_free(found);
    assay__trajectories_release(&lonely);
    unlink(path);
}

static void test_weights_there_and_back(void **state)
{
    const scene *self = *state;
    char path[] = "/tmp/assay-routes-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assay__next_road *copy = NULL;
    assert_int_equal(assay__routes_save_weights(self->model, path, NULL), ASSAY_OK);
    assert_int_equal(assay__next_road_new(&self->model->shape, 77, NULL, &copy), ASSAY_OK);
    assert_int_equal(assay__routes_load_weights(copy, path, NULL), ASSAY_OK);
    assert_memory_equal(copy->parameters.values, self->model->parameters.values,
                        copy->parameters.total * sizeof(float));
    assay__next_road_free(copy);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_block_is_the_seeds),
        cmocka_unit_test(test_short_times_keep_their_digits),
        cmocka_unit_test(test_aggregates),
        cmocka_unit_test(test_searches_are_a_subject),
        cmocka_unit_test(test_few_searches_say_what_is_missing),
        cmocka_unit_test(test_performance_reads_back),
        cmocka_unit_test(test_split_and_pairs),
        cmocka_unit_test(test_searches_say_what_they_took),
        cmocka_unit_test(test_generated_file),
        cmocka_unit_test(test_evaluation_of_the_same),
        cmocka_unit_test(test_no_pairs_keep_their_reason),
        cmocka_unit_test(test_weights_there_and_back),
    };
    return cmocka_run_group_tests(tests, open_scene, close_scene);
}
